/* Leave-one-out by Pareto-smoothed importance sampling, and what it shares with scores: the log
 * likelihood of single rows, and sums with their standard errors. */
#ifndef OUTPUT_LOO_H
#define OUTPUT_LOO_H

#include "linalg/kernels.h"
#include "linalg/pareto.h"
#include "output/predict/row_stream.h"

struct predictor_draws;
struct row_block;

/* ---- single rows ---- */

/* Computes log p(y_i | draw) of row i of a block for every draw, times the weight of the
 * row. */
void row_loglik(const struct predictor_draws *f, const struct row_block *b, size_t i,
                double *out);
/* Returns the weight of row i of a block: the number of rows it stands for, without its
 * trials. */
double row_weight(const struct predictor_draws *f, const struct row_block *b, size_t i);
/* Returns the log of the mean of exp(x), n > 0. */
double log_mean_exp(const kernels *k, size_t n, const double *x);

/* ---- sums ---- */

/* A weighted sum with the sum of squares. */
typedef struct {
    double n, sum, square;
} running_sum;

/* Adds x. */
static inline void running_add(running_sum *s, double x)
{
    s->n++;
    s->sum += x;
    s->square += x * x;
}

/* Adds x with weight w >= 0, which need not be whole. */
static inline void weighted_add(running_sum *s, double x, double w)
{
    s->n += w;
    s->sum += w * x;
    s->square += w * x * x;
}

/* Returns the standard error of the sum, sqrt(n var). */
double running_error(const running_sum *s);

/* ---- leave-one-out ---- */

/* Results of the rows that were evaluated: all rows, or a random sample. */
typedef struct loo {
    size_t places; /* rows of the file */
    size_t rows;   /* N: rows of the file without missing cells */
    size_t count;  /* rows evaluated */
    size_t *index; /* their places in the file, increasing */
    size_t *row;   /* for a converted table: their rows in the text; NULL: the same */
    double *elpd, *lpd, *k;
    /* [places]: log p(y_i | mean of the parameters), NAN of rows with missing cells; NULL if
     * all rows were evaluated */
    double *surrogate;
    size_t draws;
    size_t lacking; /* rows left out for missing cells */
    rows_identity identity;
    /* Leave-one-group-out: `rows` above are groups, in the order of their first rows. */
    char *group;           /* the factor; NULL: rows are left out */
    char **level;          /* names of the groups */
    size_t *size;          /* rows of each */
    size_t table_rows;     /* of all groups */
    double integral_error; /* of log densities of the worst group, if by Monte Carlo */
} loo;

typedef struct {
    /* rows to evaluate; SIZE_MAX: all if that is affordable, else 1000; 0: all */
    size_t sample;
    size_t max_draws;
    uint64_t seed;
    unsigned threads;
    const char *encoding;            /* of the text; NULL: UTF-8 */
    const sbps_frame *frame;         /* instead of a file; NULL: none */
    const row_stream *second_sample; /* drawn during the same reading, if that has two passes */
    const char *group; /* factor whose levels are left out one by one; NULL: rows are */
} loo_choice;

/* (1) of loo.c for one row or group. */
typedef struct {
    double elpd, lpd, k;
} loo_weight;
/* l: log likelihood by each of n draws; weight: memory for 2 n numbers, ranked: for n. */
loo_weight loo_weigh(const kernels *k, size_t n, const double *l, double *weight,
                     ranked_weight *ranked);

/* Computes leave-one-out of a run on the rows of `data`. Call loo_clear in every case. */
sbps_status loo_make(const result *r, const char *run, const char *data,
                     const loo_choice *choice, loo *out, sbps_error *err);
void loo_clear(loo *l);
/* Returns the choice that the options make. */
loo_choice loo_choice_of(const sbps_scoring *how);

/* The row number, from 1, of the j-th row that was evaluated. */
static inline size_t loo_row(const loo *l, size_t j)
{
    return (l->row ? l->row[j] : l->index[j]) + 1;
}

/* An estimate of a sum over all rows. */
typedef struct {
    double sum;
    double error;       /* standard error, the rows being a sample of a population */
    double subsampling; /* standard error by evaluating a sample of the rows only; 0: all */
} loo_total;

/* Estimates the sum of `value`, one per evaluated row, by the difference estimator with
 * surrogates of all rows (NULL: none). */
loo_total loo_sum(const loo *l, const double *value, const double *surrogate);

typedef struct {
    loo_total elpd, p; /* p: effective number of parameters */
} loo_totals;

/* Computes the totals of a run. */
sbps_status loo_compute_totals(const loo *l, loo_totals *out, sbps_error *err);
/* Returns the number of evaluated rows whose k exceeds PARETO_TRUSTED. */
size_t loo_count_above(const loo *l);
/* Finds the rows with the largest k, largest first, as positions in the arrays; returns their
 * number. */
#define LOO_WORST_MAX ((size_t)5)
size_t loo_find_worst(const loo *l, size_t worst[LOO_WORST_MAX]);

#endif
