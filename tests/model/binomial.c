/* Proportions of trials: binomial and probit regression against R's glm, and against the same
 * outcomes as single rows. */
#include "mode/helpers.h"

/* Twelve groups of 20 moths exposed to a dose: male, log2 dose, dead. Collett (1991), Modelling
 * Binary Data, p. 75. */
#define GROUPS 12
#define EACH   20.0
static const double x[] = {1, 0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5,
                           0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5};
static const double dead[] = {1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16};

static rows *proportions(void)
{
    double y[GROUPS], weight[GROUPS];
    for (size_t i = 0; i < GROUPS; i++) {
        y[i] = dead[i] / EACH;
        weight[i] = EACH;
    }
    return make_rows(GROUPS, 2, x, y, weight, true);
}

static rows *single_rows(void)
{
    enum { count = GROUPS * (size_t)EACH };
    double each[2 * count], y[count];
    for (size_t i = 0; i < count; i++) {
        size_t group = i / (size_t)EACH;
        each[2 * i] = x[2 * group];
        each[2 * i + 1] = x[2 * group + 1];
        y[i] = (double)(i % (size_t)EACH) < dead[group];
    }
    return make_rows(count, 2, each, y, NULL, true);
}

/* glm(cbind(dead, 20 - dead) ~ male + ldose, family = binomial(...)) of R 4.2. */
static void agrees_with_glm(const char *model, const double want[3])
{
    fit f = fit_rows(proportions(), model, "flat", "flat", NULL);
    REQUIRE(f.status == SBPS_OK);
    for (size_t j = 0; j < 3; j++) CHECK_NEAR(f.m->w[j], want[j], TOL_DIFF);
    fit_close(&f);
}

TEST(the_mode_under_flat_priors_is_that_of_glm)
{
    agrees_with_glm("binomial", (double[]){-3.47315530709, 1.10074336300, 1.06421396992});
    agrees_with_glm("probit", (double[]){-2.060329648698, 0.653644731994, 0.632448591589});
}

/* The density itself, not only up to a constant: the binomial coefficient is left out of
 * both. */
static void agrees_with_single_rows(const char *model, const char *single)
{
    fit a = fit_rows(proportions(), model, "normal(0,3)", "flat", NULL);
    fit b = fit_rows(single_rows(), single, "normal(0,3)", "flat", NULL);
    REQUIRE(a.status == SBPS_OK && b.status == SBPS_OK);
    CHECK_NEAR(a.m->value, b.m->value, TOL_SUM);
    for (size_t j = 0; j < 3; j++) CHECK_NEAR(a.m->w[j], b.m->w[j], TOL_DIFF);
    for (size_t j = 0; j < 9; j++) CHECK_NEAR(a.m->hessian[j], b.m->hessian[j], TOL_DIFF);
    fit_close(&a);
    fit_close(&b);
}

TEST(proportions_are_the_same_as_a_row_for_every_trial)
{
    agrees_with_single_rows("binomial", "binomial");
    agrees_with_single_rows("binomial", "logistic");
    agrees_with_single_rows("probit", "probit");
}

TEST(proportions_outside_of_0_and_1_are_refused)
{
    static const struct {
        double y[3], weight[3];
        const char *sentence;
    } wrong[] = {
        {{0.5, 1.2, 0},
         {1, 1, 1},
         "holds 1.2; binomial needs proportions of successes, 0 to 1"},
        {{0.5, NAN, 0}, {1, 1, 1}, "holds nan"},
        {{0, 0, 1}, {1, 1, 0}, "is 0 in every row: no success"},
        {{1, 1, 1}, {1, 2, 1}, "is 1 in every row: no failure"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double y[3], weight[3];
        sbps_error err = {0};
        memcpy(y, wrong[i].y, sizeof y);
        memcpy(weight, wrong[i].weight, sizeof weight);
        rows r = {.local_rows = 3, .y = y, .weight = weight};
        CHECK(model_find("binomial")->predictor->check(&r, &err) == SBPS_BAD_DATA);
        CHECK(strstr(err.text, wrong[i].sentence));
    }
}

/* A proportion that is neither 0 nor 1 bounds the weights on both sides. */
TEST(separation_is_found_from_the_rows_with_one_outcome)
{
    const double one[] = {-2, -1, 1, 2}, apart[] = {0, 0, 1, 1}, mixed[] = {0, 0.5, 0.5, 1};
    fit f = fit_rows(make_rows(4, 1, one, apart, NULL, true), "binomial", "flat", "flat", NULL);
    CHECK(f.status == SBPS_NO_MODE && strstr(f.err.text, "column 'x1' alone"));
    fit_close(&f);
    f = fit_rows(make_rows(4, 1, one, mixed, NULL, true), "binomial", "flat", "flat", NULL);
    CHECK(f.status == SBPS_OK);
    fit_close(&f);
}

CHECK_MAIN
