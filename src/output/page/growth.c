/* The effective sample size of the first tenth, two tenths, ... of every chain, by the seconds it took or, in files that do
 * not tell, by draws. What mixes grows in proportion; what is stuck levels off. */
#include "estimate/diagnostics.h"
#include "output/page/html.h"
#include "output/page/plot.h"
#include "output/page/sections.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 700,
    HEIGHT = 260,
    TENTHS = 10,
    FEWEST = 8,
    ENOUGH = 400
}; /* enough: Vehtari et al. (2021) */

typedef struct {
    double when[TENTHS];               /* seconds, or draws of all chains */
    double bulk[TENTHS], tail[TENTHS]; /* NAN: not known */
    size_t count;
} growth;

/* The first `each` draws of every chain, behind one another. */
static const double *first_draws(const view *v, const double *draws, size_t each)
{
    double *scratch = v->draws + view_draws(v);
    for (size_t c = 0; c < v->r->chains; c++)
        memcpy(scratch + c * each, draws + c * v->r->draws, each * sizeof *scratch);
    return scratch;
}

static bool has_seconds(const view *v)
{
    size_t n = view_draws(v);
    return isfinite(v->r->seconds[n - 1]) && v->r->seconds[n - 1] > 0.0;
}

/* That every chain has so many draws. */
static double time_of(const view *v, size_t each)
{
    double last = 0.0;
    if (!has_seconds(v)) return (double)(each * v->r->chains);
    for (size_t c = 0; c < v->r->chains; c++)
        last = fmax(last, v->r->seconds[c * v->r->draws + each - 1]);
    return last;
}

static bool grow(const view *v, size_t j, growth *out)
{
    const double *draws = view_gather(v, j);
    out->count = 0;
    for (size_t k = 1; k <= TENTHS; k++) {
        size_t each = v->r->draws * k / TENTHS, i = out->count;
        draw_summary s;
        if (each < FEWEST) continue;
        if (summarize_draws(v->r->chains, each, first_draws(v, draws, each), &s, NULL) !=
            SBPS_OK)
            return false;
        if (!isfinite(s.ess_bulk) || !isfinite(s.ess_tail)) continue;
        out->when[i] = time_of(v, each);
        out->bulk[i] = s.ess_bulk;
        out->tail[i] = s.ess_tail;
        out->count++;
    }
    return true;
}

static void draw_growth(const plot *p, const growth *g)
{
    if (g->count < 2) return;
    plot_curve(p, "bulk", g->count, g->when, g->bulk);
    plot_curve(p, "tail", g->count, g->when, g->tail);
}

static void draw_all(text *t, const view *v, const growth *all)
{
    plot p = {t,
              WIDTH,
              HEIGHT,
              {.low = 0, .high = time_of(v, v->r->draws), .from = 54, .to = WIDTH - 12},
              {.low = 0, .high = ENOUGH, .from = HEIGHT - 36, .to = 8}};
    for (size_t i = 0; i < v->worst_count; i++)
        for (size_t k = 0; k < all[i].count; k++)
            p.y.high = fmax(p.y.high, fmax(all[i].bulk[k], all[i].tail[k]));
    p.y.high *= 1.05;
    plot_open(&p, "plot broad",
              "Effective sample size against %s for the %zu parameters that mix worst",
              has_seconds(v) ? "seconds of sampling" : "the number of draws", v->worst_count);
    plot_y_axis(&p, 6);
    plot_x_axis(&p, 6, has_seconds(v) ? "seconds of sampling" : "draws, all chains");
    plot_level(&p, "expected", ENOUGH);
    text_add(t, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">enough</text>", p.x.to,
             axis_place(&p.y, ENOUGH) - 4.0);
    for (size_t i = 0; i < v->worst_count; i++) draw_growth(&p, &all[i]);
    plot_close(&p);
}

void page_growth(text *t, const view *v)
{
    growth all[MAX_TRACED];
    for (size_t i = 0; i < v->worst_count; i++)
        if (!grow(v, v->worst[i], &all[i])) t->failed = true;
    if (t->failed) return;
    text_add(t, "<p>Of the stored draws, for the same parameters: <span class=\"key "
                "bulk\">bulk</span> (means) and <span "
                "class=\"key tail\">tail</span> (quantiles at 5 %% and 95 %%). Lines that keep "
                "rising say that a longer run would "
                "know more; a line that levels off is stuck.</p>\n<figure class=\"single\">");
    draw_all(t, v, all);
    text_add(t, "</figure>\n");
}
