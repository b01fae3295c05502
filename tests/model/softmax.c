/* Softmax regression: derivatives, the formula, the case of two classes, the classes that it
 * accepts, and the mode of a table that was solved elsewhere. */
#include "check.h"
#include "ingest/ingest.h"
#include "model/general.h"
#include "posterior/mode/mode.h"

TEST(derivatives_are_derivatives)
{
    for (size_t classes = 2; classes < 6; classes++) {
        subject s = subject_of(make_table(classes, classes % 2, NULL), "softmax", NULL, 0.7);
        REQUIRE(s.status == SBPS_OK);
        CHECK(s.dim == classes * (COLUMNS + classes % 2));
        check_general(&s);
        subject_close(&s);
    }
}

TEST(loglik_is_the_formula)
{
    subject s = subject_of(make_table(3, true, NULL), "softmax", NULL, 0.7);
    REQUIRE(s.status == SBPS_OK);
    double out[ROWS];
    size_t d = s.data->d;
    logliks(&s, s.w, out);
    for (size_t i = 0; i < ROWS; i++) {
        double e[3], sum = 0.0;
        for (size_t k = 0; k < 3; k++) {
            double eta = 0.0;
            for (size_t j = 0; j < d; j++)
                eta += s.w[k * d + j] * s.data->storage.x[i * s.data->stride + j];
            sum += e[k] = exp(eta);
        }
        CHECK_NEAR(out[i], log(e[(size_t)s.data->y[i]] / sum), TOL_SUM);
    }
    subject_close(&s);
}

TEST(two_classes_are_logistic_regression_with_the_difference_of_weights)
{
    subject s = subject_of(make_table(2, true, NULL), "softmax", NULL, 0.7);
    REQUIRE(s.status == SBPS_OK);
    posterior *logistic = NULL;
    prior flat[COLUMNS + 1];
    size_t d = s.data->d;
    double difference[COLUMNS + 1], one[COLUMNS + 1], two[2 * (COLUMNS + 1)], a, b;
    for (size_t j = 0; j < d; j++) {
        prior_parse("flat", &flat[j], NULL);
        difference[j] = s.w[d + j] - s.w[j];
    }
    REQUIRE(posterior_create(s.data, model_find("logistic"), flat, &logistic, NULL) == SBPS_OK);
    posterior_gradient(logistic, difference, &a, one, NULL);
    posterior_gradient(s.u, s.w, &b, two, NULL);
    CHECK_NEAR(a, b, TOL_SUM);
    for (size_t j = 0; j < d; j++) {
        CHECK_NEAR(two[d + j], one[j], TOL_SUM);
        CHECK_NEAR(two[j], -one[j], TOL_SUM);
    }
    posterior_destroy(logistic);
    subject_close(&s);
}

TEST(the_same_added_to_every_class_changes_nothing)
{
    subject s = subject_of(make_table(4, true, NULL), "softmax", NULL, 0.7);
    REQUIRE(s.status == SBPS_OK);
    double before[ROWS], after[ROWS];
    logliks(&s, s.w, before);
    for (size_t j = 0; j < s.dim; j++) s.w[j] += 1.0 + (double)(j % s.data->d);
    logliks(&s, s.w, after);
    for (size_t i = 0; i < ROWS; i++) CHECK_NEAR(before[i], after[i], TOL_SUM);
    subject_close(&s);
}

TEST(extreme_weights_give_finite_numbers)
{
    subject s = subject_of(make_table(4, true, NULL), "softmax", NULL, 1e5);
    REQUIRE(s.status == SBPS_OK);
    double out[ROWS], slope[ROWS];
    logliks(&s, s.w, out);
    s.kind->rows.slope(s.u->self, all_rows, s.w, s.v, s.scratch, slope);
    for (size_t i = 0; i < ROWS; i++) CHECK(isfinite(out[i]) && isfinite(slope[i]));
    subject_close(&s);
}

