/* A model of the caller's own: one function that computes log p and its gradient for several
 * rows at once (sbps.h, sbps_model_function). Its gradients give
 *
 *   slope_i = u . grad_i,   Hess v = sum_i f_i (grad_i(w + h v) - grad_i(w - h v)) / 2h.
 *
 * The function may fail during a run, usually by an exception of another language. It is then
 * not called again, all its results are NAN, and model_failure returns the reason. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "model/likelihood/agreement.h"
#include "model/likelihood/model_kinds.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_TRIED ((size_t)7) /* evaluated together and one by one */
#define SAME       1e-9        /* relative: sums may be taken in another order */
#define TEXT_SIZE  400

/* The first failure. Several threads may fail at once: the first to set `taken` writes the
 * text, and then sets `failed`. */
typedef struct {
    atomic_bool taken, failed;
    char text[TEXT_SIZE];
} first_failure;

/* Instance of the model. */
typedef struct {
    sbps_model_function call;
    const char *label; /* of messages */
    const rows *data;
    size_t dim;
    first_failure *failure;
} function;

/* Stores the text of the first failure. */
static void keep_failure(first_failure *failure, const char *label, const char *text)
{
    if (atomic_exchange(&failure->taken, true)) return;
    snprintf(failure->text, sizeof failure->text, "%s: %s", label,
             *text ? text : "it failed without a message");
    atomic_store(&failure->failed, true);
}

/* The caller's message, once one of its calls has failed. Threads may evaluate rows at once:
 * `failed` is set after the text is complete. */
static const char *function_failure(const void *self)
{
    const function *m = self;
    return atomic_load(&m->failure->failed) ? m->failure->text : NULL;
}

/* Outputs of a failed call: NAN ends the chain, and the run reports the message. */
static void fill_nan(size_t n, double *out)
{
    for (size_t i = 0; out && i < n; i++) out[i] = NAN;
}

/* ---- rows ---- */

/* Sets b->x and b->y to the rows: in place where they are contiguous, else copied to `buffer`,
 * which has n (columns + 1) doubles. */
static void gather_batch(const function *m, row_range r, double *buffer, sbps_batch *b)
{
    const rows *data = m->data;
    size_t d = data->d, n = r.n;
    bool in_place = !r.list && data->stride == d;
    b->x = in_place ? data->storage.x + r.first * d : buffer;
    b->y = r.list ? buffer + n * d : data->y + r.first;
    for (size_t i = 0; !in_place && i < n; i++)
        memcpy(buffer + i * d, data->storage.x + row_index(r, i) * data->stride,
               d * sizeof *buffer);
    for (size_t i = 0; r.list && i < n; i++) buffer[n * d + i] = data->y[r.list[i]];
}

/* Calls the function for the rows; loglik and gradient may be NULL. `buffer` has n (columns +
 * 1) doubles. */
static void evaluate_rows(const function *m, row_range r, const double *w, double *buffer,
                          double *loglik, double *gradient)
{
    char text[TEXT_SIZE / 2] = "";
    sbps_batch b = {.struct_size = sizeof b,
                    .n = r.n,
                    .dim = m->dim,
                    .columns = m->data->d,
                    .w = w,
                    .loglik = loglik,
                    .gradient = gradient,
                    .text = text,
                    .text_size = sizeof text};
    gather_batch(m, r, buffer, &b);
    if (!atomic_load(&m->failure->taken) && m->call.rows(m->call.data, &b)) return;
    text[sizeof text - 1] = '\0';
    keep_failure(m->failure, m->label, text);
    fill_nan(r.n, loglik);
    fill_nan(gradient ? r.n * m->dim : 0, gradient);
}

/* Doubles that n rows need: their columns and their targets. */
static size_t buffer_size(const function *m, size_t n)
{
    return n * (m->data->d + 1);
}

/* ---- checks ---- */

