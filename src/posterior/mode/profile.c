/* Warped coordinates. A coefficient on which only a few rows, all of one class, depend has a
 * one-sided posterior: half a normal from the prior on one side, and on the other an
 * exponential boundary some hundred times thinner. Along one coordinate, with the others at
 * the mode,
 *
 *   U(w_hat + s t e_j) - U(w_hat) = l   at  t = t(l)                                        (1)
 *
 * has t(2) - t(1/2) = sd for a normal, and ln 4 for a boundary e^t. That distance is
 * measured on both sides; the larger is `reach`, the smaller `boundary`, and the boundary
 * begins at t(1/2) - boundary, which is 0 for a normal.
 *
 * A boundary is oblique if at t(2) the gradient, in sds by the Hessian, points along other
 * coordinates too: in a softmax model the rows of a rare level bound differences between the
 * coefficients of its classes.
 *
 * Only coordinates that are nearly independent of the others by the Hessian are profiled:
 * for these the profile with the others fixed resembles the marginal. */
#include "posterior/mode/profile.h"
#include "core/memory.h"
#include "linalg/metric/metric.h"
#include "posterior/full/posterior.h"
#include "posterior/mode/laplace.h"
#include "posterior/mode/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INDEPENDENT 0.7 /* smallest ratio of conditional to marginal sd */
#define PROBE_AT    2.0 /* sds to either side; a normal rises by 2 there */
/* ratio of the rises of the two sides above which the profile is measured */
#define LOPSIDED        4.0
#define REACH_RATIO_MIN 3.0 /* smallest reach / boundary that is warped */
#define OBLIQUE         0.3 /* another coordinate's slope relative to the boundary's own */
#define LEVEL_NEAR      0.5
#define LEVEL_FAR       2.0
#define DOUBLINGS       30
#define HALVINGS        12 /* of the bracket: t to about one part in 4000 */

typedef struct {
    const posterior *u;
    const mode *m;
    double *w;        /* dim: the mode except for one coordinate */
    double *sd;       /* dim: marginal, by the Hessian */
    double *gradient; /* dim: scratch */
} profile;

/* *out = U at the mode + t e_j, less U at the mode; INFINITY where U is NAN. */
static sbps_status rise(const profile *p, size_t j, double t, double *out, sbps_error *err)
{
    p->w[j] = p->m->w[j] + t;
    sbps_status status = posterior_value(p->u, p->w, out, err);
    p->w[j] = p->m->w[j];
    *out = isnan(*out) ? INFINITY : *out - p->m->value;
    return status;
}

/* Solves (1) for t from a first guess: a bracket by doubling or halving, then bisection. *t
 * is NAN where there is no solution. */
static sbps_status reach_level(const profile *p, size_t j, double sign, double level,
                               double guess, double *t, sbps_error *err)
{
    double low = 0.0, high = INFINITY, at = guess, value;
    for (int i = 0; i < DOUBLINGS && (low == 0.0 || isinf(high)); i++) {
        sbps_status status = rise(p, j, sign * at, &value, err);
        if (status != SBPS_OK) return status;
        *(value < level ? &low : &high) = at;
        at = value < level ? 2.0 * at : 0.5 * at;
    }
    for (int i = 0; i < HALVINGS && isfinite(high); i++) {
        at = 0.5 * (low + high);
        sbps_status status = rise(p, j, sign * at, &value, err);
        if (status != SBPS_OK) return status;
        *(value < level ? &low : &high) = at;
    }
    *t = isfinite(high) && low > 0.0 ? 0.5 * (low + high) : NAN;
    return SBPS_OK;
}

typedef struct {
    double near, far; /* t at LEVEL_NEAR and LEVEL_FAR */
} flank;

static sbps_status profile_flank(const profile *p, size_t j, double sign, double sd, flank *out,
                                 sbps_error *err)
{
    sbps_status status = reach_level(p, j, sign, LEVEL_NEAR, sd, &out->near, err);
    if (status != SBPS_OK) return status;
    return reach_level(p, j, sign, LEVEL_FAR, 2.0 * sd, &out->far, err);
}

