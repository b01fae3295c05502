/* Probability integral transform: u_i = P(y* <= y_i) under the posterior without row i is
 * uniform if the model is correct. For counts u_i is between P(y* < y_i) and P(y* <= y_i): the
 * bars spread it over that interval (Czado, Gneiting, Held 2009, Biometrics 65, 1254-1261), and
 * the test draws u_i from it.
 *
 * The test is that of Kolmogorov and Smirnov, with distance D; K is the Kolmogorov
 * distribution.
 *
 *     p = 1 - K((sqrt n + 0.12 + 0.11/sqrt n) D)                                      (1)
 *
 * Stephens (1970), J. Royal Statistical Society B 32, 115-122. / */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include "linalg/pareto.h"
#include <math.h>
#include <stdlib.h>

/* Adds one row to the histogram, spread evenly over its interval. */
static void add_to_bars(double below, double upto, double *bar)
{
    double wide = upto - below;
    size_t at = (size_t)fmin(below * PIT_BARS, PIT_BARS - 1);
    if (wide < 1e-12) {
        bar[at]++;
        return;
    }
    for (size_t k = at; k < PIT_BARS; k++) {
        double from = fmax(below, (double)k / PIT_BARS),
               to = fmin(upto, (double)(k + 1) / PIT_BARS);
        if (to > from) bar[k] += (to - from) / wide;
    }
}

/* 1 - K(x) of the Kolmogorov distribution. */
static double beyond(double x)
{
    double sum = 0.0;
    for (int k = 1; k <= 100; k++)
        sum += (k % 2 ? 2.0 : -2.0) * exp(-2.0 * (double)k * (double)k * x * x);
    return x < 0.2 ? 1.0 : fmin(fmax(sum, 0.0), 1.0);
}

/* (1), for sorted u. */
static void test(size_t n, const double *u, check_pit *out)
{
    double count = (double)n, root = sqrt(count);
    for (size_t i = 0; i < n; i++) {
        double up = ((double)i + 1.0) / count - u[i], down = u[i] - (double)i / count;
        out->ks = fmax(out->ks, fmax(up, down));
    }
    out->p = beyond((root + 0.12 + 0.11 / root) * out->ks);
}

/* Mean and variance as z, and the test. Sorts u. */
static void measure_pit(size_t n, double *u, check_pit *out)
{
    double count = (double)n, sum = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += u[i] - 0.5;
        square += (u[i] - 0.5) * (u[i] - 0.5);
    }
    out->mean_z = sum * sqrt(12.0 / count);
    out->spread_z = (square - count / 12.0) * sqrt(180.0 / count);
    sort_and_summarise(n, u);
    test(n, u, out);
}

/* Counts become densities; low and high are their limits, a binomial's for uniform u. */
static void finish_bars(check_pit *out)
{
    double n = (double)out->rows, wide = 1.96 * sqrt((PIT_BARS - 1) / n);
    for (size_t k = 0; k < PIT_BARS; k++) out->bar[k] *= PIT_BARS / n;
    out->low = fmax(0.0, 1.0 - wide);
    out->high = 1.0 + wide;
}

sbps_status compare_pit(const row_sample *s, check_pit *out, sbps_error *err)
{
    double *u = new_doubles(s->rows + 1);
    if (!u) return fail_memory(err);
    for (size_t i = 0; i < s->rows; i++) {
        const sampled_row *row = s->row[i];
        rng r = rng_stream(s->f->seed, row->key, RNG_CHECK);
        if (isnan(row->below)) continue;
        out->untrusted += !(row->k <= PARETO_TRUSTED);
        add_to_bars(row->below, row->upto, out->bar);
        u[out->rows++] = row->below + rng_uniform(&r) * (row->upto - row->below);
    }
    if (out->rows > 0) {
        finish_bars(out);
        measure_pit(out->rows, u, out);
    }
    free(u);
    return SBPS_OK;
}