TEST(weights_are_named_class_and_column)
{
    subject s = subject_of(make_table(3, true, NULL), "softmax", NULL, 1.0);
    REQUIRE(s.status == SBPS_OK);
    char name[64];
    posterior_name(s.u, 0, sizeof name, name);
    CHECK(strcmp(name, "0:intercept") == 0);
    posterior_name(s.u, 2 * (COLUMNS + 1) + 3, sizeof name, name);
    CHECK(strcmp(name, "2:x3") == 0);
    subject_close(&s);
}

static void check_refused(const double y[4], const char *message)
{
    rows *data = NULL;
    posterior *u = NULL;
    sbps_error err = {0};
    rows_spec spec = {.target = "kind", .intercept = true, .seed = 1};
    double x[] = {1, 2, 3, 4};
    rows_copy(4, 1, x, NULL, y, NULL, NULL, &spec, &data, NULL);
    CHECK(posterior_open(data, model_find("softmax"), NULL, &u, &err) == SBPS_BAD_DATA);
    CHECK(!u);
    if (!strstr(err.text, message)) printf("no '%s' in: %s\n", message, err.text);
    CHECK(strstr(err.text, message));
    rows_destroy(data);
}

TEST(targets_that_are_not_classes_are_refused_by_value)
{
    check_refused((double[]){0, 1, 2.5, 1}, "target 'kind' holds 2.5; softmax needs classes");
    check_refused((double[]){0, -1, 2, 1}, "holds -1");
    check_refused((double[]){0, 0, 0, 0}, "only one class");
    check_refused((double[]){0, 1, 3, 1}, "holds class 3 but never class 2");
    check_refused((double[]){1, 2, 3, 1}, "never class 0");
    check_refused((double[]){0, 1, 1e300, 1}, "never class 2");
}

TEST(an_offset_is_refused)
{
    double offset[ROWS] = {0};
    subject s = subject_of(make_table(3, true, offset), "softmax", NULL, 1.0);
    CHECK(s.status == SBPS_BAD_ARG && strstr(s.err.text, "--offset"));
    subject_close(&s);
}

/* Block sums of pixels over 4080, the labels 0..3; NULL if the file is missing. */
static rows *read_digits(void)
{
    const char *root = getenv("SBPS_SOURCE_DIR");
    char path[1024];
    rows *data = NULL;
    rows_spec spec = {.target = "label", .intercept = true, .seed = 1};
    snprintf(path, sizeof path, "%s/../shared/data/mnist7x7_0123_train.csv", root ? root : ".");
    if (rows_read(path, &spec, &data, NULL) != SBPS_OK) return NULL;
    for (size_t i = 0; i < data->local_rows; i++)
        for (size_t j = 1; j < data->d; j++) data->storage.x[i * data->stride + j] /= 4080.0;
    return data;
}

/* U = -sum log p + (c/2)|w|^2, c = 0.001: its minimum was found by an independent program. */
TEST(digits_have_the_known_mode)
{
    rows *data = read_digits();
    if (!data) SKIP("../shared/data is not there");
    posterior *u = NULL;
    mode *m = NULL;
    prior priors[192] = {0};
    double top = 0.0, constant = 0.0, zero[192] = {0}, value;
    for (size_t j = 0; j < 192; j++) {
        prior_parse("normal(0,31.622776601683793)", &priors[j], NULL);
        constant += prior_logpdf(&priors[j], SCALE_PLAIN, 0.0);
    }
    REQUIRE(posterior_open(data, model_find("softmax"), NULL, &u, NULL) == SBPS_OK);
    REQUIRE(u->dim == 192 && posterior_set_priors(u, priors, NULL) == SBPS_OK);
    posterior_value(u, zero, &value, NULL);
    CHECK_NEAR(value + constant, 8340.0 * log(4.0), TOL_SUM);
    REQUIRE(mode_find(u, NULL, &m, NULL) == SBPS_OK);
    for (size_t j = 0; j < 192; j++) top = fmax(top, fabs(m->w[j]));
    CHECK(fabs(m->value + constant - 811.996699) < 1e-6);
    CHECK(fabs(top - 40.078) < 1e-3);
    CHECK(m->ridge == 0.0);
    mode_destroy(m);
    posterior_destroy(u);
    rows_destroy(data);
}

CHECK_MAIN
