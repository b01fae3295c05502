/* Categorical regression: derivatives, the formula, softmax with the weights of the reference at
 * 0, the case of two classes, names and refusals. */
#include "check.h"
#include "ingest/ingest.h"
#include "model/general.h"
#include "posterior/mode/mode.h"

static subject categorical(size_t classes, bool intercept, double size)
{
    return subject_of(make_table(classes, intercept, NULL), "categorical", NULL, size);
}

TEST(derivatives_are_derivatives)
{
    for (size_t classes = 2; classes < 6; classes++) {
        subject s = categorical(classes, classes % 2, 0.7);
        REQUIRE(s.status == SBPS_OK);
        CHECK(s.dim == (classes - 1) * (COLUMNS + classes % 2));
        check_general(&s);
        subject_close(&s);
    }
}

TEST(loglik_is_the_formula)
{
    subject s = categorical(4, true, 0.7);
    REQUIRE(s.status == SBPS_OK);
    double out[ROWS];
    size_t d = s.data->d;
    logliks(&s, s.w, out);
    for (size_t i = 0; i < ROWS; i++) {
        double e[4] = {1.0}, sum = 1.0;
        for (size_t k = 1; k < 4; k++) {
            double eta = 0.0;
            for (size_t j = 0; j < d; j++)
                eta += s.w[(k - 1) * d + j] * s.data->storage.x[i * s.data->stride + j];
            sum += e[k] = exp(eta);
        }
        CHECK_NEAR(out[i], log(e[(size_t)s.data->y[i]] / sum), TOL_SUM);
    }
    subject_close(&s);
}

TEST(it_is_softmax_with_the_weights_of_the_reference_at_0)
{
    subject s = categorical(3, true, 0.7),
            whole = subject_of(make_table(3, true, NULL), "softmax", NULL, 0.7);
    REQUIRE(s.status == SBPS_OK && whole.status == SBPS_OK);
    size_t d = s.data->d;
    double a[ROWS], b[ROWS];
    memset(whole.w, 0, d * sizeof *whole.w);
    memcpy(whole.w + d, s.w, 2 * d * sizeof *s.w);
    logliks(&s, s.w, a);
    logliks(&whole, whole.w, b);
    for (size_t i = 0; i < ROWS; i++) CHECK_NEAR(a[i], b[i], TOL_SUM);
    subject_close(&s);
    subject_close(&whole);
}

/* Values, gradients and modes. */
TEST(two_classes_are_logistic_regression)
{
    subject s = categorical(2, true, 0.7);
    REQUIRE(s.status == SBPS_OK);
    posterior *logistic = NULL;
    prior priors[COLUMNS + 1];
    mode *one = NULL, *two = NULL;
    double a, b, of_a[COLUMNS + 1], of_b[COLUMNS + 1];
    size_t d = s.data->d;
    REQUIRE(s.dim == d);
    for (size_t j = 0; j < d; j++) prior_parse("normal(0,2)", &priors[j], NULL);
    REQUIRE(posterior_create(s.data, model_find("logistic"), priors, &logistic, NULL) ==
            SBPS_OK);
    REQUIRE(posterior_set_priors(s.u, priors, NULL) == SBPS_OK);
    posterior_gradient(logistic, s.w, &a, of_a, NULL);
    posterior_gradient(s.u, s.w, &b, of_b, NULL);
    CHECK_NEAR(a, b, TOL_SUM);
    for (size_t j = 0; j < d; j++) CHECK_NEAR(of_a[j], of_b[j], TOL_SUM);
    REQUIRE(mode_find(logistic, NULL, &one, NULL) == SBPS_OK);
    REQUIRE(mode_find(s.u, NULL, &two, NULL) == SBPS_OK);
    for (size_t j = 0; j < d; j++) CHECK_NEAR(one->w[j], two->w[j], 1e-9);
    mode_destroy(one);
    mode_destroy(two);
    posterior_destroy(logistic);
    subject_close(&s);
}

TEST(extreme_weights_give_finite_numbers)
{
    subject s = categorical(4, true, 1e5);
    REQUIRE(s.status == SBPS_OK);
    double out[ROWS], slope[ROWS];
    logliks(&s, s.w, out);
    s.kind->rows.slope(s.u->self, all_rows, s.w, s.v, s.scratch, slope);
    for (size_t i = 0; i < ROWS; i++) CHECK(isfinite(out[i]) && isfinite(slope[i]));
    subject_close(&s);
}

TEST(weights_are_named_class_and_column_without_the_reference)
{
    subject s = categorical(3, true, 1.0);
    REQUIRE(s.status == SBPS_OK);
    char name[64];
    posterior_name(s.u, 0, sizeof name, name);
    CHECK(strcmp(name, "1:intercept") == 0);
    posterior_name(s.u, COLUMNS + 1 + 3, sizeof name, name);
    CHECK(strcmp(name, "2:x3") == 0);
    subject_close(&s);
}

TEST(targets_that_are_not_classes_and_offsets_are_refused)
{
    rows *data = NULL;
    posterior *u = NULL;
    sbps_error err = {0};
    rows_spec spec = {.target = "kind", .intercept = true, .seed = 1};
    double x[] = {1, 2, 3, 4}, y[] = {0, 1, 3, 1}, offset[ROWS] = {0};
    rows_copy(4, 1, x, NULL, y, NULL, NULL, &spec, &data, NULL);
    CHECK(posterior_open(data, model_find("categorical"), NULL, &u, &err) == SBPS_BAD_DATA);
    CHECK(!u && strstr(err.text, "holds class 3 but never class 2"));
    rows_destroy(data);
    subject s = subject_of(make_table(3, true, offset), "categorical", NULL, 1.0);
    CHECK(s.status == SBPS_BAD_ARG && strstr(s.err.text, "--offset"));
    subject_close(&s);
}

CHECK_MAIN
