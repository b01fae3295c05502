#include "posterior/full/row_cache.h"
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "model/likelihood/model.h"
#include "posterior/full/control.h"
#include "posterior/full/influence.h"
#include "posterior/full/posterior.h"
#include "table/rows.h"

#include <stdlib.h>
#include <string.h>

sbps_status row_cache_open(const posterior *u, const influence_target *to, row_cache **out,
                           sbps_error *err)
{
    row_cache *g = *out = calloc(1, sizeof *g);
    if (!g) return fail_memory(err);
    g->u = u;
    g->factor = new_doubles(u->dim * u->dim);
    if (!g->factor) return fail_memory(err);
    sbps_status status = to ? influence_create(u, to, &g->in, err) : SBPS_OK;
    if (status != SBPS_OK) return status;
    g->sum = new_doubles(g->in ? influence_width(g->in) + 1 : 1);
    if (!g->sum) return fail_memory(err);
    return control_allocate(u, CONTROL_HESSIAN, &g->control, err);
}

void row_cache_close(row_cache *g)
{
    if (!g) return;
    control_destroy(g->control);
    influence_destroy(g->in);
    free(g->factor);
    free(g->sum);
    free(g);
}

/* The visitor of posterior_expand: stores the numbers of a block. */
static void visit_rows(void *self, row_range r, const batch *b, double *scratch, double *sum)
{
    row_cache *g = self;
    control_visit(g->u, g->control, r, b);
    if (g->in) influence_visit(g->in, r, scratch, sum);
}

sbps_status row_cache_expand(row_cache *g, const double *w, const double *near,
                             const expansion *out, sbps_error *err)
{
    size_t dim = g->u->dim;
    const row_visitor visitor = {.self = g,
                                 .scratch = g->in ? influence_scratch(g->in) : 0,
                                 .width = g->in ? influence_width(g->in) : 0,
                                 .total = g->sum,
                                 .visit = visit_rows};
    g->complete = false;
    memcpy(g->factor, near, dim * dim * sizeof *near);
    if (!cholesky(dim, g->factor)) return posterior_expand(g->u, w, out, NULL, err);
    const influence_point at = {w, w, g->factor};
    memcpy(g->control->w, w, g->u->dim * sizeof *w);
    sbps_status status = g->in ? influence_set_point(g->in, &at, err) : SBPS_OK;
    const row_visitor *passed = g->u->model->predictor ? &visitor : NULL;
    if (status == SBPS_OK) status = posterior_expand(g->u, w, out, passed, err);
    if (status != SBPS_OK) return status;
    if (g->in) influence_finish(g->in, g->sum);
    control_sums(g->u, g->control, out->gradient, out->hessian, g->factor);
    g->complete = true;
    return SBPS_OK;
}
