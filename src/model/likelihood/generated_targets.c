/* Targets of generated rows, from two random 32-bit words a row: logistic by comparing a
 * uniform number with the probability; linear with sigma = 1 by Box and Muller (1958), A note
 * on the generation of random normal deviates, Annals of Math. Statistics 29, 610-611; Poisson
 * counts by inversion of the distribution function. */
#include "model/likelihood/generated_targets.h"
#include "core/status.h"
#include "model/likelihood/model.h"

#include <math.h>
#include <string.h>

#define COUNT_MAX 1000.0 /* never reached: predictors are below 6 */

/* A uniform number above 0 and below 1. */
static double uniform(uint32_t bits)
{
    return ((double)bits + 0.5) * 0x1p-32;
}

/* Each draws n targets given eta; `pairs` has two random words a row. */
static void draw_classes(const kernels *k, size_t n, const double *eta, const uint32_t *pairs,
                         double *y)
{
    k->sigmoid(n, eta, y);
    for (size_t i = 0; i < n; i++) y[i] = uniform(pairs[2 * i]) < y[i] ? 1.0 : 0.0;
}

static void draw_normals(const kernels *k, size_t n, const double *eta, const uint32_t *pairs,
                         double *y)
{
    (void)k;
    for (size_t i = 0; i < n; i++)
        y[i] = eta[i] + sqrt(-2.0 * log(uniform(pairs[2 * i]))) *
                            cos(2.0 * M_PI * uniform(pairs[2 * i + 1]));
}

/* The second word extends the first to 64 bits, since the tail of the distribution matters. */
static void draw_counts(const kernels *k, size_t n, const double *eta, const uint32_t *pairs,
                        double *y)
{
    k->exp(n, eta, y);
    for (size_t i = 0; i < n; i++) {
        double mu = y[i], p = exp(-mu), count = 0.0;
        double tail = uniform(pairs[2 * i]) + ((double)pairs[2 * i + 1] - 0x1p31) * 0x1p-64;
        while (tail > p && count < COUNT_MAX) {
            tail -= p;
            p *= mu / ++count;
        }
        y[i] = count;
    }
}

/* True weights are uniform on -reach to reach: with 20 columns predictors have an sd of about
 * 1.5, and those of counts half of it. */
static const struct {
    const char *model;
    target_generator *draw_targets;
    double reach;
} generators[] = {
    {"logistic", draw_classes, 0.5},
    {"linear", draw_normals, 0.5},
    {"poisson", draw_counts, 0.25},
};

sbps_status generated_rows(const char *model, size_t n, size_t features, bool intercept,
                           uint64_t seed, rows **out, sbps_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++) {
        if (strcmp(generators[i].model, model)) continue;
        double fewer = 20.0 / (double)features;
        const generated_spec spec = {.n = n,
                                     .features = features,
                                     .seed = seed,
                                     .intercept = intercept,
                                     .reach = generators[i].reach * fmin(1.0, sqrt(fewer)),
                                     .draw = generators[i].draw_targets,
                                     .model = model};
        return generated_create(&spec, out, err);
    }
    return fail(err, SBPS_BAD_ARG,
                "--generate: rows are made for logistic, linear and poisson, not for '%.80s'",
                model);
}
