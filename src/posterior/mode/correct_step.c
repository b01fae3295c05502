/* A Newton step s from w ends where the gradient would be 0 if U were quadratic. How it bends on the way, a part of
 * the rows knows well enough: with g, H of n of the N rows
 *
 *   c = -H_all^-1 (N/n) (g(w + s + c) - g(w) - H(w) (s + c))                                     (1)
 *
 * is what is lacking. Two rounds of (1) from c = 0 have most of it, for three looks at the part. It is left out where
 * it is no small matter, and under kinks, where g jumps. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORRECTION_MAX    0.5 /* of the step's length, in the metric of the Hessian */
#define CORRECTION_ROUNDS 2

static bool has_kinks(const search *s)
{
    for (size_t j = 0; j < s->dim; j++)
        if (isfinite(s->kink[j])) return true;
    return false;
}

/* The right of (1) at trial, given g and H of the part at w. */
static sbps_status find_correction(const search *s, const expansion *at_w, double *correction,
                                   sbps_error *err)
{
    size_t d = s->dim;
    double scale = (double)rows_all(s->u->data) / (double)rows_all(s->part->data);
    sbps_status status = posterior_gradient(s->part, s->trial, NULL, correction, err);
    for (size_t j = 0; j < d; j++) {
        double straight = at_w->gradient[j];
        for (size_t k = 0; k < d; k++)
            straight += at_w->hessian[j * d + k] * (s->trial[k] - s->w[k]);
        correction[j] = -scale * (correction[j] - straight) / s->root[j];
    }
    cholesky_solve(d, s->factor, correction);
    for (size_t j = 0; j < d; j++) correction[j] /= s->root[j];
    return status;
}

/* w + s + c, which is no longer than is sensible. */
static void set_trial(search *s, const double *step, const double *correction)
{
    size_t d = s->dim;
    double length = sqrt(quadratic_form(d, s->hessian, correction));
    double longest = CORRECTION_MAX * sqrt(quadratic_form(d, s->hessian, step));
    double factor = length > longest ? longest / length : 1.0;
    for (size_t j = 0; j < d; j++) s->trial[j] = s->w[j] + step[j] + factor * correction[j];
}

sbps_status search_correct_step(search *s, sbps_error *err)
{
    size_t d = s->dim;
    double value;
    /* room that is free until the look at trial */
    const expansion at_w = {&value, s->next_gradient, s->next_hessian};
    if (has_kinks(s)) return SBPS_OK;
    double *step = new_doubles(2 * d), *correction = step + d;
    if (!step) return fail_memory(err);
    for (size_t j = 0; j < d; j++) step[j] = s->trial[j] - s->w[j];
    sbps_status status = posterior_expand(s->part, s->w, &at_w, NULL, err);
    for (int i = 0; i < CORRECTION_ROUNDS && status == SBPS_OK; i++) {
        status = find_correction(s, &at_w, correction, err);
        if (status == SBPS_OK) set_trial(s, step, correction);
    }
    free(step);
    return status;
}
