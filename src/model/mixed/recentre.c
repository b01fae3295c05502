/* P and b of crossed.h from the Hessian at a point: with C the covariance of a level's eta given the covariances of
 * effects, z has the precision A C^-1 A' there, of which I is the effects' own law and the rest L'P L what data say. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "model/mixed/crossed_effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mixed_crossed(const void *self)
{
    return ((const mixed *)self)->others > 0;
}

double mixed_moved(const void *self, const double *hessian, const double *from,
                   const double *to)
{
    const mixed *m = self;
    double largest = 0.0;
    for (size_t f = 0; f < m->others; f++) {
        size_t first = m->other[f].spread;
        for (size_t j = first; j < first + m->other[f].shape.count; j++)
            largest =
                fmax(largest, fabs(to[j] - from[j]) * sqrt(fabs(hessian[j * m->dim + j])));
    }
    return largest;
}

static bool is_spread(const mixed *m, size_t j)
{
    const other_factor *last = &m->other[m->others - 1];
    return j >= m->other[0].spread && j < last->spread + last->shape.count;
}

/* The covariance of all coordinates but the spreads of other factors, given those, to be freed. Coordinates before the
 * spreads keep their index, and those behind lose as many as there are. */
static sbps_status covariance_given_spreads(const mixed *m, const double *hessian, double **out,
                                            sbps_error *err)
{
    size_t d = 0;
    double *part = *out = new_doubles(2 * m->dim * m->dim);
    for (size_t i = 0; part && i < m->dim; i++) {
        if (is_spread(m, i)) continue;
        for (size_t j = 0; j < m->dim; j++)
            if (!is_spread(m, j)) part[d++] = hessian[i * m->dim + j];
    }
    if (!part) return fail_memory(err);
    d = (size_t)lround(sqrt((double)d));
    double *inverse = part + d * d;
    bool fine = cholesky(d, part);
    if (fine) cholesky_inverse(d, part, inverse);
    memmove(part, inverse, d * d * sizeof *part);
    if (fine) return SBPS_OK;
    free(part);
    *out = NULL;
    return fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
}

#define FAST 4.0 /* variances */

/* Where rows hold levels fast against each other and all of them together not at all, as beside an intercept, a level's own
 * covariance says that data say little of it, and its sd would move what is held: there the covariance given all other
 * levels, too. */
static void replace_confounded_block(const mixed *m, const double *hessian, size_t first,
                                     size_t q, double *block)
{
    double own[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX],
        inverse[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    bool fast = false;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++)
            own[a * q + b] = hessian[(first + a) * m->dim + first + b];
    if (!cholesky(q, own)) return;
    cholesky_inverse(q, own, inverse);
    for (size_t a = 0; a < q; a++) fast |= block[a * q + a] > FAST * inverse[a * q + a];
    if (fast) memcpy(block, inverse, q * q * sizeof *block);
}

static void recentre_factor(const mixed *m, other_factor *o, const double *hessian,
                            const double *covariance, double *w)
{
    effect_spread at;
    size_t q = o->shape.effects, levels = m->groups->factor[o->factor].levels, gone = 0;
    for (size_t f = 0; f < m->others; f++) gone += m->other[f].shape.count;
    size_t d = m->dim - gone;
    spread_at(&o->shape, w + o->spread, false, &at);
    for (size_t level = 0; level < levels; level++) {
        double block[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
        size_t first = o->first + level * q;
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++)
                block[a * q + b] = covariance[(first - gone + a) * d + first - gone + b];
        replace_confounded_block(m, hessian, first, q, block);
        level_recentre(o, &at, level, block, w + first);
    }
}

sbps_status mixed_recentre(void *self, const double *hessian, double *w, sbps_error *err)
{
    mixed *m = self;
    double *covariance;
    sbps_status status = covariance_given_spreads(m, hessian, &covariance, err);
    if (status != SBPS_OK) return status;
    for (size_t f = 0; f < m->others; f++)
        recentre_factor(m, &m->other[f], hessian, covariance, w);
    free(covariance);
    return SBPS_OK;
}
