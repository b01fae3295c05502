/* One level's effects by (1) and (2) of crossed_effects.h, and their derivatives. A coordinate
 * of the covariance moves one row of L, dL = e_r f', so that with g' the r-th row of P L
 *
 *   dM = f g' + g f',   A^-1 dM A'^-1 = p s' + s p',   p = A^-1 f, s = A^-1 g,   dA = A T   (1)
 *
 * where T is the lower triangle of that matrix with its diagonal halved. */
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"

#include <math.h>
#include <string.h>

#define Q LEVEL_EFFECTS_MAX

/* Quantities that all derivatives share. */
typedef struct {
    size_t q;
    const double (*factor)[Q]; /* L */
    const double *pull;        /* b */
    double turned[Q][Q];       /* P L */
    double root[Q * Q];        /* A, q * q */
    double z[Q];
} frame;

/* x <- A^-1 x */
static void forward(const frame *f, double *x)
{
    for (size_t a = 0; a < f->q; a++)
        x[a] = (x[a] - dot(a, f->root + a * f->q, x)) / f->root[a * f->q + a];
}

/* Sets P L, and A, the Cholesky factor of M. */
static void set_root(frame *f, const double *precision)
{
    size_t q = f->q;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            f->turned[a][b] = 0.0;
            for (size_t c = b; c < q; c++)
                f->turned[a][b] += precision[a * q + c] * f->factor[c][b];
        }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = a == b ? 1.0 : 0.0;
            for (size_t c = a; c < q; c++) sum += f->factor[c][a] * f->turned[c][b];
            f->root[a * q + b] = sum;
        }
    cholesky(q, f->root); /* M >= I is positive definite */
}

/* out = L x */
static void multiply_factor(const frame *f, const double *x, double *out)
{
    for (size_t a = 0; a < f->q; a++) out[a] = dot(a + 1, f->factor[a], x);
}

/* z = M^-1 L'b + A'^-1 eta = A'^-1 (A^-1 L'b + eta) */
static void set_z(frame *f, const double *eta)
{
    size_t q = f->q;
    for (size_t a = 0; a < q; a++) {
        f->z[a] = 0.0;
        for (size_t c = a; c < q; c++) f->z[a] += f->factor[c][a] * f->pull[c];
    }
    forward(f, f->z);
    for (size_t a = 0; a < q; a++) f->z[a] += eta[a];
    cholesky_back(q, f->root, f->z);
}

/* Derivatives by a coordinate of the covariance that moves row r of L by x. With m = M^-1 L'b
 * and T of (1)
 *
 *   dz = M^-1 (x b_r - dM m) - A'^-1 T'eta,   d log |A| = p.s */
static void move_spread(const frame *f, const double *eta, size_t r, const double *x,
                        level_point *out, size_t at)
{
    size_t q = f->q;
    double p[Q], s[Q], mean[Q], dz[Q];
    const double *g = f->turned[r];
    memcpy(p, x, q * sizeof *p);
    memcpy(s, g, q * sizeof *s);
    forward(f, p);
    forward(f, s);
    memcpy(mean, eta, q * sizeof *mean);
    cholesky_back(q, f->root, mean);
    for (size_t a = 0; a < q; a++) mean[a] = f->z[a] - mean[a];
    double along_g = dot(q, g, mean), along_x = dot(q, x, mean);
    for (size_t a = 0; a < q; a++) dz[a] = x[a] * (f->pull[r] - along_g) - g[a] * along_x;
    forward(f, dz);
    for (size_t b = 0; b < q; b++) { /* T'eta */
        dz[b] -= p[b] * s[b] * eta[b];
        for (size_t a = b + 1; a < q; a++) dz[b] -= (p[a] * s[b] + s[a] * p[b]) * eta[a];
    }
    cholesky_back(q, f->root, dz);
    multiply_factor(f, dz, out->first[at]);
    out->first[at][r] += dot(q, x, f->z);
    out->value_first[at] = -dot(q, f->z, dz) - dot(q, p, s);
}

/* Derivatives by the level's own k-th eta. */
static void move_own(const frame *f, const double *eta, size_t k, level_point *out, size_t at)
{
    double dz[Q] = {0.0};
    dz[k] = 1.0;
    cholesky_back(f->q, f->root, dz);
    multiply_factor(f, dz, out->first[at]);
    out->value_first[at] = eta[k] - dot(f->q, f->z, dz);
}

/* Derivatives by the logarithm of the strength that multiplies P and b: dM = M - I, so that in
 * (1) A^-1 dM A'^-1 = I - V V' with V = A^-1, and with m = M^-1 L'b
 *
 *   dz = A'^-1 (V m - T'eta),   d log |A| = tr T                                            (2)
 * */
