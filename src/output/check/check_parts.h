/* The parts of `sbps check`, shared by the files of this folder: a sample of rows, cells of
 * rows, and the checks that are made of them. */
#ifndef OUTPUT_CHECK_PARTS_H
#define OUTPUT_CHECK_PARTS_H

#include "output/check/predictive_checks.h"
#include "output/predict/predictor_draws.h"

struct loo;

#define CHECK_TREND 4.0 /* |z| of a trend of the spread, above which a check fails */

/* ---- row_sample.c ---- */

/* One row, and what the draws predict of it. y* is a response replicated by one draw. */
typedef struct {
    size_t index; /* in the file, from 0 */
    uint64_t key; /* of its random numbers: by index, and by copy of a weighted row */
    double y, mean, sd, cube; /* the response; of y*: mean, sd, and mean of (y* - mean)^3 */
    double trials;            /* proportions: y and y* are counts of successes */
    double below, upto,
        k; /* leave-one-out: P(y* < y), P(y* <= y), Pareto k; NAN: not computed */
    double value
        []; /* of the columns, then the probability of each class, then y* of each replicate */
} sampled_row;

/* A column along which residuals are checked. The strings belong to the saved schema. */
typedef struct {
    size_t at; /* index among the cells of a row */
    const char *name;
    const char **level;
    size_t levels; /* 0: a number */
} sample_column;

/* The rows that are checked; owns everything. */
typedef struct {
    predictor_draws *f;
    sampled_row **row; /* in the order of the file */
    size_t rows;
    size_t columns;
    sample_column *column;
    size_t classes, replicates;
    size_t all, lacking; /* rows of the file; of these, omitted because of missing cells */
    size_t counted;      /* with weights: sum over the rows of how often each counts; else 0 */
    bool weighted;
    rows_identity identity;
} row_sample;

/* Mean probability of each class for row i. */
static inline const double *probabilities_of(const row_sample *s, size_t i)
{
    return s->row[i]->value + s->columns;
}

/* The replicated responses of row i. */
static inline const double *replicates_of(const row_sample *s, size_t i)
{
    return s->row[i]->value + s->columns + s->classes;
}

/* The class of a response: 0, 1, ... */
size_t class_of(const predictor_draws *f, double y);

/* Reads the table and samples its rows. left_out: leave-one-out is computed in the same pass;
 * NULL: it is not. Clear *out in any case. */
sbps_status sample_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, struct loo *left_out, row_sample *out,
                        sbps_error *err);
void sample_clear(row_sample *s);

/* ---- panels.c: cells of rows, compared with replicated tables ---- */

/* Assigns rows to cells by one number of each; cells are in the order of the numbers. */
typedef struct {
    size_t *cell; /* [row] */
    double *from, *to;
    size_t cells;
} partition;

#define CELLS_USUAL ((size_t)10)

/* Makes up to CELLS_USUAL cells with equally many rows; equal numbers share a cell. With at
 * most CELLS_USUAL different numbers each has its own cell. Clear *out in any case. */
sbps_status partition_evenly(size_t n, const double *value, partition *out, sbps_error *err);
void partition_clear(partition *p);

/* A statistic of each cell, of the rows and of every replicated table. */
typedef struct {
    size_t cells, replicates;
    double *observed;   /* [cell] */
    double *replicated; /* [cell][replicate] */
    double *unit;       /* [cell]: what one more row would add */
} tally;

/* All numbers 0, but unit 1. Close *out in any case. */
sbps_status tally_open(size_t cells, size_t replicates, tally *out, sbps_error *err);
void tally_close(tally *t);

/* Appends a panel to `to`; *out is borrowed from it. Its cells are empty, their expectation NAN
 * (unknown). */
sbps_status panel_open(check_panels *to, const char *of, const char *class, size_t cells,
                       check_panel **out, sbps_error *err);
void panels_clear(check_panels *p);

/* Sets the expectation (where it is NAN), limits and z of every cell, and p. Sorts
 * t->replicated. */
sbps_status panel_compare(check_panel *p, tally *t, sbps_error *err);

/* Sets p->worst, the cell with the largest |z|. */
void panel_find_worst(check_panel *p);

/* Mean, sd and the quantiles at 2.5 % and 97.5 %. */
typedef struct {
    double mean, sd, low, high;
} interval_summary;

/* Summarises n numbers, and sorts them. */
interval_summary sort_and_summarise(size_t n, double *x);

/* P(|Z| > |z|) for a standard normal Z. */
double normal_tails(double z);

/* ---- the checks; each appends to or fills *out ---- */

/* response_shapes.c */
sbps_status compare_calibration(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status compare_rootogram(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status compare_density(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status compare_spread(const row_sample *s, check_panels *out, sbps_error *err);

/* residuals.c: along each column */
sbps_status compare_residuals(const row_sample *s, check_panels *out, sbps_error *err);

/* table_statistics.c: statistics of the response; leave-one-out PIT */
sbps_status compare_statistics(const row_sample *s, predictive_checks *out, sbps_error *err);
sbps_status compare_pit(const row_sample *s, check_pit *out, sbps_error *err);

/* sensitivity.c: power scaling of prior and likelihood, from the stored draws */
sbps_status measure_sensitivity(const result *r, predictive_checks *out, sbps_error *err);

/* findings.c: writes the findings of the checks that failed. s: the rows; NULL: no rows were
 * checked. */
sbps_status checks_diagnose(const row_sample *s, predictive_checks *c, sbps_error *err);

/* ---- check_report.c ---- */

/* Adds the report as text or JSON. */
void checks_write(const predictive_checks *c, sbps_format format, text *t);

/* Like text_add, with a decimal point in every locale. */
void add_formatted(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds "p 0.023" or "p below 0.001". */
void add_p_value(text *t, double p);

/* ---- predictive_checks.c ---- */

size_t checks_count(const predictive_checks *c);  /* checks that were made */
size_t checks_failed(const predictive_checks *c); /* of these, that failed */

#endif
