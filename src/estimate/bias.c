/* Linear response of the means to missing bounces.
 *
 * Let h_j solve L h_j = -(w_j - E w_j) for the exact process. The biased one lacks the reflection
 * u -> u_r with weight m = (G~/lambda - 1)+ at each violation, so to first order in m
 *     bias_j = (1/T) sum m (h_j(w, u) - h_j(w, u_r)).                                     (a)
 * Expand h_j in functions phi of the velocity: coefficients are Cov(phi)^-1 C,
 *     C = int_0^inf Cov(phi(0), w_j(s)) ds.                                                (b)
 * For phi = u_a this telescopes: by stationarity Cov(u_a(0), w_j(s)) = -d/ds Cov(w_a(0), w_j(s))
 * because u = dw/dt, so C = Cov(w_a, w_j). No correlation time has to be known. For the products
 * phi = (x_a u_b + x_b u_a)/2 = d/dt (x_a x_b)/2, x = w - E w, likewise C = E x_a x_b x_j / 2. They
 * matter where the posterior is skew: a wider spread then shifts the mean. With Cov(u) = A A'/d,
 * P = (A A')^-1, M = (1/T) sum m (u - u_r) and Q = (1/T) sum m x (u - u_r)',
 *     bias_j = d (S P M)_j + (d/2) E[x_j x' S^-1 Q P x],      S = Cov(w),                  (c)
 * and for the squares, h = d x_j (S P u)_j to the same order,
 *     bias of Var w_j = d (Q P S)_jj.                                                      (d)
 *
 * The velocity is not all. Let s = u'Hx be the slope (H the Hessian at the centre, x from there) and
 * phi = s^2 - E[s^2 | w]. Only refreshments and noise change s^2, so what a missed bounce does to
 * it lasts. Every coordinate of u is odd in u, phi is even, and E[phi | w] = 0. Galerkin's
 * equations with the test functions F(w) and phi are then triangular: the coefficients above stay,
 * and that of phi in h_j is -N_j / D,
 *     D = <phi, L phi> = (1/T) sum over events of s^2 (s_r^2 - s^2) < 0,                   (e)
 *     N_j = <phi, L h_j>, h_j as above,                                                    (f)
 * that is, N_j is (c) with the integrals of phi du and of phi d(x u') in place of M and Q. So with
 * R = (1/T) sum m (s^2 - s_r^2) over the violations, in (c) and (d)
 *     M <- M - (R/D) (1/T) int phi du,    Q <- Q - (R/D) (1/T) int phi d(x u').            (g)
 * The part of E[s^2 | w] = x'HCHx, C = Cov(u), is done by parts (the mean of du over velocities is
 * -C grad U dt): it adds 2 CHCH E x to the one and 2 E[xx'] HCHC to the other integral of s^2 du,
 * s^2 d(x u'). Those are taken on every eighth segment. In one dimension phi = 0.
 *
 * Where there is neither noise nor refreshment (c) overstates the shift: twice in two dimensions,
 * three times in three. On paths that are not straight (boomerang) there is no (g). */
#include "estimate/bias.h"
#include "base/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_EVERY 8 /* segments; R sums over all violations in any case */

void bias_carve(bias *b, size_t dim, const double *hessian, arena *memory)
{
    bool second = dim <= BIAS_SECOND_ORDER, even = second && hessian;
    b->dim = dim;
    b->state = arena_take(memory, sizeof *b->state);
    b->push = arena_doubles(memory, dim);
    b->second = second ? arena_doubles(memory, dim * dim) : NULL;
    b->hessian = even ? hessian : NULL;
    b->turn = even ? arena_doubles(memory, dim) : NULL;
    b->bend = even ? arena_doubles(memory, dim * dim) : NULL;
}

void bias_start(bias *b)
{
    size_t d = b->dim;
    *b->state = (bias_state){0};
    memset(b->push, 0, d * sizeof *b->push);
    if (b->second) memset(b->second, 0, d * d * sizeof *b->second);
    if (!b->hessian) return;
    memset(b->turn, 0, d * sizeof *b->turn);
    memset(b->bend, 0, d * d * sizeof *b->bend);
}

