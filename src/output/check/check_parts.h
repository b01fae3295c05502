/* What checks are made of: a sample of rows, and what is done with it. */
#ifndef OUTPUT_CHECK_PARTS_H
#define OUTPUT_CHECK_PARTS_H

#include "output/check/predictive_checks.h"
#include "output/predict/predictor_draws.h"

/* ---- sample.c ---- */

typedef struct {
    size_t index; /* its place in the file, from 0 */
    uint64_t key; /* of its random numbers: the place, and of rows alike which it is */
    double y, mean, sd,
        cube; /* of y*, cube: mean (y* - mean)^3; shares are counted: successes */
    double trials;
    double below, upto,
        k;          /* leave-one-out: P(y* < y), P(y* <= y), Pareto k; NAN: not looked at */
    double value[]; /* of columns, then shares of classes, then y* of each replicate */
} sampled_row;

/* Names and levels are the forecast's. */
typedef struct {
    size_t at; /* its place among cells of a row */
    const char *name;
    const char **level;
    size_t levels; /* 0: it is a number */
} sample_column;

typedef struct {
    predictor_draws *f;
    sampled_row **row; /* in the order of the file */
    size_t rows;
    size_t columns; /* looked at: */
    sample_column *column;
    size_t classes, replicates;
    size_t all, lacking; /* rows of the file; of them, left out for missing cells */
    size_t counted;      /* where rows have weights: rows, each as often as it counts; else 0 */
    bool weighted;
    rows_identity identity;
} row_sample;

static inline const double *probabilities_of(const row_sample *s, size_t i)
{
    return s->row[i]->value + s->columns;
}

static inline const double *replicates_of(const row_sample *s, size_t i)
{
    return s->row[i]->value + s->columns + s->classes;
}

/* The class of a row, 0, 1, ... */
size_t class_of(const predictor_draws *f, double y);

/* `left_out` NULL: without; else leave-one-out is made by the same reading of the table. */
sbps_status sample_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, loo *left_out, row_sample *out,
                        sbps_error *err);
void sample_clear(row_sample *s);

/* ---- cells.c ---- */

/* Which cell each row is in, by one number of it; cells are in the order of the numbers. */
typedef struct {
    size_t *cell; /* [row] */
    double *from, *to;
    size_t cells;
} partition;

#define CELLS_USUAL ((size_t)10)

/* Cells of equally many rows, equal numbers in one; where there are few numbers each has its own. */
sbps_status cut_evenly(size_t n, const double *value, partition *out, sbps_error *err);
void partition_clear(partition *p);

/* ---- panels.c ---- */

/* What the rows, and what every replicated table has in each cell. */
typedef struct {
    size_t cells, replicates;
    double *seen; /* [cell] */
    double *made; /* [cell][replicate] */
    double *unit; /* [cell]: what one row more would add */
} tally;

sbps_status tally_open(size_t cells, size_t replicates, tally *out, sbps_error *err);
void tally_close(tally *t);
/* A panel more, its cells blank but for what is expected: NAN. */
sbps_status panel_open(check_panels *to, const char *of, const char *class, size_t cells,
                       check_panel **out, sbps_error *err);
void panels_clear(check_panels *p);
/* Expected (where it is NAN), limits and z of every cell by the replicates, and p; made is put in order. */
sbps_status panel_compare(check_panel *p, tally *t, sbps_error *err);
void panel_find_worst(check_panel *p);

/* Fills a tally, and rows and, where it is known, what is expected of each cell. */
typedef void tally_function(const row_sample *s, size_t c, const partition *cut, tally *t,
                            check_cell *cell);
/* A panel in cells by what was predicted of class c. */
sbps_status by_prediction(const row_sample *s, size_t c, tally_function *fill,
                          check_panels *out, sbps_error *err);

sbps_status calibrate(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status hang_rootogram(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status compare_density(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status compare_spread(const row_sample *s, check_panels *out, sbps_error *err);

/* ---- the others ---- */

sbps_status compare_residuals(const row_sample *s, check_panels *out, sbps_error *err);
sbps_status compare_statistics(const row_sample *s, predictive_checks *out, sbps_error *err);
sbps_status transform_rows(const row_sample *s, check_pit *out, sbps_error *err);
sbps_status measure_sensitivity(const result *r, predictive_checks *out, sbps_error *err);
/* What is off goes to the findings. */
/* s: the rows that were looked at; NULL: none were. */
sbps_status checks_diagnose(const result *r, const row_sample *s, predictive_checks *c,
                            sbps_error *err);
void checks_write(const predictive_checks *c, sbps_format format, text *t);

/* Mean, sd and 95 % of numbers, which are put in order. */
typedef struct {
    double mean, sd, low, high;
} interval_summary;

interval_summary sort_and_summarise(size_t n, double *x);
/* P(|Z| > z) of a standard normal. */
double normal_tails(double z);

/* ---- report.c, json.c ---- */

size_t checks_count(const predictive_checks *c); /* that were made */
size_t checks_off(const predictive_checks *c);   /* of these, that count as off */
void checks_json(const predictive_checks *c, text *t);

#endif
