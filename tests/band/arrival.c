/* The first arrival under the chords of a band: chords lie over it, and the mass of the
 * chord rate up to the arrival is the exponential drawn. */
#include "check.h"
#include "core/rng.h"
#include "sampler/band/slope_regression.h"

/* A band over a random segment; `down` starts it below zero. */
static band random_band(rng *r, double floor, bool down)
{
    regression sums;
    regression_clear(&sums);
    size_t points = 1 + rng_below(r, 6);
    double b0 = down ? -5.0 - 5.0 * rng_uniform(r) : 2.0 * rng_normal(r),
           b1 = 2.0 * rng_normal(r);
    for (size_t i = 0; i < points; i++) {
        double t = i ? 2.0 * rng_uniform(r) : 0.0;
        regression_add(&sums, t, b0 + b1 * t + 0.3 * rng_normal(r), 1.0);
    }
    slope_prior prior = {.mean = 1.0, .variance = 1.0};
    double unit = 0.01 + 0.2 * rng_uniform(r);
    return (band){.fit = regression_solve(&sums, prior, unit, unit),
                  .k = 1.0 + 4.0 * rng_uniform(r),
                  .floor = floor};
}

static chord_grid random_grid(rng *r, double growth)
{
    double start = 3.0 * rng_uniform(r);
    return (chord_grid){.start = start,
                        .step = 0.05 + 0.5 * rng_uniform(r),
                        .growth = growth,
                        .limit = start + 0.5 + 6.0 * rng_uniform(r)};
}

/* The nodes of the chord that holds t, by walking the grid. */
static void chord_of(const chord_grid *g, double t, double *left, double *right)
{
    double step = g->step;
    *left = g->start;
    *right = fmin(g->start + step, g->limit);
    while (t > *right && *right < g->limit) {
        step *= g->growth;
        *left = *right;
        *right = fmin(*left + step, g->limit);
    }
}

static double chord_rate(const band *b, const chord_grid *g, double t)
{
    double left, right;
    chord_of(g, t, &left, &right);
    double fraction = (t - left) / (right - left);
    return (1.0 - fraction) * band_at(b, left) + fraction * band_at(b, right);
}

/* Integral of the positive part from the start to t: midpoints on a fine grid within chords. */
static double mass_to(const band *b, const chord_grid *g, double t)
{
    const size_t pieces = 2000;
    double mass = 0.0, left = g->start, step = g->step;
    while (left < t) {
        double end = fmin(fmin(left + step, g->limit), t), h = (end - left) / (double)pieces;
        for (size_t i = 0; i < pieces; i++)
            mass += h * fmax(chord_rate(b, g, left + h * ((double)i + 0.5)), 0.0);
        left = end;
        step *= g->growth;
    }
    return mass;
}

static const double floors[] = {0.0, 0.3}, growths[] = {1.0, 2.0};

/* Runs `property` for many bands: floor or none, fixed or growing grid, below zero at first
 * or not. */
static void for_each_band(void (*property)(const band *b, const chord_grid *g,
                                           double exponential),
                          size_t repeats)
{
    rng r = rng_stream(6, 0, RNG_TEST);
    for (size_t i = 0; i < repeats; i++)
        for (size_t c = 0; c < 8; c++) {
            band b = random_band(&r, floors[c & 1], c & 4);
            chord_grid g = random_grid(&r, growths[c >> 1 & 1]);
            property(&b, &g, rng_exponential(&r));
        }
}

TEST(without_a_floor_the_band_is_mean_plus_k_sd)
{
    rng r = rng_stream(5, 0, RNG_TEST);
    for (size_t i = 0; i < 200; i++) {
        band b = random_band(&r, 0.0, i % 2), floored = b;
        floored.floor = 0.5;
        for (double t = 0.0; t < 4.0; t += 0.5) {
            double gamma = fit_mean(&b.fit, t) + b.k * fit_sd(&b.fit, t);
            CHECK(band_at(&b, t) == gamma);
            CHECK(band_at(&floored, t) == fmax(gamma, 0.5));
        }
    }
}

static size_t arrivals;

static void bound_property(const band *b, const chord_grid *g, double exponential)
{
    arrival a = band_arrival(b, g, exponential);
    if (!a.arrived) return;
    arrivals++;
    CHECK(a.rate >= band_at(b, a.time) - 1e-12);
    CHECK(a.time >= g->start && a.time <= g->limit);
    for (double s = 0.05; s < 1.0; s += 0.1) { /* and everywhere else on the grid */
        double t = g->start + s * (g->limit - g->start);
        CHECK(chord_rate(b, g, t) >= band_at(b, t) - 1e-12);
    }
}

TEST(chords_lie_over_the_band)
{
    arrivals = 0;
    for_each_band(bound_property, 1000);
    CHECK(arrivals > 2000);
}

static void rate_property(const band *b, const chord_grid *g, double exponential)
{
    arrival a = band_arrival(b, g, exponential);
    if (!a.arrived) return;
    CHECK_NEAR(a.rate, chord_rate(b, g, a.time), 1e-9);
    CHECK(a.rate > 0.0);
}

