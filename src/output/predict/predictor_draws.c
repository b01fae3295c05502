/* Draws as arrays: one array of all draws for every weight, so that the eta of a row is a sum
 * of arrays, and that of a block of rows a product of matrices. */
#include "output/predict/predictor_draws.h"

#include "core/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DENSE 3 /* if one number in DENSE is not 0, a product of matrices is faster */

size_t first_parameter(const result *r, const char *name)
{
    for (size_t j = 0; j < r->dim; j++)
        if (strcmp(r->names[j], name) == 0) return j;
    return SIZE_MAX;
}

size_t last_parameter(const result *r, const char *name)
{
    size_t j = r->dim;
    while (j > 0 && strcmp(r->names[j - 1], name) != 0) j--;
    return j > 0 ? j - 1 : SIZE_MAX;
}

void parameter_draws(const predictor_draws *f, size_t index, double *out)
{
    const result *r = f->r;
    size_t all = r->chains * r->draws;
    double sum = 0.0;
    for (size_t s = 0; f->point && s < all; s++) sum += r->w[s * r->dim + index];
    for (size_t s = 0; s < f->draws; s++) out[s] = r->w[draw_index(f, s) * r->dim + index];
    if (f->point) out[0] = sum / (double)all;
}

/* ---- opening ---- */

/* Fails for a run without a design or without draws. */
static sbps_status check_run(const result *r, const char *path, sbps_error *err)
{
    if (!r->design)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the file contains no design, because it, or its converted table, was "
                    "written by an earlier version: run `sbps sample` again",
                    path);
    if (r->chains * r->draws == 0)
        return fail(err, SBPS_BAD_DATA, "%s: the file contains no draws", path);
    return SBPS_OK;
}

sbps_status refuse_prior_only(const result *r, const char *path, sbps_error *err)
{
    if (!result_prior_only(r)) return SBPS_OK;
    return fail(
        err, SBPS_BAD_DATA,
        "%s: its draws are from the prior alone (--prior-only), which says nothing about "
        "the fit: sample without --prior-only",
        path);
}

/* Finds the model; fails for one that cannot predict rows, such as a density. */
static sbps_status find_model(predictor_draws *f, sbps_error *err)
{
    const char *name = f->r->info.model ? f->r->info.model : "";
    f->model = model_find(name);
    if (f->model && (f->model->predictor || f->model->support == SUPPORT_CLASSES ||
                     f->model->support == SUPPORT_ORDERED))
        return SBPS_OK;
    return fail(err, SBPS_BAD_DATA, "%s: new rows cannot be predicted with model '%s'", f->path,
                show_name(name).text);
}

/* The name of the weight of a column for output k; NULL: no memory. */
static const char *name_weight(const predictor_draws *f, size_t k, size_t column,
                               name_buffer *to)
{
    const char *of = f->b->name[column];
    return f->outputs > 1 ? name_format(to, "%s:%s", f->class[k], of) : of;
}

/* Models of ordered classes have cutpoints instead of an intercept. */
static bool has_weight(const predictor_draws *f, size_t column)
{
    return f->model->support != SUPPORT_ORDERED || column > 0 || !f->b->intercept;
}

/* Copies the draws of a weight, which is likely to be parameter `guess`: weights are the first
 * parameters, nearly always in this order. */
static sbps_status take_weight(predictor_draws *f, size_t at, size_t guess, const char *name,
                               sbps_error *err)
{
    bool in_order = guess < f->r->dim && strcmp(f->r->names[guess], name) == 0;
    size_t found = in_order ? guess : first_parameter(f->r, name);
    if (found == SIZE_MAX)
        return fail(err, SBPS_BAD_FILE, "%s: the file has no parameter '%s'", f->path,
                    show_name(name).text);
    parameter_draws(f, found, f->w + at * f->draws);
    return SBPS_OK;
}

/* Copies the draws of all weights, [output][column][draw]. */
static sbps_status take_weights(predictor_draws *f, sbps_error *err)
{
    size_t d = f->b->names;
    name_buffer name = {0};
    sbps_status status = SBPS_OK;
    f->w = new_doubles(f->outputs * (d + 1) * f->draws);
    if (!f->w) return fail_memory(err);
    size_t first = f->model->facts.reference_class ? d : 0; /* the reference's are 0 */
    for (size_t at = first; status == SBPS_OK && at < f->outputs * d; at++) {
        if (!has_weight(f, at % d)) continue;
        const char *of = name_weight(f, at / d, at % d, &name);
        status = of ? take_weight(f, at, at - first, of, err) : fail_memory(err);
    }
    name_buffer_clear(&name);
    return status;
}

/* Copies the draws of auxiliary parameters on the coordinate scale, [draw][auxiliary]. */
static sbps_status take_auxiliaries(predictor_draws *f, sbps_error *err)
{
    size_t count = f->auxiliaries = f->model->auxiliary_count;
    double *draws = new_doubles(f->draws);
    f->aux = new_doubles(f->draws * count + 1);
    if (!f->aux || !draws) {
        free(draws);
        return fail_memory(err);
    }
    sbps_status status = SBPS_OK;
    for (size_t a = 0; status == SBPS_OK && a < count; a++) {
        const model_auxiliary *of = &f->model->auxiliaries[a];
        size_t found = last_parameter(f->r, of->name);
        if (found == SIZE_MAX)
            status = fail(err, SBPS_BAD_FILE, "%s: the file has no parameter '%s'", f->path,
                          of->name);
        else
            parameter_draws(f, found, draws);
        for (size_t s = 0; status == SBPS_OK && s < f->draws; s++)
            f->aux[s * count + a] = scale_coordinate(of->scale, draws[s]);
    }
    free(draws);
    return status;
}

