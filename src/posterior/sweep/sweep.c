/* Opening, the layout of a chain's state, and the coordinates of the posterior, which hold
 * L^-1 u where sweeps work with u. */
#include "posterior/sweep/sweep.h"
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/log_prior.h"
#include "posterior/sweep/sweep_parts.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX ((size_t)1000) /* of x: matrices of this size are factored in every sweep */
#define FIRST_WIDTH 1.0            /* of slices along eta */
#define SCATTER     0.25           /* part of p by which starts differ */

/* ---- opening ---- */

/* Sets the factors; returns the number of doubles that one per effect of a factor takes. */
static void set_factors(sweep *s)
{
    const mixed *m = s->m;
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        const group_factor *g = &m->groups->factor[o->factor];
        s->factor[f] =
            (sweep_factor){.of = o, .level = g->of, .levels = g->levels, .q = o->shape.effects};
        if (g->levels * o->shape.effects > s->widest) s->widest = g->levels * o->shape.effects;
        s->lines += o->shape.count;
    }
    s->factors = m->others;
    s->lines += m->row_model->auxiliary_count;
}

/* Sets the precision of the quadratic priors of beta: minus the Hessian of their logarithm. */
static sbps_status set_prior(sweep *s, sbps_error *err)
{
    const posterior *u = s->u;
    size_t d = s->d;
    double *c = new_doubles(d * d + d), *precision = c + d;
    if (!c) return fail_memory(err);
    s->prior_precision = c; /* the caller's even on failure; starts with scratch */
    s->quadratic = true;
    for (size_t j = 0; j < d; j++) {
        s->quadratic &= u->priors[j].kind->quadratic;
        if (!u->priors[j].kind->quadratic) continue;
        double curvature = -prior_curvature(&u->priors[j], SCALE_PLAIN, 0.0);
        memset(c, 0, d * sizeof *c);
        if (log_prior_centred(u, j))
            log_prior_spread(u, j, 1.0, c);
        else
            c[j] = 1.0;
        for (size_t a = 0; a < d; a++) add_scaled(d, curvature * c[a], c, precision + a * d);
    }
    memmove(c, precision, d * d * sizeof *c);
    return SBPS_OK;
}

static sbps_status check(const sweep *s, sbps_error *err)
{
    if (s->data->partition)
        return fail(err, SBPS_BAD_ARG,
                    "--sampler: sweep keeps all rows in one process; use hmc on several ranks");
    if (s->d > COLUMNS_MAX)
        return fail(err, SBPS_BAD_ARG,
                    "--sampler: sweep takes at most %zu columns of fixed effects; use hmc",
                    COLUMNS_MAX);
    return SBPS_OK;
}

sbps_status sweep_open(const posterior *u, sweep **out, sbps_error *err)
{
    *out = NULL;
    sweep *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err);
    mixed_joint_plain(u->self);
    *s = (sweep){.u = u, .m = u->self, .dim = u->dim};
    s->data = s->m->data;
    s->n = s->data->local_rows;
    s->d = s->data->d;
    s->family = s->m->row_model->predictor;
    set_factors(s);
    sbps_status status = check(s, err);
    if (status == SBPS_OK) status = set_prior(s, err);
    if (status == SBPS_OK) status = shift_open(s, err);
    if (status == SBPS_OK && !strcmp(s->m->row_model->name, "linear"))
        status = linear_sums_open(s, err);
    if (status == SBPS_OK)
        *out = s;
    else
        sweep_close(s);
    return status;
}

void sweep_close(sweep *s)
{
    if (!s) return;
    linear_sums_close(s->sums);
    shift_close(s);
    free(s->prior_precision);
    free(s);
}

/* ---- the state ---- */

size_t sweep_carve(const sweep *s, double *base, sweep_state *out)
{
    size_t d = s->d, curve = s->widest * LEVEL_EFFECTS_MAX;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&out->at, s->dim},
                 {&out->total, 1},
                 {&out->width, s->lines + 1},
                 {&out->root, d * d},
                 {&out->eta, s->sums ? 0 : s->n},
                 {&out->centre, s->sums ? 0 : s->dim},
                 {&out->first, s->widest},
                 {&out->second, s->widest},
                 {&out->curve, curve},
                 {&out->curve2, curve},
                 {&out->value, s->widest},
                 {&out->value2, s->widest},
                 {&out->step, s->widest},
                 {&out->v, s->widest},
                 {&out->fixed, d * (d + 6)},
                 {&out->row, 8 * PASS_ROWS + 3 * s->data->stride}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    return used;
}