/* ---- sums along the path ---- */

static void add_push(bias *b, const segment *s)
{
    double a, c, da, dc, m = s->end->missing;
    s->flow->at(s->dt, &a, &c);
    s->flow->rate(s->dt, &da, &dc);
    for (size_t j = 0; j < b->dim; j++)
        b->push[j] += m * (da * s->p[j] + dc * s->q[j] - s->q_next[j]);
    for (size_t i = 0; b->second && i < b->dim; i++) {
        double mx = m * (a * s->p[i] + c * s->q[i]);
        for (size_t j = 0; j < b->dim; j++)
            b->second[i * b->dim + j] += mx * (da * s->p[j] + dc * s->q[j] - s->q_next[j]);
    }
}

/* Slopes u'Hx at the end of a straight segment. */
typedef struct {
    double before, after; /* the event */
    double rise;          /* u'Hu before it: s(t) = before - (dt - t) rise */
} slopes;

static slopes slopes_at(const bias *b, const segment *s, bool rise)
{
    size_t d = b->dim;
    slopes out = {0};
    for (size_t i = 0; i < d; i++) {
        const double *h = b->hessian + i * d;
        double row = 0.0, along = 0.0;
        for (size_t j = 0; j < d; j++) row += h[j] * (s->p[j] + s->dt * s->q[j]);
        for (size_t j = 0; rise && j < d; j++) along += h[j] * s->q[j];
        out.before += row * s->q[i];
        out.after += row * s->q_next[i];
        out.rise += along * s->q[i];
    }
    return out;
}

/* The sums of (e), (f), (g). A violation counts for the bounces it stands for. */
static void add_sample(bias *b, const segment *s, slopes at)
{
    size_t d = b->dim;
    double weight = 1.0 + s->end->missing, square = at.before * at.before, t = s->dt;
    double flown = t * (square - at.before * at.rise * t + at.rise * at.rise * t * t / 3.0);
    b->state->sampled += t;
    b->state->decay += weight * square * (at.after * at.after - square);
    for (size_t j = 0; j < d; j++) b->turn[j] += weight * square * (s->q_next[j] - s->q[j]);
    for (size_t i = 0; i < d; i++) {
        double x = weight * square * (s->p[i] + t * s->q[i]), u = flown * s->q[i];
        double *row = b->bend + i * d;
        for (size_t j = 0; j < d; j++) row[j] += x * (s->q_next[j] - s->q[j]) + u * s->q[j];
    }
}

static void watch_steepness(bias *b, const segment *s)
{
    double m = s->end->missing;
    bool sampled = b->state->segments++ % SAMPLE_EVERY == 0;
    if (!sampled && m == 0.0) return;
    slopes at = slopes_at(b, s, sampled);
    b->state->steepness += m * (at.before * at.before - at.after * at.after);
    if (sampled) add_sample(b, s, at);
}

void bias_take(void *self, const segment *s)
{
    bias *b = self;
    const event *e = s->end;
    b->state->time += s->dt;
    b->state->missing += e->missing;
    b->state->expected += e->expected;
    b->state->proposals += e->proposals;
    b->state->violations += e->violations;
    b->state->rows += e->rows;
    b->state->bounces += e->kind == EVENT_BOUNCE;
    b->state->refreshments += e->kind == EVENT_REFRESH;
    if (e->missing > 0.0) add_push(b, s);
    if (b->hessian && s->flow == &flow_line) watch_steepness(b, s);
}

/* ---- response ---- */

typedef struct {
    size_t d;
    double *memory;
    double *mean, *push, *x, *y, *z;                 /* d */
    double *covariance, *factor, *k, *third, *twice; /* d*d; third: d */
} workspace;