/* Fills `f` from the run: schema, response, weights, auxiliaries, effects. */
static sbps_status load_run(predictor_draws *f, sbps_error *err)
{
    sbps_status status = check_run(f->r, f->path, err);
    if (status == SBPS_OK) status = find_model(f, err);
    if (status == SBPS_OK) status = saved_schema_parse(f->r->design, f->path, &f->b, err);
    if (status == SBPS_OK) status = response_open(f, err);
    if (status == SBPS_OK) status = take_weights(f, err);
    if (status == SBPS_OK) status = take_auxiliaries(f, err);
    if (status == SBPS_OK) status = effects_open(f, err);
    return status;
}

sbps_status predictor_draws_open(const result *r, const char *path, predictor_options choice,
                                 predictor_draws **out, sbps_error *err)
{
    size_t all = r->chains * r->draws, limit = choice.max_draws;
    *out = NULL;
    predictor_draws *f = calloc(1, sizeof *f);
    if (!f) return fail_memory(err);
    *f = (predictor_draws){.r = r,
                           .path = path,
                           .k = kernels_best(),
                           .draws = choice.point               ? 1
                                    : limit > 0 && limit < all ? limit
                                                               : all,
                           .point = choice.point,
                           .outputs = 1,
                           .seed = choice.seed,
                           .new_levels = choice.new_levels};
    sbps_status status = load_run(f, err);
    if (status == SBPS_OK)
        *out = f;
    else
        predictor_draws_close(f);
    return status;
}

void predictor_draws_close(predictor_draws *f)
{
    if (!f) return;
    effects_close(f->effects);
    free_texts(f->class, f->classes);
    saved_schema_destroy(f->b);
    free(f->w);
    free(f->aux);
    free(f->cut);
    free(f);
}

/* ---- blocks ---- */

sbps_status block_open(const predictor_draws *f, row_block *b, sbps_error *err)
{
    size_t capacity = BLOCK_ROWS, lines = f->outputs > f->classes ? f->outputs : f->classes;
    *b = (row_block){.x = new_doubles(capacity * (f->b->names + 1)),
                     .y = new_doubles(capacity),
                     .weight = new_doubles(capacity),
                     .trials = new_doubles(capacity),
                     .state = calloc(capacity, sizeof *b->state),
                     .eta = new_doubles(capacity * f->outputs * f->draws),
                     .value = new_doubles((lines + 1) * f->draws)};
    bool ready = b->x && b->y && b->weight && b->trials && b->state && b->eta && b->value;
    return ready ? SBPS_OK : fail_memory(err);
}

void block_close(row_block *b)
{
    free(b->x);
    free(b->y);
    free(b->weight);
    free(b->trials);
    free(b->state);
    free(b->eta);
    free(b->value);
}

/* True if a product of matrices is faster than adding the columns that are not 0. */
static bool is_dense(const double *x, size_t n)
{
    size_t filled = 0;
    for (size_t i = 0; i < n; i++) filled += x[i] != 0.0;
    return filled * DENSE >= n;
}

/* eta += X W of one output; rows of eta are `pitch` apart. */
static void multiply(const predictor_draws *f, const row_block *b, const double *w,
                     size_t pitch, double *eta)
{
    size_t d = f->b->names, s = f->draws;
    if (b->n > 1 && is_dense(b->x, b->n * d)) {
        f->k->matrix_products(b->n, d, b->x, d, s, w, s, eta, pitch);
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        const double *x = b->x + i * d;
        for (size_t j = 0; j < d; j++)
            if (x[j] != 0.0) f->k->axpy(s, x[j], w + j * s, eta + i * pitch);
    }
}

void block_products(const predictor_draws *f, row_block *b)
{
    size_t s = f->draws, pitch = f->outputs * s;
    for (size_t k = 0; f->b->names > 0 && k < f->outputs; k++)
        multiply(f, b, f->w + k * f->b->names * s, pitch, b->eta + k * s);
}

sbps_status block_put(const predictor_draws *f, row_block *b, size_t i, const encoded_row *s,
                      row_state state, sbps_error *err)
{
    size_t d = f->b->names, pitch = f->outputs * f->draws;
    double *eta = b->eta + i * pitch;
    b->state[i] = state;
    if (state != ROW_WHOLE) {
        memset(b->x + i * d, 0, d * sizeof *b->x);
        memset(eta, 0, pitch * sizeof *eta);
        return SBPS_OK;
    }
    memcpy(b->x + i * d, s->x, d * sizeof *b->x);
    for (size_t k = 0; k < pitch; k++) eta[k] = s->offset;
    b->y[i] = s->y;
    b->weight[i] = s->weight;
    b->trials[i] = s->trials;
    if (f->keep) return f->keep(f->keep_self, b->index[i], s, err);
    return effects_add(f, s, eta, err);
}

/* ---- draws of a row ---- */

size_t predictor_draws_lines(const predictor_draws *f)
{
    return f->classes ? f->classes : 1;
}

void predictor_draws_row(const predictor_draws *f, prediction_kind kind, const row_block *b,
                         size_t i, rng *r, double *out)
{
    size_t pitch = f->outputs * f->draws;
    const double *eta = b->eta + i * pitch;
    if (kind == PREDICTION_LINEAR)
        memcpy(out, eta, pitch * sizeof *out);
    else if (kind == PREDICTION_MEAN)
        f->response->mean(f, eta, out);
    else if (kind == PREDICTION_RESPONSE)
        f->response->observed(f, b->y[i], b->trials[i], out);
    else
        f->response->outcome(f, eta, b->trials[i], r, out);
}

void predictor_draws_loglik(const predictor_draws *f, const row_block *b, size_t i, double *out)
{
    f->response->loglik(f, b->eta + i * f->outputs * f->draws, b->y[i], b->trials[i], out);
}
