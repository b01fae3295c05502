/* Small mixed models with difficult columns and groups: each run ends with the requested ESS
 * and chains that agree, within a limit of evaluations, or is refused with a message. The cases
 * are runs that did not end in bench/random_mixed.py. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#include <string.h>

#define ESS        400.0
#define RHAT_MAX   1.01
#define ROUNDS_MAX 100 /* of warm-up and sampling; a run that never ends is stopped here */

typedef struct {
    const char *family, *formula;
    size_t groups, rows_each;
    double sd;     /* of the groups' intercepts */
    double passes; /* through the table, of sampling; at most */
} small_model;

static double outcome(const char *family, double eta, rng *r)
{
    double p = 1.0 / (1.0 + exp(-eta));
    if (!strcmp(family, "bernoulli")) return rng_uniform(r) < p;
    if (!strcmp(family, "gaussian")) return eta + rng_normal(r);
    if (!strcmp(family, "Gamma"))
        return -exp(eta) * 0.5 * (log(rng_uniform(r)) + log(rng_uniform(r)));
    if (!strcmp(family, "Beta")) return 0.01 + 0.98 / (1.0 + exp(-eta - 0.5 * rng_normal(r)));
    double count = 0.0, rest = exp(eta); /* arrivals within the mean */
    for (; (rest += log(rng_uniform(r))) > 0.0; count++) {}
    return count;
}

/* Columns: y, x normal, year, tiny (1e-6), close to x, flat (0.1 up to rounding), rare;
 * groups g of which h are parts, k crosses both. */
static void write_table(const small_model *m, char path[256])
{
    temporary_name(256, path);
    FILE *f = fopen(path, "w");
    rng r = rng_stream(11, m->groups, RNG_TEST);
    fprintf(f, "y,x,year,tiny,close,flat,rare,g,h,k\n");
    for (size_t g = 0; g < m->groups; g++) {
        double u = m->sd * rng_normal(&r);
        for (size_t i = 0; i < m->rows_each; i++) {
            double x = rng_normal(&r), year = floor(31.0 * rng_uniform(&r)), t = rng_normal(&r);
            double eta = 0.3 + u + 0.5 * x - 0.02 * (year - 15.0) + 0.3 * t;
            size_t k = (size_t)(4.0 * rng_uniform(&r));
            bool rare = rng_uniform(&r) < 0.03;
            fprintf(f, "%.9g,%.9g,%g,%.9g,%.9g,%.17g,%d,a%zu,b%zu_%zu,c%zu\n",
                    outcome(m->family, eta, &r), x, 1990.0 + year, 1e-6 * t,
                    x + 1e-3 * rng_normal(&r), i % 2 ? 0.1 : 0.1 + 0x1p-56, rare, g, g, i / 2,
                    k);
        }
    }
    fclose(f);
}

static sbps_options *options_for(const small_model *m)
{
    sbps_error err = {0};
    sbps_options *options = options_of("seed=1 ranef=none");
    if (sbps_options_set(options, "sampler", "auto", &err) != SBPS_OK ||
        sbps_options_set(options, "formula", m->formula, &err) != SBPS_OK ||
        sbps_options_set(options, "family", m->family, &err) != SBPS_OK)
        give_up(m->formula, &err);
    return options;
}

/* NULL: refused, for the reason in *err. */
static sbps_result *sample_model(const small_model *m, sbps_error *err)
{
    char path[256];
    sbps_table *table = NULL;
    sbps_run *run = NULL;
    sbps_result *r = NULL;
    sbps_options *options = options_for(m);
    bool finished = false;
    size_t rounds = 0;
    write_table(m, path);
    sbps_status status = sbps_table_read(path, options, NULL, &table, err);
    unlink(path);
    if (status == SBPS_OK) status = sbps_run_create(table, options, &run, err);
    while (status == SBPS_OK && !finished && rounds++ < ROUNDS_MAX)
        status = sbps_run_advance(run, &finished, err);
    if (status == SBPS_OK && !finished)
        printf("FAILED %s: no end after %d rounds\n", m->formula, ROUNDS_MAX);
    CHECK(status != SBPS_OK || finished);
    if (status == SBPS_OK && sbps_result_from_run(run, &r, err) != SBPS_OK)
        give_up(m->formula, err);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return r;
}

/* The smallest of bulk and tail ESS over all parameters, and the largest R-hat. */
static void worst_of(const sbps_result *r, double *ess, double *rhat)
{
    sbps_error err = {0};
    *ess = INFINITY;
    *rhat = 0.0;
    for (size_t j = 0; j < sbps_result_dim(r); j++) {
        sbps_parameter p = {.struct_size = sizeof p};
        if (sbps_result_parameter(r, j, &p, &err) != SBPS_OK) give_up("parameter", &err);
        *ess = fmin(*ess, fmin(p.ess_bulk, p.ess_tail));
        *rhat = fmax(*rhat, p.rhat);
    }
}

static void check_ends(const small_model *m)
{
    sbps_error err = {0};
    double ess, rhat, rows = (double)(m->groups * m->rows_each);
    sbps_result *r = sample_model(m, &err);
    if (!r) give_up(m->formula, &err);
    worst_of(r, &ess, &rhat);
    double passes = r->info.rows_touched / rows;
    printf("%s, %s: %s, ESS %.0f, R-hat %.4f, %.3g passes\n", m->family, m->formula,
           r->info.sampler, ess, rhat, passes);
    CHECK(ess >= ESS);
    CHECK(rhat < RHAT_MAX);
    CHECK(passes <= m->passes);
    sbps_result_destroy(r);
}

TEST(small_tables_end_with_the_requested_ess)
{
    static const small_model models[] = {
        {"gaussian", "y ~ tiny + (1 | g)", 12, 2, 0.0, 1.2e5},
        {"gaussian", "y ~ year + close + (1 + year | g) + (1 | k)", 20, 4, 0.5, 1.2e5},
        {"Beta", "y ~ x + close + year + (1 | g/h)", 15, 4, 3.0, 1.2e5},
        {"poisson", "y ~ x + rare + (1 | g/h) + (1 | k)", 20, 4, 3.0, 5e5},
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) check_ends(&models[i]);
}

TEST(columns_that_are_constant_up_to_rounding_are_refused)
{
    static const small_model models[] = {
        {"poisson", "y ~ x + flat + (1 | g)", 15, 4, 0.5, 0.0},
        {"gaussian", "y ~ flat + (1 | g/h)", 15, 4, 0.5, 0.0},
    };
    for (size_t i = 0; i < 2; i++) {
        sbps_error err = {0};
        CHECK(!sample_model(&models[i], &err));
        CHECK(strstr(err.text, "column 'flat' is nearly constant"));
    }
}

CHECK_MAIN