static bool workspace_make(workspace *w, size_t d)
{
    *w = (workspace){.d = d, .memory = new_doubles(4 * d * d + 6 * d)};
    if (!w->memory) return false;
    double **parts[] = {&w->mean, &w->push, &w->x, &w->y, &w->z, &w->third};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = w->memory + i * d;
    w->covariance = w->memory + 6 * d;
    w->factor = w->covariance + d * d;
    w->k = w->factor + d * d;
    w->twice = w->k + d * d;
    return true;
}

static void covariance_of(workspace *w, const draw_block *blocks, size_t count)
{
    size_t d = w->d;
    double n = 0.0;
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < blocks[c].count; i++)
            for (size_t j = 0; j < d; j++) w->mean[j] += blocks[c].x[i * d + j];
        n += (double)blocks[c].count;
    }
    for (size_t j = 0; j < d; j++) w->mean[j] /= n;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < blocks[c].count; i++) {
            const double *x = blocks[c].x + i * d;
            for (size_t j = 0; j < d; j++)
                for (size_t k = 0; k <= j; k++)
                    w->covariance[j * d + k] +=
                        (x[j] - w->mean[j]) * (x[k] - w->mean[k]) / (n - 1.0);
        }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++) w->covariance[k * d + j] = w->covariance[j * d + k];
}

/* (H C)^2, C = Cov(u), into twice; the factor of C^-1 / d is left in w->factor. */
static bool square_map(workspace *w, const double *hessian, precision_map map)
{
    size_t d = w->d;
    for (size_t i = 0; i < d; i++) {
        memset(w->x, 0, d * sizeof *w->x);
        w->x[i] = 1.0;
        map.apply(map.self, w->x, w->factor + i * d);
    }
    if (!cholesky(d, w->factor)) return false;
    for (size_t i = 0; i < d; i++) {
        double *row = w->twice + i * d;
        memcpy(row, hessian + i * d, d * sizeof *row);
        cholesky_solve(d, w->factor, row);
        memset(w->x, 0, d * sizeof *w->x);
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) w->x[b] += row[a] * hessian[a * d + b];
        cholesky_solve(d, w->factor, w->x);
        for (size_t b = 0; b < d; b++) row[b] = w->x[b] / ((double)d * (double)d);
    }
    return true;
}

/* (g): what the changed slopes add to the pushes, on their way to becoming M and Q. */
static void add_bends(workspace *w, const bias *chains, size_t count, precision_map map)
{
    size_t d = w->d;
    double time = 0.0, sampled = 0.0, steepness = 0.0, decay = 0.0;
    for (size_t c = 0; c < count; c++) {
        time += chains[c].state->time;
        sampled += chains[c].state->sampled;
        steepness += chains[c].state->steepness;
        decay += chains[c].state->decay;
    }
    if (!(decay < 0.0) || !square_map(w, chains->hessian, map)) return;
    double excess = -(steepness / time) / (decay / sampled);
    for (size_t c = 0; c < count; c++) {
        for (size_t j = 0; j < d; j++) w->push[j] += excess / sampled * chains[c].turn[j];
        for (size_t i = 0; i < d * d; i++) w->k[i] += excess / sampled * chains[c].bend[i];
    }
    for (size_t i = 0; i < d; i++)
        for (size_t a = 0; a < d; a++) {
            double both = w->covariance[i * d + a] + w->mean[i] * w->mean[a];
            for (size_t j = 0; j < d; j++)
                w->k[i * d + j] += 2.0 * excess * both * w->twice[a * d + j];
        }
    for (size_t a = 0; a < d; a++)
        for (size_t j = 0; j < d; j++)
            w->push[j] += 2.0 * excess * w->mean[a] * w->twice[a * d + j];
}

