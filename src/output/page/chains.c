/* Sections on mixing. Traces and ranks by chain: chains that agree each have as many draws in
 * every twentieth of all ranks. Effective sample size (ESS) of the first tenth, two tenths, ...
 * of every chain, against the seconds it took or, for files without times, against draws: it
 * grows in proportion unless a parameter does not mix. */
#include "estimate/diagnostics.h"
#include "estimate/normal_scores.h"
#include "output/page/html.h"
#include "output/page/page_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_WIDTH = 340,
    TRACE_HEIGHT = 120,
    RANK_HEIGHT = 64,
    MAX_POINTS = 160, /* of a trace */
    BINS = 20,        /* of ranks */
    COLOURS = 8,
    GROWTH_WIDTH = 700,
    GROWTH_HEIGHT = 260,
    TENTHS = 10,
    FEWEST_DRAWS = 8,     /* of a chain, for an ESS */
    RECOMMENDED_ESS = 400 /* Vehtari et al. (2021) */
};

typedef struct {
    char text[24];
} chain_class;

/* CSS classes of a chart element of a chain: its kind and colour. */
static chain_class class_of(const char *kind, size_t chain)
{
    chain_class c;
    snprintf(c.text, sizeof c.text, "%s c%zu", kind, chain % COLOURS);
    return c;
}

/* Trace of a chain, of at most MAX_POINTS draws. */
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

/* Chart of the traces of all chains. */
static void draw_trace(text *t, const view *v, size_t j)
{
    plot p = {t,
              TRACE_WIDTH,
              TRACE_HEIGHT,
              {.low = 0, .high = (double)v->r->draws - 1.0, .from = 44, .to = TRACE_WIDTH - 6},
              {.from = TRACE_HEIGHT - 20, .to = 6}};
    const double *draws = view_gather(v, j);
    size_t n = view_draws(v);
    p.y.low = p.y.high = draws[0];
    for (size_t i = 0; i < n; i++) {
        p.y.low = fmin(p.y.low, draws[i]);
        p.y.high = fmax(p.y.high, draws[i]);
    }
    plot_open(&p, "plot", "Trace of %s: %zu chains of %zu draws, R-hat %.4g, from %.4g to %.4g",
              view_name(v, j), v->r->chains, v->r->draws, v->parameters[j].rhat, p.y.low,
              p.y.high);
    plot_y_axis(&p, 5);
    plot_x_axis(&p, 5, NULL);
    for (size_t c = 0; c < v->r->chains; c++) draw_chain(&p, v, c, draws);
    plot_close(&p);
}

/* Counts draws by chain and bin of their rank among all draws: counts[chain][bin]. */
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

/* Histogram of the ranks of one chain. */
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

/* Bars of all chains side by side, with a line at the expected height. */
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

