/* Properties of every model of the registry: derivatives agree with differences, probabilities
 * sum to one, and simulations agree with the likelihood. */
#include "check.h"
#include "linalg/dense_matrix.h"
#include "model/regressions.h"

#define N   37 /* no multiple of any vector length */
#define AUX 4  /* capacity for auxiliaries */

typedef struct {
    double eta[N], deta[N], y[N], aux[AUX], daux[AUX];
    batch b;
} sample;

static batch batch_of(const sample *s)
{
    return (batch){.k = kernels_best(),
                   .n = N,
                   .eta = s->eta,
                   .y = s->y,
                   .deta = s->deta,
                   .aux = s->aux,
                   .daux = s->daux,
                   .pitch = N};
}

static batch single(const double *eta, const double *y, const double *aux)
{
    return (batch){.k = kernels_best(), .n = 1, .eta = eta, .y = y, .aux = aux, .pitch = 1};
}

/* Targets come from the model itself, at a linear predictor of order `spread`. */
static void draw(const model_kind *model, double spread, sample *s)
{
    rng r = rng_stream(11, 0, RNG_TEST);
    REQUIRE(model->auxiliary_count <= AUX);
    for (size_t j = 0; j < model->auxiliary_count; j++) {
        s->aux[j] = -0.4 + 0.5 * (double)j;
        s->daux[j] = 0.7 - 0.9 * (double)j;
    }
    for (size_t i = 0; i < N; i++) {
        s->eta[i] = spread * rng_normal(&r);
        s->deta[i] = rng_normal(&r);
        s->y[i] = model->predictor->simulate ? model->predictor->simulate(&r, s->eta[i], s->aux)
                                             : (double)(i % 2);
    }
    s->b = batch_of(s);
}

/* The same rows at time t of the segment. */
static void at_time(const sample *s, double t, sample *out)
{
    *out = *s;
    for (size_t i = 0; i < N; i++) out->eta[i] = s->eta[i] + t * s->deta[i];
    for (size_t j = 0; j < AUX; j++) out->aux[j] = s->aux[j] + t * s->daux[j];
    out->b = batch_of(out);
}

static const double spreads[] = {0.5, 3.0};

#define FOR_EACH_SAMPLE(s)                                                                     \
    for (size_t kind = 0; regression_model(kind); kind++)                                      \
        for (size_t spread = 0; spread < 2; spread++)                                          \
            if (draw(regression_model(kind), spreads[spread], &(s)), true)

TEST(slope_is_the_finite_difference_of_loglik)
{
    sample s, ahead, behind;
    double slope[N], up[N], down[N], h = 1e-5;
    FOR_EACH_SAMPLE(s)
    {
        at_time(&s, h, &ahead);
        at_time(&s, -h, &behind);
        regression_model(kind)->predictor->slope(&s.b, slope);
        regression_model(kind)->predictor->loglik(&ahead.b, up);
        regression_model(kind)->predictor->loglik(&behind.b, down);
        for (size_t i = 0; i < N; i++)
            CHECK_NEAR(slope[i], (up[i] - down[i]) / (2.0 * h), TOL_DIFF);
    }
}

TEST(slope_is_the_gradient_along_the_segment)
{
    sample s;
    double slope[N], d_eta[N], d_aux[AUX * N], alone[N];
    FOR_EACH_SAMPLE(s)
    {
        regression_model(kind)->predictor->slope(&s.b, slope);
        regression_model(kind)->predictor->gradient(&s.b, d_eta, d_aux);
        regression_model(kind)->predictor->gradient(&s.b, alone, NULL);
        for (size_t i = 0; i < N; i++) {
            double expected = d_eta[i] * s.deta[i];
            for (size_t j = 0; j < regression_model(kind)->auxiliary_count; j++)
                expected += d_aux[j * N + i] * s.daux[j];
            CHECK_NEAR(slope[i], expected, TOL_ROUND);
            CHECK(alone[i] == d_eta[i]);
        }
    }
}

/* (ahead - behind) / 2h of the gradients by eta and by the auxiliaries; along: eta, or
 * auxiliary `which` - 1. */
