/* Polynomials of groups against the rows that they replace; their gradients and Hessians
 * against differences. */
#include "fixture.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/group_polynomial_fit.h"

#define NODES     ((size_t)15)
#define SPREAD    0.02 /* of points around the reference */
#define MANY_ROWS ((size_t)100)

static const grouped_spec specs[] = {
    {.model = "logistic", .groups = 60, .each = 200, .effects = 1, .sd = {1.2, 0.0}, .seed = 1},
    {.model = "logistic",
     .groups = 60,
     .each = 200,
     .effects = 2,
     .sd = {1.2, 0.7},
     .cor = -0.4,
     .weights = true,
     .seed = 2},
    {.model = "poisson",
     .groups = 60,
     .each = 200,
     .effects = 2,
     .sd = {0.6, 0.3},
     .independent = true,
     .seed = 3},
    {.model = "gamma",
     .groups = 60,
     .each = 200,
     .effects = 2,
     .sd = {0.6, 0.3},
     .cor = 0.4,
     .weights = true,
     .seed = 4},
};
#define SPECS (sizeof specs / sizeof *specs)

static mixed *with_polynomials(const grouped *t, const grouped_spec *s, double *w)
{
    mixed *m = t->u->self;
    double sd[16];
    for (size_t j = 0; j < t->u->dim; j++) sd[j] = 2.0 * SPREAD;
    grouped_truth(t, s, w);
    CHECK(mixed_set_nodes(m, NODES, NULL) == SBPS_OK);
    CHECK(polynomials_fit(m, t->data, w, sd, NULL) == SBPS_OK && m->polynomials);
    return m;
}

static void perturb(size_t d, const double *w, double *at)
{
    for (size_t j = 0; j < d; j++) at[j] = w[j] + SPREAD * cos(2.0 * (double)j + 1.0);
}

static size_t rows_in(const mixed *m, size_t g)
{
    return m->groups->start[g + 1] - m->groups->start[g];
}

TEST(groups_of_many_rows_have_polynomials)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[16];
        const mixed *m = with_polynomials(&t, &specs[s], w);
        for (size_t g = 0; g < specs[s].groups; g++)
            CHECK(*polynomial_of(m->polynomials, g).fits == 1.0 || rows_in(m, g) < MANY_ROWS);
        grouped_close(&t);
    }
}

/* Values agree to a fraction of a log unit, gradients to a fraction of their spread over
 * rows. */
TEST(a_polynomial_agrees_with_its_rows)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[16], at[16], value[2], one = 1.0;
        mixed *m = with_polynomials(&t, &specs[s], w);
        size_t d = t.u->dim;
        double *scratch = new_doubles(t.u->model->rows.scratch(m, 1));
        perturb(d, w, at);
        for (size_t g = 0; g < specs[s].groups; g++) {
            double gradient[2][16] = {{0.0}};
            for (int by_rows = 0; by_rows < 2; by_rows++) {
                m->by_rows = by_rows;
                t.u->model->rows.loglik(m, rows_from(g, 1), at, scratch, &value[by_rows]);
                t.u->model->rows.gradient(m, rows_from(g, 1), at, &one, scratch,
                                          gradient[by_rows]);
            }
            CHECK_NEAR(value[0], value[1], 2e-2);
            for (size_t j = 0; j < d; j++)
                CHECK_NEAR(gradient[0][j], gradient[1][j], 2e-2 * sqrt((double)rows_in(m, g)));
        }
        free(scratch);
        grouped_close(&t);
    }
}

#define STEP 1e-5

TEST(gradients_and_hessians_of_polynomials_are_derivatives)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[16], at[16], low[16], high[16], value, below, above, gradient[16],
            hessian[256];
        with_polynomials(&t, &specs[s], w);
        size_t d = t.u->dim;
        perturb(d, w, w);
        const expansion out = {&value, gradient, hessian};
        REQUIRE(posterior_expand(t.u, w, &out, NULL, NULL) == SBPS_OK);
        for (size_t j = 0; j < d; j++) {
            memcpy(at, w, sizeof at);
            at[j] = w[j] - STEP;
            CHECK(posterior_gradient(t.u, at, &below, low, NULL) == SBPS_OK);
            at[j] = w[j] + STEP;
            CHECK(posterior_gradient(t.u, at, &above, high, NULL) == SBPS_OK);
            CHECK_NEAR((above - below) / (2.0 * STEP), gradient[j],
                       1e-2 * fmax(1.0, fabs(gradient[j])));
            for (size_t i = 0; i < d; i++)
                CHECK_NEAR((high[i] - low[i]) / (2.0 * STEP), hessian[i * d + j],
                           1e-3 * sqrt(hessian[i * d + i] * hessian[j * d + j]));
        }
        grouped_close(&t);
    }
}

TEST(slopes_of_polynomials_are_gradients_along)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[16], u[16], slope[64], one = 1.0;
        const mixed *m = with_polynomials(&t, &specs[s], w);
        size_t d = t.u->dim, n = specs[s].groups;
        double *scratch = new_doubles(t.u->model->rows.scratch(m, n));
        perturb(d, w, w);
        for (size_t j = 0; j < d; j++) u[j] = cos((double)j);
        t.u->model->rows.slope(m, rows_from(0, n), w, u, scratch, slope);
        for (size_t g = 0; g < n; g++) {
            double gradient[16] = {0.0};
            t.u->model->rows.gradient(m, rows_from(g, 1), w, &one, scratch, gradient);
            CHECK_NEAR(slope[g], dot(d, u, gradient), 1e-10 * fmax(1.0, fabs(slope[g])));
        }
        free(scratch);
        grouped_close(&t);
    }
}

/* Beyond the polynomials' reach rows are evaluated: results are the same to the last bit. */
TEST(far_away_rows_are_evaluated)
{
    grouped t = grouped_make(&specs[1]);
    double w[16], value[2];
    mixed *m = with_polynomials(&t, &specs[1], w);
    double *scratch = new_doubles(t.u->model->rows.scratch(m, 1));
    w[2] += 1.0;
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        m->by_rows = by_rows;
        t.u->model->rows.loglik(m, rows_from(30, 1), w, scratch, &value[by_rows]);
    }
    CHECK(value[0] == value[1]);
    free(scratch);
    grouped_close(&t);
}

CHECK_MAIN