/* Chart of the ranks of all chains. */
static void draw_ranks(text *t, const view *v, size_t j)
{
    size_t *counts = calloc(v->r->chains * BINS, sizeof *counts);
    plot p = {t,
              TRACE_WIDTH,
              RANK_HEIGHT,
              {.from = 44, .to = TRACE_WIDTH},
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
    text_add(t, "<p>Chains that have converged look alike: their traces form one band without "
                "trend, and their ranks are spread evenly, along the dashed line.");
    if (v->worst_count < v->r->dim)
        text_add(t, " The %zu of %zu parameters that mix worst are shown.", v->worst_count,
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

/* ---- growth of the effective sample size ---- */

typedef struct {
    double at[TENTHS];                 /* seconds, or draws of all chains */
    double bulk[TENTHS], tail[TENTHS]; /* ESS */
    size_t count;
} ess_growth;

/* Copies the first `each` draws of every chain, chain after chain. */
static const double *first_draws(const view *v, const double *draws, size_t each)
{
    double *scratch = v->draws + view_draws(v);
    for (size_t c = 0; c < v->r->chains; c++)
        memcpy(scratch + c * each, draws + c * v->r->draws, each * sizeof *scratch);
    return scratch;
}

/* True if the file has times of draws. */
static bool has_seconds(const view *v)
{
    size_t n = view_draws(v);
    return isfinite(v->r->seconds[n - 1]) && v->r->seconds[n - 1] > 0.0;
}

/* When every chain had `each` draws: seconds, or draws of all chains. */
static double time_at(const view *v, size_t each)
{
    double last = 0.0;
    if (!has_seconds(v)) return (double)(each * v->r->chains);
    for (size_t c = 0; c < v->r->chains; c++)
        last = fmax(last, v->r->seconds[c * v->r->draws + each - 1]);
    return last;
}

/* ESS of the first tenth, two tenths, ... of the draws of parameter j; false: no memory. */
static bool find_growth(const view *v, size_t j, ess_growth *out)
{
    const double *draws = view_gather(v, j);
    out->count = 0;
    for (size_t k = 1; k <= TENTHS; k++) {
        size_t each = v->r->draws * k / TENTHS, i = out->count;
        draw_summary s;
        if (each < FEWEST_DRAWS) continue;
        if (summarize_draws(v->r->chains, each, first_draws(v, draws, each), &s, NULL) !=
            SBPS_OK)
            return false;
        if (!isfinite(s.ess_bulk) || !isfinite(s.ess_tail)) continue;
        out->at[i] = time_at(v, each);
        out->bulk[i] = s.ess_bulk;
        out->tail[i] = s.ess_tail;
        out->count++;
    }
    return true;
}

/* Chart of bulk and tail ESS of the parameters that mix worst. */
static void draw_growth_chart(text *t, const view *v, const ess_growth *all)
{
    plot p = {t,
              GROWTH_WIDTH,
              GROWTH_HEIGHT,
              {.low = 0, .high = time_at(v, v->r->draws), .from = 54, .to = GROWTH_WIDTH - 12},
              {.low = 0, .high = RECOMMENDED_ESS, .from = GROWTH_HEIGHT - 36, .to = 8}};
    for (size_t i = 0; i < v->worst_count; i++)
        for (size_t k = 0; k < all[i].count; k++)
            p.y.high = fmax(p.y.high, fmax(all[i].bulk[k], all[i].tail[k]));
    p.y.high *= 1.05;
    plot_open(&p, "plot broad",
              "Effective sample size against %s for the %zu parameters that mix worst",
              has_seconds(v) ? "seconds of sampling" : "the number of draws", v->worst_count);
    plot_y_axis(&p, 6);
    plot_x_axis(&p, 6, has_seconds(v) ? "seconds of sampling" : "draws, all chains");
    plot_level(&p, "expected", RECOMMENDED_ESS);
    text_add(t, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">400</text>", p.x.to,
             axis_place(&p.y, RECOMMENDED_ESS) - 4.0);
    for (size_t i = 0; i < v->worst_count; i++) {
        const ess_growth *g = &all[i];
        if (g->count < 2) continue;
        plot_curve(&p, "bulk", g->count, g->at, g->bulk);
        plot_curve(&p, "tail", g->count, g->at, g->tail);
    }
    plot_close(&p);
}

void page_growth(text *t, const view *v)
{
    ess_growth all[MAX_TRACED];
    for (size_t i = 0; i < v->worst_count; i++)
        if (!find_growth(v, v->worst[i], &all[i])) t->failed = true;
    if (t->failed) return;
    text_add(t,
             "<p>Effective sample size of the stored draws, for the same parameters: <span "
             "class=\"key bulk\">bulk</span> (for means) and <span "
             "class=\"key tail\">tail</span> (for the 5 %% and 95 %% quantiles). While lines "
             "rise, a longer run gives smaller errors. A line that levels off belongs to a "
             "parameter that does not mix.</p>\n<figure class=\"single\">");
    draw_growth_chart(t, v, all);
    text_add(t, "</figure>\n");
}
