/* Pairs of points: third derivatives and their bounds, what is known without rows and what
 * rows add, and that the ratio from a few rows has the mean given by all rows. */
#include "sampler/core/sampler_kinds.h"
#include "sampler/fixture.h"

/* ---- third derivatives ---- */

static double curvature_at(const predictor *model, double eta)
{
    double ee, y = 1.0;
    const batch b = {.k = kernels_best(), .n = 1, .eta = &eta, .y = &y};
    model->curvature(&b, &ee, NULL, NULL);
    return ee;
}

static void check_third(const predictor *model)
{
    for (double eta = -6.0; eta <= 6.0; eta += 0.173) {
        double h = 1e-4;
        double change = curvature_at(model, eta + h) - curvature_at(model, eta - h);
        CHECK_NEAR(model->third(eta), 0.5 * change / h, 1e-5 * (1.0 + exp(eta)));
        for (double reach = 0.01; reach < 10.0; reach *= 1.7) {
            double bound = model->third_bound(eta, reach), largest = 0.0;
            for (int i = -200; i <= 200; i++)
                largest = fmax(largest, fabs(model->third(eta + reach * i / 200.0)));
            CHECK(largest <= bound * (1.0 + TOL_ROUND));
            CHECK(largest >= 0.99 * bound);
        }
    }
}

TEST(third_derivatives_keep_their_bounds)
{
    size_t found = 0;
    for (size_t k = 0; regression_model(k); k++) {
        const predictor *model = regression_model(k)->predictor;
        CHECK(!model->third == !model->third_bound);
        if (!model->third) continue;
        check_third(model);
        found++;
    }
    CHECK(found == 3); /* logistic, binomial, poisson */
    const predictor *logistic = model_find("logistic")->predictor;
    CHECK_NEAR(logistic->third_bound(3.0, INFINITY), 1.0 / (6.0 * sqrt(3.0)), TOL_ROUND);
}

/* ---- pairs ---- */

typedef struct {
    problem p;
    test_chain f;
    double z[2][DIM_MAX], w[2][DIM_MAX];
    point_pair pair;
} pair_case;

/* Weighted rows with offsets: so many that few of them are drawn. */
static bool pair_case_make(pair_case *d, const model_kind *model,
                           const metric_kind *metric_used, const char *prior_text)
{
    *d = (pair_case){0};
    table_spec spec = {.n = 2000,
                       .columns = 3,
                       .weights = prior_text,
                       .sigma = "exponential(1)",
                       .weighted = true};
    d->p.t = table_make(model, spec);
    d->p.made = (recipe){&sampler_surrogate, metric_used, &batch_window, model, 1};
    if (!d->p.t.u || mode_find(d->p.t.u, NULL, &d->p.m, NULL) != SBPS_OK) return false;
    metric_create(metric_used, d->p.t.u->dim, d->p.m->hessian, &d->p.a, NULL);
    problem_bound_pairs(&d->p);
    if (!d->p.bounds) return false;
    test_chain_make(&d->f, &d->p, &ours, 1);
    return d->f.memory.base;
}

static void pair_case_close(pair_case *d)
{
    free(d->f.memory.base);
    problem_close(&d->p);
}

/* Two points, `far` posterior sds from the reference or so. */
static void draw_points(pair_case *d, rng *random, double far)
{
    size_t dim = d->p.t.u->dim;
    double scale = far / natural_scale(&d->p);
    for (int k = 0; k < 2; k++) {
        for (size_t j = 0; j < dim; j++) d->z[k][j] = scale * rng_normal(random);
        d->p.a->kind->forward(d->p.a, d->z[k], d->w[k]);
        for (size_t j = 0; j < dim; j++) d->w[k][j] += d->p.m->w[j];
    }
    d->pair = (point_pair){.from = d->w[0],
                           .to = d->w[1],
                           .from_square = dot(dim, d->z[0], d->z[0]),
                           .to_square = dot(dim, d->z[1], d->z[1]),
                           .product = dot(dim, d->z[0], d->z[1])};
}

/* -(R' - R) */
static double compare_all_rows(pair_case *d, rng *random)
{
    const row_bounds *kept = d->f.u.bounds;
    d->f.u.bounds = NULL;
    pair_ratio all = bounds_compare(&d->f.u.is, &d->pair, random);
    d->f.u.bounds = kept;
    CHECK(all.rows == d->p.t.data->local_rows && all.over == 0);
    return all.log_ratio;
}

