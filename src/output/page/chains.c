/* Traces, and ranks by chain: where chains tell the same story each has as many draws in every twentieth of all ranks. */
#include "core/memory.h"
#include "estimate/normal_scores.h"
#include "output/page/html.h"
#include "output/page/plot.h"
#include "output/page/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDTH = 340,
    TRACE_HEIGHT = 120,
    RANK_HEIGHT = 64,
    MAX_POINTS = 160,
    BINS = 20,
    COLOURS = 8
};

typedef struct {
    char text[24];
} chain_class;

static chain_class class_of(const char *kind, size_t chain)
{
    chain_class c;
    snprintf(c.text, sizeof c.text, "%s c%zu", kind, chain % COLOURS);
    return c;
}

static void find_range(size_t n, const double *x, axis *a)
{
    a->low = a->high = x[0];
    for (size_t i = 0; i < n; i++) {
        a->low = fmin(a->low, x[i]);
        a->high = fmax(a->high, x[i]);
    }
}

static void draw_chain(const plot *p, const view *v, size_t chain, const double *draws)
{
    double x[MAX_POINTS], y[MAX_POINTS];
    size_t n = v->r->draws, stride = (n + MAX_POINTS - 1) / MAX_POINTS, count = 0;
    for (size_t i = 0; i < n; i += stride, count++) {
        x[count] = (double)i;
        y[count] = draws[chain * n + i];
    }
    plot_curve(p, class_of("trace", chain).text, count, x, y);
}

static void draw_trace(text *t, const view *v, size_t j)
{
    plot p = {t,
              WIDTH,
              TRACE_HEIGHT,
              {.low = 0, .high = (double)v->r->draws - 1.0, .from = 44, .to = WIDTH - 6},
              {.from = TRACE_HEIGHT - 20, .to = 6}};
    const double *draws = view_gather(v, j);
    find_range(view_draws(v), draws, &p.y);
    plot_open(&p, "plot", "Trace of %s: %zu chains of %zu draws, R-hat %.4g, from %.4g to %.4g",
              view_name(v, j), v->r->chains, v->r->draws, v->parameters[j].rhat, p.y.low,
              p.y.high);
    plot_y_axis(&p, 5);
    plot_x_axis(&p, 5, NULL);
    for (size_t c = 0; c < v->r->chains; c++) draw_chain(&p, v, c, draws);
    plot_close(&p);
}

/* counts[chain][bin] */
static bool count_ranks(const view *v, size_t j, size_t *counts)
{
    size_t n = view_draws(v);
    ranked *scratch = malloc(2 * n * sizeof *scratch);
    if (!scratch) return false;
    const ranked *order = sort_ranked(n, view_gather(v, j), scratch);
    for (size_t i = 0; i < n; i++) counts[order[i].index / v->r->draws * BINS + i * BINS / n]++;
    free(scratch);
    return true;
}

static void draw_rank_bars(const plot *p, size_t chain, const size_t *counts, double left,
                           double width)
{
    double bar = width / BINS;
    text_add(p->t, "<path class=\"%s\" d=\"", class_of("ranks", chain).text);
    for (size_t b = 0; b < BINS; b++)
        text_add(p->t, "M%.1f %.1fV%.1fh%.1fV%.1fz", left + (double)b * bar, p->y.from,
                 axis_place(&p->y, (double)counts[b]), bar, p->y.from);
    text_add(p->t, "\"/>");
}

/* Side by side, with the height that all would have. */
static void draw_rank_panels(const plot *p, const view *v, const size_t *counts)
{
    size_t chains = v->r->chains;
    double each = (p->x.to - p->x.from) / (double)chains, gap = chains > 8 ? 1.0 : 6.0;
    for (size_t c = 0; c < chains; c++) {
        double left = p->x.from + (double)c * each,
               expected = axis_place(&p->y, (double)v->r->draws / BINS);
        draw_rank_bars(p, c, counts + c * BINS, left, each - gap);
        text_add(p->t, "<path class=\"expected\" d=\"M%.1f %.1fh%.1f\"/>", left, expected,
                 each - gap);
        if (chains <= 8)
            text_add(p->t, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">chain %zu</text>",
                     left + 0.5 * (each - gap), p->y.from + 13.0, c + 1);
    }
}

static void draw_ranks(text *t, const view *v, size_t j)
{
    size_t *counts = calloc(v->r->chains * BINS, sizeof *counts);
    plot p = {t,
              WIDTH,
              RANK_HEIGHT,
              {.from = 44, .to = WIDTH},
              {.low = 0,
               .high = 2.2 * (double)v->r->draws / BINS,
               .from = RANK_HEIGHT - 18,
               .to = 4}};
    if (counts && count_ranks(v, j, counts)) {
        for (size_t i = 0; i < v->r->chains * BINS; i++)
            p.y.high = fmax(p.y.high, (double)counts[i]);
        plot_open(&p, "plot", "Ranks of the draws of %s by chain, in %d bins", view_name(v, j),
                  BINS);
        draw_rank_panels(&p, v, counts);
        plot_close(&p);
    } else
        t->failed = true;
    free(counts);
}

void page_chains(text *t, const view *v)
{
    text_add(t, "<p>Chains that have found the posterior look alike: traces are one band "
                "without trend, and ranks are spread "
                "evenly, along the dashed line.");
    if (v->worst_count < v->r->dim)
        text_add(t, " Shown are the %zu of %zu parameters that mix worst.", v->worst_count,
                 v->r->dim);
    text_add(t, "</p>\n<div class=\"cards\">\n");
    for (size_t i = 0; i < v->worst_count; i++) {
        const sbps_parameter *p = &v->parameters[v->worst[i]];
        text_add(t, "<figure><figcaption><b>");
        html_text(t, p->name);
        text_add(t, "</b> R-hat %.3f, ESS ", p->rhat);
        html_count(t, fmin(p->ess_bulk, p->ess_tail));
        text_add(t, "</figcaption>");
        draw_trace(t, v, v->worst[i]);
        draw_ranks(t, v, v->worst[i]);
        text_add(t, "</figure>\n");
    }
    text_add(t, "</div>\n");
}
