/* The linear response against processes whose shift is known. */
#include "estimate/suppressed.h"

#define NEAR 0.25 /* first order in e, and an expansion cut short */

/* |stated - truth| within NEAR of it and the noise of the run. */
static void check_near(const char *what, double stated, double truth, double noise)
{
    if (fabs(stated - truth) <= NEAR * fabs(truth) + MAX_Z * noise) return;
    printf("%s: stated %g, true %g\n", what, stated, truth);
    check_failures++;
}

static const target line = {.d = 1, .refresh = 0.3, .a = {{1}}, .h = {{1}}};

TEST(bounces_missed_on_one_side_shift_the_mean_as_stated)
{
    static const double cases[][2] = {{0.1, 0.0}, {0.0, 0.1}, {0.15, 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        target t = line;
        t.up = cases[i][0];
        t.down = cases[i][1];
        double right = 1.0 / sqrt(1.0 - t.up), left = 1.0 / sqrt(1.0 - t.down);
        double mean = sqrt(2.0 / M_PI) * (right - left);
        double square = (pow(right, 3.0) + pow(left, 3.0)) / (right + left);
        response r = respond(&t, 1e5, i);
        CHECK_Z(r.path->mean, mean, r.path->mcse, MAX_Z); /* the simulation is right */
        check_near("mean", r.mean[0], mean / sqrt(square - mean * mean), 0.0);
        check_near("sd", r.sd[0], sqrt(square - mean * mean) - 1.0, 0.002);
    }
}

TEST(bounces_missed_everywhere_widen_the_spread_and_leave_the_mean)
{
    for (size_t d = 1; d <= DIM_MAX; d++) {
        target t = {.d = d, .refresh = 0.5, .up = 0.1, .down = 0.1};
        for (size_t j = 0; j < d; j++) t.a[j][j] = t.h[j][j] = 1.0;
        response r = respond(&t, 1e5, 10 + d);
        for (size_t j = 0; j < d; j++) {
            double noise =
                0.1 / sqrt(r.path[j].ess_mean); /* of the push, a tenth of all bounces */
            CHECK_Z(r.path[j].sd, 1.0 / sqrt(0.9), 3.0 * r.path[j].mcse, MAX_Z);
            check_near("mean", r.mean[j], 0.0, 2.0 * noise);
            check_near("sd", r.sd[j], 1.0 / sqrt(0.9) - 1.0, noise);
        }
    }
}

/* A wider spread moves the mean of a skew distribution: x = log of a Gamma(shape) variable, for
 * which exp(-(1 - e) U) has the mean digamma((1 - e) shape) - log(1 - e). */
TEST(a_skew_distribution_shifts_its_mean_when_it_widens)
{
    const double e = 0.1, shape = 3.0;
    /* digamma by the asymptotic series at x + 8 */
    double x = (1.0 - e) * shape, mean = -log(1.0 - e);
    for (size_t i = 0; i < 8; i++) mean -= 1.0 / x++;
    mean += log(x) - 0.5 / x - 1.0 / (12 * x * x) + 1.0 / (120 * pow(x, 4));
    const double exact = 0.92278433509846714,
                 sd = sqrt(0.39493406684822644); /* digamma, trigamma(3) */
    target t = {.d = 1, .refresh = 0.3, .a = {{1}}, .shape = shape, .up = e, .down = e};
    response r = respond(&t, 2e5, 20);
    CHECK_Z(r.path->mean, mean, r.path->mcse, MAX_Z);
    check_near("skew", r.mean[0], (mean - exact) / sd, 0.1 / sqrt(r.path->ess_mean));
}

/* A correlated Gaussian and velocities that are not its own. */
static const target leaning = {
    .d = 2, .refresh = 0.5, .a = {{1.5, 0.0}, {-0.4, 0.6}}, .h = {{1.0, 0.5}, {0.5, 2.0}}};

TEST(covariance_and_metric_count_in_the_spread)
{
    target t = leaning;
    t.up = t.down = 0.1;
    response r = respond(&t, 2e5, 30);
    for (size_t j = 0; j < 2; j++) {
        double noise = 0.1 / sqrt(r.path[j].ess_mean);
        check_near("sd", r.sd[j], 1.0 / sqrt(0.9) - 1.0, noise);
        check_near("mean", r.mean[j], 0.0, 2.0 * noise);
    }
}

/* The truth is the simulation itself, whose mean would be 0. With frequent refreshments the
 * response is linear in the velocity, as the expansion has it. */
TEST(covariance_and_metric_count_in_the_mean)
{
    target t = leaning;
    t.up = 0.3;
    t.refresh = 4.0;
    response r = respond(&t, 4e5, 31);
    for (size_t j = 0; j < 2; j++) {
        double truth = r.path[j].mean / r.path[j].sd, noise = r.path[j].mcse / r.path[j].sd;
        if (j == 0) CHECK(truth > 10.0 * noise); /* else the test would be empty */
        check_near("mean", r.mean[j], truth, noise * 0.6);
    }
}

TEST(dimension_counts_in_the_mean)
{
    target t = {.d = 3, .refresh = 2.0, .up = 0.15};
    for (size_t j = 0; j < 3; j++) t.a[j][j] = t.h[j][j] = 1.0;
    response r = respond(&t, 2e6, 33);
    double truth = r.path->mean / r.path->sd, noise = r.path->mcse / r.path->sd;
    CHECK(truth > 10.0 * noise);
    check_near("mean", r.mean[0], truth, noise * 0.6);
}

TEST(the_centre_does_not_count)
{
    target t = leaning, moved;
    t.up = 0.2;
    moved = t;
    moved.centre[0] = 7.0;
    moved.centre[1] = -3.0;
    response a = respond(&t, 1e4, 34), b = respond(&moved, 1e4, 34);
    for (size_t j = 0; j < 2; j++) {
        CHECK_NEAR(a.mean[j], b.mean[j], 1e-9);
        CHECK_NEAR(a.sd[j], b.sd[j], 1e-9);
        CHECK_NEAR(a.path[j].mean, b.path[j].mean, 1e-9);
    }
}

/* With few refreshments a later bounce soon reverses a missed one, which the expansion does not
 * include: the stated shift is too large by a factor of up to the dimension, and never too
 * small. */
TEST(with_few_refreshments_the_stated_shift_is_too_large)
{
    for (size_t d = 2; d <= DIM_MAX; d++) {
        target t = {.d = d, .refresh = 0.1, .up = 0.2};
        for (size_t j = 0; j < d; j++) t.a[j][j] = t.h[j][j] = 1.0;
        response r = respond(&t, 2e5, 32);
        double truth = r.path->mean / r.path->sd, noise = r.path->mcse / r.path->sd;
        CHECK(truth > 4.0 * noise);
        CHECK(r.mean[0] > truth - 2.0 * noise);
        CHECK(r.mean[0] < 2.0 * (double)d * truth);
    }
}

TEST(chains_are_pooled_by_time)
{
    target t = line, none = line;
    t.up = 0.2;
    sinks k[2];
    for (size_t c = 0; c < 2; c++) sinks_make(&k[c], 1, line.centre);
    run_suppressed(&t, &k[0], 2e4, 40);
    run_suppressed(&none, &k[1], 6e4, 41);
    double one, both, sd, error[2];
    bias_statement first = {&one, &error[0], &sd, &error[1]};
    bias_statement pooled = {&both, &error[0], &sd, &error[1]};
    draw_block blocks[2] = {{k[0].d.w, k[0].d.state->count}, {k[1].d.w, k[1].d.state->count}};
    bias handles[2] = {k[0].b, k[1].b};
    precision_map map = {&t, precision};
    CHECK(bias_respond(handles, 1, blocks, map, &first, NULL) == SBPS_OK);
    CHECK(bias_respond(handles, 2, blocks, map, &pooled, NULL) == SBPS_OK);
    CHECK(one > 0.05);
    check_near("pooled", both, 0.25 * one, 0.0);
    for (size_t c = 0; c < 2; c++) free(k[c].memory.base);
}

TEST(events_are_counted)
{
    static const double centre[1];
    sinks k;
    sinks_make(&k, 1, centre);
    double p = 0.5, q = 1.0, next = -1.0;
    event e = {
        .kind = EVENT_BOUNCE, .proposals = 3, .violations = 1, .rows = 70, .missing = 0.5};
    segment s = {.flow = &flow_line,
                 .dim = 1,
                 .dt = 2.0,
                 .centre = centre,
                 .p = &p,
                 .q = &q,
                 .end = &e,
                 .q_next = &next};
    sinks_take(&k.all, &s);
    e = (event){.kind = EVENT_REFRESH, .proposals = 2, .rows = 30};
    sinks_take(&k.all, &s);
    const event_counts *b = k.counts;
    CHECK(b->time == 4.0 && b->missing == 0.5 && b->rows == 100);
    CHECK(b->proposals == 5 && b->violations == 1 && b->bounces == 1 && b->refreshments == 1);
    CHECK(k.b.push[0] == 0.5 * 2.0);         /* m (u - u_r) */
    CHECK(k.b.second[0] == 0.5 * 2.5 * 2.0); /* at x = p + dt q */
    free(k.memory.base);
}

TEST(draws_that_do_not_span_the_space_are_refused)
{
    target t = {.d = 2, .refresh = 1.0, .a = {{1, 0}, {0, 1}}, .h = {{1, 0}, {0, 1}}};
    sinks k;
    sinks_make(&k, 2, t.centre);
    run_suppressed(&t, &k, 10.0, 50);
    const double flat[8] = {1, 1, 2, 2, 3, 3, 4, 4};
    draw_block block = {flat, 4};
    double mean[2], sd[2], error[4];
    bias_statement out = {mean, error, sd, error + 2};
    sbps_error err = {0};
    precision_map map = {&t, precision};
    CHECK(bias_respond(&k.b, 1, &block, map, &out, &err) == SBPS_BAD_ARG);
    CHECK(strlen(err.text) > 20);
    free(k.memory.base);
}

CHECK_MAIN
