/* Ordinal regression: against R's polr; against logistic regression where there are two
 * classes; cutpoints in order; and impossible targets. */
#include "mode/helpers.h"

/* Satisfaction (0 low, 1, 2) of tenants by influence, type of dwelling and contact:
 * MASS::housing, counts as weights. Columns: medium, high influence; apartment, atrium,
 * terrace; high contact. */
#define CELLS 72
static const double counts[CELLS] = {21, 21, 28, 34, 22, 36, 10, 11, 36, 61, 23, 17, 43, 35, 40,
                                     26, 18, 54, 13, 9,  10, 8,  8,  12, 6,  7,  9,  18, 6,  7,
                                     15, 13, 13, 7,  5,  11, 14, 19, 37, 17, 23, 40, 3,  5,  23,
                                     78, 46, 43, 48, 45, 86, 15, 25, 62, 20, 23, 20, 10, 22, 24,
                                     7,  10, 21, 57, 23, 13, 31, 21, 13, 5,  6,  13};

/* Cells as the data set has them: satisfaction fastest, then influence, type and contact. */
static rows *housing(void)
{
    static double x[CELLS * 6], y[CELLS];
    memset(x, 0, sizeof x);
    for (size_t i = 0; i < CELLS; i++) {
        size_t influence = i / 3 % 3, type = i / 9 % 4;
        y[i] = (double)(i % 3);
        if (influence) x[i * 6 + influence - 1] = 1.0;
        if (type) x[i * 6 + 1 + type] = 1.0;
        x[i * 6 + 5] = i >= 36;
    }
    return make_rows(CELLS, 6, x, y, counts, true);
}

/* The mode under one prior of coefficients and flat ones of cutpoints. Takes over `data`. */
static fit find(rows *data, const char *weights)
{
    fit f = {.data = data};
    prior priors[DIM_MAX];
    double start[DIM_MAX];
    f.status = posterior_open(data, model_find("ordinal"), NULL, &f.u, &f.err);
    if (f.status != SBPS_OK) return f;
    size_t columns = data->d - data->intercept;
    for (size_t j = 0; j < f.u->dim; j++)
        prior_parse(j < columns ? weights : "flat", &priors[j], NULL);
    f.status = posterior_set_priors(f.u, priors, &f.err);
    f.u->model->parameters.start(f.u->self, start);
    if (f.status == SBPS_OK) f.status = mode_find(f.u, start, &f.m, &f.err);
    return f;
}

/* summary(polr(Sat ~ Infl + Type + Cont, weights = Freq, data = housing)) of R 4.2, MASS
 * 7.3. */
TEST(the_mode_under_flat_priors_is_that_of_polr)
{
    static const double want[] = {0.5663937389,  1.2888190638, -0.5723501464, -0.3661865662,
                                  -1.0910149077, 0.3602841499, -0.4961353,    0.6907083};
    fit f = find(housing(), "flat");
    REQUIRE(f.status == SBPS_OK && f.u->dim == 8);
    for (size_t j = 0; j < 8; j++) CHECK_NEAR(f.m->w[j], want[j], 1e-5);
    CHECK_NEAR(f.m->value, 0.5 * 3479.149, 1e-6);
    char name[32];
    posterior_name(f.u, 6, sizeof name, name);
    CHECK(!strcmp(name, "0|1"));
    posterior_name(f.u, 0, sizeof name, name);
    CHECK(!strcmp(name, "x1"));
    fit_close(&f);
}

/* P(y = 1) = s(eta - c): the intercept is minus the cutpoint. Classes may start at any number.
 * */
