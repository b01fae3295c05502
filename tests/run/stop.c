/* Stopping rules hold for the stored draws: they have the requested ESS, and the stated bias
 * plus its error is within the budget if a longer run can achieve that. */
#include "check.h"
#include "stat/sample.h"

#define SEEDS 6

static double smallest_ess(const sbps_result *r)
{
    double smallest = INFINITY;
    for (size_t j = 0; j < sbps_result_dim(r); j++) {
        sbps_parameter p = {.struct_size = sizeof p};
        if (sbps_result_parameter(r, j, &p, NULL) != SBPS_OK) return 0.0;
        smallest = fmin(smallest, fmin(p.ess_bulk, p.ess_tail));
    }
    return smallest;
}

/* 2 x 150 to 337 draws for an ESS of 300: it is missed if the spacing doubles once too often.
 * */
TEST(stored_draws_have_the_requested_effective_size)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "model=gaussian dim=3 chains=2 draws=150 ess=300 gradient-noise=1 seed=%u",
                 seed);
        sbps_table *table = NULL;
        sbps_options *options = options_of(settings);
        sbps_error err = {0};
        if (sbps_table_none(&table, &err) != SBPS_OK) give_up("table", &err);
        sbps_result *r = sample_table(table, options);
        printf("seed %u: path %.0f, draws %.0f\n", seed, r->info.min_ess, smallest_ess(r));
        CHECK(r->info.min_ess >= 300.0);
        CHECK(smallest_ess(r) >= 300.0);
        sbps_result_destroy(r);
        sbps_options_destroy(options);
        sbps_table_destroy(table);
    }
}

CHECK_MAIN
