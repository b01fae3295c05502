/* Sections: posterior densities of parameters and the densities of their priors; pairs of
 * parameters. */
#include "core/memory.h"
#include "estimate/diagnostics.h"
#include "model/prior/prior.h"
#include "output/page/html.h"
#include "output/page/page_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smaller of sd and the sd of a normal with the same interquartile range. */
static double robust_sd(size_t n, const double *sorted)
{
    double sum = 0.0, square = 0.0, middle = sorted[n / 2];
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i] - middle;
        square += (sorted[i] - middle) * (sorted[i] - middle);
    }
    double mean = sum / (double)n, sd = sqrt(fmax(0.0, square / (double)n - mean * mean));
    double iqr = quantile_sorted(n, sorted, 0.75) - quantile_sorted(n, sorted, 0.25);
    return iqr > 0.0 ? fmin(sd, iqr / 1.34) : sd;
}

/* Density of n draws in increasing order at the points x: a normal kernel, its width by
 * Silverman's rule (1986, (3.31)). */
static void kernel_density(size_t n, const double *sorted, size_t count, const double *x,
                           double *out)
{
    double h = 0.9 * robust_sd(n, sorted) * pow((double)n, -0.2);
    for (size_t k = 0; k < count; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            double z = (x[k] - sorted[i]) / h;
            if (fabs(z) < 5.0) sum += exp(-0.5 * z * z);
        }
        out[k] = sum / ((double)n * h * sqrt(2.0 * acos(-1.0)));
    }
}

/* The first number of a prior that has one of these two names, or `otherwise`. */
static double number_named(const prior *p, const char *first, const char *second,
                           double otherwise)
{
    for (size_t i = 0; i < p->kind->numbers; i++)
        if (!strcmp(p->kind->number_names[i], first) ||
            !strcmp(p->kind->number_names[i], second))
            return p->theta[i];
    return otherwise;
}

/* The integral of a density that is known up to a constant, by steps that grow with the
 * distance from its centre. */
static double integrate_prior(const prior *p, bool positive)
{
    enum { STEPS = 4000 };
    double middle = number_named(p, "mean", "location", 0.0);
    double unit = number_named(p, "sd", "scale", 1.0 / number_named(p, "rate", "rate", 1.0)),
           sum = 0.0;
    const double start = log(1e-8 * unit), step = log(1e16) / STEPS;
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < STEPS; i++) {
            double away = exp(start + (i + 0.5) * step), x = middle + side * away;
            if (positive && x <= 0.0) continue;
            sum += exp(p->kind->logpdf(p->theta, x)) * away * step;
        }
    return sum;
}

/* Density of a prior in the spelling of the run's file, cut to x > 0 if `positive`; false: it
 * has none. */
static bool prior_density(const char *prior_text, bool positive, size_t count, const double *x,
                          double *out)
{
    prior p;
    if (prior_parse(prior_text, &p, NULL) != SBPS_OK || p.kind->correlation || !p.kind->logpdf)
        return false;
    positive = positive || p.kind->positive;
    double total = integrate_prior(&p, positive);
    if (!(total > 0.0) || !isfinite(total) || !strcmp(p.kind->name, "flat")) return false;
    for (size_t k = 0; k < count; k++)
        out[k] = positive && x[k] <= 0.0 ? 0.0 : exp(p.kind->logpdf(p.theta, x[k])) / total;
    return true;
}

/* Appends "normal(0, 2.5)" with numbers of four digits; unchanged if it cannot be parsed. */
static void write_prior(text *t, const char *prior_text)
{
    prior p;
    if (prior_parse(prior_text, &p, NULL) != SBPS_OK) {
        html_text(t, prior_text);
        return;
    }
    text_add(t, "%s", p.kind->name);
    for (size_t i = 0; i < p.kind->numbers; i++)
        text_add(t, "%s%.4g", i ? ", " : "(", p.theta[i]);
    if (p.kind->numbers) text_add(t, ")");
}

/* ---- charts ---- */

enum { WIDTH = 260, HEIGHT = 110, POINTS = 64 };

static const char *label_at(char *const *labels, size_t j)
{
    return labels && labels[j] ? labels[j] : "";
}

static bool is_of_parameter(const view *v, size_t j)
{
    return !strcmp(label_at(v->r->prior_of, j), "the parameter");
}

/* Chart of the posterior density and, if known, that of the prior. */
static void draw_density(text *t, const view *v, size_t j)
{
    double x[POINTS], posterior_curve[POINTS], prior_curve[POINTS], top = 0.0;
    size_t n = view_draws(v);
    const double *sorted = view_sorted(v, j);
    plot p = {t,
              WIDTH,
              HEIGHT,
              {.low = sorted[0], .high = sorted[n - 1], .from = 6, .to = WIDTH - 6},
              {.from = HEIGHT - 20, .to = 6}};
    for (size_t k = 0; k < POINTS; k++)
        x[k] = p.x.low + (p.x.high - p.x.low) * (double)k / (POINTS - 1);
    kernel_density(n, sorted, POINTS, x, posterior_curve);
    bool known = is_of_parameter(v, j) &&
                 prior_density(label_at(v->r->prior, j),
                               !*label_at(v->r->column, j) &&
                                   !strstr(view_name(v, j), "ntercept") && sorted[0] > 0.0,
                               POINTS, x, prior_curve);
    for (size_t k = 0; k < POINTS; k++) top = fmax(top, posterior_curve[k]);
    p.y.high = 1.05 * top;
    plot_open(&p, "plot", "Posterior density of %s, from %.4g to %.4g%s", view_name(v, j),
              p.x.low, p.x.high, known ? ", and that of its prior" : "");
    plot_area(&p, "posterior", POINTS, x, posterior_curve);
    if (known) plot_curve(&p, "prior", POINTS, x, prior_curve);
    plot_x_axis(&p, 5, NULL);
    plot_close(&p);
}

/* Caption: the parameter and its prior. */
static void add_caption(text *t, const view *v, size_t j)
{
    const char *prior_text = label_at(v->r->prior, j);
    text_add(t, "<figcaption><b>");
    html_text(t, view_name(v, j));
    text_add(t, "</b>");
    if (*prior_text) {
        text_add(t, "<small> prior ");
        write_prior(t, prior_text);
        if (!is_of_parameter(v, j)) {
            text_add(t, " of ");
            html_text(t, label_at(v->r->prior_of, j));
        }
        text_add(t, "</small>");
    }
    text_add(t, "</figcaption>");
}

void page_densities(text *t, const view *v)
{
    size_t count = v->clearest_count < MAX_DENSITIES ? v->clearest_count : MAX_DENSITIES;
    text_add(t,
             "<p>The <span class=\"key posterior\">posterior</span> density of each parameter, "
             "and the <span class=\"key prior\">prior</span> over the same range. If the prior "
             "is a flat line along the bottom, the data determine the parameter.");
    if (count < v->r->dim)
        text_add(t, " The %zu of %zu parameters farthest from 0, in posterior sd, are shown.",
                 count, v->r->dim);
    text_add(t, "</p>\n<div class=\"cards small\">\n");
    for (size_t i = 0; i < count; i++) {
        text_add(t, "<figure>");
        add_caption(t, v, v->clearest[i]);
        draw_density(t, v, v->clearest[i]);
        text_add(t, "</figure>\n");
    }
    text_add(t, "</div>\n");
}

/* ---- pairs ----
 *
 * The pairs of parameters whose draws are most correlated, of those farthest from
 * 0. */

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
