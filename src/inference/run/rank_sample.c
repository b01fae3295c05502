/* What (2) and (3) of ranks.c come to where every rank's rows are random ones of the table, from a sample of them. With r_ik what the
 * polynomial leaves of row i at draw k, less its mean over the draws, and S_k^2 the variance of r_ik between rows, a rank of
 * n of N rows sees
 *
 *   E (e_k - mean e)^2 = N^2 (1/n - 1/N) S_k^2                                                     (1)
 *
 * (Cochran 1977, Sampling Techniques, section 2.6), which is added up over draws and averaged over ranks: the square of (2).
 * Half the mean of R such squares varies over draws, too, the second order of (3). With V the variance over draws of what is
 * expected of a square and s^2 its mean, errors nearly normal that add up to 0 over ranks make it
 *
 *   (V + 2 (V + s^4) / (R - 1)) / 4                                                                (2)
 *
 * Of the first order, shares n_r of unequal size leave 1/R - n_r/N of each rank's. */
#include "inference/run/rank_sample.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "linalg/dense_matrix.h"
#include "posterior/full/posterior.h"
#include "posterior/mode/laplace.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum over rows of a rank: of r_ik, and of its square, for every draw. */
typedef struct {
    const posterior *u;
    const control *cv; /* NULL: nothing is taken out */
    const double *cv_centre;
    size_t draws;
    padded_line at, *to; /* the reference, and every draw */
} sampling;

/* Blocks of a row's numbers: eta and y at the reference; derivatives there; eta, log p and the rest of each draw. */
typedef struct {
    double *eta, *y, *base, *e, *a, *ee, *ea, *aa, *there, *rest;
} row_buffers;

static size_t row_buffers_size(const sampling *s)
{
    size_t k = s->u->auxiliaries;
    return (6 + 2 * k + packed_size(k) + s->draws) * ROW_BLOCK;
}

static row_buffers carve_buffers(const sampling *s, double *scratch)
{
    size_t k = s->u->auxiliaries;
    row_buffers at = {.eta = scratch};
    at.y = at.eta + ROW_BLOCK;
    at.base = at.y + ROW_BLOCK;
    at.e = at.base + ROW_BLOCK;
    at.ee = at.e + ROW_BLOCK;
    at.there = at.ee + ROW_BLOCK;
    at.a = at.there + ROW_BLOCK;
    at.ea = at.a + k * ROW_BLOCK;
    at.aa = at.ea + k * ROW_BLOCK;
    at.rest = at.aa + packed_size(k) * ROW_BLOCK;
    return at;
}

/* What the polynomial of row i says, e and away[j] from the reference, beyond its value there. */
static double polynomial(const sampling *s, const row_buffers *at, size_t i, double e,
                         const double *away)
{
    size_t k = s->u->auxiliaries;
    bool second = s->cv->hessian;
    double sum = at->e[i] * e + (second ? 0.5 * at->ee[i] * e * e : 0.0);
    for (size_t j = 0; j < k; j++) {
        sum += at->a[j * ROW_BLOCK + i] * away[j];
        if (!second) continue;
        sum += at->ea[j * ROW_BLOCK + i] * e * away[j];
        for (size_t l = 0; l < k; l++)
            sum += 0.5 * at->aa[packed_index(j, l) * ROW_BLOCK + i] * away[j] * away[l];
    }
    return sum;
}

static batch predict_batch(const sampling *s, row_range r, const padded_line *line,
                           const row_buffers *at, double *eta)
{
    batch b = predictors_of(s->u, r, line, eta, NULL);
    b.y = at->y;
    b.pitch = ROW_BLOCK;
    return b;
}

/* r_ik of draw k, before its mean is taken off. */
static void leave(const sampling *s, row_range r, size_t k, const row_buffers *at)
{
    size_t aux = s->u->auxiliaries;
    double *rest = at->rest + k * ROW_BLOCK, away[aux + 1];
    batch b = predict_batch(s, r, &s->to[k], at, at->there);
    s->u->model->predictor->loglik(&b, rest);
    for (size_t j = 0; j < aux; j++) away[j] = s->to[k].aux[j] - s->at.aux[j];
    for (size_t i = 0; i < r.n; i++) {
        rest[i] -= at->base[i];
        if (s->cv) rest[i] -= polynomial(s, at, i, at->there[i] - at->eta[i], away);
    }
    predictors_weigh(s->u, r, rest);
}

static void add_residual_sums(const void *self, row_range r, double *scratch, double *total)
{
    const sampling *s = self;
    const predictor *model = s->u->model->predictor;
    row_buffers at = carve_buffers(s, scratch);
    const double *y = rows_targets(s->u->data, r, at.y);
    if (y != at.y) memcpy(at.y, y, r.n * sizeof *y);
    batch b = predict_batch(s, r, &s->at, &at, at.eta);
    model->loglik(&b, at.base);
    bool aux = s->u->auxiliaries;
    model->gradient(&b, at.e, aux ? at.a : NULL);
    model->curvature(&b, at.ee, aux ? at.ea : NULL, aux ? at.aa : NULL);
    for (size_t k = 0; k < s->draws; k++) leave(s, r, k, &at);
    for (size_t i = 0; i < r.n; i++) {
        double mean = 0.0;
        for (size_t k = 0; k < s->draws; k++)
            mean += at.rest[k * ROW_BLOCK + i] / (double)s->draws;
        for (size_t k = 0; k < s->draws; k++) {
            double x = at.rest[k * ROW_BLOCK + i] - mean;
            total[2 * k] += x;
            total[2 * k + 1] += x * x;
        }
    }
}

