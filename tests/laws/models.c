/* What every model owes: derivatives that are derivatives, probabilities that sum to one, and
 * simulations that agree with its likelihood. Walks the registry. */
#include "check.h"
#include "model/model.h"

#define N 37 /* no multiple of any vector length */

typedef struct {
    double eta[N], deta[N], y[N], aux, daux;
    batch b;
} sample;

/* Targets come from the model itself, at a linear predictor of order `spread`. */
static void draw(const model_kind *model, double spread, sample *s)
{
    rng r = rng_stream(11, 0, RNG_TEST);
    s->aux = model->auxiliary ? -0.4 : 0.0;
    s->daux = model->auxiliary ? 0.7 : 0.0;
    for (size_t i = 0; i < N; i++) {
        s->eta[i] = spread * rng_normal(&r);
        s->deta[i] = rng_normal(&r);
        s->y[i] = model->predictor->simulate ? model->predictor->simulate(&r, s->eta[i], s->aux)
                                             : (double)(i % 2);
    }
    s->b = (batch){kernels_best(), N, s->eta, s->y, s->deta, s->aux, s->daux};
}

/* The same rows at time t of the flight. */
static void at_time(const sample *s, double t, sample *out)
{
    *out = *s;
    for (size_t i = 0; i < N; i++) out->eta[i] = s->eta[i] + t * s->deta[i];
    out->aux = s->aux + t * s->daux;
    out->b = (batch){s->b.k, N, out->eta, out->y, out->deta, out->aux, out->daux};
}

static const double spreads[] = {0.5, 3.0};

#define FOR_EACH_SAMPLE(s)                                                                     \
    for (size_t kind = 0; model_kinds[kind]; kind++)                                           \
        for (size_t spread = 0; spread < 2; spread++)                                          \
            if (model_kinds[kind]->predictor &&                                                \
                (draw(model_kinds[kind], spreads[spread], &(s)), true))

TEST(slope_is_the_finite_difference_of_loglik)
{
    sample s, ahead, behind;
    double slope[N], up[N], down[N], h = 1e-5;
    FOR_EACH_SAMPLE(s)
    {
        at_time(&s, h, &ahead);
        at_time(&s, -h, &behind);
        model_kinds[kind]->predictor->slope(&s.b, slope);
        model_kinds[kind]->predictor->loglik(&ahead.b, up);
        model_kinds[kind]->predictor->loglik(&behind.b, down);
        for (size_t i = 0; i < N; i++)
            CHECK_NEAR(slope[i], (up[i] - down[i]) / (2.0 * h), TOL_DIFF);
    }
}

TEST(slope_is_the_gradient_along_the_flight)
{
    sample s;
    double slope[N], d_eta[N], d_aux[N], alone[N];
    FOR_EACH_SAMPLE(s)
    {
        model_kinds[kind]->predictor->slope(&s.b, slope);
        model_kinds[kind]->predictor->gradient(&s.b, d_eta, d_aux);
        model_kinds[kind]->predictor->gradient(&s.b, alone, NULL);
        for (size_t i = 0; i < N; i++) {
            CHECK_NEAR(slope[i], d_eta[i] * s.deta[i] + d_aux[i] * s.daux, TOL_ROUND);
            CHECK(alone[i] == d_eta[i]);
        }
    }
}

/* Gradients at eta +- h and at aux +- h against the curvature. */
static void check_curvature(const model_kind *model, const sample *s)
{
    double ee[N], ea[N], aa[N], alone[N], h = 1e-5;
    model->predictor->curvature(&s->b, ee, ea, aa);
    model->predictor->curvature(&s->b, alone, NULL, NULL);
    for (int direction = 0; direction < 2; direction++) {
        if (direction == 1 && !model->auxiliary) continue;
        sample along = *s, ahead, behind;
        double e[2][N], a[2][N];
        for (size_t i = 0; i < N; i++) along.deta[i] = direction == 0;
        along.daux = direction;
        at_time(&along, h, &ahead);
        at_time(&along, -h, &behind);
        model->predictor->gradient(&ahead.b, e[0], a[0]);
        model->predictor->gradient(&behind.b, e[1], a[1]);
        for (size_t i = 0; i < N; i++) {
            CHECK_NEAR((e[0][i] - e[1][i]) / (2.0 * h), direction ? ea[i] : ee[i], TOL_DIFF);
            CHECK_NEAR((a[0][i] - a[1][i]) / (2.0 * h), direction ? aa[i] : ea[i], TOL_DIFF);
        }
    }
    for (size_t i = 0; i < N; i++) CHECK(alone[i] == ee[i]);
}

TEST(curvature_is_the_finite_difference_of_gradient)
{
    sample s;
    FOR_EACH_SAMPLE(s) check_curvature(model_kinds[kind], &s);
}

/* E of the score over the model's own draws is zero, and its variance is minus E of the second
 * derivative (Bartlett): so draws, likelihood and constants' derivatives belong together. */
static void check_scores(const model_kind *model, double eta, double aux)
{
    rng r = rng_stream(12, 0, RNG_TEST);
    enum { draws = 40000 };
    double sums[4] = {0}, squares[4] = {0};
    for (size_t i = 0; i < draws; i++) {
        double y = model->predictor->simulate(&r, eta, aux), e, a, ee, ea, aa;
        batch b = {kernels_best(), 1, &eta, &y, NULL, aux, 0.0};
        model->predictor->gradient(&b, &e, &a);
        model->predictor->curvature(&b, &ee, &ea, &aa);
        const double seen[4] = {e, e * e + ee, a, a * a + aa};
        for (size_t m = 0; m < 4; m++) {
            sums[m] += seen[m] / draws;
            squares[m] += seen[m] * seen[m] / draws;
        }
        CHECK(isfinite(e) && isfinite(a));
    }
    for (size_t m = 0; m < (model->auxiliary ? 4 : 2); m++)
        CHECK_Z(sums[m], 0.0, sqrt(squares[m] / draws), MAX_Z);
}

