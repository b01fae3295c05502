/* A model of the user's own, from a shared object that exports one table of functions
 * (sbps_model.h). It is loaded only if --model is a path with a slash in it.
 *
 * The table has functions of one row, from which are made
 *
 *   slope_i    = u . grad_i   if it has no slope of its own
 *   gradient  += f_i grad_i,   and Hessian times v likewise
 *
 * Before anything is drawn, its derivatives are compared with differences of its
 * log-likelihood. */
#include "linalg/dense_matrix.h"
#include "model/likelihood/agreement.h"
#include "model/likelihood/model_kinds.h"
#include "sbps_model.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Instance of the model. */
typedef struct {
    void *library; /* handle of dlopen */
    sbps_model_table call;
    const rows *data;
    size_t dim;
} plugin;

static const double *row_at(const plugin *m, size_t i)
{
    return m->data->storage.x + i * m->data->stride;
}

/* ---- one row ---- */

static double row_loglik(const plugin *m, size_t i, const double *w)
{
    return m->call.loglik(m->dim, w, m->data->d, row_at(m, i), m->data->y[i]);
}

static void row_gradient(const plugin *m, size_t i, const double *w, double *out)
{
    m->call.gradient(m->dim, w, m->data->d, row_at(m, i), m->data->y[i], out);
}

/* The derivative of row i along u; scratch has dim numbers. */
static double row_slope(const plugin *m, size_t i, const double *w, const double *u,
                        double *scratch)
{
    if (m->call.slope)
        return m->call.slope(m->dim, w, u, m->data->d, row_at(m, i), m->data->y[i]);
    row_gradient(m, i, w, scratch);
    return dot(m->dim, scratch, u);
}

/* ---- the exported table ---- */

/* Copies the table. Members that a shorter, older table does not have stay NULL. */
static sbps_status take_table(plugin *m, const char *path, const sbps_model_table *from,
                              sbps_error *err)
{
    if (from->abi != SBPS_MODEL_ABI)
        return fail(err, SBPS_BAD_FILE,
                    "%s: its sbps_model has abi %u, this program needs abi %u: recompile it "
                    "with this version's sbps_model.h",
                    path, (unsigned)from->abi, (unsigned)SBPS_MODEL_ABI);
    if (from->struct_size > sizeof m->call)
        return fail(err, SBPS_BAD_FILE,
                    "%s: its sbps_model has %zu bytes, this program knows %zu of them: it was "
                    "compiled for a later version",
                    path, from->struct_size, sizeof m->call);
    if (from->struct_size < offsetof(sbps_model_table, slope))
        return fail(
            err, SBPS_BAD_FILE,
            "%s: its sbps_model has struct_size %zu: set it to sizeof(sbps_model_table)", path,
            from->struct_size);
    if (from->flags)
        return fail(err, SBPS_BAD_FILE,
                    "%s: its sbps_model has flags %#x; no flags are defined yet", path,
                    (unsigned)from->flags);
    memcpy(&m->call, from, from->struct_size);
    const char *missing = !m->call.dim        ? "dim"
                          : !m->call.loglik   ? "loglik"
                          : !m->call.gradient ? "gradient"
                                              : NULL;
    if (!missing) return SBPS_OK;
    return fail(err, SBPS_BAD_FILE, "%s: its sbps_model has no function `%s`", path, missing);
}

/* Loads the shared object and takes its table. */
static sbps_status load(plugin *m, const char *path, sbps_error *err)
{
    m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->library) {
        const char *reason = dlerror();
        return fail(err, SBPS_NO_FILE, "--model: cannot load %s: %s", path,
                    reason ? reason : "unknown reason");
    }
    const sbps_model_table *from = dlsym(m->library, "sbps_model");
    if (!from)
        return fail(err, SBPS_BAD_FILE,
                    "%s: exports no `sbps_model`: see sbps_model.h for what it needs", path);
    return take_table(m, path, from, err);
}

/* The model's own names; else the columns', if there is a parameter for each; else w1, w2,
 * ... */
static void plugin_name(const void *self, size_t j, size_t size, char *text)
{
    const plugin *m = self;
    const char *const *names = (const char *const *)m->data->table.names;
    if (m->call.name_by_columns && names)
        m->call.name_by_columns(m->data->d, names, j, size, text);
    else if (m->call.name)
        m->call.name(m->data->d, j, size, text);
    else if (m->dim == m->data->d && m->data->table.names)
        snprintf(text, size, "%s", m->data->table.names[j]);
    else
        snprintf(text, size, "w%zu", j + 1);
    text[size - 1] = '\0';
}

/* ---- checks ---- */

/* Fails if the model's own check rejects a row. */
static sbps_status check_rows(const plugin *m, const char *path, sbps_error *err)
{
    for (size_t i = 0; m->call.check && i < m->data->local_rows; i++) {
        const char *reason = m->call.check(m->data->d, row_at(m, i), m->data->y[i]);
        if (reason)
            return fail(err, SBPS_BAD_DATA, "%s: a row whose target is %g: %s", path,
                        m->data->y[i], reason);
    }
    return SBPS_OK;
}

static double one_loglik(const void *self, size_t i, const double *w)
{
    return row_loglik(self, i, w);
}

static void one_gradient(const void *self, size_t i, const double *w, double *out)
{
    row_gradient(self, i, w, out);
}

static double one_slope(const void *self, size_t i, const double *w, const double *u,
                        double *scratch)
{
    return row_slope(self, i, w, u, scratch);
}

