/* Influence: how much noise each row adds to a mini-batch gradient. It is the root mean
 * square of the row's slope, less what a control variate removes, over points and directions
 * of the posterior.
 *
 * Every row is evaluated: one row in a million can dominate the noise, and a sample would
 * miss it. */
#ifndef POSTERIOR_INFLUENCE_H
#define POSTERIOR_INFLUENCE_H

#include "table/rows.h"

struct posterior;

/* Control variates: none, first order, second order. */
#define INFLUENCE_ORDERS ((size_t)3)
/* Largest dim at which the leverage of every row, d^2/2 multiplications, is affordable. */
#define INFLUENCE_DIM ((size_t)256)

/* Where influence is measured; the arrays are borrowed. */
typedef struct {
    const double *reference; /* dim: reference of the control variates */
    const double *centre;    /* dim: points are drawn from N(centre, H^-1) */
    const double *factor;    /* dim*dim: L with H = L L' */
} influence_point;

/* True for a predictor model of at most INFLUENCE_DIM parameters. */
bool influence_applies(const struct posterior *u);
/* True where the model also supports row_reach. */
bool influence_has_reach(const struct posterior *u);

/* A row whose removal would move a parameter. */
typedef struct {
    size_t row, parameter;
    double shift; /* first-order shift of the mode, in posterior sds */
} row_effect;

/* The rows with the largest effects, in descending order of |shift|, none below min_shift. */
typedef struct {
    double min_shift;
    size_t count, capacity;
    row_effect *list; /* capacity */
} row_effects;

/* How far posterior draws can move the predictors of rows, and the third-order shift of the
 * mean. The bounds of exact samplers are built from it. */
typedef struct row_reach {
    float *norm;       /* n: |L^-1 x_i|, rounded up */
    double *third_sum; /* dim: sum of weight_i l_i''' |L^-1 x_i|^2 x_i / 2 */
    double *factor;    /* dim*dim: copy of L */
} row_reach;

/* The requested results. Influence is in units of sqrt(u'Hu), over directions u uniform in
 * the metric of H. */
typedef struct influence_target {
    float *rows[INFLUENCE_ORDERS]; /* n numbers per order, or NULL if not requested */
    /* Histograms instead of rows: `width` sums per order, filled by `count`; NULL: not
     * requested. */
    double *counts[INFLUENCE_ORDERS];
    size_t width;
    void (*count)(size_t n, const float *influence, double *counts);
    row_effects *effects; /* or NULL; only useful with the reference at or near the mode */
    /* Or NULL. Receives how much steeper U is than the normal at the mode, at `spread` times
     * the distance of that normal's draws: equation (5) of influence.c. */
    double *steepness;
    double spread;
    row_reach *reach; /* or NULL; for models that influence_has_reach */
} influence_target;

/* Measures influence in one pass over the rows. */
sbps_status influence_measure(const struct posterior *u, const influence_point *at,
                              const influence_target *to, sbps_error *err);

/* The same as part of another sum over the rows: create, set_point, visit every row (from
 * any number of threads, each with its own scratch and sum), finish. */
typedef struct influence_meter influence_meter;

/* Creates a meter that writes to *to (copied; its arrays are borrowed). The caller destroys
 * *out, also after a failure. */
sbps_status influence_create(const struct posterior *u, const influence_target *to,
                             influence_meter **out, sbps_error *err);
/* Copies the point and resets what was measured. */
sbps_status influence_set_point(influence_meter *in, const influence_point *at,
                                sbps_error *err);
/* Doubles of scratch that influence_visit needs. */
size_t influence_scratch(const influence_meter *in);
/* Length of the sum over rows that influence_visit adds to. */
size_t influence_width(const influence_meter *in);
/* Measures rows r and adds their part to sum. */
void influence_visit(influence_meter *in, row_range r, double *scratch, double *sum);
/* Writes the results after the last row; sum: the total over all rows. */
void influence_finish(influence_meter *in, const double *sum);
/* Frees the meter; NULL is fine. */
void influence_destroy(influence_meter *in);

#endif
