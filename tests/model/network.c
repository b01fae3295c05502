/* Networks: derivatives for every shape, the formula, the case without hidden layers, names,
 * invalid options, and a reference point where no mode can be found. */
#include "check.h"
#include "linalg/cholesky.h"
#include "model/general.h"
#include "posterior/mode/mode.h"

static const model_shape shapes[] = {
    {.hidden = "0", .activation = "tanh", .head = "softmax"},
    {.hidden = "4", .activation = "tanh", .head = "softmax"},
    {.hidden = "3,5", .activation = "tanh", .head = "softmax"},
    {.hidden = "2,3,2", .activation = "tanh", .head = "gaussian"},
    {.hidden = "4", .activation = "relu", .head = "softmax"},
    {.hidden = "6,4", .activation = "relu", .head = "gaussian"},
    {.hidden = "0", .activation = "relu", .head = "gaussian"},
};

#define SHAPES (sizeof shapes / sizeof *shapes)

static subject network(const model_shape *shape, bool intercept, double size)
{
    size_t classes = strcmp(shape->head, "softmax") ? 0 : 3;
    return subject_of(make_table(classes, intercept, NULL), "network", shape, size);
}

TEST(derivatives_are_derivatives_for_every_shape)
{
    for (size_t i = 0; i < SHAPES; i++)
        for (int intercept = 0; intercept < 2; intercept++) {
            subject s = network(&shapes[i], intercept, 0.6);
            REQUIRE(s.status == SBPS_OK);
            check_general(&s);
            subject_close(&s);
        }
}

/* z of unit `unit` by plain sums: layer 0 is the row, `w` the weights from this layer on. */
static double unit_value(const double *w, size_t in, bool bias, const double *a)
{
    double z = bias ? w[0] : 0.0;
    for (size_t i = 0; i < in; i++) z += w[bias + i] * a[i];
    return z;
}

TEST(loglik_is_the_formula)
{
    model_shape shape = {.hidden = "3,2", .activation = "tanh", .head = "gaussian"};
    double offset[ROWS], out[ROWS];
    for (size_t i = 0; i < ROWS; i++) offset[i] = 0.25 * (double)i;
    subject s = subject_of(make_table(0, true, offset), "network", &shape, 0.6);
    REQUIRE(s.status == SBPS_OK && s.dim == 3 * 6 + 2 * 4 + 3);
    logliks(&s, s.w, out);
    for (size_t i = 0; i < ROWS; i++) {
        double a[3], b[2];
        for (size_t j = 0; j < 3; j++)
            a[j] =
                tanh(unit_value(s.w + 6 * j, 6, false, s.data->storage.x + i * s.data->stride));
        for (size_t j = 0; j < 2; j++) b[j] = tanh(unit_value(s.w + 18 + 4 * j, 3, true, a));
        double r = s.data->y[i] - s.data->offset[i] - unit_value(s.w + 26, 2, true, b);
        CHECK_NEAR(out[i], -0.5 * log(2.0 * M_PI) - 0.5 * r * r, TOL_SUM);
    }
    subject_close(&s);
}

TEST(a_relu_unit_is_zero_below_zero)
{
    model_shape shape = {.hidden = "1", .activation = "relu", .head = "gaussian"};
    subject s = network(&shape, false, 1.0);
    REQUIRE(s.status == SBPS_OK && s.dim == COLUMNS + 2);
    double out[ROWS];
    s.w[COLUMNS] = 0.5;
    logliks(&s, s.w, out);
    for (size_t i = 0; i < ROWS; i++) {
        double z = unit_value(s.w, COLUMNS, false, s.data->storage.x + i * s.data->stride);
        double r = s.data->y[i] - 0.5 - s.w[COLUMNS + 1] * fmax(z, 0.0);
        CHECK_NEAR(out[i], -0.5 * log(2.0 * M_PI) - 0.5 * r * r, TOL_SUM);
    }
    subject_close(&s);
}

