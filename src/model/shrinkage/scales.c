/* Precisions of weights by their scales, (2) and (3) of shrink.h, whose equation numbers are
 * used here, and derivatives of both. */
#include "model/shrinkage/scales.h"

#include "model/prior/prior_kinds.h"
#include <math.h>
#include <stdint.h>

/* Else the block is R2-D2: (2) or (3) of shrink.h. */
static bool is_horseshoe(const shrink_block *b)
{
    return b->prior.kind == &prior_horseshoe;
}

/* log sigma at w; 0 if the regression has no sigma. */
static double log_sigma(const shrunk *m, const double *w)
{
    return m->sigma == SIZE_MAX ? 0.0 : w[m->sigma];
}

/* log sum g of (3), from the log g_j. */
static double log_total(const shrink_block *b, const double *local)
{
    double largest = local[0], sum = 0.0;
    for (size_t i = 1; i < b->count; i++) largest = fmax(largest, local[i]);
    for (size_t i = 0; i < b->count; i++) sum += exp(local[i] - largest);
    return largest + log(sum);
}

scale_view scales_at(const shrunk *m, const shrink_block *b, const double *w)
{
    const double *common = w + b->first;
    scale_view v = {.m = m, .b = b, .w = w};
    if (is_horseshoe(b)) {
        v.slab = exp(common[1]);
        v.log_common = common[0] + log_sigma(m, w);
    } else
        v.log_common = common[0] - common[1] - log_total(b, common + 2) + 2.0 * log_sigma(m, w);
    return v;
}

double scales_precision(const scale_view *v, size_t i)
{
    const shrink_block *b = v->b;
    double local = v->w[b->first + 2 + i];
    if (is_horseshoe(b)) return v->slab + exp(-2.0 * (v->log_common + local));
    double sd = v->m->data->table.sd[b->column[i]]; /* sd_j of (3); 1 for a constant column */
    if (!(sd > 0.0)) sd = 1.0;
    return sd * sd * exp(-v->log_common - local);
}

double scales_common_rate(const scale_view *v, const double *u)
{
    const shrink_block *b = v->b;
    const double *local = v->w + b->first + 2, *rate = u + b->first;
    double sigma = v->m->sigma == SIZE_MAX ? 0.0 : u[v->m->sigma];
    if (is_horseshoe(b)) return rate[0] + sigma;
    double total = log_total(b, local), sum = rate[0] - rate[1] + 2.0 * sigma;
    for (size_t i = 0; i < b->count; i++) sum -= exp(local[i] - total) * rate[2 + i];
    return sum;
}

double scales_rate(const scale_view *v, size_t i, double p, const double *u, double common)
{
    const double *rate = u + v->b->first;
    double along = common + rate[2 + i];
    if (!is_horseshoe(v->b)) return -p * along;
    return v->slab * rate[1] - 2.0 * (p - v->slab) * along;
}

void scales_pull(scale_view *v, size_t i, double p, double dp, double *out)
{
    size_t first = v->b->first;
    double each = is_horseshoe(v->b) ? -2.0 * (p - v->slab) * dp : -p * dp;
    if (is_horseshoe(v->b)) out[first + 1] += v->slab * dp;
    out[first + 2 + i] += each;
    v->all += each;
}

void scales_end(const scale_view *v, double *out)
{
    const shrink_block *b = v->b;
    const double *local = v->w + b->first + 2;
    double *common = out + b->first, times = is_horseshoe(b) ? 1.0 : 2.0;
    common[0] += v->all;
    if (v->m->sigma != SIZE_MAX) out[v->m->sigma] += times * v->all;
    if (is_horseshoe(b)) return;
    double total = log_total(b, local);
    common[1] -= v->all;
    for (size_t i = 0; i < b->count; i++) common[2 + i] -= exp(local[i] - total) * v->all;
}

prior scales_prior(const shrink_block *b, size_t coordinate)
{
    const double *n = b->prior.theta;
    size_t at = coordinate - b->first;
    if (!is_horseshoe(b)) {
        double shape = at == 0   ? n[R2D2_MEAN] * n[R2D2_PRECISION]
                       : at == 1 ? (1.0 - n[R2D2_MEAN]) * n[R2D2_PRECISION]
                                 : n[R2D2_SPLIT];
        return (prior){&prior_gamma, {shape, 1.0}};
    }
    double half = 0.5 * n[HORSESHOE_SLAB_DF];
    if (at == 0)
        return (prior){&prior_student_t, {n[HORSESHOE_GLOBAL_DF], 0.0, n[HORSESHOE_GLOBAL]}};
    if (at == 1)
        return (prior){&prior_gamma, {half, half * n[HORSESHOE_SLAB] * n[HORSESHOE_SLAB]}};
    return (prior){&prior_student_t, {n[HORSESHOE_DF], 0.0, 1.0}};
}

double scales_value(const shrink_block *b, const double *w, size_t coordinate)
{
    const double *common = w + b->first;
    size_t at = coordinate - b->first;
    if (is_horseshoe(b)) return at == 1 ? exp(-0.5 * common[1]) : exp(common[at]);
    if (at == 0) return 1.0 / (1.0 + exp(common[1] - common[0]));
    return at == 1 ? exp(common[0] - common[1]) : exp(common[at] - log_total(b, common + 2));
}
