/* Groups: sketches in place of rows where these are many, as many nodes as their integrals need, and the mode that these
 * have. */
#include "core/memory.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECENTRE_MAX 8
#define STILL        0.1 /* of a sd: as near as the spreads of other factors come to rest */

sbps_status groups_ready(const posterior *u, bool has_start, sbps_error *err)
{
    size_t d = u->dim;
    if (!u->model->row_model || !mixed_crossed(u->self)) return SBPS_OK;
    if (has_start)
        return fail(err, SBPS_BAD_ARG,
                    "--start: effects of crossed factors are sampled in standards that the "
                    "search for the mode sets: there is no point to start from");
    double *w = new_doubles(d * (d + 2) + 1);
    if (!w) return fail_memory(err);
    const expansion out = {w + d * (d + 2), w + d, w + 2 * d};
    u->model->parameters.start(u->self, w);
    sbps_status status = posterior_expand(u, w, &out, NULL, err);
    /* where U bends the other way there, the search begins from effects that data say nothing of */
    if (status == SBPS_OK) status = mixed_recentre(u->self, out.hessian, w, err);
    free(w);
    return status == SBPS_NO_MODE ? SBPS_OK : status;
}

/* Standards that fit the mode move it, and so on. */
static sbps_status recentre_at_mode(const posterior *u, const mode_request *how, mode **optimum,
                                    sbps_error *err)
{
    sbps_status status = SBPS_OK;
    double *from = new_doubles(u->dim), moved = INFINITY;
    if (!from) return fail_memory(err);
    for (int i = 0; i < RECENTRE_MAX && moved > STILL && status == SBPS_OK; i++) {
        mode *before = *optimum;
        status = mixed_recentre(u->self, before->hessian, before->w, err);
        memcpy(from, before->w, u->dim * sizeof *from);
        if (status != SBPS_OK) break;
        status = mode_find_by(u, before->w, how, optimum, err);
        if (status != SBPS_OK) *optimum = NULL;
        mode_destroy(before);
        if (*optimum) moved = mixed_moved(u->self, (*optimum)->hessian, from, (*optimum)->w);
    }
    free(from);
    return status;
}

#define RESCUES_MAX   40
#define RESCUE_STEPS  ((size_t)10)
#define RESCUE_ENOUGH 1e-3 /* posterior sds from the mode */

/* Where rows hold effects fast that their sd is to scale, and hold them much faster at the mode than where the search began,
 * the way there is a narrow bent valley: some steps, standards by what data say here, some steps. */
static sbps_status come_nearer(const posterior *u, double *w, sbps_error *err)
{
    const mode_request few = {.method = "newton", .max_steps = RESCUE_STEPS};
    sbps_status status = SBPS_OK;
    double left = INFINITY;
    u->model->parameters.start(u->self, w);
    for (int i = 0; i < RESCUES_MAX && left > RESCUE_ENOUGH && status == SBPS_OK; i++) {
        mode *here;
        status = mode_find_by(u, w, &few, &here, err);
        if (status != SBPS_OK) return status;
        status = mixed_recentre(u->self, here->hessian, here->w, err);
        left = here->gradient_norm;
        memcpy(w, here->w, u->dim * sizeof *w);
        mode_destroy(here);
    }
    return status;
}

/* After a search that ended so. */
static sbps_status try_again(sbps_status status, const posterior *u, const mode_request *how,
                             mode **out, sbps_error *err)
{
    if (status != SBPS_NO_MODE || !u->model->row_model || !mixed_crossed(u->self))
        return status;
    double *w = new_doubles(u->dim);
    if (!w) return fail_memory(err);
    status = come_nearer(u, w, err);
    if (status == SBPS_OK) status = mode_find_by(u, w, how, out, err);
    free(w);
    return status;
}

sbps_status groups_find(const posterior *u, const double *start, const mode_request *how,
                        mode **out, sbps_error *err)
{
    return try_again(mode_find_by(u, start, how, out, err), u, how, out, err);
}

#define PART_RATIO ((size_t)16) /* groups of all, to one by whose mode sketches are made */

/* Sketches of all groups, made where some have their mode: all others' is within their reach. */
static sbps_status fit_group_polynomials(const posterior *u, mode *near, sbps_error *err)
{
    if (!cholesky(u->dim, near->hessian)) return SBPS_OK;
    return mixed_fit_polynomials(u->self, u->data, near->w, near->hessian, err);
}

sbps_status groups_near(const posterior *u, const double *start, mode **out, sbps_error *err)
{
    const mode_request usual = {.method = "auto"};
    if (!mixed_can_fit_polynomials(u->self))
        return try_again(mode_near(u, start, NULL, out, err), u, &usual, out, err);
    mode *near = start ? NULL : mode_of_subset(u, PART_RATIO);
    sbps_status status = near ? fit_group_polynomials(u, near, err) : SBPS_OK;
    if (status == SBPS_OK) status = mode_find_by(u, near ? near->w : start, &usual, out, err);
    mode_destroy(near);
    return status;
}

sbps_status groups_choose_nodes(const posterior *u, const mode_request *how, mode **optimum,
                                quadrature *rule, sbps_error *err)
{
    size_t d = u->dim;
    if (!u->model->row_model) return SBPS_OK;
    if (how->method && mixed_crossed(u->self)) {
        sbps_status status = recentre_at_mode(u, how, optimum, err);
        if (status != SBPS_OK) return status;
    }
    mode *before = *optimum;
    double *factor = new_doubles(d * d);
    if (!factor) return fail_memory(err);
    memcpy(factor, before->hessian, d * d * sizeof *factor);
    sbps_status status =
        cholesky(d, factor)
            ? mixed_choose_nodes(u->self, u->data, before->w, factor, rule, err)
            : fail(err, SBPS_NO_MODE, "the Hessian at the mode is not positive definite");
    free(factor);
    if (status != SBPS_OK || !how->method) return status;
    status = mode_find_by(u, before->w, how, optimum, err);
    if (status != SBPS_OK) *optimum = NULL;
    mode_destroy(before);
    return status;
}