static void difference(const model_kind *model, const sample *s, size_t which, double e[N],
                       double a[AUX * N])
{
    sample along = *s, side;
    double h = 1e-5, e_behind[N], a_behind[AUX * N] = {0};
    for (size_t i = 0; i < N; i++) along.deta[i] = which == 0;
    for (size_t j = 0; j < AUX; j++) along.daux[j] = j + 1 == which;
    at_time(&along, h, &side);
    model->predictor->gradient(&side.b, e, a);
    at_time(&along, -h, &side);
    model->predictor->gradient(&side.b, e_behind, a_behind);
    for (size_t i = 0; i < N; i++) e[i] = (e[i] - e_behind[i]) / (2.0 * h);
    for (size_t i = 0; i < AUX * N; i++) a[i] = (a[i] - a_behind[i]) / (2.0 * h);
}

/* Gradients at eta +- h and at aux +- h against the curvature. */
static void check_curvature(const model_kind *model, const sample *s)
{
    size_t count = model->auxiliary_count;
    double ee[N], ea[AUX * N], aa[AUX * AUX * N], alone[N], e[N], a[AUX * N] = {0};
    model->predictor->curvature(&s->b, ee, ea, aa);
    model->predictor->curvature(&s->b, alone, NULL, NULL);
    for (size_t which = 0; which <= count; which++) {
        difference(model, s, which, e, a);
        for (size_t i = 0; i < N; i++)
            CHECK_NEAR(e[i], which ? ea[(which - 1) * N + i] : ee[i], TOL_DIFF);
        for (size_t j = 0; j < count; j++)
            for (size_t i = 0; i < N; i++)
                CHECK_NEAR(a[j * N + i],
                           which ? aa[packed_index(j, which - 1) * N + i] : ea[j * N + i],
                           TOL_DIFF);
    }
    for (size_t i = 0; i < N; i++) CHECK(alone[i] == ee[i]);
}

TEST(curvature_is_the_finite_difference_of_gradient)
{
    sample s;
    FOR_EACH_SAMPLE(s) check_curvature(regression_model(kind), &s);
}

/* E of the score over the model's own draws is zero, and its variance is minus E of the second
 * derivative (Bartlett): so draws, likelihood and constants' derivatives belong together. */
static void check_scores(const model_kind *model, double eta, double each)
{
    enum { capacity = 2 + 2 * AUX };
    size_t count = model->auxiliary_count, seen_count = 2 + 2 * count;
    double aux[AUX] = {each, each, each, each};
    rng r = rng_stream(12, 0, RNG_TEST);
    enum { draws = 40000 };
    double sums[capacity] = {0}, squares[capacity] = {0};
    for (size_t i = 0; i < draws; i++) {
        double y = model->predictor->simulate(&r, eta, aux), e, ee;
        double a[AUX], ea[AUX], aa[AUX * AUX];
        batch b = single(&eta, &y, aux);
        model->predictor->gradient(&b, &e, a);
        model->predictor->curvature(&b, &ee, ea, aa);
        double seen[capacity] = {e, e * e + ee};
        for (size_t j = 0; j < count; j++) {
            seen[2 + 2 * j] = a[j];
            seen[3 + 2 * j] = a[j] * a[j] + aa[packed_index(j, j)];
        }
        for (size_t m = 0; m < seen_count; m++) {
            sums[m] += seen[m] / draws;
            squares[m] += seen[m] * seen[m] / draws;
        }
        CHECK(isfinite(sum(seen_count, seen)));
    }
    for (size_t m = 0; m < seen_count; m++)
        CHECK_Z(sums[m], 0.0, sqrt(squares[m] / draws), MAX_Z);
}

TEST(simulated_targets_have_mean_score_zero)
{
    const model_kind *model;
    for (size_t k = 0; (model = regression_model(k)); k++) {
        if (!model->predictor->simulate) continue;
        check_scores(model, 0.8, 0.3);
        check_scores(model, -2.0, -0.5);
        if (model->support == SUPPORT_COUNTS) check_scores(model, 3.5, 0.1);
    }
}

static double probability(const model_kind *model, double eta, double y)
{
    double out;
    const double aux[AUX] = {0.3, 2.5}; /* no tail beyond 40 */
    batch b = single(&eta, &y, aux);
    model->predictor->loglik(&b, &out);
    return exp(out);
}

/* 0 and 1 are the outcomes of one trial. */
static bool of_trials(const model_kind *model)
{
    return model->support == SUPPORT_BINARY || model->support == SUPPORT_PROPORTIONS;
}

