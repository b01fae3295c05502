/* The posterior on the full data: construction, names and priors. Sums over rows are
 * delegated to the form of the model (forms.h). */
#include "posterior/full/posterior.h"
#include "core/memory.h"
#include "linalg/dense_cost.h"
#include "posterior/full/forms.h"

#include <stdlib.h>
#include <string.h>

/* ---- construction ---- */

void posterior_name(const posterior *u, size_t j, size_t size, char *text)
{
    u->model->parameters.name(u->self, j, size, text);
}

bool posterior_derived(const posterior *u, size_t j, model_derived *out)
{
    return u->model->reported.describe && u->model->reported.describe(u->self, j, out);
}

void posterior_reported_name(const posterior *u, size_t j, size_t size, char *text)
{
    model_derived derived;
    if (posterior_derived(u, j, &derived))
        u->model->reported.name(u->self, j, size, text);
    else
        posterior_name(u, j, size, text);
}

prior posterior_reported_prior(const posterior *u, size_t j)
{
    if (u->reported_priors) return u->reported_priors[j];
    prior p = u->priors[j];
    model_coordinate own;
    bool described =
        u->model->parameters.coordinate && u->model->parameters.coordinate(u->self, j, &own);
    if (p.kind->correlation && described) p.theta[0] -= own.deeper;
    return p;
}

sbps_status posterior_set_priors(posterior *u, const prior *priors, sbps_error *err)
{
    for (size_t j = 0; j < u->dim; j++) {
        u->priors[j] = priors[j];
        char text[128], name[81];
        prior_format(&priors[j], sizeof text, text);
        posterior_name(u, j, sizeof name, name);
        if (priors[j].kind->correlation != (u->scale[j] == SCALE_TANH) &&
            priors[j].kind != prior_find("flat"))
            return fail(err, SBPS_BAD_ARG,
                        "prior %s of '%s': lkj is for correlations, and they take no other",
                        text, name);
        if (!priors[j].kind->positive || u->scale[j] == SCALE_LOG || u->scale[j] == SCALE_LOGIT)
            continue;
        return fail(err, SBPS_BAD_ARG,
                    "prior %s is for positive parameters such as sigma, but the weight of '%s' "
                    "may be negative; take for example normal(0,2.5)",
                    text, name);
    }
    return SBPS_OK;
}

bool posterior_bounded(const posterior *u)
{
    const predictor *p = u->model->predictor;
    bool bounded = p && p->slope_bound > 0.0 && p->curvature_bound > 0.0;
    return bounded && u->model->facts.log_concave && !u->auxiliaries;
}

size_t posterior_column(const posterior *u, size_t j)
{
    size_t d = u->data->d;
    return u->model->facts.weights_by_column && j < u->columns ? j % d : d;
}

size_t posterior_named_column(const posterior *u, size_t j)
{
    size_t d = u->data->d, own = posterior_column(u, j);
    char name[81];
    if (own < d || !u->data->table.names) return own;
    posterior_name(u, j, sizeof name, name);
    size_t c = 0;
    while (c < d && strncmp(name, u->data->table.names[c], sizeof name - 1)) c++;
    return c;
}

void posterior_centre(posterior *u)
{
    size_t d = u->data->d;
    if (u->data->intercept && d >= 2 && u->model->facts.weights_by_column)
        u->centred = u->columns / d;
}

/* Opens the model, and sets dimensions and form of the posterior by it. */
static sbps_status open_model(posterior *u, const model_shape *shape, sbps_error *err)
{
    const model_kind *model = u->model;
    static const model_shape no_shape = {0};
    sbps_status status = model->open(model, u->data, shape ? shape : &no_shape, &u->self, err);
    if (status != SBPS_OK) return status;
    u->dim = u->columns = u->width = model->parameters.dim(u->self);
    u->form = model->predictor              ? &form_predictor
              : model->transformation.apply ? &form_transformed
                                            : &form_pointwise;
    model_coordinate unused;
    while (model->parameters.coordinate && u->columns > 0 &&
           model->parameters.coordinate(u->self, u->columns - 1, &unused))
        u->columns--;
    if (!model->predictor) return SBPS_OK;
    u->auxiliaries = model->auxiliary_count;
    u->columns = u->data->d;
    u->width = u->data->stride + u->auxiliaries;
    u->mean = model->predictor->mean;
    return SBPS_OK;
}

