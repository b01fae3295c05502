/* The cost of groups: evaluations of log-likelihoods, slopes and curvatures of single rows at
 * single places ("cells") are counted. A polynomial with too short a reach, or a search that
 * begins at the wrong place, leaves every result correct; only this test detects it. */
#include "fixture.h"
#include "linalg/cholesky.h"
#include "model/mixed/group_polynomial.h"
#include "posterior/mode/mode.h"

#include <stdatomic.h>

#define POINTS 20 /* of the posterior; all groups are evaluated at each */
/* Tolerance of the measured cost. */
#define BRACKET 1.25

static const grouped_spec long_groups = {.model = "logistic",
                                         .groups = 150,
                                         .each = 250,
                                         .effects = 2,
                                         .sd = {1.0, 0.5},
                                         .cor = 0.3,
                                         .seed = 11};
static const grouped_spec short_groups = {
    .model = "logistic", .groups = 200, .each = 8, .effects = 1, .sd = {1.0, 0.0}, .seed = 12};

static const grouped_spec wide_effects = {.model = "logistic",
                                          .groups = 40,
                                          .each = 60,
                                          .effects = 2,
                                          .sd = {3.0, 3.0},
                                          .cor = 0.3,
                                          .seed = 14};

static const grouped_spec many_groups = {.model = "logistic",
                                         .groups = 1500,
                                         .each = 12,
                                         .effects = 2,
                                         .sd = {1.5, 1.0},
                                         .cor = 0.3,
                                         .intercept = -1.0,
                                         .seed = 16};
static const grouped_spec normal_groups = {
    .model = "linear", .groups = 100, .each = 60, .effects = 2, .sd = {1.2, 0.7}, .seed = 17};

/* ---- a regression that counts ---- */

static atomic_ullong cells;
static predictor counted;
static const predictor *of;

static void count_loglik(const batch *b, double *out)
{
    cells += b->n;
    of->loglik(b, out);
}

static void count_gradient(const batch *b, double *d_eta, double *d_aux)
{
    cells += b->n;
    of->gradient(b, d_eta, d_aux);
}

static void count_curvature(const batch *b, double *ee, double *ea, double *aa)
{
    cells += b->n;
    of->curvature(b, ee, ea, aa);
}

/* Cells per row since the last call. */
static double cells_per_row(const grouped *t)
{
    return (double)atomic_exchange(&cells, 0) / (double)t->data->member_rows->local_rows;
}

static model_kind counting(const grouped *t)
{
    model_kind kind = *((mixed *)t->u->self)->row_model;
    of = kind.predictor;
    counted = *of;
    counted.loglik = count_loglik;
    counted.gradient = count_gradient;
    counted.curvature = count_curvature;
    kind.predictor = &counted;
    return kind;
}

static void check_bracket(const char *what, double found, double want)
{
    printf("%s: %.4g cells a row, expected %.4g\n", what, found, want);
    CHECK(found >= want / BRACKET && found <= want * BRACKET);
}

/* ---- a table, with nodes chosen ---- */

typedef struct {
    grouped t;
    model_kind kind;
    mode *at;
    quadrature rule;
    double *factor;
} prepared;

/* Priors that leave a mode. */
static void set_priors(const posterior *u)
{
    for (size_t j = 0; j < u->dim; j++)
        CHECK(prior_parse(u->scale[j] == SCALE_TANH  ? "lkj(2)"
                          : u->scale[j] == SCALE_LOG ? "student_t(3,0,2.5)"
                                                     : "normal(0,10)",
                          &u->priors[j], NULL) == SBPS_OK);
}

static void prepare(const grouped_spec *spec, bool correct, prepared *s)
{
    s->t = grouped_make(spec);
    s->kind = counting(&s->t);
    ((mixed *)s->t.u->self)->row_model = &s->kind;
    set_priors(s->t.u);
    CHECK(mode_find(s->t.u, NULL, &s->at, NULL) == SBPS_OK);
    size_t d = s->t.u->dim;
    s->factor = new_doubles(d * d);
    memcpy(s->factor, s->at->hessian, d * d * sizeof *s->factor);
    CHECK(cholesky(d, s->factor));
    cells = 0;
    CHECK(mixed_choose_nodes(s->t.u->self, s->t.data, s->at->w, s->factor, correct, &s->rule,
                             NULL) == SBPS_OK);
}

static void prepared_close(prepared *s)
{
    mode_destroy(s->at);
    free(s->factor);
    grouped_close(&s->t);
}

/* Cells per row for slopes of all groups at draws from the normal density at the mode. */
static double cells_per_slope(prepared *s)
{
    posterior *u = s->t.u;
    size_t d = u->dim, n = s->t.data->local_rows;
    double *scratch = new_doubles(u->model->rows.scratch(u->self, n) + n + 2 * d);
    double *slope = scratch + u->model->rows.scratch(u->self, n), *w = slope + n,
           *along = w + d;
    rng random = rng_stream(5, 0, RNG_TEST);
    cells = 0;
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t j = 0; j < d; j++) w[j] = rng_normal(&random);
        for (size_t j = 0; j < d; j++) along[j] = rng_normal(&random);
        cholesky_back(d, s->factor, w);
        for (size_t j = 0; j < d; j++) w[j] += s->at->w[j];
        u->model->rows.slope(u->self, rows_from(0, n), w, along, scratch, slope);
    }
    free(scratch);
    return cells_per_row(&s->t) / POINTS;
}

/* ---- cost ---- */

TEST(the_cost_of_long_groups)
{
    prepared s;
    prepare(&long_groups, false, &s);
    check_bracket("choosing nodes", cells_per_row(&s.t), 660.0);
    CHECK(s.rule.error < 0.01);
    double measured = cells_per_slope(&s);
    printf("looks: %.4g cells a row\n", measured);
    CHECK(measured < 0.5); /* 50 by rows */
    prepared_close(&s);
}

TEST(the_cost_of_short_groups)
{
    prepared s;
    prepare(&short_groups, false, &s);
    check_bracket("choosing nodes", cells_per_row(&s.t), 137.5);
    check_bracket("looks", cells_per_slope(&s), 15.25);
    prepared_close(&s);
}

/* Effects with so large an sd that polynomials would need more than their 256 points: the
 * search for them ends there, and rows are integrated with the points that they need
 * themselves. */
TEST(the_cost_of_groups_without_polynomials)
{
    prepared s;
    prepare(&wide_effects, false, &s);
    check_bracket("choosing nodes", cells_per_row(&s.t), 11710.0);
    CHECK(!s.rule.by_polynomial && s.rule.nodes == 21);
    prepared_close(&s);
}

/* The corrected rule has 5 nodes per effect in place of 9. */
TEST(the_cost_of_many_groups)
{
    prepared s;
    prepare(&many_groups, true, &s);
    check_bracket("choosing nodes", cells_per_row(&s.t), 2081.0);
    check_bracket("looks", cells_per_slope(&s), 55.5);
    CHECK(s.rule.nodes == 5);
    prepared_close(&s);
}

/* Four rows in place of 60. */
TEST(the_cost_of_normal_rows)
{
    prepared s;
    prepare(&normal_groups, true, &s);
    check_bracket("looks", cells_per_slope(&s), 1.64);
    prepared_close(&s);
}

CHECK_MAIN