TEST(two_classes_are_logistic_regression)
{
    double x[600], y[300], above[300];
    simulate("logistic", 300, 2, 3, x, y);
    for (size_t i = 0; i < 300; i++) above[i] = y[i] + 4.0;
    fit f = find(make_rows(300, 2, x, above, NULL, true), "normal(0,2)");
    rows *data = make_rows(300, 2, x, y, NULL, true);
    prior priors[3];
    posterior *u = NULL;
    mode *m = NULL;
    for (size_t j = 0; j < 3; j++) prior_parse(j ? "normal(0,2)" : "flat", &priors[j], NULL);
    REQUIRE(f.status == SBPS_OK && f.u->dim == 3);
    REQUIRE(posterior_create(data, model_find("logistic"), priors, &u, NULL) == SBPS_OK);
    REQUIRE(mode_find(u, NULL, &m, NULL) == SBPS_OK);
    CHECK_NEAR(f.m->value, m->value, TOL_SUM);
    CHECK_NEAR(f.m->w[2], -m->w[0], TOL_DIFF);
    for (size_t j = 0; j < 2; j++) CHECK_NEAR(f.m->w[j], m->w[j + 1], TOL_DIFF);
    mode_destroy(m);
    posterior_destroy(u);
    rows_destroy(data);
    fit_close(&f);
}

/* Probabilities of all classes by the formula: differences of logistic functions. */
TEST(probabilities_of_classes_are_differences_and_sum_to_one)
{
    const double x[] = {0.3, 0.3, 0.3, 0.3}, y[] = {0, 1, 2, 3};
    fit f = find(make_rows(4, 1, x, y, NULL, true), "normal(0,1)");
    const double w[] = {0.7, -1.0, 0.2, 1.5}, cuts[] = {-INFINITY, -1.0, 0.2, 1.5, INFINITY};
    double out[4], total = 0.0, scratch[512];
    REQUIRE(f.u && f.u->model->rows.scratch(f.u->self, 4) <= 512);
    f.u->model->rows.loglik(f.u->self, rows_from(0, 4), w, scratch, out);
    for (size_t i = 0; i < 4; i++) {
        size_t k = (size_t)f.data->y[i];
        double high = 1.0 / (1.0 + exp(0.21 - cuts[k + 1]));
        CHECK_NEAR(exp(out[i]), high - 1.0 / (1.0 + exp(0.21 - cuts[k])), TOL_SUM);
        total += exp(out[i]);
    }
    CHECK_NEAR(total, 1.0, TOL_SUM);
    fit_close(&f);
}

/* Out of order, the density falls the faster the farther, and everything stays finite. */
TEST(cutpoints_out_of_order_are_unlikely_and_finite)
{
    fit f = find(housing(), "normal(0,1)");
    REQUIRE(f.status == SBPS_OK);
    double w[8], g[8], value, before = f.m->value;
    memcpy(w, f.m->w, sizeof w);
    for (double gap = 1e-3; gap > -2.0; gap = gap > 1e-9  ? gap / 10.0
                                              : gap > 0.0 ? -1e-6
                                                          : gap * 10.0) {
        w[7] = w[6] + gap;
        CHECK(posterior_gradient(f.u, w, &value, g, NULL) == SBPS_OK);
        CHECK(isfinite(value) && value > before && isfinite(g[6]) && g[7] < 0.0);
        before = value;
    }
    fit_close(&f);
}

TEST(targets_that_are_not_ordered_classes_are_refused)
{
    static const struct {
        double y[4];
        const char *sentence;
    } wrong[] = {
        {{0, 1, 2.5, 2}, "holds 2.5; ordinal needs classes as whole numbers"},
        {{1, 2, 4, 2}, "runs from 1 to 4 but is never 3"},
        {{0, 1e9, 1, 2}, "runs from 0 to 1e+09 but is never 3"},
        {{3, 3, 3, 3}, "is 3 in every row; ordinal needs at least two classes"},
    };
    const double x[] = {1, 2, 3, 4};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fit f = find(make_rows(4, 1, x, wrong[i].y, NULL, true), "flat");
        CHECK(f.status == SBPS_BAD_DATA);
        if (!strstr(f.err.text, wrong[i].sentence)) printf("%s\n", f.err.text);
        CHECK(strstr(f.err.text, wrong[i].sentence));
        fit_close(&f);
    }
}

CHECK_MAIN
