/* With rows of weight 0 the posterior is the prior: draws have its quantiles. For each quantile
 * q of probability p the share of draws below q is compared with p; its error is
 * sqrt(p(1-p)/ess), ess that of the indicator itself. */
#include "check.h"
#include "stat/sample.h"

#include "estimate/diagnostics.h"

#define ROWS 6
#define DIM  3 /* intercept and two features */

typedef struct {
    double probability, standard; /* of location 0, scale 1 */
} quantile;

/* The share of draws of coordinate j below q, and its standard error. */
static double fraction_below(const sbps_result *r, size_t j, double q, double p, double *error)
{
    size_t total = r->chains * r->draws;
    double *below = malloc(total * sizeof *below);
    draw_summary s;
    for (size_t i = 0; i < total; i++) below[i] = r->w[i * r->dim + j] < q;
    if (summarize_draws(r->chains, r->draws, below, &s, NULL) != SBPS_OK) exit(EXIT_FAILURE);
    free(below);
    *error = sqrt(p * (1.0 - p) / s.ess_mean);
    CHECK(s.ess_mean > 300.0);
    return s.mean;
}

static sbps_result *run(const char *settings)
{
    char path[256];
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,a,b,c\n");
    for (int i = 0; i < ROWS; i++) fprintf(file, "%d,%d,%d,1e-12\n", i % 2, i - 2, i % 3 - 1);
    fclose(file);
    sbps_result *r = sample_file(path, settings);
    unlink(path);
    return r;
}

static void recovers(const char *prior, const char *stop, double location, double scale,
                     size_t count, const quantile *quantiles)
{
    char all[512];
    snprintf(
        all, sizeof all,
        "model=logistic target=y weights=c draws=4000 seed=3 %s prior=%s prior-intercept=%s",
        stop, prior, prior);
    sbps_result *r = run(all);
    CHECK(r->dim == DIM);
    for (size_t j = 0; j < DIM; j++)
        for (size_t k = 0; k < count; k++) {
            double p = quantiles[k].probability, error, fraction;
            fraction =
                fraction_below(r, j, location + scale * quantiles[k].standard, p, &error);
            if (fabs(fraction - p) > MAX_Z * error) {
                printf("%s: %s: %.4f of the draws below the %.2f quantile, z = %.1f\n", prior,
                       r->names[j], fraction, p, (fraction - p) / error);
                check_failures++;
            }
        }
    sbps_result_destroy(r);
}

TEST(draws_have_the_quantiles_of_a_normal_prior)
{
    static const quantile q[] = {{0.05, -1.6448536},
                                 {0.25, -0.6744898},
                                 {0.5, 0.0},
                                 {0.75, 0.6744898},
                                 {0.95, 1.6448536}};
    recovers("normal(1,0.5)", "ess=3000", 1.0, 0.5, 5, q);
}

TEST(draws_have_the_quantiles_of_a_student_prior)
{
    static const quantile q[] = {{0.05, -2.0150484},
                                 {0.25, -0.7266868},
                                 {0.5, 0.0},
                                 {0.75, 0.7266868},
                                 {0.95, 2.0150484}};
    recovers("student_t(5,-2,3)", "ess=3000", -2.0, 3.0, 5, q);
}

TEST(draws_have_the_quantiles_of_a_laplace_prior)
{
    static const quantile q[] = {{0.05, -2.3025851},
                                 {0.25, -0.6931472},
                                 {0.5, 0.0},
                                 {0.75, 0.6931472},
                                 {0.95, 2.3025851}};
    recovers("laplace(0.5,2)", "ess=3000", 0.5, 2.0, 5, q);
}

/* It has no moments, so no ESS to stop at. */
TEST(draws_have_the_quartiles_of_a_cauchy_prior)
{
    static const quantile q[] = {{0.25, -1.0}, {0.5, 0.0}, {0.75, 1.0}};
    recovers("cauchy(0,1)", "epochs=2e6", 0.0, 1.0, 3, q);
}

CHECK_MAIN
