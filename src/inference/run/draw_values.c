/* U at every stored draw: exact if passes through the table are affordable, else integrated
 * along the line from the reference w_0 with the likelihood's slope L = -d/dt sum log p on
 * mini-batches,
 *
 *   U(w) = U(w_0) - log p(w) + log p(w_0) + sum_k c_k L~(t_k),    w_0 + t (w - w_0), 0 < t < 1,
 *
 * with Gauss-Legendre nodes t_k and weights c_k. L~ uses the run's control variate, so only the
 * remainder of its Taylor polynomial is noisy. Batches grow until the noise is small relative
 * to the scatter of U over the draws. A few draws are then evaluated exactly; if their errors
 * are larger than the estimated ones, because of quadrature or of rows that no batch contained,
 * the estimates are raised to them. */
#include "inference/run/draw_values.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/set_up.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "posterior/full/log_prior.h"

#include <math.h>
#include <string.h>

#define EXACT_WORK       4e8 /* largest number of rows * columns for exact values, */
#define TRANSFORMED_WORK 4e9 /* for exact values where nothing else is possible, */
#define NOISY_WORK       2e9 /* and for a round of batches */
#define FIRST_BATCH      ((size_t)64)
#define GROWTH           4    /* factor from one batch size to the next */
#define NOISE_FRACTION   0.05 /* noise relative to the scatter of U that is small enough */
#define CHECKS           ((size_t)8) /* draws evaluated exactly */
#define CHECKS_LONG      ((size_t)3) /* in a long table, where each is slow */
#define LONG_TABLE       ((size_t)100000)
#define HUGE_TABLE       ((size_t)1000000000) /* one pass takes minutes */
#define CHECK_LIMIT      3.0 /* rms of error / estimated error that chance may produce */
#define NODES            3   /* Gauss-Legendre nodes from 0 to 1, exact for degree 5 */

static const double node[NODES] = {0.1127016653792583, 0.5, 0.8872983346207417};
static const double node_weight[NODES] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

/* The draws and what their values are computed by. */
typedef struct {
    const sbps_run *run;
    result *r;
    const control *cv;
    control *own;    /* created here; NULL: borrowed from the run */
    minibatch gauge; /* batches of its own: the chains' are not disturbed */
    arena memory;    /* of gauge and q */
    double *q;       /* dim: w - w_0 */
    double at_zero;  /* U(w_0) + log p(w_0) */
} valuer;

/* Draw i over all chains. */
static const double *draw_of(const valuer *v, size_t i)
{
    const result *r = v->r;
    return v->run->chains[i / r->draws].d.w + i % r->draws * r->dim;
}

/* Draws of all chains together. */
static size_t draw_count(const valuer *v)
{
    return v->r->chains * v->r->draws;
}

/* ---- exact values ---- */

/* Evaluates U at every draw with all rows. */
static sbps_status value_exactly(const valuer *v, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t i = 0; i < draw_count(v) && status == SBPS_OK; i++) {
        status = posterior_value(v->run->target, draw_of(v, i), &v->r->potential[i], err);
        v->r->potential_sd[i] = 0.0;
    }
    return status;
}

/* ---- from mini-batches ---- */

/* Estimates U at draw i along the line from the reference. */
static void value_draw(valuer *v, size_t i)
{
    const posterior *u = v->run->target;
    const double *w = draw_of(v, i);
    double value = v->at_zero - log_prior_value(u, w), variance = 0.0;
    for (size_t j = 0; j < u->dim; j++) v->q[j] = w[j] - v->cv->w[j];
    potential_set_line(&v->gauge.is, v->cv->w, v->q);
    for (size_t k = 0; k < NODES; k++) {
        observation o = minibatch_observe_likelihood(&v->gauge, node[k]);
        value += node_weight[k] * o.slope;
        variance += node_weight[k] * node_weight[k] * o.variance;
    }
    v->r->potential[i] = value;
    v->r->potential_sd[i] = sqrt(variance);
}

/* ---- from the Taylor polynomial ---- */

/* For models with groups, where evaluating a row is expensive: the Taylor polynomial is the
 * estimate, and the draws evaluated exactly give its error. */
