/* Standard deviations and correlations of a factor's effects, in the coordinates x of
 * effect_spread.h, one coordinate after another by slices. Twice in every sweep:
 *
 *   given u:        log p(x) = -levels log|L| - tr(S^-1 sum_l u_l u_l')/2 + log prior(x)   (1)
 *   given L^-1 u:   log p(x) = log likelihood(u = L v) + log prior(x)                      (2)
 *
 * where v = L^-1 u ~ N(0, 1) does not depend on x. (1) mixes well where the rows determine
 * each effect, (2) where they do not. In (2) all effects u move with x: in terms of (u, x) its
 * proposals have the Jacobian |L'|^levels / |L|^levels, which cancels against the density of
 * u. */
#include "linalg/dense_matrix.h"
#include "posterior/sweep/sweep_parts.h"

#include <string.h>

#define Q         LEVEL_EFFECTS_MAX
#define SHRINKS   200 /* of an interval, at most; then the old value is kept */
#define WIDEN_MAX ((size_t)40)

/* ---- slices ---- */

/* -INFINITY also where the density is not a number. */
static double density_at(const sweep_density *f, double x)
{
    double value = f->at(f->self, x);
    return value < INFINITY ? value : -INFINITY;
}

double sweep_slice(rng *random, double x, double fx, double width, size_t widen,
                   sweep_density f)
{
    double floor_value = fx - rng_exponential(random);
    double low = x - width * rng_uniform(random), high = low + width;
    size_t below = (size_t)((double)(widen + 1) * rng_uniform(random));
    for (size_t i = 0; i < below && density_at(&f, low) > floor_value; i++) low -= width;
    for (size_t i = below; i < widen && density_at(&f, high) > floor_value; i++) high += width;
    for (int i = 0; i < SHRINKS; i++) {
        double to = low + (high - low) * rng_uniform(random);
        if (density_at(&f, to) > floor_value) return to;
        if (to < x)
            low = to;
        else
            high = to;
    }
    return x;
}

/* ---- given the effects ---- */

typedef struct {
    const sweep *s;
    const sweep_factor *f;
    double *at;           /* the chain's point; coordinate `j` of it is varied */
    double moment[Q * Q]; /* sum of u u' */
    size_t j;
} given_effects;

/* tr((L L')^-1 M) */
static double trace_ratio(size_t q, double (*factor)[Q], const double *moment)
{
    double half[Q][Q], trace = 0.0; /* half[b]: column b of L^-1 M */
    for (size_t b = 0; b < q; b++)
        for (size_t a = 0; a < q; a++)
            half[b][a] = (moment[a * q + b] - dot(a, factor[a], half[b])) / factor[a][a];
    for (size_t a = 0; a < q; a++) { /* row a of L^-1 M, solved once more: L^-1 (L^-1 M)' */
        double x[Q];
        for (size_t b = 0; b <= a; b++)
            x[b] = (half[b][a] - dot(b, factor[b], x)) / factor[b][b];
        trace += x[a];
    }
    return trace;
}

/* (1) */
static double density_given_effects(void *self, double x)
{
    given_effects *g = self;
    const sweep_factor *f = g->f;
    double was = g->at[g->j], levels = (double)f->levels, log_size = 0.0;
    g->at[g->j] = x;
    double value = sweep_log_prior(g->s, g->at, g->j);
    if (f->q == 1)
        value -= levels * x + 0.5 * g->moment[0] * exp(-2.0 * x);
    else {
        effect_spread at;
        spread_at(&f->of->shape, g->at + f->of->spread, false, &at);
        for (size_t a = 0; a < f->q; a++) log_size += log(at.factor[a][a]);
        value -= levels * log_size + 0.5 * trace_ratio(f->q, at.factor, g->moment);
    }
    g->at[g->j] = was;
    return value;
}

void sweep_draw_spread(sweep_run *r, const sweep_factor *f)
{
    const spread_shape *shape = &f->of->shape;
    given_effects g = {.s = r->s, .f = f, .at = r->st.at};
    rng random = sweep_stream(r, 0);
    size_t q = f->q;
    for (size_t l = 0; l < f->levels; l++) {
        const double *u = sweep_effects(r, f, l);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) g.moment[a * q + b] += u[a] * u[b];
    }
    for (size_t c = 0; c < shape->count; c++) {
        double width = 3.0 / sqrt(2.0 * (double)f->levels);
        g.j = f->of->spread + c;
        double x = r->st.at[g.j], fx = density_given_effects(&g, x);
        sweep_density density = {&g, density_given_effects};
        r->st.at[g.j] = sweep_slice(&random, x, fx, width, WIDEN_MAX, density);
    }
    r->update++;
}

/* ---- given the standardised effects ---- */

void sweep_standardise(const sweep_run *r, const sweep_factor *f, double *out)
{
    effect_spread at;
    size_t q = f->q;
    spread_at(&f->of->shape, r->st.at + f->of->spread, false, &at);
    for (size_t l = 0; l < f->levels; l++) {
        const double *u = sweep_effects(r, f, l);
        for (size_t a = 0; a < q; a++)
            out[l * q + a] = (u[a] - dot(a, at.factor[a], out + l * q)) / at.factor[a][a];
    }
}

typedef struct {
    const sweep *s;
    const sweep_factor *f;
    const sweep_line *line;
    double *at;
    size_t effect, j;
} given_standard;

/* Row `effect` of L at the chain's point. */
static void row_at(const given_standard *g, double *row)
{
    effect_spread at;
    spread_at(&g->f->of->shape, g->at + g->f->of->spread, false, &at);
    memcpy(row, at.factor[g->effect], Q * sizeof *row);
}

/* (2), relative to the likelihood where the line begins. */
static double density_given_standard(void *self, double x)
{
    given_standard *g = self;
    double row[Q], was = g->at[g->j];
    g->at[g->j] = x;
    double value = sweep_log_prior(g->s, g->at, g->j);
    row_at(g, row);
    g->at[g->j] = was;
    return value + g->line->change(g->line->self, row);
}

void sweep_adapt_width(const sweep_run *r, double *width, double change)
{
    const double rate = 0.05, multiple = 5.0, least = 1e-3;
    if (!r->adapting) return;
    *width += rate * (multiple * fabs(change) - *width);
    if (*width < least) *width = least;
}

void sweep_draw_row(sweep_run *r, const sweep_factor *f, size_t effect, const sweep_line *line,
                    size_t widen, double *row)
{
    const spread_shape *shape = &f->of->shape;
    given_standard g = {.s = r->s, .f = f, .line = line, .at = r->st.at, .effect = effect};
    rng random = sweep_stream(r, 0);
    for (size_t c = 0; c < shape->count; c++) {
        if (shape->of[c].row != effect) continue;
        g.j = f->of->spread + c;
        double x = g.at[g.j], *width = r->st.width + (g.j - r->s->d);
        sweep_density density = {&g, density_given_standard};
        double fx = density_given_standard(&g, x);
        double to = sweep_slice(&random, x, fx, *width, widen, density);
        sweep_adapt_width(r, width, to - x);
        g.at[g.j] = to;
    }
    row_at(&g, row);
    r->update++;
}
