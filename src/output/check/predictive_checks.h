/* Do the rows look like what the run says rows look like, and is the answer the rows' or the priors'?
 *
 *   checks_make     a run and a table become numbers: panels of cells, statistics, leave-one-out PIT, sensitivities
 *                   and, of what is off, sentences: what, how much, what to do
 *   checks_clear    gives it back; also after a failure
 *   check_report    makes them, and tells them as text or JSON
 *
 * Rows to compare with, y*, are drawn by the model, one table of them for each of `replicates` draws. */
#ifndef OUTPUT_PREDICTIVE_CHECKS_H
#define OUTPUT_PREDICTIVE_CHECKS_H

#include "core/text.h"
#include "output/predict/loo.h"
#include "store/result.h"

#define CHECK_LEVEL 0.005 /* of p, below which something counts as off */

/* Rows that belong together, and what was seen of them beside what replicated tables have there. */
typedef struct {
    char *label;     /* of a level or of a last, open cell; NULL: from and to say all */
    double from, to; /* of what the panel sorts rows by */
    size_t rows;
    double observed, expected;
    double low, high; /* 95 % of replicated tables; of residuals: 1.96 sd around 0 */
    double z;         /* observed less expected over the standard deviation */
} check_cell;

typedef struct {
    char *of;    /* the class, or the column; NULL: the response itself */
    char *class; /* of residuals of classes: which; else NULL */
    check_cell *cell;
    size_t count;
    size_t worst; /* cell of the largest |z| */
    /* Replicated tables with a |z| as large in any cell; of residuals, by Bonferroni: that any cell or bend of all columns
     * would be as far off. */
    double p;
    /* Residuals along a number: z of the curve, above 0 where the ends lie above the middle; spread of numbers: z of its
     * trend with what was predicted; else NAN. */
    double trend_z;
    bool off; /* counts as off */
} check_panel;

typedef struct {
    check_panel *panel;
    size_t count;
} check_panels;

/* A number that sums up a table. */
typedef struct {
    const char *name;
    double observed, mean, sd, low, high; /* of replicated tables: 95 % */
    double
        p; /* that one of them lies as far out on either side; NAN: a moment that the model need not have */
    bool off; /* counts as off */
} check_statistic;

#define STATISTICS_MAX 8
#define PIT_BARS       20

/* Probability below y_i by the posterior without row i; uniform where the model is right. */
typedef struct {
    size_t rows;          /* 0: not looked at, as of two outcomes and of classes */
    double bar[PIT_BARS]; /* density: 1 where uniform; of counts their interval is shared out */
    double low, high;     /* 95 % of a bar */
    double ks, p;         /* Kolmogorov-Smirnov, counts put at random into their interval */
    double mean_z, spread_z; /* below 0: y lies lower; narrower than predicted */
    size_t untrusted;        /* rows whose Pareto k is above 0.7 */
    bool off;                /* counts as off */
} check_pit;

/* Power scaling: CJS distance per doubling of the exponent. */
typedef struct {
    char *name, *prior;
    double by_prior, by_likelihood; /* NAN: constant, or unknown */
    const char *diagnosis;          /* "-" where nothing is to be said */
} check_sensitivity;

/* Does the prior move it enough for a diagnosis? Sensitivity to the likelihood alone is as it should be. */
bool is_sensitive(const check_sensitivity *s);

typedef struct {
    char *seen, *remedy;
    bool of_priors; /* not of what rows are like */
} check_finding;

typedef struct {
    char *model, *target;
    size_t counted; /* rows by their weights, each as often as it counts; 0: without weights */
    size_t rows, checked, lacking; /* of the table; of them; left out for missing cells */
    rows_identity identity;        /* is it the table of the run? */
    size_t draws, replicates, coefficients;
    check_panels calibration; /* two outcomes, shares, classes: by what was predicted */
    check_panels rootogram;   /* counts: rows that have so many */
    check_panels density;     /* numbers: rows from .. to */
    check_panels spread;      /* numbers: squares of scaled residuals, by what was predicted */
    check_panels residuals;   /* each column, each class */
    check_statistic statistic[STATISTICS_MAX];
    size_t statistics;
    double
        negative_binomial_zeros; /* share that one of this spread would have; NAN: no counts */
    check_pit pit;
    check_sensitivity *sensitivity;
    size_t sensitivities;
    double
        likelihood_noise; /* of the variance of log likelihoods, what is error of estimates */
    check_finding *finding;
    size_t findings;
} predictive_checks;

/* `data` NULL: sensitivities alone. `left_out` NULL: without; else leave-one-out of the same table, which is read once for
 * both (twice where `how` asks for all rows). */
sbps_status checks_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, loo *left_out, predictive_checks *out,
                        sbps_error *err);
void checks_clear(predictive_checks *c);

/* See sbps_check. */
sbps_status check_report(const result *r, const char *run, const char *data,
                         const sbps_scoring *how, sbps_format format, char **out,
                         sbps_error *err);

#endif