static void value_by_taylor(valuer *v)
{
    const posterior *u = v->run->target;
    size_t d = u->dim, stride = (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    for (size_t i = 0; i < draw_count(v); i++) {
        const double *w = draw_of(v, i);
        double value = v->at_zero - log_prior_value(u, w);
        for (size_t j = 0; j < d; j++) v->q[j] = w[j] - v->cv->w[j];
        for (size_t j = 0; j < d; j++) {
            const double *row = v->cv->hessian + j * stride;
            value -= v->q[j] * (v->cv->gradient[j] + 0.5 * dot(d, row, v->q));
        }
        v->r->potential[i] = value;
        v->r->potential_sd[i] = 0.0;
    }
}

/* ---- accuracy ---- */

/* True if the noise is small relative to the scatter of U. */
static bool quiet(const valuer *v)
{
    const double *u = v->r->potential;
    double count = (double)draw_count(v), mean = 0.0, square = 0.0, noise = 0.0;
    for (size_t i = 0; i < draw_count(v); i++)
        noise += v->r->potential_sd[i] * v->r->potential_sd[i] / count;
    noise = sqrt(noise);
    for (size_t i = 0; i < draw_count(v); i++) mean += u[i] / count;
    for (size_t i = 0; i < draw_count(v); i++) square += (u[i] - mean) * (u[i] - mean) / count;
    /* the observed scatter includes the noise */
    return noise * noise <= NOISE_FRACTION * NOISE_FRACTION * (square - noise * noise);
}

/* Number of draws that are evaluated exactly. */
static size_t check_count(const valuer *v)
{
    const rows *data = &v->run->data, *member_rows = data->member_rows;
    size_t all = total_rows(member_rows ? member_rows : data), count = draw_count(v),
           most = all > LONG_TABLE ? CHECKS_LONG : CHECKS;
    if (all > HUGE_TABLE) most = 1;
    return count < most ? count : most;
}

/* Evaluates some draws exactly and raises the standard errors of the others if theirs were too
 * small. */
static sbps_status check_some(valuer *v, sbps_error *err)
{
    size_t count = draw_count(v), checks = check_count(v);
    double square = 0.0, ratio = 0.0;
    sbps_status status = SBPS_OK;
    for (size_t c = 0; c < checks && status == SBPS_OK; c++) {
        size_t i = c * count / checks;
        double exact, sd = v->r->potential_sd[i];
        status = posterior_value(v->run->target, draw_of(v, i), &exact, err);
        double miss = v->r->potential[i] - exact;
        square += miss * miss / (double)checks;
        ratio += miss * miss / fmax(sd * sd, 1e-300) / (double)checks;
        v->r->potential[i] = exact;
    }
    if (status != SBPS_OK) return status;
    double least = sqrt(ratio) > CHECK_LIMIT ? sqrt(square) : 0.0;
    for (size_t i = 0; i < count; i++)
        v->r->potential_sd[i] = fmax(v->r->potential_sd[i], least);
    for (size_t c = 0; c < checks; c++) v->r->potential_sd[c * count / checks] = 0.0;
    return SBPS_OK;
}

/* ---- values of all draws ---- */

/* Prepares the control variate and the mini-batch. Close it also after a failure. */
static sbps_status valuer_open(valuer *v, sbps_error *err)
{
    const sbps_run *run = v->run;
    const posterior *u = run->target;
    sbps_status status = SBPS_OK;
    if (!v->cv) {
        status = run_control(run, "hessian", run->reference->w, &v->own, err);
        v->cv = v->own;
    }
    if (status != SBPS_OK) return status;
    /* U at the control variate's reference: known from set-up, unless warm-up moved that */
    v->at_zero = run->reference->value;
    if (memcmp(v->cv->w, run->reference->w, u->dim * sizeof *v->cv->w))
        status = posterior_value(u, v->cv->w, &v->at_zero, err);
    if (status != SBPS_OK) return status;
    v->at_zero += log_prior_value(u, v->cv->w);
    const batch_kind *kind = run->noise.parts ? &batch_strata : &batch_window;
    minibatch_carve(&v->gauge, kind, u, FIRST_BATCH, &v->memory);
    arena_doubles(&v->memory, u->dim);
    v->memory = (arena){.base = aligned_zeroed(v->memory.used), .size = v->memory.used};
    if (!v->memory.base) return fail_memory(err);
    minibatch_carve(&v->gauge, kind, u, FIRST_BATCH, &v->memory);
    v->q = arena_doubles(&v->memory, u->dim);
    v->gauge.cv = v->cv;
    v->gauge.parts = run->noise.parts;
    minibatch_start(&v->gauge, rng_stream(run->options->seed, 0, RNG_VALUE));
    return SBPS_OK;
}

/* The control variate of the run is borrowed; `own` was made here. */
static void valuer_close(valuer *v)
{
    if (v->memory.base) minibatch_release(&v->gauge);
    free(v->memory.base);
    control_destroy(v->own);
}

/* Work of this many row evaluations for every draw. A model with groups evaluates its family at
 * every quadrature point; the cost of a logistic one is 2. */
static double draws_cost(const valuer *v, double evaluations)
{
    const posterior *u = v->run->target;
    const model_kind *row_model = u->model->row_model;
    double each = u->model->rows.cost ? u->model->rows.cost(u->self) : (double)u->dim;
    if (row_model) each *= larger(row_model->predictor->cost / 2.0, 1.0);
    return evaluations * (double)draw_count(v) * each;
}

/* Estimates U with growing batches until the noise is small; exactly if that becomes cheaper.
 */
static sbps_status value_by_control(valuer *v, sbps_error *err)
{
    size_t total = total_rows(&v->run->data);
    sbps_status status = valuer_open(v, err);
    if (status == SBPS_OK && v->run->target->model->row_model && v->cv->hessian) {
        value_by_taylor(v);
        return check_some(v, err);
    }
    for (size_t n = FIRST_BATCH; status == SBPS_OK; n *= GROWTH) {
        minibatch_resize(&v->gauge, v->gauge.kind, n);
        for (size_t i = 0; i < draw_count(v); i++) value_draw(v, i);
        if (v->run->ranks.among) status = ranks_average_values(v->run, v->r, err);
        if (status != SBPS_OK || quiet(v)) break;
        double next = (double)(n * GROWTH * NODES);
        if (v->run->ranks.among && n * GROWTH > min_local_rows(&v->run->data) / 2)
            next = INFINITY;
        if (next >= (double)total && draws_cost(v, (double)total) <= NOISY_WORK)
            return value_exactly(v, err);
        if (next >= (double)total || draws_cost(v, next) > NOISY_WORK) break;
    }
    return status == SBPS_OK ? check_some(v, err) : status;
}

/* Splits U into log prior and log likelihood. */
static void split_values(const valuer *v)
{
    for (size_t i = 0; i < draw_count(v); i++) {
        v->r->log_prior[i] = log_prior_value(v->run->target, draw_of(v, i));
        v->r->log_likelihood[i] = -v->r->potential[i] - v->r->log_prior[i];
    }
}

sbps_status values_fill(const sbps_run *run, result *r, sbps_error *err)
{
    valuer v = {.run = run, .r = r, .cv = run->noise.cv};
    size_t total = total_rows(&run->data);
    /* a row of a model with groups is a whole group */
    bool few = !run->target->model->row_model && total <= FIRST_BATCH * NODES;
    bool exact = few || draws_cost(&v, (double)total) <= EXACT_WORK;
    if (run->target->model->transformation.apply) {
        /* no mini-batches: exact values, or NAN if they are too expensive */
        sbps_status valued = SBPS_OK;
        if (draws_cost(&v, (double)total) <= TRANSFORMED_WORK)
            valued = value_exactly(&v, err);
        else
            for (size_t i = 0; i < draw_count(&v); i++)
                r->potential[i] = r->potential_sd[i] = NAN;
        if (valued == SBPS_OK) split_values(&v);
        return valued;
    }
    sbps_status status = exact ? value_exactly(&v, err) : value_by_control(&v, err);
    if (!exact) valuer_close(&v);
    if (status == SBPS_OK) split_values(&v);
    return status;
}
