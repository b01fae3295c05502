/* The choice of the number of nodes: the stated error has the size of the true one. */
#include "check.h"
#include "core/rng.h"
#include "inference/autotune/run_plan.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"
#include "model/mixed/mixed.h"

#include "stat/sample.h"

#define GROUPS   14
#define EACH     40
#define MANY     ((size_t)63)
#define TRUE_MAX 0.01 /* posterior sds: twice the goal */

static sbps_table *make_table(uint64_t seed, const sbps_options *options)
{
    char path[256];
    sbps_error err = {0};
    sbps_table *table;
    rng random = rng_stream(seed, 0, RNG_TEST);
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,x,g\n");
    for (int g = 0; g < GROUPS; g++) {
        double effect = 1.3 * rng_normal(&random);
        for (int i = 0; i < EACH; i++) {
            double x = rng_normal(&random), eta = 0.5 * x + effect;
            int y = rng_uniform(&random) < 1.0 / (1.0 + exp(-eta));
            fprintf(file, "%d,%.4f,%d\n", y, x, g);
        }
    }
    fclose(file);
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    unlink(path);
    return table;
}

/* The move of the mean of log sd, the last coordinate, by the rule in use, in posterior sds. */
static double true_error(posterior *u, const double *w, const double *factor)
{
    mixed *m = u->self;
    size_t nodes = m->nodes;
    double less[2], more[2], unit[] = {0.0, 1.0};
    posterior_gradient(u, w, NULL, less, NULL);
    CHECK(mixed_set_nodes(m, MANY, NULL) == SBPS_OK);
    posterior_gradient(u, w, NULL, more, NULL);
    CHECK(mixed_set_nodes(m, nodes, NULL) == SBPS_OK);
    for (size_t j = 0; j < 2; j++) more[j] -= less[j];
    cholesky_solve(2, factor, more);
    cholesky_solve(2, factor, unit);
    return fabs(more[1]) / sqrt(unit[1]);
}

/* For the sd, rules of three and of four nodes agree, and both are wrong. */
TEST(agreement_of_consecutive_rules_does_not_imply_accuracy)
{
    sbps_options *options = options_of("model=logistic formula=y~0+x+(1|g)");
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sbps_table *table = make_table(seed, options);
        const model_kind *model;
        posterior *u;
        quadrature rule;
        double w[] = {0.5, log(1.3)}, factor[4];
        CHECK(plan_model(options, table->data, &model, NULL) == SBPS_OK);
        CHECK(target_open(options, table->data, model, &u, NULL) == SBPS_OK);
        CHECK(u->dim == 2 && posterior_hessian(u, w, factor, NULL) == SBPS_OK);
        CHECK(cholesky(2, factor));
        CHECK(mixed_choose_nodes(u->self, table->data, w, factor, false, &rule, NULL) ==
              SBPS_OK);
        double error = true_error(u, w, factor);
        if (!(error <= TRUE_MAX)) {
            printf("seed %d: %zu nodes state %.4f, and are off by %.4f\n", (int)seed,
                   rule.nodes, rule.error, error);
            check_failures++;
        }
        posterior_destroy(u);
        sbps_table_destroy(table);
    }
    sbps_options_destroy(options);
}

CHECK_MAIN