static void move_strength(const frame *f, const double *eta, level_point *out)
{
    size_t q = f->q;
    double v[Q][Q], m[Q], dz[Q], trace = 0.0; /* v[k]: column k of V */
    for (size_t k = 0; k < q; k++) {
        memset(v[k], 0, sizeof v[k]);
        v[k][k] = 1.0;
        forward(f, v[k]);
    }
    memcpy(m, eta, q * sizeof *m);
    cholesky_back(q, f->root, m);
    for (size_t a = 0; a < q; a++) m[a] = f->z[a] - m[a];
    forward(f, m);
    for (size_t b = 0; b < q; b++) {
        dz[b] = m[b];
        for (size_t a = b; a < q; a++) {
            double t = a == b ? 1.0 : 0.0;
            for (size_t k = 0; k <= b; k++) t -= v[k][a] * v[k][b];
            if (a == b) trace += t *= 0.5;
            dz[b] -= t * eta[a];
        }
    }
    cholesky_back(q, f->root, dz);
    multiply_factor(f, dz, out->by_strength);
    out->value_by_strength = -dot(q, f->z, dz) - trace;
}

/* Sets the frame, and the effects and value of the level. */
static void set_frame(frame *f, const double *precision, const double *eta, level_point *out)
{
    size_t q = f->q;
    set_root(f, precision);
    set_z(f, eta);
    multiply_factor(f, f->z, out->effect);
    out->value = 0.5 * (dot(q, eta, eta) - dot(q, f->z, f->z));
    for (size_t a = 0; a < q; a++) out->value -= log(f->root[a * q + a]);
}

/* Derivatives by all coordinates. */
static void move_all(const frame *f, const other_factor *o, const effect_spread *at,
                     const double *eta, level_point *out)
{
    size_t count = o->shape.count;
    for (size_t c = 0; c < count; c++)
        move_spread(f, eta, o->shape.of[c].row, at->first[c], out, c);
    for (size_t k = 0; k < f->q; k++) move_own(f, eta, k, out, count + k);
}

void level_at(const other_factor *o, const effect_spread *at, size_t level, const double *eta,
              bool with_first, level_point *out)
{
    size_t q = o->shape.effects;
    frame f = {.q = q, .factor = at->factor, .pull = o->pull + level * q};
    set_frame(&f, o->precision + level * q * q, eta, out);
    if (with_first) move_all(&f, o, at, eta, out);
}

void level_at_strength(const other_factor *o, const effect_spread *at, size_t level,
                       double strength, const double *eta, bool with_first, level_point *out)
{
    size_t q = o->shape.effects;
    double precision[Q * Q], pull[Q];
    for (size_t a = 0; a < q * q; a++)
        precision[a] = strength * o->precision[level * q * q + a];
    for (size_t a = 0; a < q; a++) pull[a] = strength * o->pull[level * q + a];
    frame f = {.q = q, .factor = at->factor, .pull = pull};
    set_frame(&f, precision, eta, out);
    if (!with_first) return;
    move_all(&f, o, at, eta, out);
    move_strength(&f, eta, out);
}

size_t level_moves(const other_factor *o)
{
    return o->shape.count + o->shape.effects;
}

size_t level_coordinate(const other_factor *o, size_t level, size_t k)
{
    size_t count = o->shape.count;
    return k < count ? o->spread + k : o->first + level * o->shape.effects + (k - count);
}

/* ---- recentring ---- */

/* x <- (L'^-1 x)', q * q */
static void solve_transposed(size_t q, const double *lower, double *x)
{
    double out[Q * Q] = {0.0};
    for (size_t b = 0; b < q; b++) {
        for (size_t a = 0; a < q; a++) out[b * q + a] = x[a * q + b];
        cholesky_back(q, lower, out + b * q);
    }
    memcpy(x, out, q * q * sizeof *x);
}

/* out = A C^-1 A' - I, L'P L at the new P; only its diagonal, at least 0, if it is not positive
 * definite. */
static void find_data_precision(const frame *f, const double *covariance, double *out)
{
    size_t q = f->q;
    double factor[Q * Q], inverse[Q * Q], trial[Q * Q];
    memcpy(factor, covariance, q * q * sizeof *factor);
    bool fine = cholesky(q, factor);
    if (fine) cholesky_inverse(q, factor, inverse);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            double sum = a == b ? -1.0 : 0.0;
            for (size_t c = 0; fine && c <= a; c++)
                for (size_t e = 0; e <= b; e++)
                    sum += f->root[a * q + c] * inverse[c * q + e] * f->root[b * q + e];
            out[a * q + b] = sum;
        }
    memcpy(trial, out, q * q * sizeof *trial);
    if (fine && cholesky(q, trial)) return;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++)
            out[a * q + b] = a == b && out[a * q + a] > 0.0 ? out[a * q + a] : 0.0;
}

void level_recentre(other_factor *o, const effect_spread *at, size_t level,
                    const double *covariance, double *eta)
{
    size_t q = o->shape.effects;
    double *precision = o->precision + level * q * q, *pull = o->pull + level * q;
    double data_precision[Q * Q] = {0.0}, lower[Q * Q];
    frame f = {.q = q, .factor = at->factor, .pull = pull};
    set_root(&f, precision);
    set_z(&f, eta);
    find_data_precision(&f, covariance, data_precision);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) lower[a * q + b] = at->factor[a][b];
    for (size_t a = 0; a < q; a++) pull[a] = f.z[a] + dot(q, data_precision + a * q, f.z);
    cholesky_back(q, lower, pull);
    solve_transposed(q, lower, data_precision);
    solve_transposed(q, lower, data_precision); /* twice: L'^-1 X L^-1 of a symmetric X */
    memcpy(precision, data_precision, q * q * sizeof *precision);
    memset(eta, 0, q * sizeof *eta);
}
