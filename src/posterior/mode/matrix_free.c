/* The mode of so many parameters that no Hessian of them is made: L-BFGS in the scales of a metric. It ends short of the
 * mode by a given share of a posterior sd, all coordinates together: as near as any reference need be. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sbps_status give(const search *s, mode **out, sbps_error *err)
{
    mode *m = *out = calloc(1, sizeof *m);
    if (m) m->w = new_doubles(s->dim);
    if (!m || !m->w) {
        mode_destroy(m);
        *out = NULL;
        return fail_memory(err);
    }
    memcpy(m->w, s->w, s->dim * sizeof *m->w);
    s->a->kind->transpose(s->a, s->gradient, s->root);
    m->value = s->value;
    m->gradient_norm = norm(s->dim, s->root);
    m->plain_norm = norm(s->dim, s->gradient);
    m->iterations = s->iterations;
    m->method = "lbfgs";
    return SBPS_OK;
}

sbps_status mode_find_wide(const posterior *u, const double *start, const metric *a,
                           const bool *held, double goal, mode **out, sbps_error *err)
{
    size_t d = u->dim;
    search s = {.u = u, .dim = d, .a = a, .held = held, .memory = new_doubles(5 * d)};
    *out = NULL;
    if (!s.memory) return fail_memory(err);
    double **const parts[] = {&s.w, &s.trial, &s.gradient, &s.step, &s.root};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = s.memory + i * d;
    memcpy(s.w, start, d * sizeof *start);
    sbps_status status = lbfgs_search(&s, goal, err);
    if (status == SBPS_OK && !(isfinite(s.value) && all_finite(d, s.gradient)))
        status = fail(err, SBPS_NO_MODE,
                      "the search for the mode ended at values that are not finite: check the "
                      "scale of the columns and of the offset, or give tighter priors");
    if (status == SBPS_OK) status = give(&s, out, err);
    free(s.memory);
    return status;
}