static void plugin_start(const void *self, double *w)
{
    const plugin *m = self;
    memset(w, 0, m->dim * sizeof *w);
    if (m->call.start) m->call.start(m->data->d, w);
}

/* Checks the rows, and the derivatives against the log-likelihood. */
static sbps_status check_itself(const plugin *m, const char *path, sbps_error *err)
{
    const own_model own = {.label = path,
                           .self = m,
                           .dim = m->dim,
                           .rows = m->data->local_rows,
                           .loglik = one_loglik,
                           .gradient = one_gradient,
                           .slope = one_slope,
                           .name = plugin_name,
                           .start = plugin_start};
    sbps_status status = check_rows(m, path, err);
    return status == SBPS_OK ? agreement_check(&own, err) : status;
}

/* ---- members of model_kind ---- */

static void plugin_close(void *self)
{
    plugin *m = self;
    if (!m) return;
    if (m->library) dlclose(m->library);
    free(m);
}

/* Loads the shared object that --model names, and checks it on the rows. */
static sbps_status plugin_open(const model_kind *kind, const rows *data,
                               const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind;
    const char *path = shape->library;
    plugin *m = *self = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    m->data = data;
    sbps_status status = load(m, path, err);
    if (status == SBPS_OK && (m->dim = m->call.dim(data->d)) == 0)
        status = fail(err, SBPS_BAD_DATA, "%s: it has no parameters for rows of %zu columns",
                      path, data->d);
    if (status == SBPS_OK) status = check_itself(m, path, err);
    if (status == SBPS_OK) return SBPS_OK;
    plugin_close(m);
    *self = NULL;
    return status;
}

static size_t plugin_dim(const void *self)
{
    return ((const plugin *)self)->dim;
}

static double plugin_prior_sd(const void *self, size_t j)
{
    const plugin *m = self;
    return m->call.prior_sd ? m->call.prior_sd(m->data->d, j) : INFINITY;
}

static size_t plugin_scratch(const void *self, size_t n)
{
    (void)n;
    return 3 * plugin_dim(self);
}

static void plugin_loglik(const void *self, row_range r, const double *w, double *scratch,
                          double *out)
{
    (void)scratch;
    for (size_t i = 0; i < r.n; i++) out[i] = row_loglik(self, row_index(r, i), w);
}

static void plugin_slope(const void *self, row_range r, const double *w, const double *u,
                         double *scratch, double *out)
{
    for (size_t i = 0; i < r.n; i++) out[i] = row_slope(self, row_index(r, i), w, u, scratch);
}

static void plugin_gradient(const void *self, row_range r, const double *w,
                            const double *factor, double *scratch, double *out)
{
    const plugin *m = self;
    for (size_t i = 0; i < r.n; i++) {
        row_gradient(m, row_index(r, i), w, scratch);
        for (size_t j = 0; j < m->dim; j++) out[j] += factor[i] * scratch[j];
    }
}

/* out += Hessian times v by central differences of gradients, at two points that are the same
 * for all rows. `points` has 3 dim numbers. */
static void add_differences(const plugin *m, row_range r, const double *w, const double *v,
                            const double *factor, double *points, double *out)
{
    double *low = points, *high = low + m->dim, *g = high + m->dim, size = 1.0, speed = 0.0;
    for (size_t j = 0; j < m->dim; j++) {
        size = fmax(size, fabs(w[j]));
        speed = fmax(speed, fabs(v[j]));
    }
    double h = speed > 0.0 ? cbrt(DBL_EPSILON) * size / speed : 1.0;
    for (size_t j = 0; j < m->dim; j++) {
        low[j] = w[j] - h * v[j];
        high[j] = w[j] + h * v[j];
    }
    for (size_t i = 0; i < r.n; i++) {
        double each = factor[i] / (2.0 * h);
        row_gradient(m, row_index(r, i), low, g);
        for (size_t j = 0; j < m->dim; j++) out[j] -= each * g[j];
        row_gradient(m, row_index(r, i), high, g);
        for (size_t j = 0; j < m->dim; j++) out[j] += each * g[j];
    }
}

/* The model's own product, else differences of gradients. */
static void plugin_hessian_vector(const void *self, row_range r, const double *w,
                                  const double *v, const double *factor, double *scratch,
                                  double *out)
{
    const plugin *m = self;
    if (!m->call.hessian_vector) {
        add_differences(m, r, w, v, factor, scratch, out);
        return;
    }
    for (size_t i = 0; i < r.n; i++) {
        size_t row = row_index(r, i);
        m->call.hessian_vector(m->dim, w, v, m->data->d, row_at(m, row), m->data->y[row],
                               scratch);
        for (size_t j = 0; j < m->dim; j++) out[j] += factor[i] * scratch[j];
    }
}

const model_kind model_plugin = {
    .name = "plugin",
    .summary = "A model of the user's own, from a shared object.",
    .support = SUPPORT_ANY,
    .facts.mode_optional = true,
    .open = plugin_open,
    .close = plugin_close,
    .parameters.dim = plugin_dim,
    .parameters.name = plugin_name,
    .parameters.prior_sd = plugin_prior_sd,
    .rows.scratch = plugin_scratch,
    .rows.loglik = plugin_loglik,
    .rows.slope = plugin_slope,
    .rows.gradient = plugin_gradient,
    .rows.hessian_vector = plugin_hessian_vector,
    .parameters.start = plugin_start,
};
