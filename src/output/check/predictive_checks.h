/* Posterior predictive checks: do replicated tables resemble the rows, and how far do prior and
 * data each determine the result?
 *
 *   checks_make     panels of cells, statistics, leave-one-out PIT, sensitivities, findings
 *   checks_clear    frees them, also after a failure
 *   check_report    makes and writes them as text or JSON
 *
 * A replicated response y* is drawn from the model at a posterior draw; each of `replicates`
 * draws makes one table. */
#ifndef OUTPUT_PREDICTIVE_CHECKS_H
#define OUTPUT_PREDICTIVE_CHECKS_H

#include "core/text.h"
#include "output/predict/row_stream.h"
#include "store/result.h"

struct loo;

#define CHECK_LEVEL 0.005 /* p below which a check fails */

/* A statistic of rows that belong together, compared with replicated tables. */
typedef struct {
    char *label;     /* a level; NULL: the cell is from..to */
    double from, to; /* of the number that the panel sorts rows by */
    size_t rows;
    double observed, expected;
    double low, high; /* 95 % of replicated tables; for residuals 1.96 sd around 0 */
    double z;         /* (observed - expected) / sd */
} check_cell;

/* All cells of one check. */
typedef struct {
    char *of;    /* the class, or the column; NULL: the response itself */
    char *class; /* for residuals of a class model, else NULL */
    check_cell *cell;
    size_t count;
    size_t worst; /* cell of the largest |z| */
    /* Probability that a replicated table has a cell with as large a |z|; for residuals, by
     * Bonferroni, that any cell or curve of any column has. */
    double p;
    /* Residuals along a number: z of the curve, above 0 if the ends are above the middle.
     * Spread of real targets: z of its trend with the prediction. Else NAN. */
    double trend_z;
    bool off; /* the check failed */
} check_panel;

typedef struct {
    check_panel *panel;
    size_t count;
} check_panels;

/* A statistic of the response. */
typedef struct {
    const char *name;
    double observed, mean, sd, low, high; /* of replicated tables: 95 % */
    double p; /* of a replicated table as extreme; NAN: the model may lack this moment */
    bool off; /* the check failed */
} check_statistic;

#define STATISTICS_MAX 8
#define PIT_BARS       20

/* Leave-one-out PIT: P(y* <= y_i) under the posterior without row i; uniform if the model is
 * correct. */
typedef struct {
    size_t rows;          /* 0: not computed, as for binary targets and classes */
    double bar[PIT_BARS]; /* density, 1 if uniform; counts are spread over their interval */
    double low, high;     /* 95 % of a bar */
    double ks, p;         /* Kolmogorov-Smirnov, counts at a random point of their interval */
    double mean_z, spread_z; /* below 0: y is lower, or varies less, than predicted */
    size_t untrusted;        /* rows whose Pareto k is above 0.7 */
    bool off;                /* the check failed */
} check_pit;

/* Power scaling of one parameter: distance per doubling of the exponent (sensitivity.c). */
typedef struct {
    char *name, *prior;
    double by_prior, by_likelihood; /* NAN: constant, or unknown */
    const char *diagnosis;          /* "-": none */
} check_sensitivity;

/* Does the prior move it enough for a diagnosis? Sensitivity to the likelihood alone is
 * normal. */
bool is_sensitive(const check_sensitivity *s);

/* A message and what to do, sentences without their full stop. */
typedef struct {
    char *seen, *remedy;
    bool of_priors; /* about a prior, not about the rows */
} check_finding;

/* All checks of a run; owns everything. */
typedef struct {
    char *model, *target;
    size_t counted;                /* with weights: sum of how often each row counts; else 0 */
    size_t rows, checked, lacking; /* of the table; checked; omitted for missing cells */
    rows_identity identity;        /* is it the table of the run? */
    bool prior_only; /* replicates are from the prior alone: no check fails, none uses p(y) */
    size_t draws, replicates, coefficients;
    check_panels calibration; /* binary, proportions, classes: by the prediction */
    check_panels rootogram;   /* counts: rows with each count */
    check_panels density;     /* numbers: a histogram */
    check_panels spread;      /* numbers: squared standardised residuals, by the prediction */
    check_panels residuals;   /* each column, each class */
    check_statistic statistic[STATISTICS_MAX];
    size_t statistics;
    double negative_binomial_zeros; /* expected fraction with this variance; NAN: no counts */
    check_pit pit;
    check_sensitivity *sensitivity;
    size_t sensitivities;
    double likelihood_noise; /* share of the variance of log likelihoods due to mini-batches */
    check_finding *finding;
    size_t findings;
} predictive_checks;

/* Makes all checks. data NULL: sensitivities only. left_out: leave-one-out of the same table is
 * computed, too, in the same pass (in two if `how` requests all rows); NULL: it is not. Clear
 * *out in any case. */
sbps_status checks_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, struct loo *left_out, predictive_checks *out,
                        sbps_error *err);
void checks_clear(predictive_checks *c);

/* See sbps_check. *out is malloced (free). */
sbps_status check_report(const result *r, const char *run, const char *data,
                         const sbps_scoring *how, sbps_format format, char **out,
                         sbps_error *err);

#endif