/* M into push and, with `second`, Q P about the mean into k. */
static void pool_pushes(workspace *w, const bias *chains, size_t count, precision_map map,
                        bool second)
{
    size_t d = w->d;
    double time = 0.0;
    for (size_t c = 0; c < count; c++) time += chains[c].state->time;
    for (size_t c = 0; c < count; c++) {
        for (size_t j = 0; j < d; j++) w->push[j] += chains[c].push[j] / time;
        for (size_t i = 0; second && i < d * d; i++) w->k[i] += chains[c].second[i] / time;
    }
    if (chains->hessian) add_bends(w, chains, count, map);
    for (size_t i = 0; second && i < d; i++) {
        double *row = w->k + i * d;
        for (size_t j = 0; j < d; j++) w->x[j] = row[j] - w->mean[i] * w->push[j];
        map.apply(map.self, w->x, row);
    }
}

/* x' S^-1 K x of a draw; x is left in w->x. */
static double quadratic_form(workspace *w, const double *draw)
{
    size_t d = w->d;
    double s = 0.0;
    for (size_t j = 0; j < d; j++) w->x[j] = w->y[j] = draw[j] - w->mean[j];
    cholesky_solve(d, w->factor, w->y);
    for (size_t a = 0; a < d; a++) {
        double row = 0.0;
        for (size_t b = 0; b < d; b++) row += w->k[a * d + b] * w->x[b];
        s += w->y[a] * row;
    }
    return s;
}

/* third_j = E[x_j s], s = x' S^-1 K x. E s = trace K is taken off: it drops out because
 * E x = 0, and the sums stay small. */
static void third_moments(workspace *w, const draw_block *blocks, size_t count)
{
    double n = 0.0, shift = 0.0;
    for (size_t c = 0; c < count; c++) n += (double)blocks[c].count;
    for (size_t j = 0; j < w->d; j++) shift += w->k[j * w->d + j];
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < blocks[c].count; i++) {
            double s = quadratic_form(w, blocks[c].x + i * w->d) - shift;
            for (size_t j = 0; j < w->d; j++) w->third[j] += w->x[j] * s / n;
        }
}

static void respond(workspace *w, bool second, precision_map map, double *mean_shift,
                    double *sd_shift)
{
    size_t d = w->d;
    double dim = (double)d;
    map.apply(map.self, w->push, w->z);
    for (size_t j = 0; j < d; j++) {
        double shift = 0.0, spread = 0.0, variance = w->covariance[j * d + j];
        for (size_t a = 0; a < d; a++) {
            shift += w->covariance[j * d + a] * w->z[a];
            spread += w->k[j * d + a] * w->covariance[a * d + j];
        }
        mean_shift[j] = dim * (shift + 0.5 * w->third[j]) / sqrt(variance);
        sd_shift[j] = second ? 0.5 * dim * spread / variance : NAN;
    }
}

sbps_status bias_respond(const bias *chains, size_t count, const draw_block *blocks,
                         precision_map map, double *mean_shift, double *sd_shift,
                         sbps_error *err)
{
    workspace w;
    bool second = chains->second;
    sbps_status status = SBPS_OK;
    if (!workspace_make(&w, chains->dim)) return fail_memory(err);
    covariance_of(&w, blocks, count);
    pool_pushes(&w, chains, count, map, second);
    memcpy(w.factor, w.covariance, w.d * w.d * sizeof *w.factor);
    if (!cholesky(w.d, w.factor)) {
        status = fail(err, SBPS_BAD_ARG, "the draws do not span the space of the parameters");
        goto done;
    }
    if (second) third_moments(&w, blocks, count);
    respond(&w, second, map, mean_shift, sd_shift);
done:
    free(w.memory);
    return status;
}

/* ---- read back ---- */

/* Sums and counts: they are reported, and nothing is found by them. */
void bias_inspect(const bias *b, inspection *x)
{
    size_t d = b->dim;
    INSPECT_REAL(x, b->state->time, 0.0, DBL_MAX);
    inspect_any(x, b->state, sizeof *b->state);
    inspect_any(x, b->push, d * sizeof *b->push);
    if (b->second) inspect_any(x, b->second, d * d * sizeof *b->second);
    if (!b->hessian) return;
    inspect_any(x, b->turn, d * sizeof *b->turn);
    inspect_any(x, b->bend, d * d * sizeof *b->bend);
}
