/* Linear response of the means to missed bounces.
 *
 * Let h_j solve L h_j = -(w_j - E w_j) for the exact process. The biased one lacks the
 * reflection u -> u_r with weight m = (G~/lambda - 1)+ at each violation, so to first order in
 * m
 *     bias_j = (1/T) sum m (h_j(w, u) - h_j(w, u_r)).                                     (a)
 * Expand h_j in functions phi of the velocity: coefficients are Cov(phi)^-1 C,
 *     C = int_0^inf Cov(phi(0), w_j(s)) ds.                                                (b)
 * For phi = u_a the integral telescopes: by stationarity Cov(u_a(0), w_j(s)) = -d/ds
 * Cov(w_a(0), w_j(s)) because u = dw/dt, so C = Cov(w_a, w_j), and no correlation time is
 * needed. For the products phi = (x_a u_b + x_b u_a)/2 = d/dt (x_a x_b)/2, x = w - E w,
 * likewise C = E x_a x_b x_j / 2. They matter if the posterior is skew: a wider spread then
 * shifts the mean. With Cov(u) = A A'/d, P = (A A')^-1, M = (1/T) sum m (u - u_r) and Q = (1/T)
 * sum m x (u - u_r)',
 *     bias_j = d (S P M)_j + (d/2) E[x_j x' S^-1 Q P x],      S = Cov(w),                  (c)
 * and for the squares, h = d x_j (S P u)_j to the same order,
 *     bias of Var w_j = d (Q P S)_jj.                                                      (d)
 *
 * The velocity is not enough. Let s = u'Hx be the slope (H the Hessian at the centre, x from
 * there) and phi = s^2 - E[s^2 | w]. Only refreshments and noise change s^2, so the effect of a
 * missed bounce on it lasts. Every coordinate of u is odd in u, phi is even, and E[phi | w] =
 * 0. Galerkin's equations with the test functions F(w) and phi are then triangular: the
 * coefficients above stay, and that of phi in h_j is -N_j / D,
 *     D = <phi, L phi> = (1/T) sum over events of s^2 (s_r^2 - s^2) < 0,                   (e)
 *     N_j = <phi, L h_j>, h_j as above,                                                    (f)
 * that is, N_j is (c) with the integrals of phi du and of phi d(x u') in place of M and Q. So
 * with R = (1/T) sum m (s^2 - s_r^2) over the violations, in (c) and (d)
 *     M <- M - (R/D) (1/T) int phi du,    Q <- Q - (R/D) (1/T) int phi d(x u').            (g)
 * The part of E[s^2 | w] = x'HCHx, C = Cov(u), is integrated by parts (the mean of du over
 * velocities is -C grad U dt): it adds 2 CHCH E x to the one and 2 E[xx'] HCHC to the other
 * integral of s^2 du, s^2 d(x u'). Those are taken on every eighth segment. In one dimension
 * phi = 0.
 *
 * Standard error. Covariances, D and the integrals are sums over the whole path, violations are
 * few: the error is that of the violations. (c), (d) and (g) are linear in M, Q and R, so that
 * every stretch of the path, of duration t_i, contributes b_i to the shift b, and the scatter
 * of these parts gives
 *     Var b = n/(n-1) sum (b_i - b t_i/T)^2 + (E c)^2 + (F b)^2,   n stretches in all.   (h)
 * Missed bounces may not have been observed: E is their standard error (bias_unseen), and each
 * shifts the mean by c, the root mean square of (a) over some bounces that were made. F
 * (BIAS_REL_ERROR) is the relative error of b, a first-order expansion with covariances from
 * draws, as found in tests.
 *
 * Without noise and refreshments (c) overstates the shift: twice in two dimensions, three times
 * in three. On paths that are not straight (boomerang) (g) is left out. */
#include "estimate/bias_response.h"

#include "linalg/cholesky.h"
#include "linalg/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_WORK 2e9          /* approximate limit of multiplications for (h) */
#define FORM_DRAWS ((size_t)48) /* draws whose quadratic forms are computed together */

typedef struct {
    size_t d, draws, stride; /* every stride-th draw is used for third moments */
    bool second;
    double time;
    precision_map map;
    const draw_block *blocks;
    size_t count;
    double *memory;
    const kernels *kernel;
    double *points; /* d*FORM_DRAWS: draws less the mean, coordinate by coordinate */
    double *mean, *push, *x, *z, *third, *jump;              /* d */
    double *covariance, *factor, *k, *jump_second, *scratch; /* d*d */
    bias_missed part;
    bias_statement answer; /* the response to `part`, without errors */
} workspace;

