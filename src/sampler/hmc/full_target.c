/* The target in warped coordinates, see full_target.h. With x = A z the gradient of V by x_j
 * is
 *
 *   g'(x_j) dU/dw_j - d log g'/dx_j,                                                        (2)
 *
 * and grad V = A' times that. */
#include "sampler/hmc/full_target.h"

#include <math.h>
#include <string.h>

static size_t warped_count(const sampler *s)
{
    return s->warps ? s->warps->count : 0;
}

void full_position(const sampler *s, const double *z, double *x, double *p)
{
    s->a->kind->forward(s->a, z, x);
    memcpy(p, x, s->dim * sizeof *p);
    for (size_t i = 0; i < warped_count(s); i++) {
        const warp *b = &s->warps->list[i];
        p[b->j] = warp_at(b, x[b->j]).value;
    }
}

void full_coordinates(sampler *s, const double *p, double *x, double *z)
{
    memcpy(x, p, s->dim * sizeof *p);
    for (size_t i = 0; i < warped_count(s); i++) {
        const warp *b = &s->warps->list[i];
        x[b->j] = warp_inverse(b, p[b->j]);
    }
    /* z = A^-1 x = A' (A A')^-1 x */
    s->a->kind->precision(s->a, x, s->scratch);
    s->a->kind->transpose(s->a, s->scratch, z);
}

void full_gradient(sampler *s, const double *z, double *x, double *h, double *energy)
{
    double *w = s->scratch;
    full_position(s, z, x, w);
    for (size_t j = 0; j < s->dim; j++) w[j] += s->centre[j];
    if (energy)
        *energy = potential_fresh_both(s->u, w, s->gradient);
    else
        potential_fresh_gradient(s->u, w, s->gradient);
    for (size_t i = 0; i < warped_count(s); i++) {
        size_t j = s->warps->list[i].j;
        warped at = warp_at(&s->warps->list[i], x[j]);
        s->gradient[j] = at.slope * s->gradient[j] - at.log_slope_rate;
        if (energy) *energy -= log(at.slope);
    }
    s->a->kind->transpose(s->a, s->gradient, h);
}
