/* Properties of every prior of the registry: derivatives agree with differences, the density
 * integrates to one, and its parameters are checked. */
#include "check.h"
#include "model/prior/prior.h"

/* Numbers valid for every kind: positive, unequal, of order one. */
static prior example(const prior_kind *kind, double stretch)
{
    prior p = {.kind = kind, .theta = {0.7 * stretch, 1.3 * stretch, 2.1 * stretch}};
    return p;
}

static const coordinate_scale scales[] = {SCALE_PLAIN, SCALE_LOG, SCALE_TANH, SCALE_LOGIT};

static bool has(const prior_kind *kind, coordinate_scale scale, double w)
{
    if (kind->correlation)
        return scale == SCALE_TANH || (scale == SCALE_PLAIN && fabs(w) < 1.0);
    return scale != SCALE_TANH && (!kind->positive || scale != SCALE_PLAIN || w > 0.0);
}

/* Calls `property` at points of the support, away from a kink. */
static void at_points(void (*property)(const prior *p, coordinate_scale scale, double w))
{
    static const double points[] = {-2.9, -1.7, -0.4, 0.03, 0.31, 1.1, 2.3};
    for (size_t k = 0; prior_kinds[k]; k++) {
        prior p = example(prior_kinds[k], 1.0);
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
            for (size_t i = 0; i < sizeof points / sizeof *points; i++)
                if (has(p.kind, scales[s], points[i])) property(&p, scales[s], points[i]);
    }
}

static void slope_property(const prior *p, coordinate_scale scale, double w)
{
    double h = 1e-5;
    double difference =
        (prior_logpdf(p, scale, w + h) - prior_logpdf(p, scale, w - h)) / (2.0 * h);
    CHECK_NEAR(prior_slope(p, scale, w), difference, TOL_DIFF);
}

TEST(slope_is_the_finite_difference_of_logpdf)
{
    at_points(slope_property);
}

static void curvature_property(const prior *p, coordinate_scale scale, double w)
{
    double h = 1e-5;
    double difference =
        (prior_slope(p, scale, w + h) - prior_slope(p, scale, w - h)) / (2.0 * h);
    CHECK_NEAR(prior_curvature(p, scale, w), difference, TOL_DIFF);
}

TEST(curvature_is_the_finite_difference_of_slope)
{
    at_points(curvature_property);
}

static void quadratic_property(const prior *p, coordinate_scale scale, double w)
{
    if (!p->kind->quadratic || scale != SCALE_PLAIN) return;
    CHECK_NEAR(prior_curvature(p, scale, w), prior_curvature(p, scale, w + 1.0), TOL_ROUND);
}

TEST(quadratic_priors_have_one_curvature)
{
    at_points(quadratic_property);
}

static void units_property(const prior *p, coordinate_scale scale, double w)
{
    const double unit = 3.7;
    prior other = prior_in_units(p, unit);
    if (scale != SCALE_PLAIN || p->kind->correlation) return;
    CHECK_NEAR(p->kind->slope(other.theta, unit * w) * unit, p->kind->slope(p->theta, w),
               TOL_SUM);
    CHECK(p->kind->valid(other.theta));
}

TEST(a_prior_in_other_units_is_the_same_distribution)
{
    at_points(units_property);
}

/* Trapezoids after x = sinh(pi/2 sinh t) or exp(pi/2 sinh t): heavy tails become light ones. */
static double integral(const prior *p, coordinate_scale scale)
{
    bool half_line = scale == SCALE_PLAIN && p->kind->positive;
    double h = 1e-4, total = 0.0;
    for (double t = -6.0; t <= 6.0; t += h) {
        double s = 0.5 * M_PI * sinh(t), ds = 0.5 * M_PI * cosh(t);
        double x = half_line ? exp(s) : sinh(s), dx = half_line ? exp(s) : cosh(s);
        if (x == 0.0 && half_line) continue;
        double term = exp(prior_logpdf(p, scale, x) + log(dx)) * ds;
        if (isfinite(term)) total += term * h;
    }
    return total;
}

TEST(a_prior_integrates_to_one)
{
    for (size_t k = 0; prior_kinds[k]; k++)
        for (double stretch = 0.5; stretch < 5.0; stretch *= 3.0) {
            prior p = example(prior_kinds[k], stretch);
            if (p.kind->numbers == 0) continue;
            if (p.kind->correlation) /* no double is nearer to 1 than PRIOR_REST */
                CHECK_NEAR(integral(&p, SCALE_TANH), 1.0, 1e-5);
            else
                CHECK_NEAR(integral(&p, SCALE_PLAIN), 1.0, TOL_DIFF);
            if (p.kind->positive) CHECK_NEAR(integral(&p, SCALE_LOG), 1.0, TOL_DIFF);
        }
}

TEST(the_slope_jumps_at_a_kink_and_nowhere_else)
{
    for (size_t k = 0; prior_kinds[k]; k++) {
        prior p = example(prior_kinds[k], 1.0);
        for (size_t i = 0; i < PRIOR_MAX_NUMBERS; i++) {
            double x = p.theta[i], h = 1e-9;
            if (!has(p.kind, SCALE_PLAIN, x)) continue;
            double jump =
                fabs(prior_slope(&p, SCALE_PLAIN, x - h) - prior_slope(&p, SCALE_PLAIN, x + h));
            bool kink = p.kind->kink && p.kind->kink(p.theta) == x;
            CHECK(kink ? jump > 0.1 : jump < TOL_DIFF);
        }
    }
}

TEST(parameters_without_a_density_are_invalid)
{
    for (size_t k = 0; prior_kinds[k]; k++) {
        prior p = example(prior_kinds[k], 1.0);
        CHECK(p.kind->valid(p.theta));
        for (size_t i = 0; i < p.kind->numbers; i++) {
            double kept = p.theta[i];
            p.theta[i] = NAN;
            CHECK(!p.kind->valid(p.theta));
            p.theta[i] = INFINITY;
            CHECK(!p.kind->valid(p.theta));
            p.theta[i] = kept;
        }
        if (p.kind->numbers == 0) continue;
        p.theta[p.kind->numbers - 1] = -1.0; /* the last parameter is a scale or a rate */
        CHECK(!p.kind->valid(p.theta));
    }
}

TEST(every_kind_prints_its_name_and_parameters)
{
    for (size_t k = 0; prior_kinds[k]; k++) {
        CHECK(prior_kinds[k]->name && *prior_kinds[k]->name);
        CHECK(prior_kinds[k]->summary && *prior_kinds[k]->summary);
        CHECK(prior_kinds[k]->numbers <= PRIOR_MAX_NUMBERS);
    }
}

CHECK_MAIN
