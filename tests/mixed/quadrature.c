/* The stated error of the quadrature rule against its true error, where groups are skewed: few
 * rows of one or two classes, groups without a success, a group with half of all rows. The
 * largest rule is taken as exact, and is itself compared with sums on a fine grid. */
#include "fixture.h"
#include "linalg/cholesky.h"
#include "linalg/special_functions.h"

#define TRUTH      ((size_t)63) /* nodes per effect */
#define STATED_MAX 0.005        /* posterior sds: the goal of mixed_choose_nodes */
#define POINTS     ((size_t)12) /* draws from the normal density at the mode */
#define TIMES      3.0          /* the error may be this many times the stated one, */
#define ADDED      0.002        /* plus this, */
#define TRUE_MAX   0.01         /* but at most this */

static const grouped_spec specs[] = {
    /* most groups are all 0 */
    {.model = "logistic",
     .groups = 60,
     .each = 3,
     .effects = 1,
     .sd = {2.0, 0.0},
     .intercept = -3.0,
     .seed = 11},
    /* most are all 0 or all 1 */
    {.model = "logistic", .groups = 60, .each = 3, .effects = 1, .sd = {4.0, 0.0}, .seed = 12},
    {.model = "logistic",
     .groups = 40,
     .each = 4,
     .lopsided = true,
     .effects = 1,
     .sd = {1.5, 0.0},
     .intercept = -1.0,
     .seed = 13},
    {.model = "logistic",
     .groups = 30,
     .each = 4,
     .effects = 2,
     .sd = {1.5, 1.0},
     .cor = 0.5,
     .intercept = -1.0,
     .seed = 14},
    {.model = "poisson",
     .groups = 40,
     .each = 2,
     .effects = 1,
     .sd = {1.5, 0.0},
     .intercept = -1.5,
     .seed = 15},
};
#define SPECS (sizeof specs / sizeof *specs)

/* The prior of this test: normal(0, 2) around the parameters of the table. */
static void add_prior(size_t d, const double *w, double *gradient, double *hessian)
{
    for (size_t j = 0; j < d; j++) {
        gradient[j] += w[j] / 4.0;
        if (hessian) hessian[j * d + j] += 0.25;
    }
}

/* The parameters that the table was simulated with. */
static void start(const grouped_spec *s, size_t d, double *w)
{
    const double at[] = {s->intercept, 0.5, -0.3, log(s->sd[0]), log(s->sd[1]), atanh(s->cor)};
    memcpy(w, at, d * sizeof *w);
}

/* Newton in short steps: the mode and the factor of the Hessian there. */
static bool find_mode(const grouped *t, double *w, double *factor)
{
    size_t d = t->u->dim;
    double value, gradient[16];
    const expansion out = {&value, gradient, factor};
    for (int i = 0; i < 60; i++) {
        double size = 0.0;
        if (posterior_expand(t->u, w, &out, NULL, NULL) != SBPS_OK) return false;
        add_prior(d, w, gradient, factor);
        if (!cholesky(d, factor)) return false;
        cholesky_solve(d, factor, gradient);
        for (size_t j = 0; j < d; j++) size += gradient[j] * gradient[j];
        for (size_t j = 0; j < d; j++) w[j] -= gradient[j] / fmax(1.0, sqrt(size));
        if (size < 1e-12) return true;
    }
    return false;
}

/* Mean gradient of the groups over points of the posterior, by a rule. */
static void mean_gradient(const grouped *t, size_t nodes, const double *w, const double *factor,
                          double *mean)
{
    size_t d = t->u->dim;
    double value, at[16], gradient[16];
    rng r = rng_stream(7, 0, RNG_TEST);
    CHECK(mixed_set_nodes(t->u->self, nodes, NULL) == SBPS_OK);
    memset(mean, 0, d * sizeof *mean);
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t j = 0; j < d; j++) at[j] = rng_normal(&r);
        cholesky_back(d, factor, at);
        for (size_t j = 0; j < d; j++) at[j] += w[j];
        CHECK(posterior_gradient(t->u, at, &value, gradient, NULL) == SBPS_OK);
        for (size_t j = 0; j < d; j++) mean[j] += gradient[j] / (double)POINTS;
    }
}

/* The largest move of a mean between the rule and the exact one, in posterior sds. */
static double true_error(const grouped *t, size_t nodes, const double *w, const double *factor)
{
    size_t d = t->u->dim;
    double less[16], more[16], covariance[256], worst = 0.0;
    mean_gradient(t, nodes, w, factor, less);
    mean_gradient(t, TRUTH, w, factor, more);
    cholesky_inverse(d, factor, covariance);
    for (size_t j = 0; j < d; j++) more[j] -= less[j];
    cholesky_solve(d, factor, more);
    for (size_t j = 0; j < d; j++)
        worst = fmax(worst, fabs(more[j]) / sqrt(covariance[j * d + j]));
    return worst;
}