TEST(simulated_targets_have_mean_score_zero)
{
    for (size_t k = 0; model_kinds[k]; k++) {
        if (!model_kinds[k]->predictor || !model_kinds[k]->predictor->simulate) continue;
        check_scores(model_kinds[k], 0.8, model_kinds[k]->auxiliary ? 0.3 : 0.0);
        check_scores(model_kinds[k], -2.0, model_kinds[k]->auxiliary ? -0.5 : 0.0);
        if (model_kinds[k]->support == SUPPORT_COUNTS) check_scores(model_kinds[k], 3.5, 0.0);
    }
}

static double probability(const model_kind *model, double eta, double aux, double y)
{
    double out;
    batch b = {kernels_best(), 1, &eta, &y, NULL, aux, 0.0};
    model->predictor->loglik(&b, &out);
    return exp(out);
}

/* Over all targets there are. */
static double whole(const model_kind *model)
{
    double total = 0.0, h = 1e-3, aux = model->auxiliary ? 0.3 : 0.0;
    bool real = model->support == SUPPORT_REAL,
         continuous = real || model->support == SUPPORT_POSITIVE;
    for (double y = real ? -40.0 : 0.5 * h; continuous && y < 40.0; y += h)
        total += h * probability(model, 0.8, aux, y);
    for (int y = 0; !continuous && y < (model->support == SUPPORT_BINARY ? 2 : 100); y++)
        total += probability(model, 0.8, aux, y);
    return total;
}

/* "every constant included" */
TEST(loglik_is_a_normalised_density_of_the_target)
{
    for (size_t k = 0; model_kinds[k]; k++) {
        const model_kind *model = model_kinds[k];
        if (model->predictor) CHECK_NEAR(whole(model), 1.0, TOL_DIFF);
    }
}

TEST(logistic_stays_finite_and_sharp_at_absurd_predictors)
{
    const model_kind *model = model_find("logistic");
    REQUIRE(model);
    double eta[] = {-2000.0, -800.0, -50.0, 50.0, 800.0, 2000.0}, out[6], g[6], c[6];
    double y[] = {1, 0, 0, 1, 0, 1};
    batch b = {kernels_best(), 6, eta, y, eta, 0.0, 0.0};
    model->predictor->loglik(&b, out);
    model->predictor->gradient(&b, g, NULL);
    model->predictor->curvature(&b, c, NULL, NULL);
    CHECK(out[0] == -2000.0 && out[4] == -800.0 && out[1] == 0.0 && out[5] == 0.0);
    CHECK_NEAR(out[2] * exp(50.0), -1.0, TOL_SUM);
    CHECK_NEAR(c[2] * exp(50.0), -1.0, TOL_SUM);
    CHECK_NEAR(c[3] * exp(50.0), -1.0, TOL_SUM);
    CHECK(g[0] == 1.0 && g[4] == -1.0);
}

TEST(find_knows_every_listed_name_and_no_other)
{
    for (size_t k = 0; model_kinds[k]; k++) {
        CHECK(model_find(model_kinds[k]->name) == model_kinds[k]);
        CHECK(model_kinds[k]->summary && *model_kinds[k]->summary);
    }
    CHECK(!model_find("no such model"));
    CHECK(!model_find(""));
}

static sbps_status check_targets(const char *name, size_t n, double *y, sbps_error *err)
{
    rows r = {.n = n, .y = y, .target = "outcome"};
    return model_find(name)->predictor->check(&r, err);
}

TEST(impossible_targets_are_refused_by_value)
{
    sbps_error err = {0};
    CHECK(check_targets("logistic", 3, (double[]){0, 1, 1}, &err) == SBPS_OK);
    CHECK(check_targets("logistic", 3, (double[]){0, 1, 3}, &err) == SBPS_BAD_DATA);
    CHECK(strcmp(err.text, "target 'outcome' holds 3; logistic wants 0 or 1") == 0);
    CHECK(check_targets("logistic", 3, (double[]){0, 1, NAN}, &err) == SBPS_BAD_DATA);
    CHECK(check_targets("logistic", 3, (double[]){1, 1, 1}, &err) == SBPS_BAD_DATA);
    CHECK(strstr(err.text, "only one class"));
    CHECK(check_targets("linear", 3, (double[]){1, 2, 3}, &err) == SBPS_OK);
    CHECK(check_targets("linear", 3, (double[]){2, 2, 2}, &err) == SBPS_BAD_DATA);
    CHECK(strstr(err.text, "is 2 in every row"));
    CHECK(check_targets("linear", 3, (double[]){1, 2, INFINITY}, &err) == SBPS_BAD_DATA);
    CHECK(check_targets("poisson", 3, (double[]){0, 0, 0}, &err) == SBPS_OK);
    CHECK(check_targets("poisson", 3, (double[]){0, 7, 1e6}, &err) == SBPS_OK);
    CHECK(check_targets("poisson", 3, (double[]){0, 1.5, 2}, &err) == SBPS_BAD_DATA);
    CHECK(strcmp(err.text, "target 'outcome' holds 1.5; poisson wants counts: 0, 1, 2, ...") ==
          0);
    CHECK(check_targets("poisson", 3, (double[]){0, -1, 2}, &err) == SBPS_BAD_DATA);
    CHECK(check_targets("poisson", 3, (double[]){0, INFINITY, 2}, &err) == SBPS_BAD_DATA);
}

CHECK_MAIN