/* Allocates and carves the workspace; false: no memory. */
static bool workspace_make(workspace *w, size_t d, bool second)
{
    *w = (workspace){.d = d, .second = second, .stride = 1, .kernel = kernels_best()};
    w->memory = new_doubles(6 * d * d + (9 + FORM_DRAWS) * d);
    if (!w->memory) return false;
    double **rows[] = {&w->mean, &w->push,      &w->x,           &w->z,        &w->third,
                       &w->jump, &w->part.push, &w->answer.mean, &w->answer.sd};
    double **squares[] = {&w->covariance,  &w->factor,  &w->k,
                          &w->jump_second, &w->scratch, &w->part.second};
    double *next = w->memory;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, next += d) *rows[i] = next;
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++, next += d * d)
        *squares[i] = next;
    w->points = next;
    if (!second) w->part.second = NULL;
    return true;
}

/* Mean and covariance of all draws. */
static void compute_covariance(workspace *w)
{
    size_t d = w->d, count = w->count;
    const draw_block *blocks = w->blocks;
    double n;
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < blocks[c].count; i++)
            for (size_t j = 0; j < d; j++) w->mean[j] += blocks[c].x[i * d + j];
        w->draws += blocks[c].count;
    }
    n = (double)w->draws;
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

/* Writes (H C)^2 to `twice`, C = Cov(u); overwrites w->factor. */
static bool square_map(workspace *w, const double *hessian, double *twice)
{
    size_t d = w->d;
    for (size_t i = 0; i < d; i++) {
        memset(w->x, 0, d * sizeof *w->x);
        w->x[i] = 1.0;
        w->map.apply(w->map.self, w->x, w->factor + i * d);
    }
    if (!cholesky(d, w->factor)) return false;
    for (size_t i = 0; i < d; i++) {
        double *row = twice + i * d;
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

/* Adds the terms of (g) that are integrated by parts to the means of the integrals. */
static void add_parts(workspace *w, const double *twice)
{
    size_t d = w->d;
    for (size_t i = 0; i < d; i++)
        for (size_t a = 0; a < d; a++) {
            double both = w->covariance[i * d + a] + w->mean[i] * w->mean[a];
            for (size_t j = 0; j < d; j++)
                w->jump_second[i * d + j] += 2.0 * both * twice[a * d + j];
        }
    for (size_t a = 0; a < d; a++)
        for (size_t j = 0; j < d; j++) w->jump[j] += 2.0 * w->mean[a] * twice[a * d + j];
}

/* The terms of (g) for R = 1: how a changed slope adds to M and Q. */
static void find_mean_jumps(workspace *w, const bias *chains)
{
    size_t d = w->d;
    double sampled = 0.0, decay = 0.0;
    for (size_t c = 0; c < w->count; c++) {
        sampled += chains[c].state->sampled;
        decay += chains[c].state->decay;
    }
    if (!chains->hessian || !(decay < 0.0) || !square_map(w, chains->hessian, w->scratch))
        return;
    for (size_t c = 0; c < w->count; c++) {
        for (size_t j = 0; j < d; j++) w->jump[j] += chains[c].jump[j] / sampled;
        for (size_t i = 0; i < d * d; i++)
            w->jump_second[i] += chains[c].jump_second[i] / sampled;
    }
    add_parts(w, w->scratch);
    double excess = -sampled / decay;
    for (size_t j = 0; j < d; j++) w->jump[j] *= excess;
    for (size_t i = 0; i < d * d; i++) w->jump_second[i] *= excess;
}

/* ---- response ---- */

/* Writes M of the part to push and, with the second order, Q P about the mean to k. */
static void make_pushes(workspace *w)
{
    size_t d = w->d;
    double steepness = w->part.steepness / w->time;
    for (size_t j = 0; j < d; j++)
        w->push[j] = w->part.push[j] / w->time + steepness * w->jump[j];
    for (size_t i = 0; w->second && i < d; i++) {
        for (size_t j = 0; j < d; j++)
            w->x[j] = w->part.second[i * d + j] / w->time +
                      steepness * w->jump_second[i * d + j] - w->mean[i] * w->push[j];
        w->map.apply(w->map.self, w->x, w->k + i * d);
    }
}

/* Copies the next draws, at most FORM_DRAWS, less the mean, coordinate by coordinate. *at is
 * the first draw of the block to use, and becomes the one after the last used. Returns their
 * number. */
static size_t take_draws(workspace *w, const draw_block *block, size_t *at)
{
    size_t d = w->d, n = 0;
    size_t left = (block->count - *at + w->stride - 1) / w->stride;
    size_t chunk = left < FORM_DRAWS ? left : FORM_DRAWS;
    for (; n < chunk; n++, *at += w->stride) {
        const double *x = block->x + *at * d;
        for (size_t j = 0; j < d; j++) w->points[j * chunk + n] = x[j] - w->mean[j];
    }
    return n;
}

/* third_j = E[x_j s], s = x' S^-1 K x. E s = trace K is subtracted first: it drops out because
 * E x = 0, and the sums stay small. */
static void third_moments(workspace *w)
{
    size_t d = w->d, used = 0;
    double shift = 0.0;
    for (size_t b = 0; b < d; b++) { /* the form has the same value with K' S^-1 */
        double *row = w->scratch + b * d;
        for (size_t a = 0; a < d; a++) row[a] = w->k[a * d + b];
        cholesky_solve(d, w->factor, row);
        shift += w->k[b * d + b];
    }
    memset(w->third, 0, d * sizeof *w->third);
    for (size_t c = 0; c < w->count; c++)
        for (size_t at = 0; at < w->blocks[c].count;) {
            double forms[FORM_DRAWS];
            size_t n = take_draws(w, &w->blocks[c], &at);
            w->kernel->quadratic_forms(n, d, w->scratch, w->points, forms);
            for (size_t j = 0; j < d; j++)
                for (size_t i = 0; i < n; i++)
                    w->third[j] += w->points[j * n + i] * (forms[i] - shift);
            used += n;
        }
    for (size_t j = 0; j < d; j++) w->third[j] /= (double)used;
}

/* Writes (c) and (d) of the part to the answer. */
static void respond(workspace *w)
{
    size_t d = w->d;
    double dim = (double)d;
    make_pushes(w);
    if (w->second) third_moments(w);
    w->map.apply(w->map.self, w->push, w->z);
    for (size_t j = 0; j < d; j++) {
        double shift = 0.0, spread = 0.0, variance = w->covariance[j * d + j];
        for (size_t a = 0; a < d; a++) {
            shift += w->covariance[j * d + a] * w->z[a];
            spread += w->k[j * d + a] * w->covariance[a * d + j];
        }
        w->answer.mean[j] = dim * (shift + 0.5 * w->third[j]) / sqrt(variance);
        w->answer.sd[j] = w->second ? 0.5 * dim * spread / variance : NAN;
    }
}

/* ---- error ---- */

/* Adds weight times the squared deviation of the answer from its share of the total
 * response. */
static void add_error_squares(const workspace *w, double weight, double fraction,
                              const bias_statement *out)
{
    for (size_t j = 0; j < w->d; j++) {
        double mean = w->answer.mean[j] - fraction * out->mean[j];
        double sd = w->answer.sd[j] - fraction * out->sd[j];
        out->mean_error[j] += weight * mean * mean;
        out->sd_error[j] += weight * sd * sd;
    }
}

/* True for a stretch without violations, whose response is 0. */
static bool is_empty(const workspace *w)
{
    for (size_t j = 0; j < w->d; j++)
        if (w->part.push[j] != 0.0) return false;
    return true;
}

/* The first term of (h): scatter over stretches. */
static void add_scatter(workspace *w, const bias *chains, const bias_statement *out)
{
    size_t groups = bias_groups(chains, w->count);
    double n = (double)groups;
    for (size_t g = 0; groups > 1 && g < groups; g++) {
        bias_group(chains, w->count, g, &w->part);
        double fraction = w->part.time / w->time;
        if (is_empty(w)) {
            memset(w->answer.mean, 0, w->d * sizeof *w->answer.mean);
            for (size_t j = 0; j < w->d; j++) w->answer.sd[j] = w->second ? 0.0 : NAN;
        } else {
            respond(w);
        }
        add_error_squares(w, n / (n - 1.0), fraction, out);
    }
}

/* The second term of (h): missed bounces that were not observed. */
static void add_unseen(workspace *w, const bias *chains, const bias_statement *out)
{
    size_t examples = bias_example_count(chains, w->count);
    double unseen = bias_unseen(chains, w->count);
    for (size_t i = 0; i < examples; i++) {
        bias_example(chains, w->count, i, &w->part);
        respond(w);
        add_error_squares(w, unseen * unseen / (double)examples, 0.0, out);
    }
}

/* (h). With many draws a subset of them, every stride-th, is used for the third moments. */
static void find_errors(workspace *w, const bias *chains, const bias_statement *out)
{
    size_t d = w->d;
    double parts = (double)(BIAS_SNAPSHOTS + 1 + bias_example_count(chains, w->count));
    double work = parts * (double)w->draws * (double)d * (double)d;
    double max_stride = (double)w->draws / (10.0 * (double)d);
    double stride = fmin(work / ERROR_WORK, max_stride);
    w->stride = stride > 1.0 ? (size_t)stride : 1;
    memset(out->mean_error, 0, d * sizeof *out->mean_error);
    memset(out->sd_error, 0, d * sizeof *out->sd_error);
    add_scatter(w, chains, out);
    add_unseen(w, chains, out);
    for (size_t j = 0; j < d; j++) {
        out->mean_error[j] = hypot(sqrt(out->mean_error[j]), BIAS_REL_ERROR * out->mean[j]);
        out->sd_error[j] = hypot(sqrt(out->sd_error[j]), BIAS_REL_ERROR * out->sd[j]);
    }
}

sbps_status bias_respond(const bias *chains, size_t count, const draw_block *blocks,
                         precision_map map, const bias_statement *out, sbps_error *err)
{
    workspace w;
    sbps_status status = SBPS_OK;
    if (!workspace_make(&w, chains->dim, chains->second)) return fail_memory(err);
    w.time = bias_time(chains, count);
    w.map = map;
    w.blocks = blocks;
    w.count = count;
    compute_covariance(&w);
    find_mean_jumps(&w, chains);
    memcpy(w.factor, w.covariance, w.d * w.d * sizeof *w.factor);
    if (!cholesky(w.d, w.factor)) {
        status = fail(err, SBPS_BAD_ARG, "the draws do not span the space of the parameters");
        goto done;
    }
    /* The response to all missed bounces. */
    bias_all(chains, w.count, &w.part);
    respond(&w);
    memcpy(out->mean, w.answer.mean, w.d * sizeof *out->mean);
    memcpy(out->sd, w.answer.sd, w.d * sizeof *out->sd);
    find_errors(&w, chains, out);
done:
    free(w.memory);
    return status;
}

/* ---- first order, with the covariance at the mode ---- */

void quick_shift(const quick_response *q, size_t dim, double time, const double *push,
                 double *shift)
{
    q->map.apply(q->map.self, push, shift);
    cholesky_solve(dim, q->factor, shift);
    for (size_t j = 0; j < dim; j++) shift[j] *= (double)dim / time / q->sd[j];
}

double quick_worst(const quick_response *q, const bias *chains, size_t count)
{
    size_t d = chains->dim;
    double worst = 0.0, *shift = new_doubles(2 * d);
    if (!shift) return NAN;
    bias_missed all = {.push = shift + d};
    bias_all(chains, count, &all);
    quick_shift(q, d, bias_time(chains, count), all.push, shift);
    for (size_t j = 0; j < d; j++) worst = fmax(worst, fabs(shift[j]));
    free(shift);
    return worst;
}

/* Adds weight times the squared deviation of a shift from its share of the total. */
static void add_shift_squares(size_t d, double weight, const double *shift, double fraction,
                              const double *mean, double *squares)
{
    for (size_t j = 0; j < d; j++) {
        double x = shift[j] - fraction * mean[j];
        squares[j] += weight * x * x;
    }
}

/* Standard errors by (h). `shift` is scratch. */
static void add_errors(const quick_response *q, const bias *chains, size_t count,
                       bias_missed *part, double *shift, const double *mean, double *error)
{
    size_t d = chains->dim, groups = bias_groups(chains, count);
    size_t examples = bias_example_count(chains, count);
    double n = (double)groups, unseen = bias_unseen(chains, count);
    double time = bias_time(chains, count);
    memset(error, 0, d * sizeof *error);
    for (size_t g = 0; groups > 1 && g < groups; g++) {
        bias_group(chains, count, g, part);
        quick_shift(q, d, time, part->push, shift);
        add_shift_squares(d, n / (n - 1.0), shift, part->time / time, mean, error);
    }
    for (size_t i = 0; i < examples; i++) {
        bias_example(chains, count, i, part);
        quick_shift(q, d, time, part->push, shift);
        add_shift_squares(d, unseen * unseen / (double)examples, shift, 0.0, mean, error);
    }
    for (size_t j = 0; j < d; j++) error[j] = hypot(sqrt(error[j]), BIAS_REL_ERROR * mean[j]);
}

sbps_status quick_respond(const quick_response *q, const bias *chains, size_t count,
                          const bias_statement *out, sbps_error *err)
{
    size_t d = chains->dim;
    double *scratch = new_doubles(2 * d);
    if (!scratch) return fail_memory(err);
    bias_missed part = {.push = scratch};
    bias_all(chains, count, &part);
    quick_shift(q, d, bias_time(chains, count), part.push, out->mean);
    add_errors(q, chains, count, &part, scratch + d, out->mean, out->mean_error);
    for (size_t j = 0; j < d; j++) out->sd[j] = out->sd_error[j] = NAN;
    free(scratch);
    return SBPS_OK;
}
