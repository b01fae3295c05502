/* What each mechanism of sbps is worth where G is far from linear: the 2-D density `banana`,
 * without noise and with noise on its gradients.
 *
 *   bench-banana [ESS [NOISE [WORD]]]     defaults: 20000, 0, every row
 *
 * A row switches one mechanism; WORD keeps the rows whose name contains it. Printed as
 * Markdown: total variation of both marginals over 40 bins of equal probability, k,
 * proposals per unit of the posterior's scale, the largest stated bias, and the ESS of the
 * slowest parameter or square.
 *
 *   w1 ~ N(0, s^2),  w2 | w1 ~ N(w1^2 - s^2, 1),  s = 1.5:
 *   P(w2 < y) = int phi(z) Phi(y - s^2 z^2 + s^2) dz. */
#include "inference/run/collect.h"
#include "inference/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS         40
#define WIDTH        1.5
#define ROWS_PER_ESS 1e5  /* all chains: where a variant that never gets there is stopped */
#define NODES        4001 /* of the integral over z in [-8, 8] */

typedef struct {
    const char *name, *settings;
    bool fixed_prior; /* the slope prior is not learned */
} variant;

static const variant variants[] = {
    {"default", "", false},
    {"lack of fit off", "lack-of-fit=off", false},
    {"variance of the last batch", "pool-variance=off", false},
    {"k = 3", "band=3", false},
    {"slope prior fixed", "", true},
    {"horizon off", "horizon=inf", false},
    {"decaying weights", "weight-decay=on", false},
    {"decaying weights, lack of fit off", "weight-decay=on lack-of-fit=off", false},
    {"Gaussian process", "regression=gp", false},
    {"auxiliary observation, always", "auxiliary=1 auxiliary-when=always", false},
    {"slope repair", "slope-repair=true", false},
    {"k = 3, lack of fit off", "band=3 lack-of-fit=off", false},
    {"as published", "paper refresh-rate=0.7", false},
};

static void give_up(const sbps_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(EXIT_FAILURE);
}

/* ---- truth ---- */

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static double cdf(size_t j, double y)
{
    double sum = 0.0, h = 16.0 / (NODES - 1);
    if (j == 0) return normal_cdf(y / WIDTH);
    for (size_t i = 0; i < NODES; i++) {
        double z = -8.0 + h * (double)i;
        sum += h * exp(-0.5 * z * z) * normal_cdf(y - WIDTH * WIDTH * (z * z - 1.0));
    }
    return sum / sqrt(2.0 * M_PI);
}

static double quantile(size_t j, double probability)
{
    double low = -20.0, high = 200.0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(cdf(j, middle) < probability ? &low : &high) = middle;
    }
    return low;
}

/* ---- a run ---- */

static double total_variation(const sbps_run *run, size_t j, const double *edges)
{
    double fraction[BINS] = {0}, total = 0.0, distance = 0.0;
    for (size_t c = 0; c < run->chain_count; c++) {
        const draws *d = &run->chains[c].d;
        for (size_t i = 0; i < d->state->count; i++) {
            size_t bin = 0;
            while (bin < BINS - 1 && d->w[i * 2 + j] >= edges[bin]) bin++;
            fraction[bin] += 1.0;
            total += 1.0;
        }
    }
    for (size_t bin = 0; bin < BINS; bin++)
        distance += fabs(fraction[bin] / total - 1.0 / BINS);
    return 0.5 * distance;
}

static sbps_options *options_of(const variant *v, const char *ess, const char *noise)
{
    sbps_options *o;
    sbps_error err = {0};
    char text[512], *rest = text, *option;
    if (sbps_options_create(&o, &err) != SBPS_OK) give_up(&err);
    /* variants that never get there end all the same */
    snprintf(text, sizeof text,
             "model=banana draws=200000 epochs=%g ess=%s gradient-noise=%s %s",
             ROWS_PER_ESS * atof(ess), ess, noise, v->settings);
    while ((option = strsep(&rest, " "))) {
        char *value = strchr(option, '=');
        if (!*option) continue;
        if (value) *value++ = '\0';
        if (sbps_options_set(o, option, value ? value : "true", &err) != SBPS_OK) give_up(&err);
    }
    return o;
}

static void print_row(const variant *v, const sbps_run *run, double edges[2][BINS - 1])
{
    result *r;
    sbps_error err = {0};
    if (run_collect(run, &r, &err) != SBPS_OK) give_up(&err);
    double time = 0.0; /* natural units */
    for (size_t c = 0; c < run->chain_count; c++)
        time += run->chains[c].counts->time * run->plan->scale;
    printf("| %s | %.4f | %.4f | %.2f | %.1f | %.4f | %.2g |\n", v->name,
           total_variation(run, 0, edges[0]), total_variation(run, 1, edges[1]), r->info.band,
           r->info.proposals / time, r->info.bias_estimate, r->info.min_ess);
    fflush(stdout);
    result_destroy(r);
}

static void sample(const variant *v, const char *ess, const char *noise,
                   double edges[2][BINS - 1])
{
    sbps_table *table;
    sbps_run *run;
    sbps_error err = {0};
    sbps_options *o = options_of(v, ess, noise);
    bool finished = false;
    if (sbps_table_none(&table, &err) != SBPS_OK) give_up(&err);
    if (sbps_run_create(table, o, &run, &err) != SBPS_OK) give_up(&err);
    for (size_t c = 0; v->fixed_prior && c < run->chain_count; c++)
        run->chains[c].s.settings->band.learning_rate = 0.0;
    while (!finished)
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up(&err);
    print_row(v, run, edges);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
}

int main(int argc, char **argv)
{
    const char *ess = argc > 1 ? argv[1] : "20000", *noise = argc > 2 ? argv[2] : "0";
    double edges[2][BINS - 1];
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < BINS - 1; i++) edges[j][i] = quantile(j, (double)(i + 1) / BINS);
    printf("| switched | TV of w1 | TV of w2 | k | proposals a unit | stated bias | ESS |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (argc < 4 || strstr(variants[i].name, argv[3]))
            sample(&variants[i], ess, noise, edges);
    return EXIT_SUCCESS;
}