/* Draws as ranks.c has them. `w`: room for them. */
static sbps_status draw_points(const sbps_run *run, sampling *s, double *w, sbps_error *err)
{
    size_t d = run->target->dim;
    rng random = rng_stream(run->options->seed, 2, RNG_AUTO);
    sbps_status status = padded_line_open(&s->at, s->u, run->cv_centre, NULL, err);
    for (size_t k = 0; k < s->draws && status == SBPS_OK; k++) {
        laplace_draw(d, run->reference->w, run->factor, &random, w + k * d);
        status = padded_line_open(&s->to[k], s->u, w + k * d, NULL, err);
    }
    return status;
}

/* Of every rank two numbers a draw, the rows they are of and those it has. */
typedef struct {
    const double *of;
    size_t ranks, points;
    double sampled, all; /* rows, of all ranks */
} rank_sums;

static double entry(const rank_sums *s, size_t rank, size_t at)
{
    return s->of[rank * (2 * s->points + 2) + at];
}

static rank_sums sums_take(const ranks *among, size_t points, const double *of)
{
    rank_sums s = {.of = of, .ranks = among->size, .points = points};
    for (size_t r = 0; r < s.ranks; r++) {
        s.sampled += entry(&s, r, 2 * points);
        s.all += entry(&s, r, 2 * points + 1);
    }
    return s;
}

/* S_k^2 */
static double spread_of(const rank_sums *s, size_t k)
{
    double sum = 0.0, square = 0.0;
    for (size_t r = 0; r < s->ranks; r++) {
        sum += entry(s, r, 2 * k);
        square += entry(s, r, 2 * k + 1);
    }
    return fmax(square - sum * sum / s->sampled, 0.0) / (s->sampled - 1.0);
}

static void find_errors(const rank_sums *s, double *error, double *moved)
{
    double sampling_factor = 0.0, uneven = 0.0, sum = 0.0, squares = 0.0,
           points = (double)s->points;
    for (size_t r = 0; r < s->ranks; r++) {
        double own = entry(s, r, 2 * s->points + 1), even = 1.0 / (double)s->ranks;
        sampling_factor += (1.0 / own - 1.0 / s->all) * even;
        uneven += (even - own / s->all) * (even - own / s->all);
    }
    for (size_t k = 0; k < s->points; k++) {
        double square =
            s->all * s->all * sampling_factor * spread_of(s, k); /* (1), mean of ranks */
        sum += square;
        squares += square * square;
    }
    double variance = (squares - sum * sum / points) / (points - 1.0);
    double error2 = sum / (points - 1.0);
    *error = sqrt(error2);
    double others = fmax((double)s->ranks - 1.0, 1.0);
    variance = fmax(variance, 0.0);
    *moved = sqrt(uneven * error2 +
                  0.25 * (variance + 2.0 * (variance + error2 * error2) / others)); /* (2) */
}

bool rank_sample_serves(const sbps_run *run)
{
    const rows *data = &run->data;
    return run->target->model->predictor && !data->table.in_order;
}

sbps_status rank_sample_errors(const sbps_run *run, size_t points, double *error, double *moved,
                               sbps_error *err)
{
    size_t d = run->target->dim, width = 2 * points + 2;
    rows few = run->data;
    posterior u = *run->target;
    if (few.local_rows > RANK_SAMPLE) few.local_rows = RANK_SAMPLE;
    few.partition = NULL;
    u.data = &few;
    sampling s = {.u = &u, .cv = run->cv, .cv_centre = run->cv_centre, .draws = points};
    s.to = calloc(points, sizeof *s.to);
    double *w = new_doubles(points * d), *all = new_doubles((run->among->size + 1) * width);
    double *own = all + run->among->size * width;
    sbps_status status = s.to && w && all ? draw_points(run, &s, w, err) : fail_memory(err);
    const row_sum what = {.self = &s,
                          .width = 2 * points,
                          .scratch = row_buffers_size(&s),
                          .add = add_residual_sums};
    if (status == SBPS_OK) status = row_sums(&few, &what, own, err);
    if (status == SBPS_OK) {
        own[2 * points] = (double)few.local_rows;
        own[2 * points + 1] = (double)run->data.local_rows;
        ranks_gather(run->among, own, all, width * sizeof *own);
        const rank_sums sums = sums_take(run->among, points, all);
        find_errors(&sums, error, moved);
    }
    for (size_t k = 0; s.to && k < points; k++) free(s.to[k].p);
    free(s.at.p);
    free(s.to);
    free(w);
    free(all);
    return status;
}
