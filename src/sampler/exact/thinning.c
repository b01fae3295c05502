/* Arrivals of the rate a + b t: a s + b s^2/2 = E has the root s = 2 E / (a + sqrt(a^2 + 2 b
 * E)). */
#include "sampler/exact/thinning.h"

#include <math.h>
#include <string.h>

double linear_arrival(double a, double b, double exponential)
{
    double wait = 0.0;
    if (a < 0.0) {
        if (b <= 0.0) return INFINITY;
        wait = -a / b;
        a = 0.0;
    }
    double root = a * a + 2.0 * b * exponential;
    if (root < 0.0 || (a == 0.0 && b <= 0.0)) return INFINITY;
    return wait + 2.0 * exponential / (a + sqrt(root));
}

static void transpose_map(const void *self, const double *x, double *out)
{
    const metric *a = self;
    a->kind->transpose(a, x, out);
}

row_map thinning_map(const sampler *s)
{
    return (row_map){s->a, transpose_map};
}

void thinning_begin_segment(sampler *s)
{
    sampler_begin_segment(s);
    potential_set_line(s->u, sampler_start_point(s), s->q);
}

double thinning_refresh_at(const sampler *s, rng *random)
{
    double rate = s->settings->refresh_rate;
    return rate > 0.0 ? rng_exponential(random) / rate : INFINITY;
}

void thinning_end_segment(sampler *s, double dt, const event *end, segment *out)
{
    for (size_t j = 0; j < s->dim; j++) s->p_next[j] = s->p[j] + dt * s->q[j];
    *out = sampler_segment(s, &flow_line, dt, end);
}
