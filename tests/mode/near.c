/* A reference point near the mode: found in about three passes through the rows, including
 * evaluations of subsets, for every predictor model and for softmax; as near as documented;
 * with the control variate that was computed there. */
#include "linalg/cholesky.h"
#include "minibatch/fixture.h"
#include "posterior/full/row_cache.h"
#include "posterior/mode/mode.h"
#include "table/row_sums.h"

#define ROWS     ((size_t)10000)
#define COLUMNS  ((size_t)15)
#define SHUFFLES 4
#define NEAR     0.1 /* of the decrement, a parameter */

/* g' H^-1 g, computed again. */
static double decrement_at(const posterior *u, const double *w)
{
    size_t d = u->dim;
    double g[2 * DIM_MAX], step[2 * DIM_MAX], *h = new_doubles(d * d), total = INFINITY;
    CHECK(d <= 2 * DIM_MAX);
    posterior_gradient(u, w, NULL, g, NULL);
    posterior_hessian(u, w, h, NULL);
    memcpy(step, g, d * sizeof *g);
    if (cholesky(d, h)) {
        cholesky_solve(d, h, step);
        total = dot(d, g, step);
    }
    free(h);
    return total;
}

/* Returns the passes over the rows. Checks that the point is near the mode and the row cache
 * complete. */
static double passes_of(const posterior *u)
{
    mode *m = NULL;
    row_cache *g = NULL;
    struct row_workers *row_threads = u->data->workers;
    atomic_store(&row_threads->visited, 0);
    CHECK(row_cache_open(u, NULL, &g, NULL) == SBPS_OK);
    CHECK(mode_near(u, NULL, g, false, &m, NULL) == SBPS_OK);
    double passes = (double)atomic_load(&row_threads->visited) / (double)u->data->local_rows;
    CHECK(m && decrement_at(u, m->w) <= NEAR * (double)u->dim);
    CHECK(m && g->complete && !memcmp(m->w, g->control->w, u->dim * sizeof *m->w));
    row_cache_close(g);
    mode_destroy(m);
    return passes;
}

static void check_passes(const model_kind *model, uint64_t shuffle, double limit)
{
    struct row_workers row_threads = {.threads = 1};
    table t = table_make(model, (table_spec){.n = ROWS,
                                             .columns = COLUMNS,
                                             .weights = "normal(0,2.5)",
                                             .sigma = "exponential(1)",
                                             .weighted = shuffle % 2,
                                             .shuffle = shuffle});
    REQUIRE(t.u);
    t.data->workers = &row_threads;
    double passes = passes_of(t.u);
    printf("%s: %.2f passes\n", model->name, passes);
    CHECK(passes <= limit);
    table_close(&t);
}

/* Where means are e^eta, and with auxiliaries other than a scale, the search is longer: some
 * 20 evaluations of the first subset, and up to three more of all rows. */
static double passes_allowed(const model_kind *model)
{
    bool usual = model->support == SUPPORT_BINARY || !strcmp(model->name, "linear");
    return usual ? 3.1 : 8.0;
}

TEST(about_three_passes_are_enough)
{
    for (size_t k = 0; regression_model(k); k++)
        for (uint64_t shuffle = 1; shuffle <= SHUFFLES; shuffle++)
            check_passes(regression_model(k), shuffle, passes_allowed(regression_model(k)));
}

/* With weights up to 5 most rows have class probabilities near 0 or 1, so that steps are long.
 * */
static rows *separated_classes(size_t n, size_t columns, uint64_t shuffle)
{
    const model_kind *model = model_find("logistic");
    rng r = rng_stream(23, 0, RNG_TEST);
    rows *data = NULL;
    rows_spec spec = {.target = "y", .intercept = true, .seed = shuffle};
    double *x = calloc(n, (columns + 1) * sizeof *x), *y = x + n * columns, w[DIM_MAX] = {0};
    for (size_t j = 0; j < columns; j++) w[j] = 10.0 * rng_uniform(&r) - 5.0;
    for (size_t i = 0; i < n; i++)
        model_simulate(model, &r, columns, w, x + i * columns, y + i);
    rows_copy(n, columns, x, NULL, y, NULL, NULL, &spec, &data, NULL);
    free(x);
    return data;
}

static double passes_of_separated_classes(uint64_t shuffle)
{
    struct row_workers row_threads = {.threads = 1};
    rows *data = separated_classes(ROWS, 20, shuffle);
    posterior *u = NULL;
    prior priors[DIM_MAX];
    for (size_t j = 0; j < DIM_MAX; j++) prior_parse("normal(0,2.5)", &priors[j], NULL);
    CHECK(posterior_create(data, model_find("logistic"), priors, &u, NULL) == SBPS_OK);
    data->workers = &row_threads;
    double passes = passes_of(u);
    posterior_destroy(u);
    rows_destroy(data);
    return passes;
}

/* Without the correction of a step, another step would be needed. */
TEST(long_steps_are_corrected)
{
    size_t more = 0;
    for (uint64_t shuffle = 1; shuffle <= 2 * SHUFFLES; shuffle++) {
        double passes = passes_of_separated_classes(shuffle);
        printf("sure classes: %.2f passes\n", passes);
        more += passes > 3.0;
    }
    CHECK(more <= SHUFFLES / 2);
}

/* Three classes by the largest of three predictors and a Gumbel each. */
static rows *three_classes(size_t n, size_t columns)
{
    rng r = rng_stream(17, 0, RNG_TEST);
    rows *data = NULL;
    rows_spec spec = {.target = "y", .intercept = true, .seed = 1};
    double *x = calloc(n, (columns + 1) * sizeof *x), *y = x + n * columns;
    for (size_t i = 0; i < n; i++) {
        double best = -INFINITY;
        for (size_t j = 0; j < columns; j++) x[i * columns + j] = rng_normal(&r);
        for (size_t k = 0; k < 3; k++) {
            double eta = -log(-log(rng_uniform(&r)));
            for (size_t j = k; j < columns; j += 3) eta += x[i * columns + j];
            if (eta > best) y[i] = (double)k;
            best = fmax(best, eta);
        }
    }
    rows_copy(n, columns, x, NULL, y, NULL, NULL, &spec, &data, NULL);
    free(x);
    return data;
}

TEST(softmax_takes_no_more_passes)
{
    struct row_workers row_threads = {.threads = 1};
    rows *data = three_classes(ROWS, 5);
    posterior *u = NULL;
    prior priors[18];
    REQUIRE(data && posterior_open(data, model_find("softmax"), NULL, &u, NULL) == SBPS_OK);
    REQUIRE(u->dim == 18);
    data->workers = &row_threads;
    for (size_t j = 0; j < u->dim; j++) prior_parse("normal(0,2.5)", &priors[j], NULL);
    CHECK(posterior_set_priors(u, priors, NULL) == SBPS_OK);
    double passes = passes_of(u);
    printf("softmax: %.2f passes\n", passes);
    CHECK(passes <= 3.1);
    posterior_destroy(u);
    rows_destroy(data);
}

CHECK_MAIN
