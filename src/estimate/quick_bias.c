/* See quick_bias.h. */
#include "estimate/quick_bias.h"
#include "linalg/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void quick_shift(const quick_response *q, size_t dim, double time, const double *push,
                 double *shift)
{
    q->map.apply(q->map.self, push, shift);
    cholesky_solve(dim, q->factor, shift);
    for (size_t j = 0; j < dim; j++) shift[j] *= (double)dim / time / q->sd[j];
}

double quick_worst(const quick_response *q, const bias *chains, size_t count)
{
    size_t d = chains->dim;
    double worst = 0.0, *shift = new_doubles(2 * d);
    if (!shift) return NAN;
    bias_missed all = {.push = shift + d};
    bias_all(chains, count, &all);
    quick_shift(q, d, bias_time(chains, count), all.push, shift);
    for (size_t j = 0; j < d; j++) worst = fmax(worst, fabs(shift[j]));
    free(shift);
    return worst;
}

static void add_shift_squares(size_t d, double weight, const double *shift, double fraction,
                              const double *mean, double *squares)
{
    for (size_t j = 0; j < d; j++) {
        double x = shift[j] - fraction * mean[j];
        squares[j] += weight * x * x;
    }
}

/* As response.c has it, (h). `shift` is scratch. */
static void add_errors(const quick_response *q, const bias *chains, size_t count,
                       bias_missed *part, double *shift, const double *mean, double *error)
{
    size_t d = chains->dim, groups = bias_groups(chains, count);
    size_t examples = bias_example_count(chains, count);
    double n = (double)groups, unseen = bias_unseen(chains, count);
    double time = bias_time(chains, count);
    memset(error, 0, d * sizeof *error);
    for (size_t g = 0; groups > 1 && g < groups; g++) {
        bias_group(chains, count, g, part);
        quick_shift(q, d, time, part->push, shift);
        add_shift_squares(d, n / (n - 1.0), shift, part->time / time, mean, error);
    }
    for (size_t i = 0; i < examples; i++) {
        bias_example(chains, count, i, part);
        quick_shift(q, d, time, part->push, shift);
        add_shift_squares(d, unseen * unseen / (double)examples, shift, 0.0, mean, error);
    }
    for (size_t j = 0; j < d; j++) error[j] = hypot(sqrt(error[j]), BIAS_REL_ERROR * mean[j]);
}

sbps_status quick_respond(const quick_response *q, const bias *chains, size_t count,
                          const bias_statement *out, sbps_error *err)
{
    size_t d = chains->dim;
    double *scratch = new_doubles(2 * d);
    if (!scratch) return fail_memory(err);
    bias_missed part = {.push = scratch};
    bias_all(chains, count, &part);
    quick_shift(q, d, bias_time(chains, count), part.push, out->mean);
    add_errors(q, chains, count, &part, scratch + d, out->mean, out->mean_error);
    for (size_t j = 0; j < d; j++) out->sd[j] = out->sd_error[j] = NAN;
    free(scratch);
    return SBPS_OK;
}
