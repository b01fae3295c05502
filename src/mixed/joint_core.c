/* The core: effects of the factors with the fewest levels, standardised all together. Given its sd the mean effect of a
 * factor with few levels is tied to the intercept and to the means of other such factors, so that standards level by
 * level leave a narrow ridge whose direction and length change with the sds. With K and C the curvatures of minus the
 * rows' log likelihood by effects u, and by effects and coefficients beta,
 *
 *   u = L z,   z = M^-1 L'b + A'^-1 eta,   M = I + k L'K L = A A',   b = k (b_0 - C (beta - beta_0)), (1)
 *   log p = (|eta|^2 - |z|^2)/2 - log |A|                                                             (2)
 *
 * are (1) and (2) of crossed.h for one level that has all these effects: L is block-diagonal, one block a level; k is the
 * strength of joint.h.
 * Backwards, from g = dU/du with h = L'g + z, x = A'^-1 eta, v = A^-1 h, y = A'^-1 v, m = z - x:
 *
 *   dU/d eta = v - eta,   dU/d beta = -k C'L y,   dU/d log k = tr (dU/dM) (M - I) + y'L'b,              (3)
 *   dU/dM = (A'^-1 (I + N) A^-1 - y m' - m y')/2,   N_ij = -eta_max(i,j) v_min(i,j),                  (4)
 *   dU/dL = 2 k K L dU/dM + g z' + b y'.                                                              (5)
 *
 * N is the derivative of a Cholesky factor: Murray (2016), arXiv 1602.07527, eq. 9. */
#include "base/cholesky.h"
#include "base/dense.h"
#include "base/memory.h"
#include "mixed/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORE_MAX ((size_t)64) /* effects: a gradient takes about CORE_MAX^3 operations */

/* Of one point, behind the m->dim numbers of x. */
typedef struct {
    double *root;      /* A */
    double *k_factor;  /* k K L */
    double *by_square; /* dU/dM */
    double *z, *b, *y;
} core_point;