/* Over all possible targets. */
static double whole(const model_kind *model)
{
    double total = 0.0, h = 1e-3;
    bool real = model->support == SUPPORT_REAL, positive = model->support == SUPPORT_POSITIVE;
    bool unit = model->support == SUPPORT_UNIT;
    for (double y = -40.0; real && y < 40.0; y += h) total += h * probability(model, 0.8, y);
    for (double s = -40.0; positive && s < 6.0; s += h) /* log y: a density may be steep at 0 */
        total += h * exp(s) * probability(model, 0.8, exp(s));
    for (double s = -40.0; unit && s < 36.0; s += h) { /* log odds, as long as y < 1 */
        double y = 1.0 / (1.0 + exp(-s));
        total += h * y * (1.0 - y) * probability(model, 0.8, y);
    }
    for (int y = 0; !real && !positive && !unit && y < (of_trials(model) ? 2 : 100); y++)
        total += probability(model, 0.8, y);
    return total;
}

/* "every constant included" */
TEST(loglik_is_a_normalised_density_of_the_target)
{
    for (size_t k = 0; regression_model(k); k++)
        CHECK_NEAR(whole(regression_model(k)), 1.0, TOL_DIFF);
}

TEST(logistic_is_finite_and_accurate_at_extreme_predictors)
{
    const model_kind *model = model_find("logistic");
    REQUIRE(model);
    double eta[] = {-2000.0, -800.0, -50.0, 50.0, 800.0, 2000.0}, out[6], g[6], c[6];
    double y[] = {1, 0, 0, 1, 0, 1};
    batch b = {.k = kernels_best(), .n = 6, .eta = eta, .y = y, .deta = eta};
    model->predictor->loglik(&b, out);
    model->predictor->gradient(&b, g, NULL);
    model->predictor->curvature(&b, c, NULL, NULL);
    CHECK(out[0] == -2000.0 && out[4] == -800.0 && out[1] == 0.0 && out[5] == 0.0);
    CHECK_NEAR(out[2] * exp(50.0), -1.0, TOL_SUM);
    CHECK_NEAR(c[2] * exp(50.0), -1.0, TOL_SUM);
    CHECK_NEAR(c[3] * exp(50.0), -1.0, TOL_SUM);
    CHECK(g[0] == 1.0 && g[4] == -1.0);
}

/* Descriptions of auxiliary parameters are complete, and a name has one meaning. */
TEST(descriptions_of_auxiliaries_are_complete_and_consistent)
{
    const model_auxiliary *listed[MODEL_AUXILIARIES_MAX];
    size_t count = model_auxiliary_list(listed);
    for (size_t k = 0; model_kinds[k]; k++)
        for (size_t i = 0; i < model_kinds[k]->auxiliary_count; i++) {
            const model_auxiliary *each = &model_kinds[k]->auxiliaries[i];
            char option[64];
            snprintf(option, sizeof option, "prior-%s", each->name);
            CHECK(!strcmp(each->option, option));
            CHECK(each->scale == SCALE_PLAIN || each->start > 0.0);
            CHECK(each->scale == SCALE_LOG || each->perfect_fit == 0.0);
            size_t at = 0;
            while (at < count && strcmp(listed[at]->name, each->name)) at++;
            REQUIRE(at < count);
            CHECK(!strcmp(listed[at]->help, each->help));
        }
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
    rows r = {.local_rows = n, .y = y, .table.target = "outcome"};
    return model_find(name)->predictor->check(&r, err);
}

TEST(impossible_targets_are_refused_by_value)
{
    sbps_error err = {0};
    CHECK(check_targets("logistic", 3, (double[]){0, 1, 1}, &err) == SBPS_OK);
    CHECK(check_targets("logistic", 3, (double[]){0, 1, 3}, &err) == SBPS_BAD_DATA);
    CHECK(strcmp(err.text, "target 'outcome' holds 3; logistic needs 0 or 1") == 0);
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
    CHECK(strcmp(err.text, "target 'outcome' holds 1.5; poisson needs counts: 0, 1, 2, ...") ==
          0);
    CHECK(check_targets("poisson", 3, (double[]){0, -1, 2}, &err) == SBPS_BAD_DATA);
    CHECK(check_targets("poisson", 3, (double[]){0, INFINITY, 2}, &err) == SBPS_BAD_DATA);
}

CHECK_MAIN
