/* What a run says of each row of a table whose target is known. */
#ifndef OUTPUT_POINTWISE_H
#define OUTPUT_POINTWISE_H

#include "output/predict/row_stream.h"

/* log p(y_i | draw) of row i of a block, times its weight. */
void row_loglik(const predictor_draws *f, const row_block *b, size_t i, double *out);
/* The weight of row i of a block: how many rows it stands for; the trials of a count are not part of it. */
double row_weight(const predictor_draws *f, const row_block *b, size_t i);
/* Log of the mean of exp(x), n > 0. */
double log_mean_exp(const kernels *k, size_t n, const double *x);

/* Sums of numbers that come one by one. */
typedef struct {
    double n, sum, square;
} running_sum;

static inline void running_add(running_sum *s, double x)
{
    s->n++;
    s->sum += x;
    s->square += x * x;
}

/* The same x w times, w >= 0, not necessarily whole. */
static inline void weighted_add(running_sum *s, double x, double w)
{
    s->n += w;
    s->sum += w * x;
    s->square += w * x * x;
}

/* Of their sum: sqrt(n var). */
double running_error(const running_sum *s);

/* ---- loo.c ---- */

/* Leave-one-out by Pareto-smoothed importance sampling. */
typedef struct {
    size_t places; /* rows of the file */
    size_t rows;   /* N: of them, those that have all that is needed */
    size_t count;  /* rows looked at: all, or a sample */
    size_t *index; /* their places, increasing */
    size_t *row;   /* rows of the text that they were, of a converted table; NULL: the same */
    double *elpd, *lpd, *k;
    double *
        surrogate; /* [places]: log p(y_i | mean of the parameters), NAN of those that have not; NULL where all were
                          looked at */
    size_t draws;
    size_t lacking; /* rows that were left out, cells being missing */
    rows_identity identity;
} loo;

typedef struct {
    size_t
        sample; /* rows to look at; SIZE_MAX: all where that is cheap, else as many as usual; 0: all */
    size_t max_draws;
    uint64_t seed;
    unsigned threads;
    const char *encoding;     /* of the text; NULL: UTF-8 */
    const sbps_frame *frame;  /* in the place of a file; NULL: none */
    const row_stream *beside; /* that the reading serves as well, where it is in two looks */
} loo_choice;

sbps_status loo_make(const result *r, const char *run, const char *data,
                     const loo_choice *choice, loo *out, sbps_error *err);
void loo_clear(loo *l);

/* The number of the j-th row that was looked at, from 1. */
static inline size_t loo_row(const loo *l, size_t j)
{
    return (l->row ? l->row[j] : l->index[j]) + 1;
}

/* A sum over all rows by the difference estimator: of `value`, one a row looked at, with surrogates of all (NULL: none). */
typedef struct {
    double sum, error;  /* error: of the rows, as a sample of those that could be */
    double subsampling; /* standard error by having looked at some rows; 0: all */
} loo_total;

loo_total loo_sum(const loo *l, const double *value, const double *surrogate);

/* ---- loo_report.c ---- */

typedef struct {
    loo_total elpd, p; /* p: effective number of parameters */
} loo_totals;

sbps_status loo_compute_totals(const loo *l, loo_totals *out, sbps_error *err);
loo_choice loo_choice_of(const sbps_scoring *how);
/* Of the rows looked at, those whose k is above PARETO_TRUSTED. */
size_t loo_count_above(const loo *l);
/* Those with the largest k, largest first, as places in the arrays; returns how many. */
#define LOO_WORST_MAX ((size_t)5)
size_t loo_find_worst(const loo *l, size_t worst[LOO_WORST_MAX]);

#endif