/* Of the rows of dU/dM, zero padded for the kernels. */
static size_t pitch_of(size_t n)
{
    return (n + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
}

static core_point point_at(const mixed *m, double *at)
{
    size_t n = m->core->count, square = n * pitch_of(n);
    double *next = at + (m->dim + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    return (core_point){.by_square = next,
                        .root = next + square,
                        .k_factor = next + 2 * square,
                        .z = next + 3 * square,
                        .b = next + 3 * square + n,
                        .y = next + 3 * square + 2 * n};
}

size_t joint_room(const void *self)
{
    const mixed *m = self;
    size_t n = m->core ? m->core->count : 0;
    return 3 * n * pitch_of(n) + 3 * n + KERNEL_LANES;
}

static size_t effects_of(const mixed *m, size_t f)
{
    return m->groups->factor[m->other[f].factor].levels * m->other[f].shape.effects;
}

/* The factors with the fewest effects, as many as fit. */
static void choose_factors(const mixed *m, joint_core *core)
{
    for (size_t f = 0; f < m->others; f++) core->first[f] = SIZE_MAX;
    for (;;) {
        size_t least = SIZE_MAX, chosen = 0;
        for (size_t f = 0; f < m->others; f++) {
            if (core->first[f] != SIZE_MAX || effects_of(m, f) >= least) continue;
            least = effects_of(m, f);
            chosen = f;
        }
        if (least > CORE_MAX - core->count) return;
        core->first[chosen] = core->count;
        core->count += least;
    }
}

sbps_status core_open(mixed *m, sbps_error *err)
{
    joint_core *core = m->core = calloc(1, sizeof *core);
    if (!core) return fail_memory(err);
    choose_factors(m, core);
    size_t n = core->count, d = m->data->d;
    core->size = n * n + n * d + n + d;
    core->memory = new_doubles(core->size);
    if (!core->memory) return fail_memory(err);
    core->k = core->memory;
    core->c = core->k + n * n;
    core->b = core->c + n * d;
    core->beta = core->b + n;
    return SBPS_OK;
}

void core_reset(mixed *m)
{
    memset(m->core->memory, 0, m->core->size * sizeof *m->core->memory);
}

void core_close(mixed *m)
{
    if (m->core) free(m->core->memory);
    free(m->core);
}

bool core_has(const mixed *m, size_t f)
{
    return m->core && m->core->first[f] != SIZE_MAX;
}

double core_work(const mixed *m)
{
    double n = (double)m->core->count;
    return n * n * (n + 10.0);
}

/* ---- L ---- */

/* The covariance of one factor's levels: L, and its derivatives by coordinates. */
typedef struct {
    const other_factor *of;
    size_t first, end, q; /* effects in the core, of a level */
    double factor[EFFECTS_A_LEVEL][EFFECTS_A_LEVEL];
    double by[SPREAD_MOST][EFFECTS_A_LEVEL];
} core_factor;

typedef struct {
    size_t count;
    core_factor of[OTHERS_MOST];
} core_spread;

static void set_spread(const mixed *m, const double *w, core_spread *out)
{
    effect_spread at;
    out->count = 0;
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        if (!core_has(m, f)) continue;
        core_factor *to = &out->of[out->count++];
        spread_at(&o->shape, w + o->spread, false, &at);
        to->of = o;
        to->first = m->core->first[f];
        to->end = to->first + effects_of(m, f);
        to->q = o->shape.effects;
        memcpy(to->factor, at.factor, sizeof to->factor);
        memcpy(to->by, at.first, sizeof to->by);
    }
}

/* to = L x */
static void spread_out(const core_spread *s, const double *x, double *to)
{
    for (const core_factor *f = s->of; f < s->of + s->count; f++)
        for (size_t i = f->first; i < f->end; i += f->q)
            for (size_t a = 0; a < f->q; a++) to[i + a] = dot(a + 1, f->factor[a], x + i);
}

/* to = L'x */
static void spread_back(const core_spread *s, const double *x, double *to)
{
    for (const core_factor *f = s->of; f < s->of + s->count; f++)
        for (size_t i = f->first; i < f->end; i += f->q)
            for (size_t a = 0; a < f->q; a++) {
                to[i + a] = 0.0;
                for (size_t b = a; b < f->q; b++) to[i + a] += f->factor[b][a] * x[i + b];
            }
}

/* k K L, and M of which the lower triangle is factored. */
static bool set_root(const mixed *m, const core_spread *s, double strength, core_point *p)
{
    size_t n = m->core->count;
    for (size_t i = 0; i < n; i++) /* row i of K L is L'K_i */
        spread_back(s, m->core->k + i * n, p->k_factor + i * n);
    for (size_t i = 0; i < n * n; i++) p->k_factor[i] *= strength;
    memset(p->root, 0, n * n * sizeof *p->root);
    for (const core_factor *f = s->of; f < s->of + s->count; f++)
        for (size_t i = f->first; i < f->end; i += f->q)
            for (size_t a = 0; a < f->q; a++) {
                double *row = p->root + (i + a) * n;
                for (size_t b = a; b < f->q; b++)
                    add_scaled(i + a + 1, f->factor[b][a], p->k_factor + (i + b) * n, row);
                row[i + a] += 1.0;
            }
    return cholesky(n, p->root);
}

/* x <- A^-1 x */
static void solve_forward(const kernels *k, size_t n, const double *root, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - k->dot(i, root + i * n, x)) / root[i * n + i];
}

/* x <- A'^-1 x */
static void solve_back(size_t n, const double *root, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= root[i * n + i];
        add_scaled(i, -x[i], root + i * n, x);
    }
}

/* ---- there and back ---- */

static void put_effects(const mixed *m, const double *u, double *at)
{
    for (size_t f = 0; f < m->others; f++)
        if (core_has(m, f))
            memcpy(at + m->other[f].first, u + m->core->first[f],
                   effects_of(m, f) * sizeof *at);
}