/* The caller's names; else the columns', if there is a parameter for each; else w1, w2, ... */
static void function_name(const void *self, size_t j, size_t size, char *text)
{
    const function *m = self;
    if (m->call.names)
        snprintf(text, size, "%s", m->call.names[j]);
    else if (m->dim == m->data->d && m->data->table.names)
        snprintf(text, size, "%s", m->data->table.names[j]);
    else
        snprintf(text, size, "w%zu", j + 1);
}

/* Where the search for the mode begins: the caller's point, or 0. */
static void function_start(const void *self, double *w)
{
    const function *m = self;
    memset(w, 0, m->dim * sizeof *w);
    if (m->call.start) memcpy(w, m->call.start, m->dim * sizeof *w);
}

/* The model and the buffers with which single rows are checked. */
typedef struct {
    const function *m;
    double *buffer, *value, *gradient; /* for ROWS_TRIED rows */
} trial;

/* Members of own_model: the check of the gradient evaluates one row at a time. */
static double one_loglik(const void *self, size_t i, const double *w)
{
    const trial *t = self;
    double value;
    evaluate_rows(t->m, rows_from(i, 1), w, t->buffer, &value, NULL);
    return value;
}

static void one_gradient(const void *self, size_t i, const double *w, double *out)
{
    const trial *t = self;
    evaluate_rows(t->m, rows_from(i, 1), w, t->buffer, NULL, out);
}

static void trial_name(const void *self, size_t j, size_t size, char *text)
{
    function_name(((const trial *)self)->m, j, size, text);
}

static void trial_start(const void *self, double *w)
{
    function_start(((const trial *)self)->m, w);
}

/* Are n numbers equal to rounding? Two NANs are. */
static bool same(size_t n, const double *a, const double *b)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= SAME * fmax(1.0, fmax(fabs(a[i]), fabs(b[i])))))
            return a[i] != a[i] && b[i] != b[i];
    return true;
}

/* Fails unless rows evaluated together give the same as one by one. `w` and `alone` have dim
 * numbers. */
static sbps_status check_batch(const trial *t, double *w, double *alone, sbps_error *err)
{
    const function *m = t->m;
    size_t n = m->data->local_rows < ROWS_TRIED ? m->data->local_rows : ROWS_TRIED;
    function_start(m, w);
    evaluate_rows(m, rows_from(0, n), w, t->buffer, t->value, t->gradient);
    for (size_t i = 0; i < n; i++) {
        double value = one_loglik(t, i, w);
        one_gradient(t, i, w, alone);
        bool agree =
            same(1, &value, t->value + i) && same(m->dim, alone, t->gradient + i * m->dim);
        if (!agree && !function_failure(m))
            return fail(
                err, SBPS_BAD_DATA,
                "%s: its result for a row depends on the other rows of the call: it must "
                "return log p and gradient of each row by itself",
                m->label);
    }
    return SBPS_OK;
}

/* Checks that rows are independent of each other and that gradients agree with
 * log-likelihoods. */
static sbps_status check_itself(const function *m, sbps_error *err)
{
    size_t d = m->dim;
    double *memory = new_doubles(buffer_size(m, ROWS_TRIED) + ROWS_TRIED * (d + 1) + 2 * d);
    if (!memory) return fail_memory(err);
    trial t = {.m = m, .buffer = memory};
    t.value = memory + buffer_size(m, ROWS_TRIED);
    t.gradient = t.value + ROWS_TRIED;
    double *w = t.gradient + ROWS_TRIED * d;
    const own_model own = {.label = m->label,
                           .self = &t,
                           .dim = d,
                           .rows = m->data->local_rows,
                           .loglik = one_loglik,
                           .gradient = one_gradient,
                           .name = trial_name,
                           .start = trial_start};
    sbps_status status = check_batch(&t, w, w + d, err);
    if (status == SBPS_OK) status = agreement_check(&own, err);
    free(memory);
    const char *reason = function_failure(m);
    return reason ? fail(err, SBPS_BAD_DATA, "%s", reason) : status;
}

/* ---- members of model_kind ---- */

static void function_close(void *self)
{
    function *m = self;
    if (!m) return;
    free(m->failure);
    free(m);
}

