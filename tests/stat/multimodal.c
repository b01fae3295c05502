/* The density of Supplement E with a mean over rows: a peak near every corner of [-1,1]^2,
 * barriers of 7.3 log units between them. `--paper` begun at (1, 1), without and with
 * auxiliary observations: how often the bound is violated, the shape of the peaks, and the
 * time far out, where the exact probability is below 1e-7. The exact distribution of |w_1|
 * is by quadrature. The limits hold for medians over SEEDS runs: a single run may have a
 * long segment. */
#include "check.h"
#include "core/rng.h"
#include "stat/sample.h"

#define ROWS  1000
#define BINS  25
#define REACH 2.45
#define FINE  4000 /* points of the quadrature, up to 4 */
#define SEEDS 5    /* odd */

static double mu[ROWS][4];
static char data[256], start[256];

static void write_rows(void)
{
    rng r = rng_stream(51, 0, RNG_TEST);
    temporary_name(sizeof data, data);
    temporary_name(sizeof start, start);
    FILE *file = fopen(data, "w");
    if (!file) give_up(data, &(sbps_error){.text = "not written"});
    fprintf(file, "x1,x2,x3,x4,weight\n");
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < 4; j++)
            fprintf(file, "%.17g,", mu[i][j] = 0.01 * rng_normal(&r));
        fprintf(file, "%.17g\n", 1.0 / ROWS);
    }
    fclose(file);
    file = fopen(start, "w");
    if (!file) give_up(start, &(sbps_error){.text = "not written"});
    fprintf(file, "name,value\nw1,1\nw2,1\n");
    fclose(file);
}

__attribute__((destructor)) static void remove_rows(void)
{
    if (*data) unlink(data);
    if (*start) unlink(start);
}

/* log of both peaks of a row. */
static double log_peaks(double w, const double *m)
{
    double high = -(w - 1.0 - m[0]) * (w - 1.0 - m[0]) / 0.125;
    double low = -(w + 1.0 - m[2]) * (w + 1.0 - m[2]) / 0.125;
    return fmax(high, low) + log1p(exp(-fabs(high - low)));
}

static size_t bin_of(double w)
{
    return (size_t)(fabs(w) * BINS / REACH);
}

/* Fractions of |w_1| per bin; the last entry is the rest. */
static void exact_fractions(double fraction[BINS + 1])
{
    double total = 0.0;
    for (int g = -FINE; g <= FINE; g++) {
        double w = 4.0 * (g + 0.5) / FINE, sum = 0.0;
        for (size_t i = 0; i < ROWS; i++) sum += log_peaks(w, mu[i]);
        double p = exp(sum / ROWS);
        size_t bin = bin_of(w);
        fraction[bin < BINS ? bin : BINS] += p;
        total += p;
    }
    for (size_t b = 0; b <= BINS; b++) fraction[b] /= total;
}

typedef struct {
    double shape, violated, far; /* total variation of |w_1|; share of proposals; of time */
} outcome;

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *value)
{
    double sorted[SEEDS];
    memcpy(sorted, value, sizeof sorted);
    qsort(sorted, SEEDS, sizeof *sorted, compare_double);
    return sorted[SEEDS / 2];
}

static outcome sample(const char *settings, int seed)
{
    char all[1024];
    double expected[BINS + 1] = {0}, found[BINS + 1] = {0};
    if (!*data) write_rows();
    exact_fractions(expected);
    snprintf(all, sizeof all,
             "model=multimodal weights=weight paper chains=1 start=%s spread=0 warmup=0 "
             "batch-size=10 draws=5000 seed=%d %s",
             start, seed, settings);
    sbps_result *r = sample_file(data, all);
    outcome o = {.violated = r->info.violations / r->info.proposals};
    double share = 1.0 / (double)(r->chains * r->draws);
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        const double *w = r->w + 2 * i;
        size_t bin = bin_of(w[0]);
        found[bin < BINS ? bin : BINS] += share;
        if (fabs(w[0]) > REACH || fabs(w[1]) > REACH) o.far += share;
    }
    for (size_t b = 0; b <= BINS; b++) o.shape += 0.5 * fabs(found[b] - expected[b]);
    sbps_result_destroy(r);
    return o;
}

/* Medians over seeds 1 to SEEDS. */
static outcome sample_seeds(const char *settings)
{
    double shape[SEEDS], violated[SEEDS], far[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        outcome o = sample(settings, i + 1);
        shape[i] = o.shape, violated[i] = o.violated, far[i] = o.far;
    }
    outcome o = {median(shape), median(violated), median(far)};
    printf("%-55s shape %.4f, violations %.4f, far out %.4f\n", settings, o.shape, o.violated,
           o.far);
    return o;
}

TEST(an_auxiliary_observation_where_the_band_falls_keeps_bound_and_shape)
{
    outcome one = sample_seeds("epochs=600 auxiliary=1");
    CHECK(one.violated < 0.01 && one.shape < 0.1 && one.far < 0.01);
}

/* With a wide slope prior the band often decreases without end: 15 to 40 auxiliary
 * observations a run, where the learned prior needs 2 to 4. */
TEST(with_a_wide_slope_prior_auxiliary_observations_keep_the_particle_in)
{
    outcome none = sample_seeds("epochs=300 slope-prior=wide");
    outcome one = sample_seeds("epochs=600 slope-prior=wide auxiliary=1");
    outcome four = sample_seeds("epochs=600 slope-prior=wide auxiliary=4");
    CHECK(none.far > 0.3);
    CHECK(one.far < 0.02 && one.shape < 0.15 && one.violated < 0.01);
    CHECK(four.far < 0.02 && four.shape < 0.15 && four.violated < 0.01);
}

TEST(after_every_observation_it_breaks_the_bound)
{
    outcome always = sample("epochs=1000 auxiliary=1 auxiliary-when=always", 1);
    CHECK(always.violated > 0.3 && always.shape > 0.1);
}

CHECK_MAIN
