/* Small synthetic results for the tests of reports. */
#ifndef TESTS_OUTPUT_FIXTURE_H
#define TESTS_OUTPUT_FIXTURE_H

#include "core/memory.h"
#include "output/summary/summary.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void set_info(result *r)
{
    r->info = (result_info){
        .sampler = copy_text("sbps"),
        .model = copy_text("logistic"),
        .control_variate = copy_text("hessian"),
        .metric = copy_text("dense"),
        .minibatch = copy_text("window"),
        .created_at = copy_text("2024-05-06T07:08:09Z"),
        .target = copy_text("delayed"),
        .seed = 1,
        .rows = 1000000,
        .batch_size = 16,
        .band = 3.5,
        .bias_budget = 0.02,
        .refresh_rate = 0.25,
        .proposals = 50000,
        .bounces = 10000,
        .refreshments = 700,
        .violations = 20,
        .missing_bounces = 1.5,
        .rows_touched = 800000,
        .bias_estimate = 0.0125,
        .min_ess = 1600,
        .passes_setup = 2.5,
        .pareto_k = NAN,
        .seconds_setup = 0.5,
        .seconds_warmup = 1.25,
        .seconds_sampling = 3,
        .ess_goal = 400,
        .eta = 0.003,
        .expected_violations = 15,
        .refreshments_per_sd = 0.2,
        .reference_distance = 0.25,
    };
}

/* A good result: independent, nearly normal draws from a linear congruential generator. */
static result *make_result(size_t chains, size_t draws, size_t dim)
{
    static const char *const names[] = {"intercept", "dist,\"km\"", "h\xc3\xb6he"};
    uint64_t state = 12345;
    result *r;
    if (result_create(chains, draws, dim, &r, NULL) != SBPS_OK) abort();
    set_info(r);
    for (size_t j = 0; j < dim; j++) {
        r->names[j] = copy_text(names[j % 3]);
        r->mean[j] = (double)j - 0.5;
        r->sd[j] = pow(10.0, -(double)j);
        r->mcse[j] = 0.025 * r->sd[j];
        r->bias[j] = -0.01 * (double)j;
        r->ess_mean[j] = 2000.0;
        r->ess_square[j] = 1600.0;
    }
    for (size_t i = 0; i < chains * draws * dim; i++) {
        double sum = -6.0;
        for (int k = 0; k < 12; k++) {
            state = (1664525 * state + 1013904223) % 4294967296u;
            sum += ((double)state + 0.5) / 4294967296.0;
        }
        r->w[i] = r->mean[i % dim] + r->sd[i % dim] * sum;
    }
    return r;
}

#endif