static void take_effects(const mixed *m, const double *at, double *u)
{
    for (size_t f = 0; f < m->others; f++)
        if (core_has(m, f))
            memcpy(u + m->core->first[f], at + m->other[f].first,
                   effects_of(m, f) * sizeof *at);
}

double core_lead(const mixed *m, double strength, const double *w, double *at)
{
    const joint_core *core = m->core;
    size_t n = core->count, d = m->data->d;
    core_point p = point_at(m, at);
    core_spread spread;
    double eta[CORE_MAX];
    if (n == 0) return 0.0;
    set_spread(m, w, &spread);
    bool fine = set_root(m, &spread, strength, &p);
    for (size_t i = 0; i < n; i++) {
        p.b[i] = core->b[i];
        for (size_t j = 0; j < d; j++) p.b[i] -= core->c[i * d + j] * (w[j] - core->beta[j]);
        p.b[i] *= strength;
    }
    spread_back(&spread, p.b, p.z);
    solve_forward(m->k, n, p.root, p.z);
    take_effects(m, w, eta);
    for (size_t i = 0; i < n; i++) p.z[i] += eta[i];
    solve_back(n, p.root, p.z);
    spread_out(&spread, p.z, p.y);
    put_effects(m, p.y, at);
    double value = 0.5 * (dot(n, eta, eta) - dot(n, p.z, p.z));
    for (size_t i = 0; i < n; i++) value -= log(p.root[i * n + i]);
    return fine ? value : NAN;
}

/* x <- A'^-1 x, row after row from the last. */
static void solve_rows(const mixed *m, const double *root, double *x)
{
    size_t n = m->core->count, pitch = pitch_of(n);
    double by[CORE_MAX];
    for (size_t i = n; i-- > 0;) {
        double *row = x + i * pitch, inverse = 1.0 / root[i * n + i];
        for (size_t k = i + 1; k < n; k++) by[k - i - 1] = -root[k * n + i];
        m->k->row_combine(x, pitch, NULL, i + 1, n - i - 1, by, row);
        for (size_t j = 0; j < n; j++) row[j] *= inverse;
    }
}

static void transpose(size_t n, size_t pitch, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double above = x[j * pitch + i];
            x[j * pitch + i] = x[i * pitch + j];
            x[i * pitch + j] = above;
        }
}

/* (4) but for its last terms, twice: A'^-1 (A'^-1 (I + N))'. */
static void set_by_square(const mixed *m, const core_point *p, const double *eta,
                          const double *v)
{
    size_t n = m->core->count, pitch = pitch_of(n);
    double *x = p->by_square;
    memset(x, 0, n * pitch * sizeof *x);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            x[i * pitch + j] = (i == j ? 1.0 : 0.0) - (i > j ? eta[i] * v[j] : eta[j] * v[i]);
    solve_rows(m, p->root, x);
    transpose(n, pitch, x);
    solve_rows(m, p->root, x);
}

/* What (5) adds to the gradient by the coordinates of one factor's covariance; g = dU/du. Returns its part of
 * tr (dU/dM) (M - I). */
static double add_by_spread(const mixed *m, const core_factor *f, const core_point *p,
                            const double *g, double *gradient)
{
    double trace = 0.0;
    size_t n = m->core->count, pitch = pitch_of(n);
    for (size_t i = f->first; i < f->end; i += f->q)
        for (size_t a = 0; a < f->q; a++)
            for (size_t b = 0; b < f->q; b++) {
                size_t row = i + a, column = i + b;
                double k_part =
                    m->k->dot(n, p->k_factor + row * n, p->by_square + column * pitch);
                double by_factor =
                    2.0 * k_part + g[row] * p->z[column] + p->b[row] * p->y[column];
                trace += f->factor[a][b] * k_part;
                for (size_t c = 0; c < f->of->shape.count; c++)
                    if (f->of->shape.of[c].row == a)
                        gradient[f->of->spread + c] += f->by[c][b] * by_factor;
            }
    return trace;
}

