/* Every sampler of the registry on a logistic regression of 100 rows and two parameters,
 * against quadrature, at an ESS of 2500: means and sds within 5 standard errors. Exact
 * samplers are allowed nothing besides; those with a band the bias that they state, and for
 * sds, whose bias no column states, the budget; those in discrete time what their step
 * costs. A sampler that is listed in the registry and has no line here fails the test. */
#include "check.h"
#include "stat/quadrature.h"

#include "sampler/core/sampler.h"

#define ESS 2500.0
/* The step that is chosen has eta (l + V) = 0.1 in the stiffest direction, where a Gaussian
 * would be 2.5% too wide (discrete.c); twice that, since the curvature rises away from the
 * mode. */
#define STEP_MEAN 0.05
#define STEP_SD   0.05

typedef enum { EXACT, METERED, STEPPING, GROUPS_ONLY } allowance;

typedef struct {
    const char *sampler;
    allowance kind;
    const char *settings; /* NULL: none */
} expectation;

static const expectation expectations[] = {
    {.sampler = "sbps", .kind = METERED},
    {.sampler = "sbps", .kind = METERED, .settings = "batch-size=40"},
    {.sampler = "psbps", .kind = METERED},
    {.sampler = "psbps", .kind = METERED, .settings = "batch-size=40"},
    {.sampler = "boomerang", .kind = METERED},
    {.sampler = "boomerang", .kind = METERED, .settings = "batch-size=40"},
    {.sampler = "bps", .kind = EXACT},
    {.sampler = "noisy-bps", .kind = EXACT, .settings = "gradient-noise=2"},
    {.sampler = "lipsbps", .kind = EXACT},
    {.sampler = "local-bps", .kind = EXACT},
    {.sampler = "zigzag", .kind = EXACT},
    {.sampler = "zigzag-ss", .kind = EXACT},
    {.sampler = "zigzag-cv", .kind = EXACT},
    {.sampler = "sgld", .kind = STEPPING},
    {.sampler = "psgld", .kind = STEPPING},
    {.sampler = "sghmc", .kind = STEPPING},
    {.sampler = "msgnht", .kind = STEPPING},
    {.sampler = "mh", .kind = EXACT},
    {.sampler = "hmc", .kind = EXACT},
    {.sampler = "nuts", .kind = EXACT},
    {.sampler = "surrogate", .kind = EXACT},
    {.sampler = "sweep", .kind = GROUPS_ONLY}, /* refuses the table: stat/gaussian_registry */
    {.sampler = "importance", .kind = EXACT},
};

static void compare(const expectation *e, const sbps_result *r, size_t j, known truth)
{
    double sd = truth.sd, variance = sd * sd;
    double kurtosis = truth.fourth / (variance * variance);
    double error = 0.5 * sqrt((kurtosis - 1.0) / r->ess_square[j]);
    double off = (r->mean[j] - truth.mean) / sd, wide = r->sd[j] / sd - 1.0;
    double mean_slack = 0.0, sd_slack = 0.0;
    if (e->kind == METERED) {
        mean_slack = fabs(r->bias[j]);
        sd_slack = r->info.bias_budget;
    } else if (e->kind == STEPPING) {
        mean_slack = STEP_MEAN;
        sd_slack = STEP_SD;
    }
    printf("%-10s %-16s %-9s: mean off by %+.4f sd (mcse %.4f), sd by %+.4f (error %.4f)\n",
           e->sampler, e->settings ? e->settings : "", r->names[j], off, r->mcse[j] / sd, wide,
           error);
    CHECK(fabs(off) <= MAX_Z * r->mcse[j] / sd + mean_slack);
    CHECK(fabs(wide) <= MAX_Z * error + sd_slack);
}

/* The bias that a run states must be of its kind, too. */
static void check_statement(const expectation *e, const sbps_result *r)
{
    CHECK(r->info.min_ess >= ESS);
    if (e->kind == EXACT)
        CHECK(r->info.violations == 0.0 && r->info.bias_estimate == 0.0);
    else if (e->kind == METERED)
        CHECK(r->info.bias_estimate < r->info.bias_budget);
    else
        CHECK(isnan(r->info.bias_estimate));
}

static void check(const expectation *e, const table *t, const known truth[2])
{
    char all[256];
    if (e->kind == GROUPS_ONLY) return;
    snprintf(all, sizeof all, "model=logistic seed=5 ess=%g sampler=%s %s", ESS, e->sampler,
             e->settings ? e->settings : "");
    sbps_result *r = sample_arrays(t->n, 1, t->x, t->y, all);
    check_statement(e, r);
    for (size_t j = 0; j < 2; j++) compare(e, r, j, truth[j]);
    sbps_result_destroy(r);
}

TEST(a_hundred_rows_agree_with_quadrature)
{
    size_t count = sizeof expectations / sizeof *expectations, used = 0;
    known truth[2];
    table t = simulate(100, -0.5, 1.2);
    integrate(&t, truth);
    for (size_t k = 0; sampler_kinds[k]; k++) {
        size_t found = 0;
        for (size_t e = 0; e < count; e++) {
            if (strcmp(expectations[e].sampler, sampler_kinds[k]->name)) continue;
            check(&expectations[e], &t, truth);
            found++;
        }
        if (!found) printf("nothing is expected of %s\n", sampler_kinds[k]->name);
        CHECK(found > 0);
        used += found;
    }
    CHECK(used == count); /* no line for a sampler that is not there */
    table_free(&t);
}

CHECK_MAIN