/* Sets *oblique if the boundary of coordinate j at the mode + t e_j is. */
static sbps_status find_oblique(const profile *p, size_t j, double t, bool *oblique,
                                sbps_error *err)
{
    double value, own;
    p->w[j] = p->m->w[j] + t;
    sbps_status status = posterior_gradient(p->u, p->w, &value, p->gradient, err);
    p->w[j] = p->m->w[j];
    if (status != SBPS_OK) return status;
    own = OBLIQUE * fabs(p->gradient[j]) * p->sd[j];
    for (size_t k = 0; k < p->u->dim; k++)
        *oblique = *oblique || (k != j && fabs(p->gradient[k]) * p->sd[k] > own);
    return SBPS_OK;
}

/* Profiles coordinate j and fills *b; b->sign is 0 where no warp is needed. */
static sbps_status profile_coordinate(const profile *p, size_t j, double sd, warp *b,
                                      bool *oblique, sbps_error *err)
{
    double below, above;
    flank boundary, open;
    *b = (warp){.j = j};
    sbps_status status = rise(p, j, -PROBE_AT * sd, &below, err);
    if (status == SBPS_OK) status = rise(p, j, PROBE_AT * sd, &above, err);
    if (status != SBPS_OK) return status;
    if (!(fmax(below, above) > LOPSIDED * fmin(below, above))) return SBPS_OK;
    double sign = below > above ? 1.0 : -1.0;
    status = profile_flank(p, j, -sign, sd, &boundary, err);
    if (status == SBPS_OK) status = profile_flank(p, j, sign, sd, &open, err);
    if (status != SBPS_OK) return status;
    b->boundary = boundary.far - boundary.near;
    b->reach = open.far - open.near;
    b->start = b->boundary - boundary.near;
    /* a NAN compares false: no warp */
    if (!(b->boundary > 0.0 && b->reach > REACH_RATIO_MIN * b->boundary && isfinite(b->reach)))
        return SBPS_OK;
    b->sign = sign;
    return find_oblique(p, j, -sign * boundary.far, oblique, err);
}

/* squares[j] += variance of x_j for x = A z, z standard normal. e, x: scratch of d numbers. */
static void spread(const metric *a, double *e, double *x, double *squares)
{
    memset(e, 0, a->d * sizeof *e);
    for (size_t k = 0; k < a->d; k++) {
        e[k] = 1.0;
        a->kind->forward(a, e, x);
        e[k] = 0.0;
        for (size_t j = 0; j < a->d; j++) squares[j] += x[j] * x[j];
    }
}

/* Profiles all coordinates that are nearly independent of the others. */
static sbps_status profile_all(const profile *p, const double *squares, warps *found,
                               sbps_error *err)
{
    size_t d = p->u->dim;
    for (size_t j = 0; j < d; j++) {
        double alone = 1.0 / sqrt(p->m->hessian[j * d + j]);
        warp *b = &found->list[found->count];
        if (!(alone > INDEPENDENT * p->sd[j])) continue;
        sbps_status status = profile_coordinate(p, j, alone, b, &found->oblique, err);
        if (status != SBPS_OK) return status;
        b->unit = sqrt(squares[j]);
        found->count += b->sign != 0.0;
    }
    return SBPS_OK;
}

sbps_status profile_warps(const posterior *u, const mode *m, const metric *a, warps **out,
                          sbps_error *err)
{
    size_t d = u->dim;
    *out = NULL;
    if (!(m->gradient_norm < PROFILE_FROM)) return SBPS_OK;
    double *covariance = new_doubles(d * d + 4 * d), *sd = covariance + d * d;
    double *squares = sd + d, *w = squares + d, *gradient = w + d;
    warps *found = calloc(1, sizeof *found + d * sizeof *found->list);
    sbps_status status = covariance && found ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) {
        spread(a, sd, w, squares);
        status = laplace_spread(d, m, covariance, sd, err);
    }
    if (status == SBPS_OK) {
        memcpy(w, m->w, d * sizeof *w);
        status = profile_all(&(profile){u, m, w, sd, gradient}, squares, found, err);
    }
    free(covariance);
    if (status == SBPS_OK && found->count > 0)
        *out = found;
    else
        free(found);
    return status;
}
