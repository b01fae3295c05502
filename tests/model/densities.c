/* gaussian, banana, hyperboloid, multimodal: densities as in their formulas, constants
 * included; the moments that their pages state; and files that are not a covariance. */
#include "check.h"
#include "ingest/ingest.h"
#include "ingest/text/matrix.h"
#include "linalg/cholesky.h"
#include "model/general.h"
#include "posterior/mode/mode.h"

#include <unistd.h>

static subject density(const char *model, const model_shape *shape)
{
    rows *data = NULL;
    rows_none(&data, NULL);
    return subject_of(data, model, shape, 1.0);
}

/* ---- gaussian ---- */

TEST(a_constructed_gaussian_has_log_spaced_variances)
{
    enum { D = 7 };
    model_shape shape = {.dim = D, .condition = 1e4};
    subject s = density("gaussian", &shape);
    REQUIRE(s.status == SBPS_OK);
    CHECK(s.dim == D);
    double h[D * D], trace = 0.0, square = 0.0, log_det = 0.0, value, w[D] = {0};
    REQUIRE(posterior_hessian(s.u, w, h, NULL) == SBPS_OK);
    double want[3] = {0};
    for (size_t j = 0; j < D; j++) {
        double precision = pow(1e4, -(double)j / (D - 1));
        want[0] += precision;
        want[1] += precision * precision;
        want[2] -= log(precision);
        trace += h[j * D + j];
    }
    double off = 0.0;
    for (size_t i = 0; i < D * D; i++) {
        square += h[i] * h[i];
        if (i % (D + 1)) off = fmax(off, fabs(h[i]));
    }
    CHECK_NEAR(trace, want[0], TOL_SUM);
    CHECK_NEAR(square, want[1], TOL_SUM);
    CHECK(off > 0.05); /* rotated */
    REQUIRE(cholesky(D, h));
    for (size_t j = 0; j < D; j++) log_det -= 2.0 * log(h[j * D + j]);
    CHECK_NEAR(log_det, want[2], 1e-9);
    posterior_value(s.u, w, &value, NULL);
    CHECK_NEAR(value, 0.5 * (D * log(2.0 * M_PI) + want[2]), TOL_SUM);
    subject_close(&s);
}