/* Takes the caller's function from the shape and checks it on the first rows. */
static sbps_status function_open(const model_kind *kind, const rows *data,
                                 const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    function *m = *self = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    m->failure = calloc(1, sizeof *m->failure);
    m->call = *shape->function;
    m->label = shape->library;
    m->data = data;
    m->dim = m->call.dim ? m->call.dim : data->d;
    sbps_status status = m->failure ? check_itself(m, err) : fail_memory(err);
    if (status == SBPS_OK) return SBPS_OK;
    function_close(m);
    *self = NULL;
    return status;
}

static size_t function_dim(const void *self)
{
    return ((const function *)self)->dim;
}

static double function_prior_sd(const void *self, size_t j)
{
    const function *m = self;
    return m->call.prior_sd ? m->call.prior_sd[j] : INFINITY;
}

/* Room for the rows, their gradients, and two points. */
static size_t function_scratch(const void *self, size_t n)
{
    const function *m = self;
    return buffer_size(m, n) + n * m->dim + 2 * m->dim;
}

static void function_loglik(const void *self, row_range r, const double *w, double *scratch,
                            double *out)
{
    evaluate_rows(self, r, w, scratch, out, NULL);
}

/* Evaluates the gradients of the rows into scratch, and returns them, row after row. */
static double *gradients(const function *m, row_range r, const double *w, double *scratch)
{
    double *out = scratch + buffer_size(m, r.n);
    evaluate_rows(m, r, w, scratch, NULL, out);
    return out;
}

static void function_slope(const void *self, row_range r, const double *w, const double *u,
                           double *scratch, double *out)
{
    const function *m = self;
    const double *g = gradients(m, r, w, scratch);
    for (size_t i = 0; i < r.n; i++) out[i] = dot(m->dim, g + i * m->dim, u);
}

/* out += scale sum_i factor_i grad_i */
static void add_gradients(const function *m, row_range r, const double *w, const double *factor,
                          double scale, double *scratch, double *out)
{
    const double *g = gradients(m, r, w, scratch);
    for (size_t i = 0; i < r.n; i++)
        for (size_t j = 0; j < m->dim; j++) out[j] += scale * factor[i] * g[i * m->dim + j];
}

static void function_gradient(const void *self, row_range r, const double *w,
                              const double *factor, double *scratch, double *out)
{
    add_gradients(self, r, w, factor, 1.0, scratch, out);
}

static double largest_size(size_t n, const double *x)
{
    double max_abs = 0.0;
    for (size_t j = 0; j < n; j++) max_abs = fmax(max_abs, fabs(x[j]));
    return max_abs;
}

/* Central differences along v, with a step of eps^(1/3) relative to the size of w. */
static void function_hessian_vector(const void *self, row_range r, const double *w,
                                    const double *v, const double *factor, double *scratch,
                                    double *out)
{
    const function *m = self;
    double *at = scratch + buffer_size(m, r.n) + r.n * m->dim, speed = largest_size(m->dim, v);
    double h =
        speed > 0.0 ? cbrt(DBL_EPSILON) * fmax(1.0, largest_size(m->dim, w)) / speed : 1.0;
    for (int side = -1; side <= 1; side += 2) {
        for (size_t j = 0; j < m->dim; j++) at[j] = w[j] + side * h * v[j];
        add_gradients(m, r, at, factor, side / (2.0 * h), scratch, out);
    }
}

const model_kind model_function = {
    .name = "function",
    .summary = "A model of the caller's own, a function of some rows.",
    .support = SUPPORT_ANY,
    .facts.mode_optional = true,
    .open = function_open,
    .close = function_close,
    .parameters.dim = function_dim,
    .parameters.name = function_name,
    .parameters.prior_sd = function_prior_sd,
    .rows.scratch = function_scratch,
    .rows.loglik = function_loglik,
    .rows.slope = function_slope,
    .rows.gradient = function_gradient,
    .rows.hessian_vector = function_hessian_vector,
    .parameters.start = function_start,
    .rows.failure = function_failure,
};
