/* The density of Supplement E with a mean over rows: a peak near every corner of [-1,1]^2,
 * barriers of 7.3 log units between them. `--paper` with an auxiliary observation, begun at
 * (1, 1): how often its bound is violated, and the shape of the peaks. The exact
 * distribution of |w_1| is by quadrature. */
#include "check.h"
#include "core/rng.h"
#include "stat/sample.h"

#define ROWS  1000
#define BINS  25
#define REACH 2.45
#define FINE  4000 /* points of the quadrature, up to 4 */

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
    double shape, violated; /* total variation of |w_1|; share of proposals */
} outcome;

static outcome sample(const char *settings)
{
    char all[1024];
    double expected[BINS + 1] = {0}, found[BINS + 1] = {0};
    if (!*data) write_rows();
    exact_fractions(expected);
    snprintf(all, sizeof all,
             "model=multimodal weights=weight paper chains=1 start=%s spread=0 warmup=0 "
             "batch-size=10 epochs=3000 draws=5000 seed=1 %s",
             start, settings);
    sbps_result *r = sample_file(data, all);
    outcome o = {.violated = r->info.violations / r->info.proposals};
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        size_t bin = bin_of(r->w[2 * i]);
        found[bin < BINS ? bin : BINS] += 1.0 / (double)(r->chains * r->draws);
    }
    for (size_t b = 0; b <= BINS; b++) o.shape += 0.5 * fabs(found[b] - expected[b]);
    sbps_result_destroy(r);
    printf("%-40s shape %.4f, violations %.4f\n", settings, o.shape, o.violated);
    return o;
}

TEST(an_auxiliary_observation_where_the_band_falls_keeps_bound_and_shape)
{
    outcome one = sample("auxiliary=1"), four = sample("auxiliary=4");
    CHECK(one.violated < 0.01 && one.shape < 0.07);
    CHECK(four.violated < 0.01 && four.shape < 0.07);
}

TEST(after_every_observation_it_breaks_the_bound)
{
    outcome always = sample("auxiliary=1 auxiliary-when=always");
    CHECK(always.violated > 0.3 && always.shape > 0.1);
}

CHECK_MAIN
