/* The standard error of the stated bias: against the scatter over runs, against known shifts,
 * and without any violation. */
#include "estimate/suppressed.h"

#define RUNS 100

static const target line = {.d = 1, .refresh = 0.3, .a = {{1}}, .h = {{1}}, .up = 0.05};

/* Mean and sd of the distribution when upward bounces are suppressed, see suppressed.h. */
static void true_moments(const target *t, double *mean, double *sd)
{
    double right = 1.0 / sqrt(1.0 - t->up);
    *mean = sqrt(2.0 / M_PI) * (right - 1.0);
    *sd = sqrt((pow(right, 3.0) + 1.0) / (right + 1.0) - *mean * *mean);
}

typedef struct {
    double squares; /* mean of z^2 */
    double covered; /* share of |z| < 2 */
} calibration;

/* z of stated shifts of the mean (which 0) or of the sd against the truth. */
static calibration compare(const target *t, double time, int which)
{
    double mean, sd;
    calibration out = {0};
    true_moments(t, &mean, &sd);
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        response r = respond(t, time, 500 + seed);
        double z = which ? (r.sd[0] - (sd - 1.0)) / r.sd_error[0]
                         : (r.mean[0] - mean / sd) / r.mean_error[0];
        out.squares += z * z / RUNS;
        out.covered += (fabs(z) < 2.0) / (double)RUNS;
    }
    return out;
}

/* z^2 has mean 1, or less where the error includes that of the linear response. Its sd is
 * sqrt(2) or more, because errors come from about ten stretches; that of the mean over the runs
 * is a seventh of it. */
static void check_calibrated(const char *what, calibration c)
{
    printf("%s: z^2 %.2f, within two errors %.2f\n", what, c.squares, c.covered);
    if (c.squares > 0.15 && c.squares < 2.2 && c.covered > 0.8) return;
    check_failures++;
}

TEST(stated_shifts_scatter_about_the_true_ones_as_their_errors_state)
{
    target often = line, rarely = line;
    rarely.rare = 0.03; /* some twenty violations a run */
    rarely.up = rare_fraction(rarely.rare);
    check_calibrated("mean", compare(&often, 500.0, 0));
    check_calibrated("mean, rare violations", compare(&rarely, 4000.0, 0));
    check_calibrated("sd, rare violations", compare(&rarely, 4000.0, 1));
}

/* Where half of the runs see nothing the others state too much; with their errors both are
 * right. */
TEST(with_a_violation_or_none_two_errors_cover_the_truth)
{
    double mean, sd, covered = 0.0, unseen = 0.0;
    target t = line;
    t.rare = 0.001;
    t.up = rare_fraction(t.rare);
    true_moments(&t, &mean, &sd);
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        response r = respond(&t, 4000.0, 900 + seed);
        unseen += r.mean[0] == 0.0;
        covered += fabs(r.mean[0] - mean / sd) < 2.0 * r.mean_error[0];
    }
    printf("%.0f saw nothing, %.0f of %d within two errors\n", unseen, covered, RUNS);
    CHECK(unseen > 0.3 * RUNS && unseen < 0.7 * RUNS);
    CHECK(covered > 0.9 * RUNS);
}

TEST(without_violations_the_error_is_positive_and_decreases_with_time)
{
    target t = {.d = 2, .refresh = 0.5, .a = {{1, 0}, {0, 1}}, .h = {{1, 0}, {0, 1}}};
    response brief = respond(&t, 1e3, 1), longer = respond(&t, 1e4, 2);
    for (size_t j = 0; j < 2; j++) {
        CHECK(brief.mean[j] == 0.0 && longer.mean[j] == 0.0 && brief.sd[j] == 0.0);
        CHECK(brief.mean_error[j] > 1e-5 && brief.mean_error[j] < 1e-2);
        CHECK(brief.sd_error[j] > 1e-5 && brief.sd_error[j] < 1e-2);
        CHECK(longer.mean_error[j] < 0.3 * brief.mean_error[j]);
        CHECK(longer.mean_error[j] > 0.03 * brief.mean_error[j]);
    }
}

TEST(stretches_and_the_rest_add_up_to_the_path)
{
    sinks k;
    target t = line;
    sinks_make(&k, 1, line.centre);
    run_suppressed(&t, &k, 3e3, 7);
    double push, second, time = 0.0, sum = 0.0, squares = 0.0;
    bias_missed part = {.push = &push, .second = &second};
    size_t groups = bias_groups(&k.b, 1);
    for (size_t g = 0; g < groups; g++) {
        bias_group(&k.b, 1, g, &part);
        time += part.time;
        sum += push;
        squares += second;
    }
    CHECK(groups >= BIAS_SNAPSHOTS / 2 && groups <= BIAS_SNAPSHOTS + 1);
    CHECK_NEAR(time, k.counts->time, 1e-9 * time);
    CHECK_NEAR(sum, k.b.push[0], 1e-9);
    CHECK_NEAR(squares, k.b.second[0], 1e-9);
    free(k.memory.base);
}

CHECK_MAIN
