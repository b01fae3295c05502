/* From the eta of levels to effects and back, with P and b of (1) of crossed_effects.h times k,
 * the strength of joint.h. The usual case of one effect per level is in closed form: with s its
 * sd and R^2 = 1 + s^2 k P
 *
 *   z = s k b/R^2 + eta/R,   u = s z,   log p = (eta^2 - z^2)/2 - log R                     (1)
 *   dz/ds = k b/R^2 - 2 s^2 k^2 b P/R^4 - eta s k P/R^3,   d log R/ds = s k P/R^2           (2)
 *   dz/d log k = s k b/R^4 - eta (1 - 1/R^2)/(2 R),   d log R/d log k = (1 - 1/R^2)/2       (3)
 * */
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/joint.h"

#include <math.h>
#include <string.h>

/* levels_transform for one effect per level, by (1). */
static double transform_single(const other_factor *o, size_t levels, double strength,
                               const double *w, double *at)
{
    double s = exp(w[o->spread]), value = 0.0;
    const double *eta = w + o->first;
    double *u = at + o->first;
    for (size_t l = 0; l < levels; l++) {
        double square = 1.0 + s * s * strength * o->precision[l], root = sqrt(square);
        double z = (s * strength * o->pull[l] / root + eta[l]) / root;
        u[l] = s * z;
        value += 0.5 * (eta[l] * eta[l] - z * z - log(square));
    }
    return value;
}

/* levels_pullback for one effect per level, by (2) and (3). */
static double pullback_single(const other_factor *o, size_t levels, double strength,
                              const double *w, double *gradient)
{
    double s = exp(w[o->spread]), by_spread = 0.0, by_strength = 0.0;
    const double *eta = w + o->first;
    double *by = gradient + o->first;
    for (size_t l = 0; l < levels; l++) {
        double p = strength * o->precision[l], b = strength * o->pull[l], g = by[l];
        double square = 1.0 + s * s * p, root = sqrt(square), sp = s * p / square;
        double mean = s * b / square, z = mean + eta[l] / root, half = 0.5 * s * sp;
        double dz = b / square - 2.0 * s * b * sp / square - eta[l] * sp / root;
        by_spread += g * (z + s * dz) + z * dz + sp;
        by_strength += (g * s + z) * (mean / square - eta[l] * half / root) + half;
        by[l] = g * s / root - (eta[l] - z / root);
    }
    gradient[o->spread] += s * by_spread;
    return by_strength;
}

double levels_transform(const other_factor *o, size_t levels, double strength, const double *w,
                        double *at)
{
    size_t q = o->shape.effects;
    double value = 0.0;
    effect_spread spread;
    if (o->shape.count == 1) return transform_single(o, levels, strength, w, at);
    spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = 0; l < levels; l++) {
        level_point p;
        level_at_strength(o, &spread, l, strength, w + o->first + l * q, false, &p);
        memcpy(at + o->first + l * q, p.effect, q * sizeof *at);
        value += p.value;
    }
    return value;
}

double levels_pullback(const other_factor *o, size_t levels, double strength, const double *w,
                       double *gradient)
{
    size_t q = o->shape.effects, moves = level_moves(o);
    double by_strength = 0.0;
    effect_spread spread;
    if (o->shape.count == 1) return pullback_single(o, levels, strength, w, gradient);
    spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = 0; l < levels; l++) {
        level_point p;
        double by[LEVEL_EFFECTS_MAX], *own = gradient + o->first + l * q;
        level_at_strength(o, &spread, l, strength, w + o->first + l * q, true, &p);
        memcpy(by, own, q * sizeof *by);
        memset(own, 0, q * sizeof *own);
        for (size_t k = 0; k < moves; k++)
            gradient[level_coordinate(o, l, k)] += dot(q, p.first[k], by) - p.value_first[k];
        by_strength += dot(q, p.by_strength, by) - p.value_by_strength;
    }
    return by_strength;
}

/* b = (S^-1 + P) u, where S = L L' */
void level_set(other_factor *o, const effect_spread *at, size_t level, const double *precision,
               const double *u)
{
    size_t q = o->shape.effects;
    double *p = o->precision + level * q * q, *pull = o->pull + level * q;
    memcpy(p, precision, q * q * sizeof *p);
    for (size_t a = 0; a < q; a++)
        pull[a] = (u[a] - dot(a, at->factor[a], pull)) / at->factor[a][a];
    for (size_t a = q; a-- > 0;) {
        for (size_t b = a + 1; b < q; b++) pull[a] -= at->factor[b][a] * pull[b];
        pull[a] /= at->factor[a][a];
    }
    for (size_t a = 0; a < q; a++) pull[a] += dot(q, p + a * q, u);
}