size_t sweep_numbers(const sweep *s)
{
    sweep_state unused;
    return sweep_carve(s, NULL, &unused);
}

void sweep_inspect(const sweep *s, const double *state, inspection *x)
{
    sweep_state st;
    union {
        const double *from;
        double *base;
    } both = {.from = state}; /* only pointers are set */
    size_t numbers = sweep_carve(s, both.base, &st);
    inspect_finite(x, "a parameter", st.at, s->dim);
    inspect_finite(x, "the residual sum of squares", st.total, 1);
    inspect_reals(x, "the width of a slice", st.width, s->lines + 1, 0.0, DBL_MAX);
    inspect_finite(x, "the proposal of fixed effects", st.root, s->d * s->d);
    if (!s->sums) inspect_finite(x, "a predictor", st.eta, s->n);
    if (!s->sums) inspect_finite(x, "a centre of sweeps", st.centre, s->dim);
    inspect_any(x, state, numbers * sizeof *state);
}

/* ---- priors ---- */

double sweep_log_prior(const sweep *s, const double *at, size_t j)
{
    return prior_logpdf(&s->u->priors[j], s->u->scale[j], log_prior_argument(s->u, at, j));
}

double sweep_fixed_prior(const sweep *s, const double *at, bool rest)
{
    double total = 0.0;
    for (size_t j = 0; j < s->d; j++)
        if (!rest || !s->u->priors[j].kind->quadratic) total += sweep_log_prior(s, at, j);
    return total;
}

void sweep_fixed_slope(const sweep *s, const double *at, bool quadratic, double *out)
{
    const posterior *u = s->u;
    memset(out, 0, s->d * sizeof *out);
    for (size_t j = 0; j < s->d; j++) {
        if (quadratic && !u->priors[j].kind->quadratic) continue;
        double slope = prior_slope(&u->priors[j], SCALE_PLAIN, log_prior_argument(u, at, j));
        if (log_prior_centred(u, j))
            log_prior_spread(u, j, slope, out);
        else
            out[j] += slope;
    }
}

/* ---- coordinates ---- */

/* w = the coordinates of the chain's point. */
static void put_point(const sweep_run *r, double *w)
{
    const sweep *s = r->s;
    memcpy(w, r->st.at, s->dim * sizeof *w);
    for (size_t f = 0; f < s->factors; f++)
        sweep_standardise(r, &s->factor[f], w + s->factor[f].of->first);
}

/* at = the point with coordinates w. */
static void take_point(const sweep *s, const double *w, double *at)
{
    memcpy(at, w, s->dim * sizeof *at);
    for (size_t f = 0; f < s->factors; f++) {
        const sweep_factor *of = &s->factor[f];
        effect_spread spread;
        spread_at(&of->of->shape, w + of->of->spread, false, &spread);
        for (size_t l = 0; l < of->levels; l++)
            for (size_t a = 0; a < of->q; a++)
                at[of->of->first + l * of->q + a] =
                    dot(a + 1, spread.factor[a], w + of->of->first + l * of->q);
    }
}

/* Moves spreads and auxiliaries by a part of p. */
static void scatter(const sweep *s, const double *p, double *at)
{
    for (size_t f = 0; f < s->factors; f++) {
        size_t first = s->factor[f].of->spread;
        add_scaled(s->factor[f].of->shape.count, SCATTER, p + first, at + first);
    }
    add_scaled(s->dim - s->m->aux, SCATTER, p + s->m->aux, at + s->m->aux);
}

void sweep_start(const sweep *s, const double *p, double *w, double *state)
{
    const rng none = {.left = 0};
    sweep_run r = {.s = s, .random = &none};
    memset(state, 0, sweep_carve(s, state, &r.st) * sizeof *state);
    take_point(s, w, r.st.at);
    if (p) scatter(s, p, r.st.at);
    for (size_t i = 0; i < s->lines + 1; i++) r.st.width[i] = FIRST_WIDTH;
    if (s->sums)
        linear_begin(&r, !p);
    else
        rows_begin(&r);
    put_point(&r, w);
}

double sweep_step(const sweep *s, const rng *random, uint64_t count, bool adapting,
                  double *state, double *w)
{
    sweep_run r = {.s = s, .random = random, .count = count, .adapting = adapting};
    sweep_carve(s, state, &r.st);
    if (s->sums)
        linear_sweep(&r);
    else
        rows_sweep_all(&r);
    put_point(&r, w);
    return r.passes;
}