TEST(the_error_of_the_rule_is_at_most_the_stated_one)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[16], factor[256];
        quadrature rule;
        start(&specs[s], t.u->dim, w);
        REQUIRE(find_mode(&t, w, factor));
        REQUIRE(mixed_choose_nodes(t.u->self, t.data, w, factor, false, &rule, NULL) ==
                SBPS_OK);
        double error = true_error(&t, rule.nodes, w, factor);
        printf("%s, %zu groups: %zu nodes, stated %.5f, true %.5f\n", specs[s].model,
               specs[s].groups, rule.nodes, rule.error, error);
        CHECK(rule.error <= STATED_MAX);
        CHECK(error <= TIMES * rule.error + ADDED && error <= TRUE_MAX);
        grouped_close(&t);
    }
}

#define FINE ((size_t)31) /* nodes per effect that are exact for the groups below */

/* As true_error, of the corrected rule; *uncorrected: of the rule without its correction. */
static double corrected_error(const grouped *t, size_t nodes, const double *w,
                              const double *factor, double *uncorrected)
{
    mixed *m = t->u->self;
    size_t d = t->u->dim;
    double exact[16], x[16], covariance[256], worst[2] = {0.0, 0.0},
                                              *correction = m->correction;
    cholesky_inverse(d, factor, covariance);
    m->correction = NULL;
    mean_gradient(t, FINE, w, factor, exact);
    for (int corrected = 0; corrected < 2; corrected++) {
        m->correction = corrected ? correction : NULL;
        mean_gradient(t, nodes, w, factor, x);
        for (size_t j = 0; j < d; j++) x[j] -= exact[j];
        cholesky_solve(d, factor, x);
        for (size_t j = 0; j < d; j++)
            worst[corrected] = fmax(worst[corrected], fabs(x[j]) / sqrt(covariance[j * d + j]));
    }
    *uncorrected = worst[0];
    return worst[1];
}

static const grouped_spec many_groups = {.model = "logistic",
                                         .groups = 1500,
                                         .each = 12,
                                         .effects = 2,
                                         .sd = {1.5, 1.0},
                                         .cor = 0.3,
                                         .intercept = -1.0,
                                         .seed = 16};

/* With many groups a rule that would be too coarse by itself is enough with a correction. */
TEST(the_error_of_a_corrected_rule_is_at_most_the_stated_one)
{
    grouped t = grouped_make(&many_groups);
    mixed *m = t.u->self;
    double w[16], factor[256], uncorrected;
    quadrature rule, plain;
    start(&many_groups, t.u->dim, w);
    REQUIRE(find_mode(&t, w, factor));
    REQUIRE(mixed_choose_nodes(m, t.data, w, factor, false, &plain, NULL) == SBPS_OK);
    CHECK(!m->correction);
    REQUIRE(mixed_choose_nodes(m, t.data, w, factor, true, &rule, NULL) == SBPS_OK);
    REQUIRE(m->correction);
    double error = corrected_error(&t, rule.nodes, w, factor, &uncorrected);
    printf("%zu nodes in place of %zu, stated %.5f, true %.5f, without correction %.5f\n",
           rule.nodes, plain.nodes, rule.error, error, uncorrected);
    CHECK(rule.nodes < plain.nodes && rule.error <= TRUE_MAX);
    CHECK(error <= TIMES * rule.error + ADDED && error <= TRUE_MAX);
    CHECK(uncorrected > 2.0 * TRUE_MAX);
    grouped_close(&t);
}

/* log of the sum over a fine grid of one effect. */
static double on_a_grid(const mixed *m, const double *w, size_t g)
{
    const double step = 0.005, reach = 12.0;
    double sum = 0.0, sd = exp(w[m->data->d]);
    for (double v = -reach; v <= reach; v += step) {
        double total = -0.5 * v * v;
        for (size_t i = m->groups->start[g]; i < m->groups->start[g + 1]; i++) {
            const double *x = m->data->storage.x + i * m->data->stride;
            double eta = w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + sd * v, value;
            const batch one = {.k = m->k, .n = 1, .eta = &eta, .y = m->data->y + i, .pitch = 1};
            m->row_model->predictor->loglik(&one, &value);
            total += value;
        }
        sum += exp(total) * step / sqrt(2.0 * M_PI);
    }
    return log(sum);
}

/* With the nodes of the exact rule above, at an sd of 4. */
TEST(the_largest_rule_is_the_integral_of_skewed_groups)
{
    for (size_t s = 0; s < SPECS; s++) {
        if (specs[s].effects > 1) continue;
        grouped t = grouped_make(&specs[s]);
        double w[16] = {specs[s].intercept, 0.4, -0.2, log(4.0)}, value;
        CHECK(mixed_set_nodes(t.u->self, TRUTH, NULL) == SBPS_OK);
        double *scratch = new_doubles(t.u->model->rows.scratch(t.u->self, 1));
        for (size_t g = 0; g < specs[s].groups; g++) {
            t.u->model->rows.loglik(t.u->self, rows_from(g, 1), w, scratch, &value);
            CHECK_NEAR(value, on_a_grid(t.u->self, w, g), 1e-4);
        }
        free(scratch);
        grouped_close(&t);
    }
}

CHECK_MAIN
