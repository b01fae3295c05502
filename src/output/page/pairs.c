/* Section: the pairs of parameters whose draws are most correlated, of those farthest from
 * 0. */
#include "core/memory.h"
#include "output/page/html.h"
#include "output/page/page_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 230, MAX_DOTS = 300 };
#define WEAK 0.1 /* correlations below it are not drawn */

typedef struct {
    size_t a, b;
    double r;
} pair;

/* Draws less their mean, over the root of their sum of squares: dot products are
 * correlations. */
static void standardize(size_t n, const double *x, double *out)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i < n; i++) out[i] = square > 0.0 ? (x[i] - mean) / sqrt(square) : 0.0;
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Inserts a pair into the list of the strongest, if it is among them; strongest first. */
static void insert_pair(pair *best, size_t *count, pair p)
{
    size_t at = *count < MAX_PAIRS ? (*count)++ : MAX_PAIRS - 1;
    if (at == MAX_PAIRS - 1 && *count == MAX_PAIRS && fabs(best[at].r) >= fabs(p.r)) return;
    best[at] = p;
    for (; at > 0 && fabs(best[at].r) > fabs(best[at - 1].r); at--) {
        pair swapped = best[at];
        best[at] = best[at - 1];
        best[at - 1] = swapped;
    }
}

/* Finds the pairs with the strongest correlations; returns their number. */
static size_t strongest(const view *v, const double *scaled, pair *best)
{
    size_t n = view_draws(v), count = 0;
    memset(best, 0, MAX_PAIRS * sizeof *best);
    for (size_t i = 0; i < v->clearest_count; i++)
        for (size_t k = 0; k < i; k++)
            insert_pair(
                best, &count,
                (pair){v->clearest[k], v->clearest[i], dot(n, scaled + i * n, scaled + k * n)});
    while (count > 0 && fabs(best[count - 1].r) < WEAK) count--;
    return count;
}

/* Scatter plot of the draws of two parameters. */
static void draw_pair(text *t, const view *v, const pair *of)
{
    size_t n = view_draws(v), stride = (n + MAX_DOTS - 1) / MAX_DOTS;
    double *x = v->draws + n, *y = v->draws + 2 * n;
    memcpy(x, view_gather(v, of->a), n * sizeof *x);
    memcpy(y, view_gather(v, of->b), n * sizeof *y);
    plot p = {t,
              SIDE,
              SIDE,
              {.low = x[0], .high = x[0], .from = 44, .to = SIDE - 8},
              {.low = y[0], .high = y[0], .from = SIDE - 22, .to = 8}};
    for (size_t i = 0; i < n; i++) {
        p.x.low = fmin(p.x.low, x[i]), p.x.high = fmax(p.x.high, x[i]);
        p.y.low = fmin(p.y.low, y[i]), p.y.high = fmax(p.y.high, y[i]);
    }
    plot_open(&p, "plot", "Draws of %s against those of %s, correlation %.2f",
              view_name(v, of->b), view_name(v, of->a), of->r);
    plot_y_axis(&p, 6);
    plot_x_axis(&p, 5, NULL);
    plot_dots(&p, "dots", n, x, y, stride);
    plot_close(&p);
}

/* Figure of a pair. */
static void add_pair(text *t, const view *v, const pair *of)
{
    text_add(t, "<figure><figcaption><b>");
    html_text(t, view_name(v, of->b));
    text_add(t, "</b> (upwards) against <b>");
    html_text(t, view_name(v, of->a));
    text_add(t, "</b>, r = %.2f</figcaption>", of->r);
    draw_pair(t, v, of);
    text_add(t, "</figure>\n");
}

void page_pairs(text *t, const view *v)
{
    pair best[MAX_PAIRS];
    size_t n = view_draws(v);
    double *scaled = new_doubles(v->clearest_count * n + 1);
    if (!scaled) t->failed = true;
    if (!scaled) return;
    for (size_t i = 0; i < v->clearest_count; i++)
        standardize(n, view_gather(v, v->clearest[i]), scaled + i * n);
    size_t count = strongest(v, scaled, best);
    free(scaled);
    if (count == 0) {
        text_add(t, "<p>No two parameters are correlated by more than %.1f.</p>\n", WEAK);
        return;
    }
    text_add(
        t, "<p>The pairs of parameters whose draws are most correlated. In a narrow ridge the "
           "sum or the difference of the two is better known than either. A curved shape or "
           "two clouds mean that means and sds do not describe the posterior.</p>\n"
           "<div class=\"cards small\">\n");
    for (size_t i = 0; i < count; i++) add_pair(t, v, &best[i]);
    text_add(t, "</div>\n");
}