static const char *covariance_file(const char *text)
{
    static char path[] = "covariance.csv";
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

TEST(a_covariance_from_a_file_is_inverted)
{
    model_shape shape = {.covariance = covariance_file("a, b\r\n4,1\n\n 1 ,0.5\n"),
                         .read_matrix = matrix_read};
    subject s = density("gaussian", &shape);
    REQUIRE(s.status == SBPS_OK);
    double w[2] = {3.0, -0.5}, value, g[2];
    /* S = (4 1; 1 1/2), |S| = 1, P = (1/2 -1; -1 4): w'Pw = 4.5 + 3 + 1 */
    posterior_gradient(s.u, w, &value, g, NULL);
    CHECK_NEAR(value, log(2.0 * M_PI) + 0.5 * 8.5, TOL_SUM);
    CHECK_NEAR(g[0], 2.0, TOL_SUM);
    CHECK_NEAR(g[1], -5.0, TOL_SUM);
    subject_close(&s);
    unlink(shape.covariance);
}

TEST(files_that_are_not_a_covariance_are_refused)
{
    static const struct {
        const char *text, *want;
    } bad[] = {
        {"", "empty"},
        {"1,0\n0,1\n", "csv:1: the first line contains numbers"},
        {"a,b\n1,0\n", "not square: 1 rows for 2 columns"},
        {"a,b\n1,0\n0,1\n2,3\n", "csv:4: the matrix is not square"},
        {"a,b\n1,0,3\n0,1\n", "csv:2: expected 2 columns as in the header, found 3"},
        {"a,b\n1,0\n0,x\n", "csv:3: column 2: 'x' is not a finite number"},
        {"a,b\n1,0\n0,inf\n", "csv:3: column 2: 'inf' is not a finite number"},
        {"a,b\n1,0\n,1\n", "csv:3: column 1: '' is not a finite number"},
        {"a,b\n1,0.5\n0.4,1\n", "not symmetric: row 2, column 1 holds 0.4"},
        {"a,b\n1,2\n2,1\n", "not positive definite"},
        {"a,b\n1,0\n0,0\n", "not positive definite"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        model_shape shape = {.covariance = covariance_file(bad[i].text),
                             .read_matrix = matrix_read};
        subject s = density("gaussian", &shape);
        bool right = s.status != SBPS_OK && strstr(s.err.text, bad[i].want) && !s.u;
        if (!right) printf("case %zu: '%s'\n", i, s.err.text);
        CHECK(right);
        subject_close(&s);
    }
    unlink("covariance.csv");
    model_shape shape = {.covariance = "no-such-file.csv", .read_matrix = matrix_read};
    subject s = density("gaussian", &shape);
    CHECK(s.status == SBPS_NO_FILE && strstr(s.err.text, "no-such-file.csv"));
    subject_close(&s);
}

/* ---- banana ---- */

/* Integrals over a grid wide enough for both coordinates: 1, means, squares, product. */
TEST(the_banana_has_the_moments_its_page_states)
{
    subject s = density("banana", NULL);
    REQUIRE(s.status == SBPS_OK);
    double sum[6] = {0}, h = 0.05, s2 = 2.25;
    for (double a = -9.0; a <= 9.0; a += h)
        for (double b = -12.0; b <= 90.0; b += h) {
            double w[2] = {a, b}, value;
            s.kind->rows.loglik(s.u->self, (row_range){NULL, 0, 1}, w, s.scratch, &value);
            double p = h * h * exp(value), f[] = {1.0, a, b, a * a, b * b, a * b};
            for (size_t i = 0; i < 6; i++) sum[i] += p * f[i];
        }
    CHECK_NEAR(sum[0], 1.0, 1e-6);
    CHECK_NEAR(sum[1], 0.0, 1e-6);
    CHECK_NEAR(sum[2], 0.0, 1e-5);
    CHECK_NEAR(sum[3], s2, 1e-5);
    CHECK_NEAR(sum[4], 1.0 + 2.0 * s2 * s2, 1e-4);
    CHECK_NEAR(sum[5], 0.0, 1e-6);
    subject_close(&s);
}

TEST(the_banana_starts_at_its_mode)
{
    subject s = density("banana", NULL);
    REQUIRE(s.status == SBPS_OK);
    double w[2], g[2];
    s.kind->parameters.start(s.u->self, w);
    posterior_gradient(s.u, w, NULL, g, NULL);
    CHECK(g[0] == 0.0 && g[1] == 0.0);
    mode *m = NULL;
    REQUIRE(mode_find(s.u, w, &m, NULL) == SBPS_OK);
    CHECK_NEAR(m->value, log(2.0 * M_PI) + log(1.5), TOL_SUM);
    mode_destroy(m);
    subject_close(&s);
}

/* ---- hyperboloid ---- */

TEST(the_hyperboloid_is_its_formula_and_has_its_mode)
{
    double y[] = {1.0, -2.0, 4.0}, out[3], w[2] = {1.5, -0.5};
    rows *data = NULL;
    rows_spec spec = {.no_columns = true, .seed = 1};
    REQUIRE(rows_copy(3, 0, NULL, NULL, y, NULL, NULL, &spec, &data, NULL) == SBPS_OK);
    CHECK(data->d == 0);
    subject s = subject_of(data, "hyperboloid", NULL, 1.0);
    REQUIRE(s.status == SBPS_OK);
    s.kind->rows.loglik(s.u->self, (row_range){NULL, 0, 3}, w, s.scratch, out);
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(out[i], -0.5 * log(2.0 * M_PI) - 0.5 * pow(data->y[i] + 0.75, 2), TOL_SUM);
    double start[2];
    s.kind->parameters.start(s.u->self, start); /* the mean is 1 */
    mode *m = NULL;
    REQUIRE(mode_find(s.u, start, &m, NULL) == SBPS_OK);
    CHECK_NEAR(m->w[0] * m->w[1], 1.0, 1e-6);
    CHECK(s.kind->parameters.prior_sd(s.u->self, 0) == 100.0);
    mode_destroy(m);
    subject_close(&s);
}

/* ---- multimodal ---- */

static double formula(double w, double right, double left)
{
    double s2 = 0.0625;
    return log(exp(-pow(w - 1.0 - right, 2) / (2.0 * s2)) +
               exp(-pow(w + 1.0 - left, 2) / (2.0 * s2)));
}

TEST(the_multimodal_density_is_its_formula)
{
    double x[] = {0.1, -0.2, 0.03, 0.04, -0.1, 0.2, 0.05, 0.06}, out[2], w[2] = {0.2, -0.7};
    rows *data = NULL;
    rows_spec spec = {.no_target = true, .seed = 1};
    REQUIRE(rows_copy(2, 4, x, NULL, NULL, NULL, NULL, &spec, &data, NULL) == SBPS_OK);
    subject s = subject_of(data, "multimodal", NULL, 1.0);
    REQUIRE(s.status == SBPS_OK && s.dim == 2);
    s.kind->rows.loglik(s.u->self, (row_range){NULL, 0, 2}, w, s.scratch, out);
    for (size_t i = 0; i < 2; i++) {
        const double *mu = data->storage.x + i * data->stride;
        CHECK_NEAR(out[i], formula(w[0], mu[0], mu[2]) + formula(w[1], mu[1], mu[3]), TOL_SUM);
    }
    double far[2] = {60.0, -80.0}, u[2] = {1.0, 0.0}, slope[2];
    s.kind->rows.slope(s.u->self, (row_range){NULL, 0, 2}, far, u, s.scratch, slope);
    CHECK_NEAR(slope[0], -(60.0 - 1.0 - data->storage.x[0]) / 0.0625, TOL_SUM);
    rng random = rng_stream(1, 0, RNG_TEST);
    for (size_t chain = 0; chain < 4; chain++) { /* the four corners in turn */
        s.kind->parameters.scatter(s.u->self, chain, &random, w);
        CHECK((w[0] < 0.0) == (chain % 2 == 1) && (w[1] < 0.0) == (chain / 2 == 1));
    }
    subject_close(&s);
}

TEST(an_odd_number_of_columns_is_refused)
{
    double x[] = {1, 2, 3, 4, 5, 7};
    rows *data = NULL;
    rows_spec spec = {.no_target = true, .seed = 1};
    REQUIRE(rows_copy(2, 3, x, NULL, NULL, NULL, NULL, &spec, &data, NULL) == SBPS_OK);
    subject s = subject_of(data, "multimodal", NULL, 1.0);
    CHECK(s.status == SBPS_BAD_DATA && strstr(s.err.text, "even number"));
    subject_close(&s);
}

CHECK_MAIN