sbps_status posterior_open(const rows *data, const model_kind *model, const model_shape *shape,
                           posterior **out, sbps_error *err)
{
    *out = NULL;
    sbps_status status = blas_begin(err);
    if (status != SBPS_OK) return status;
    posterior *u = calloc(1, sizeof *u);
    if (!u) return fail_memory(err);
    *u = (posterior){.data = data, .model = model, .k = kernels_best()};
    status = open_model(u, shape, err);
    if (status != SBPS_OK) goto undo;
    u->priors = calloc(u->dim + 1, sizeof *u->priors);
    u->scale = calloc(u->dim + 1, sizeof *u->scale);
    if (!u->priors || !u->scale) {
        status = fail_memory(err);
        goto undo;
    }
    for (size_t j = 0; j < u->dim; j++) prior_parse("flat", &u->priors[j], NULL);
    for (size_t i = 0; i < u->auxiliaries; i++)
        u->scale[u->columns + i] = model->auxiliaries[i].scale;
    model_coordinate own;
    for (size_t j = 0; model->parameters.coordinate && j < u->dim; j++)
        if (model->parameters.coordinate(u->self, j, &own)) u->scale[j] = own.scale;
    *out = u;
    return SBPS_OK;
undo:
    posterior_destroy(u);
    return status;
}

sbps_status posterior_create(const rows *data, const model_kind *model, const prior *priors,
                             posterior **out, sbps_error *err)
{
    sbps_status status = posterior_open(data, model, NULL, out, err);
    if (status != SBPS_OK) return status;
    status = posterior_set_priors(*out, priors, err);
    if (status == SBPS_OK) return SBPS_OK;
    posterior_destroy(*out);
    *out = NULL;
    return status;
}

void posterior_destroy(posterior *u)
{
    if (!u) return;
    u->model->close(u->self);
    free(u->scale);
    free(u->priors);
    free(u->reported_priors);
    free(u->own);
    free(u);
}

/* ---- sums over rows ---- */

sbps_status posterior_value(const posterior *u, const double *w, double *value, sbps_error *err)
{
    return u->form->value(u, w, value, err);
}

sbps_status posterior_gradient(const posterior *u, const double *w, double *value,
                               double *gradient, sbps_error *err)
{
    return u->form->gradient(u, w, value, gradient, err);
}

sbps_status posterior_hessian(const posterior *u, const double *w, double *hessian,
                              sbps_error *err)
{
    return u->form->hessian(u, w, hessian, err);
}

bool posterior_expands(const posterior *u)
{
    return u->model->predictor || u->model->rows.hessian_vector || u->model->rows.expand;
}

sbps_status posterior_expand(const posterior *u, const double *w, const expansion *out,
                             const row_visitor *visitor, sbps_error *err)
{
    return u->form->expand(u, w, out, visitor, err);
}

sbps_status posterior_hessian_vector(const posterior *u, const double *w, const double *v,
                                     double *hv, sbps_error *err)
{
    return u->form->hessian_vector(u, w, v, hv, err);
}

/* ---- linear predictors ---- */

sbps_status padded_line_open(padded_line *line, const posterior *u, const double *w,
                             const double *v, sbps_error *err)
{
    const rows *data = u->data;
    size_t stride = (data->stride + 7) / 8 * 8; /* each on its own cache line */
    *line = (padded_line){.p = new_doubles((v ? 2 : 1) * stride)};
    if (!line->p) return fail_memory(err);
    memcpy(line->p, w, data->d * sizeof *w);
    line->aux = w + data->d;
    if (!v) return SBPS_OK;
    line->q = line->p + stride;
    memcpy(line->q, v, data->d * sizeof *v);
    line->daux = v + data->d;
    return SBPS_OK;
}

batch predictors_of(const posterior *u, row_range run, const padded_line *line, double *eta,
                    double *deta)
{
    const rows *data = u->data;
    double *rate = line->q ? deta : NULL;
    rows_products(data, u->k, run, line->p, line->q, eta, rate);
    for (size_t i = 0; data->offset && i < run.n; i++) eta[i] += data->offset[run.first + i];
    return (batch){.k = u->k,
                   .n = run.n,
                   .eta = eta,
                   .deta = rate,
                   .y = data->y ? data->y + run.first : NULL,
                   .aux = line->aux,
                   .daux = line->daux,
                   .pitch = run.n};
}

void predictors_weigh(const posterior *u, row_range run, double *values)
{
    const double *weight = u->data->weight;
    for (size_t i = 0; weight && i < run.n; i++) values[i] *= weight[run.first + i];
}