TEST(without_hidden_layers_it_is_softmax_regression)
{
    subject s = network(&shapes[0], true, 0.6);
    subject plain = subject_of(make_table(3, true, NULL), "softmax", NULL, 0.6);
    REQUIRE(s.status == SBPS_OK && plain.status == SBPS_OK && s.dim == plain.dim);
    double a[ROWS], b[ROWS];
    logliks(&s, s.w, a);
    logliks(&plain, s.w, b);
    for (size_t i = 0; i < ROWS; i++) CHECK(a[i] == b[i]);
    for (size_t j = 0; j < s.dim; j++)
        CHECK(s.kind->parameters.prior_sd(s.u->self, j) ==
              plain.kind->parameters.prior_sd(plain.u->self, j));
    subject_close(&plain);
    subject_close(&s);
}

static void check_name(const subject *s, size_t j, const char *want)
{
    char name[64];
    posterior_name(s->u, j, sizeof name, name);
    if (strcmp(name, want)) printf("%zu: '%s', expected '%s'\n", j, name, want);
    CHECK(strcmp(name, want) == 0);
}

TEST(weights_are_named_layer_unit_and_input)
{
    subject s = network(&shapes[2], true, 1.0); /* 6 inputs, 3 units, 5 units, 3 classes */
    REQUIRE(s.status == SBPS_OK && s.dim == 3 * 6 + 5 * 4 + 3 * 6);
    check_name(&s, 0, "l1:1:intercept");
    check_name(&s, 17, "l1:3:x5");
    check_name(&s, 18, "l2:1:intercept");
    check_name(&s, 37, "l2:5:u3");
    check_name(&s, 38, "l3:0:intercept");
    check_name(&s, 55, "l3:2:u5");
    subject_close(&s);
}

TEST(invalid_shapes_are_refused)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "4,",
                                      ",4",
                                      "4,,4",
                                      "-3",
                                      "4;4",
                                      "0,4",
                                      "4 4",
                                      "10001",
                                      "99999999999999999999",
                                      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        model_shape shape = {.hidden = bad[i], .activation = "tanh", .head = "softmax"};
        subject s = network(&shape, true, 1.0);
        if (s.status == SBPS_OK) printf("'%s' passes\n", bad[i]);
        CHECK(s.status == SBPS_BAD_ARG && strstr(s.err.text, "--hidden"));
        subject_close(&s);
    }
    subject s = subject_of(make_table(0, true, NULL), "network", &shapes[1], 1.0);
    CHECK(s.status == SBPS_BAD_DATA && strstr(s.err.text, "network needs classes"));
    subject_close(&s);
}

/* Wherever the search ends, the point is finite and no worse than the start, and its Hessian
 * has a Cholesky factor. */
static void check_reference(const model_shape *shape)
{
    subject s = network(shape, true, 1.0);
    REQUIRE(s.status == SBPS_OK);
    prior *priors = calloc(s.dim, sizeof *priors);
    mode *m = NULL;
    double before, after;
    for (size_t j = 0; j < s.dim; j++) prior_parse("normal(0,2)", &priors[j], NULL);
    posterior_set_priors(s.u, priors, NULL);
    s.kind->parameters.start(s.u->self, s.w);
    posterior_value(s.u, s.w, &before, NULL);
    CHECK(mode_find(s.u, s.w, &m, &s.err) == SBPS_OK);
    if (m) {
        posterior_value(s.u, m->w, &after, NULL);
        CHECK(after == m->value && after < before);
        CHECK(isfinite(m->gradient_norm));
        CHECK(cholesky(s.dim, m->hessian));
    }
    mode_destroy(m);
    free(priors);
    subject_close(&s);
}

TEST(a_reference_is_found_for_every_shape)
{
    for (size_t i = 0; i < SHAPES; i++) check_reference(&shapes[i]);
}

TEST(the_start_is_not_a_saddle_point)
{
    subject s = network(&shapes[1], true, 1.0);
    REQUIRE(s.status == SBPS_OK);
    double *again = new_doubles(s.dim);
    s.kind->parameters.start(s.u->self, s.w);
    s.kind->parameters.start(s.u->self, again);
    CHECK(memcmp(again, s.w, s.dim * sizeof *again) == 0);
    for (size_t j = 0; j < COLUMNS; j++) CHECK(s.w[1 + j] != s.w[7 + j]); /* units differ */
    free(again);
    subject_close(&s);
}

CHECK_MAIN