TEST(the_rate_returned_is_that_of_the_chord_at_the_arrival)
{
    for_each_band(rate_property, 500);
}

static size_t missed;

static void mass_property(const band *b, const chord_grid *g, double exponential)
{
    arrival a = band_arrival(b, g, exponential);
    double mass = mass_to(b, g, a.time);
    if (a.arrived) {
        CHECK_NEAR(mass, exponential, 1e-5);
    } else {
        CHECK(a.time == g->limit);
        CHECK(mass < exponential);
        missed++;
    }
}

TEST(the_mass_up_to_the_arrival_is_the_exponential)
{
    missed = 0;
    for_each_band(mass_property, 60);
    CHECK(missed > 20);
}

/* A rate that starts below zero and one that falls below it, as chords cross zero both ways. */
TEST(negative_stretches_have_no_mass)
{
    band rising = {.fit = {.b0 = -2.0, .b1 = 1.0}}, falling = {.fit = {.b0 = 2.0, .b1 = -1.0}};
    chord_grid g = {.start = 0.0, .step = 0.7, .growth = 1.0, .limit = 10.0};
    for (double e = 0.1; e < 1.9; e += 0.1) {
        arrival a = band_arrival(&rising, &g, e);
        CHECK(a.arrived);
        CHECK_NEAR(a.time, 2.0 + sqrt(2.0 * e), 1e-12); /* (t - 2)^2 / 2 = e */
        CHECK_NEAR(a.rate, sqrt(2.0 * e), 1e-12);
        a = band_arrival(&falling, &g, e);
        CHECK(a.arrived);
        CHECK_NEAR(a.time, 2.0 - sqrt(4.0 - 2.0 * e), 1e-12);
    }
    CHECK(!band_arrival(&falling, &g, 2.0001).arrived);
    CHECK(band_arrival(&falling, &g, 2.0001).time == 10.0);
    CHECK(!band_arrival(&falling, &g, 1e300).arrived);
}

TEST(an_empty_grid_has_no_arrival)
{
    band b = {.fit = {.b0 = 1e6}};
    chord_grid g = {.start = 1.0, .step = 0.1, .growth = 2.0, .limit = 1.0};
    arrival a = band_arrival(&b, &g, 1e-9);
    CHECK(!a.arrived && a.time == 1.0);
}

/* Proposals kept with probability band/chord are arrivals of the band itself: the mass of its
 * positive part up to them is exponential with mean 1. */
TEST(thinned_arrivals_have_the_distribution_of_the_band)
{
    const size_t samples = 4000;
    band b = {.fit = {.b0 = -1.0, .b1 = 0.5, .v00 = 0.1, .v11 = 0.5, .noise = 0.2}, .k = 2.0};
    rng r = rng_stream(7, 0, RNG_TEST);
    for (size_t c = 0; c < 2; c++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < samples; i++) {
            chord_grid g = {.start = 0.0, .step = 0.5, .growth = growths[c], .limit = 50.0};
            arrival a;
            do { /* the clock restarts at each refused proposal */
                a = band_arrival(&b, &g, rng_exponential(&r));
                g.start = a.time;
            } while (rng_uniform(&r) * a.rate > band_at(&b, a.time));
            double mass = 0.0, h = a.time / 400.0; /* of the band's positive part */
            for (size_t k = 0; k < 400; k++)
                mass += h * fmax(band_at(&b, h * ((double)k + 0.5)), 0.0);
            sum += mass;
            squares += mass * mass;
        }
        double n = (double)samples;
        CHECK_Z(sum / n, 1.0, 1.0 / sqrt(n), MAX_Z);
        CHECK_Z(squares / n, 2.0, sqrt(20.0 / n), MAX_Z); /* Var of E^2 is 24 - 4 */
    }
}

/* Against the C library's tail, lambda on the band, above it, and over a Gaussian process. */
TEST(the_chance_of_a_violation_is_the_normal_tail)
{
    static process gp;
    process_clear(&gp);
    for (size_t i = 0; i < 6; i++) process_add(&gp, 0.3 * (double)i, sin((double)i));
    process_fit(&gp, (slope_prior){.mean = 1.0, .variance = 2.0}, (process_scale){1.0, 0.5},
                0.3);
    band line = {.fit = {.b0 = -1.0, .b1 = 0.5, .v00 = 0.1, .v11 = 0.5, .noise = 0.2}};
    band curve = {.curve = &gp};
    for (double z = 1.0; z < 9.0; z += 0.25)
        for (double t = 0.0; t < 4.0; t += 0.5) {
            double tail = 0.5 * erfc(z * M_SQRT1_2);
            arrival a = {.time = t, .rate = band_mean(&line, t) + z * band_sd(&line, t)};
            CHECK_NEAR(band_violation(&line, &a) / tail, 1.01, 0.01);
            a.rate = band_mean(&curve, t) + z * band_sd(&curve, t);
            CHECK_NEAR(band_violation(&curve, &a) / tail, 1.01, 0.01);
        }
}

CHECK_MAIN
