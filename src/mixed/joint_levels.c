/* From standards of levels to effects and back. A single effect a level is most of what there is, and is done in closed
 * form: with s its sd, R^2 = 1 + s^2 P
 *
 *   z = s b/R^2 + eta/R,   u = s z,   log p = (eta^2 - z^2)/2 - log R                                 (1)
 *   dz/ds = b/R^2 - 2 s^2 b P/R^4 - eta s P/R^3,   d log R/ds = s P/R^2                                (2) */
#include "base/cholesky.h"
#include "base/dense.h"
#include "mixed/crossed.h"
#include "mixed/joint.h"

#include <math.h>
#include <string.h>

static double lead_single(const other_factor *o, size_t levels, const double *w, double *at)
{
    double s = exp(w[o->spread]), said = 0.0;
    const double *eta = w + o->first;
    double *u = at + o->first;
    for (size_t l = 0; l < levels; l++) {
        double square = 1.0 + s * s * o->precision[l], root = sqrt(square);
        double z = (s * o->pull[l] / root + eta[l]) / root;
        u[l] = s * z;
        said += 0.5 * (eta[l] * eta[l] - z * z - log(square));
    }
    return said;
}

static void back_single(const other_factor *o, size_t levels, const double *w, double *gradient)
{
    double s = exp(w[o->spread]), by_spread = 0.0;
    const double *eta = w + o->first;
    double *by = gradient + o->first;
    for (size_t l = 0; l < levels; l++) {
        double p = o->precision[l], b = o->pull[l], g = by[l];
        double square = 1.0 + s * s * p, root = sqrt(square), sp = s * p / square;
        double z = (s * b / root + eta[l]) / root;
        double dz = b / square - 2.0 * s * b * sp / square - eta[l] * sp / root;
        by_spread += g * (z + s * dz) + z * dz + sp;
        by[l] = g * s / root - (eta[l] - z / root);
    }
    gradient[o->spread] += s * by_spread;
}

double levels_lead(const other_factor *o, size_t levels, const double *w, double *at)
{
    size_t q = o->shape.effects;
    double said = 0.0;
    effect_spread spread;
    if (o->shape.count == 1) return lead_single(o, levels, w, at);
    spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = 0; l < levels; l++) {
        level_point p;
        level_at(o, &spread, l, w + o->first + l * q, false, &p);
        memcpy(at + o->first + l * q, p.effect, q * sizeof *at);
        said += p.value;
    }
    return said;
}

void levels_back(const other_factor *o, size_t levels, const double *w, double *gradient)
{
    size_t q = o->shape.effects, moves = level_moves(o);
    effect_spread spread;
    if (o->shape.count == 1) {
        back_single(o, levels, w, gradient);
        return;
    }
    spread_at(&o->shape, w + o->spread, false, &spread);
    for (size_t l = 0; l < levels; l++) {
        level_point p;
        double by[EFFECTS_A_LEVEL], *own = gradient + o->first + l * q;
        level_at(o, &spread, l, w + o->first + l * q, true, &p);
        memcpy(by, own, q * sizeof *by);
        memset(own, 0, q * sizeof *own);
        for (size_t k = 0; k < moves; k++)
            gradient[level_coordinate(o, l, k)] += dot(q, p.first[k], by) - p.value_first[k];
    }
}

/* b = (S^-1 + P) u */
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