/* With and without a reference: without, all of the likelihood is beyond. */
static void adds_up(const model_kind *model, const char *prior_text)
{
    pair_case d;
    rng r = rng_stream(41, 0, RNG_TEST);
    REQUIRE(pair_case_make(&d, model, metric_find("dense"), prior_text));
    for (int k = 0; k < 20; k++) {
        double u[2], t[2];
        minibatch_equip(&d.f.u, k % 2 ? NULL : d.p.cv, 0.0);
        draw_points(&d, &r, 2.0);
        for (int i = 0; i < 2; i++) {
            posterior_value(d.p.t.u, d.w[i], &u[i], NULL);
            t[i] = bounds_taylor(&d.f.u.is, d.w[i]);
        }
        CHECK_NEAR(t[1] - t[0] - compare_all_rows(&d, &r), u[1] - u[0], 1e-8);
    }
    pair_case_close(&d);
}

TEST(what_is_known_and_what_rows_add_make_the_potential)
{
    static const char *const priors[] = {"flat", "normal(1,0.5)", "laplace(0,1)",
                                         "cauchy(0,2)"};
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++) {
        adds_up(model_find("logistic"), priors[i]);
        adds_up(model_find("poisson"), priors[i]);
    }
}

#define TRIES 4000

/* E r(s) = exp(-(R' - R)), by (2) of row_bounds.c. A wrong sign, a factor that is missing
 * from bound or ratio, rows drawn by other shares than are divided by: each moves that mean.
 * Returns z. */
static double mean_ratio(pair_case *d, rng *r, double *rows_visited)
{
    tally ratio = {.about = exp(compare_all_rows(d, r))};
    for (int i = 0; i < TRIES; i++) {
        pair_ratio one = bounds_compare(&d->f.u.is, &d->pair, r);
        CHECK(one.over == 0);
        tally_add(&ratio, exp(one.log_ratio));
        *rows_visited += (double)one.rows / TRIES;
    }
    double error = tally_error(&ratio); /* zero where all rows are evaluated */
    return (tally_mean(&ratio) - ratio.about) / fmax(error, TOL_SUM);
}

static void ratios(const model_kind *model, const metric_kind *metric_used, double far)
{
    pair_case d;
    rng r = rng_stream(42, 0, RNG_TEST);
    double worst = 0.0, squares = 0.0, rows_visited = 0.0, size = 0.0;
    REQUIRE(pair_case_make(&d, model, metric_used, "normal(0,2)"));
    for (int k = 0; k < 10; k++) {
        draw_points(&d, &r, far);
        size = fmax(size, fabs(compare_all_rows(&d, &r)));
        double z = mean_ratio(&d, &r, &rows_visited);
        worst = fmax(worst, fabs(z));
        squares += z * z;
    }
    printf("%-8s %-9s %.1f sds: worst z %.2f, sum of z^2 over 10 pairs %.1f, rows %.1f of %zu, "
           "ratios up to e^%.2f\n",
           model->name, metric_used->name, far, worst, squares, rows_visited / 10.0,
           d.p.t.data->local_rows, size);
    CHECK(worst <= MAX_Z);
    CHECK(rows_visited / 10.0 < 0.7 * (double)d.p.t.data->local_rows);
    pair_case_close(&d);
}

TEST(a_few_rows_give_the_ratio_of_all_on_average)
{
    static const char *const models[] = {"logistic", "poisson"};
    for (size_t i = 0; i < 2; i++) {
        ratios(model_find(models[i]), metric_find("dense"), 1.0);
        ratios(model_find(models[i]), metric_find("dense"), 2.0);
        ratios(model_find(models[i]), metric_find("diagonal"), 1.0);
    }
}

/* From near to far beyond every table's radius. */
TEST(no_row_passes_its_bound)
{
    static const double far[] = {0.01, 0.5, 1.0, 2.0, 4.0, 8.0};
    pair_case d;
    rng r = rng_stream(43, 0, RNG_TEST);
    REQUIRE(pair_case_make(&d, model_find("logistic"), metric_find("dense"), "normal(0,2)"));
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        for (int k = 0; k < 300; k++) {
            draw_points(&d, &r, far[i]);
            if (k % 3 == 0) /* a pair that is nearly one point */
                for (size_t j = 0; j < d.p.t.u->dim; j++) {
                    d.z[1][j] = d.z[0][j] * (1.0 + 1e-3 * k);
                    d.w[1][j] = d.p.m->w[j] + (d.w[0][j] - d.p.m->w[j]) * (1.0 + 1e-3 * k);
                    d.pair.to_square = dot(d.p.t.u->dim, d.z[1], d.z[1]);
                    d.pair.product = dot(d.p.t.u->dim, d.z[0], d.z[1]);
                }
            CHECK(bounds_compare(&d.f.u.is, &d.pair, &r).over == 0);
        }
    pair_case_close(&d);
}

CHECK_MAIN