/* y and v, and dU/dM. */
static void set_back(const mixed *m, const core_point *p, const double *eta, double *v)
{
    size_t n = m->core->count, pitch = pitch_of(n);
    double mean[CORE_MAX];
    solve_forward(m->k, n, p->root, v);
    memcpy(p->y, v, n * sizeof *v);
    solve_back(n, p->root, p->y);
    memcpy(mean, eta, n * sizeof *eta);
    solve_back(n, p->root, mean);
    for (size_t i = 0; i < n; i++) mean[i] = p->z[i] - mean[i];
    set_by_square(m, p, eta, v);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *x = &p->by_square[i * pitch + j];
            *x = 0.5 * (*x - p->y[i] * mean[j] - mean[i] * p->y[j]);
        }
}

double core_back(const mixed *m, double strength, const double *w, double *at, double *gradient)
{
    const joint_core *core = m->core;
    size_t n = core->count, d = m->data->d;
    core_point p = point_at(m, at);
    core_spread spread;
    double g[CORE_MAX], eta[CORE_MAX], v[CORE_MAX], by_b[CORE_MAX];
    if (n == 0) return 0.0;
    set_spread(m, w, &spread);
    take_effects(m, gradient, g);
    take_effects(m, w, eta);
    spread_back(&spread, g, v);
    for (size_t i = 0; i < n; i++) v[i] += p.z[i];
    set_back(m, &p, eta, v);
    spread_out(&spread, p.y, by_b);
    double by_strength = dot(n, by_b, p.b);
    for (size_t f = 0; f < spread.count; f++)
        by_strength += add_by_spread(m, &spread.of[f], &p, g, gradient);
    for (size_t i = 0; i < n; i++) {
        add_scaled(d, -strength * by_b[i], core->c + i * d, gradient);
        v[i] -= eta[i];
    }
    put_effects(m, v, gradient);
    return by_strength;
}

/* ---- what data say ---- */

size_t core_width(const mixed *m)
{
    size_t n = m->core->count;
    return n * n + n * m->data->d;
}

void core_add(const mixed *m, size_t row, double curvature, const double *x, double *total)
{
    size_t n = m->core->count, d = m->data->d, count = 0;
    size_t place[OTHERS_MOST * EFFECTS_A_LEVEL];
    double z[OTHERS_MOST * EFFECTS_A_LEVEL];
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        size_t q = o->shape.effects;
        for (size_t a = 0; core_has(m, f) && a < q; a++) {
            place[count] = m->core->first[f] + m->groups->factor[o->factor].of[row] * q + a;
            z[count++] = mixed_z(m, row, o->column[a]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            total[place[i] * n + place[j]] += curvature * z[i] * z[j];
        add_scaled(d, curvature * z[i], x, total + n * n + place[i] * d);
    }
}

/* b_0 = (L L')^-1 u + K u */
void core_set(mixed *m, const double *curvatures, const double *at, double *w)
{
    joint_core *core = m->core;
    size_t n = core->count, d = m->data->d;
    core_spread spread;
    double u[CORE_MAX];
    memcpy(core->k, curvatures, n * n * sizeof *curvatures);
    memcpy(core->c, curvatures + n * n, n * d * sizeof *curvatures);
    memcpy(core->beta, at, d * sizeof *at);
    take_effects(m, at, u);
    set_spread(m, w, &spread);
    memcpy(core->b, u, n * sizeof *u);
    for (const core_factor *f = spread.of; f < spread.of + spread.count; f++) {
        double lower[EFFECTS_A_LEVEL * EFFECTS_A_LEVEL];
        for (size_t a = 0; a < f->q; a++)
            memcpy(lower + a * f->q, f->factor[a], f->q * sizeof *lower);
        for (size_t i = f->first; i < f->end; i += f->q)
            cholesky_solve(f->q, lower, core->b + i);
        memset(w + f->of->first, 0, (f->end - f->first) * sizeof *w);
    }
    for (size_t i = 0; i < n; i++) core->b[i] += dot(n, core->k + i * n, u);
}
