/* From a regression with priors of its own to one whose weights are shrunk, see model/shrinkage/shrink.h: which weights, and what
 * rows say of each by themselves. With C the inverse Hessian at the mode under usual priors, of precisions q, a weight
 * is N(mode, C_jj) by rows and prior together, so that rows alone say
 *
 *   h = 1/C_jj - q,   h b = mode/C_jj.                                                                (1) */
#include "inference/options/shrink_coefficients.h"

#include "core/memory.h"
#include "core/printable.h"
#include "inference/options/prior_list.h"
#include "inference/options/target.h"
#include "linalg/cholesky.h"
#include "model/prior/prior_shrinkage.h"
#include "model/shrinkage/shrink.h"
#include "posterior/mode/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHRUNK_SD_MAX 1e7 /* of a column under a horseshoe */

static bool list_shrinks(const prior_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->piece[i].usual && prior_shrinks(&list->piece[i].distribution)) return true;
    return false;
}

bool shrinkage_requested(const sbps_options *o)
{
    prior_list list = {0};
    bool requested =
        o->prior && prior_list_parse(o->prior, &list, NULL) == SBPS_OK && list_shrinks(&list);
    prior_list_close(&list);
    return requested;
}

static sbps_status check_model(const posterior *u, sbps_error *err)
{
    if (u->model->row_model)
        return fail(
            err, SBPS_BAD_ARG,
            "--prior: with groups no prior shrinks coefficients by scales of their own; "
            "take laplace(0,s) or student_t(3,0,s)");
    if (!u->model->predictor)
        return fail(err, SBPS_BAD_ARG,
                    "--prior: coefficients of model %s are not shrunk by scales of their own; "
                    "take laplace(0,s) or student_t(3,0,s)",
                    u->model->name);
    return SBPS_OK;
}

/* A horseshoe's scales start at the size of 1, whatever the column's unit: chains do not find their way to 1e-9. */
static sbps_status check_unit(const posterior *u, const prior *distribution, size_t j,
                              sbps_error *err)
{
    double sd = u->data->table.sd[j];
    if (strcmp(distribution->kind->name, "horseshoe") || sd <= SHRUNK_SD_MAX) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "--prior: a horseshoe is of coefficients as they are, and column '%s' has an sd "
        "of %.2g: use --standardize, or divide the column by a power of ten",
        u->data->table.names ? show_name(u->data->table.names[j]).text : "?", sd);
}

/* Which weights each piece has. */
static sbps_status assign_columns(prior_list *list, const posterior *u, shrink_shape *s,
                                  sbps_error *err)
{
    char **names = NULL;
    sbps_status status = target_names(u, &names, err);
    for (size_t i = 0; i < list->count; i++) s->block[i].prior = list->piece[i].distribution;
    for (size_t j = u->data->intercept; status == SBPS_OK && j < u->data->d; j++) {
        const prior_piece *piece = prior_list_find(list, names[j]);
        if (!piece || piece->usual || !prior_shrinks(&piece->distribution)) continue;
        if ((status = check_unit(u, &piece->distribution, j, err)) != SBPS_OK) break;
        shrink_block *b = &s->block[piece - list->piece];
        b->column[b->count++] = j;
    }
    free_texts(names, names ? u->dim : 0);
    return status;
}

/* (1); nothing where there is no mode. */
static sbps_status row_information(const posterior *u, shrink_shape *s, sbps_error *err)
{
    mode *found = NULL;
    size_t d = u->dim;
    if (mode_find(u, NULL, &found, NULL) != SBPS_OK) return SBPS_OK;
    double *x = new_doubles(d);
    bool ready = x && cholesky(d, found->hessian);
    memcpy(s->begin, found->w, d * sizeof *s->begin);
    for (size_t j = 0; ready && j < u->data->d; j++) {
        memset(x, 0, d * sizeof *x);
        x[j] = 1.0;
        cholesky_solve(d, found->hessian, x);
        double by_prior = -prior_curvature(&u->priors[j], u->scale[j], found->w[j]);
        s->row_precision[j] = fmax(1.0 / x[j] - by_prior, 0.0);
        s->place[j] = s->row_precision[j] > 0.0 ? found->w[j] / x[j] : 0.0;
    }
    sbps_status status = x ? SBPS_OK : fail_memory(err);
    free(x);
    mode_destroy(found);
    return status;
}

static sbps_status set_priors(posterior *u, const prior *of, sbps_error *err)
{
    prior *priors = calloc(u->dim, sizeof *priors);
    u->reported_priors = calloc(u->dim, sizeof *u->reported_priors);
    sbps_status status = priors && u->reported_priors ? SBPS_OK : fail_memory(err);
    for (size_t j = 0; status == SBPS_OK && j < u->dim; j++) {
        priors[j] = shrink_prior(u->self, j, of);
        u->reported_priors[j] = shrink_reported_prior(u->self, j, of);
    }
    if (status == SBPS_OK) status = posterior_set_priors(u, priors, err);
    free(priors);
    return status;
}

/* Takes the shape. */
static sbps_status open_shrunk(const posterior *of, shrink_shape *s, posterior **out,
                               sbps_error *err)
{
    const model_shape shape = {.shrunk = s};
    model_kind *kind = malloc(sizeof *kind);
    *out = NULL;
    if (kind) *kind = shrink_kind(of->model);
    sbps_status status =
        kind ? posterior_open(of->data, kind, &shape, out, err) : fail_memory(err);
    if (status != SBPS_OK) {
        free(kind);
        shrink_shape_destroy(s);
        return status;
    }
    (*out)->own = kind;
    return set_priors(*out, of->priors, err);
}

sbps_status shrinkage_apply(const sbps_options *o, posterior **target, sbps_error *err)
{
    posterior *u = *target, *made = NULL;
    prior_list list = {0};
    shrink_shape *s = NULL;
    sbps_status status = SBPS_OK;
    if (!shrinkage_requested(o)) return SBPS_OK;
    status = check_model(u, err);
    if (status == SBPS_OK) status = prior_list_parse(o->prior, &list, err);
    if (status == SBPS_OK && !(s = shrink_shape_create(u->model, u->data->d, list.count)))
        status = fail_memory(err);
    if (status == SBPS_OK) status = assign_columns(&list, u, s, err);
    if (status == SBPS_OK) status = row_information(u, s, err);
    prior_list_close(&list);
    if (status != SBPS_OK) {
        shrink_shape_destroy(s);
        return status;
    }
    s->at_means = u->centred > 0;
    status = open_shrunk(u, s, &made, err);
    if (made) {
        posterior_destroy(u);
        *target = made;
    }
    return status;
}
