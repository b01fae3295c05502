/* How much noise each row makes: the root mean square of its slope, less what a control variate takes
 * out of it, over points and directions of the posterior. Every row is looked at: one in a million may
 * rule the answer, and a sample would not meet it. */
#ifndef POSTERIOR_INFLUENCE_H
#define POSTERIOR_INFLUENCE_H

#include "posterior/full/posterior.h"

/* Control variates: none, of the first and of the second order. */
#define INFLUENCE_ORDERS ((size_t)3)
/* Parameters up to which a row's leverage is affordable: d^2/2 multiplications. */
#define INFLUENCE_DIM ((size_t)256)

typedef struct {
    const double *reference; /* dim: of the control variates */
    const double *centre;    /* dim: of the points, which are N(centre, H^-1) */
    const double *factor;    /* dim*dim: H = L L' */
} influence_point;

/* Is the model one whose rows see w through their predictor, and small enough? */
bool influence_applies(const posterior *u);
/* May a row_reach be asked for? */
bool influence_has_reach(const posterior *u);

/* A row whose removal would move a parameter. */
typedef struct {
    size_t row, parameter;
    double shift; /* of the mode, in posterior sd, to the first order */
} row_effect;

/* Those with the largest effects, largest first, none below `least`. */
typedef struct {
    double min_shift;
    size_t count, capacity;
    row_effect *list; /* room for `most` */
} row_effects;

/* How far draws can move the predictors of rows, and where the third derivatives of log p move the mean. */
typedef struct {
    float *norm;       /* n: |L^-1 x|, or a little more */
    double *third_sum; /* dim: the sum of weight l''' |L^-1 x|^2 x / 2 */
    double *factor;    /* dim*dim: the L that it was */
} row_reach;

/* In units of sqrt(u'Hu), along directions uniform in the metric of H. */
typedef struct {
    float *rows[INFLUENCE_ORDERS]; /* n numbers for each order; NULL: not wanted */
    /* Or rows are only counted, as many as there are here: `width` sums for each order; NULL: not wanted. */
    double *counts[INFLUENCE_ORDERS];
    size_t width;
    void (*count)(size_t n, const float *influence, double *counts);
    row_effects *effects; /* NULL, or to be filled where the reference is the mode or near it */
    /* NULL, or becomes how much steeper than the normal at the mode U is, `spread` times as far out as the normal
     * has its draws: see (5). */
    double *steepness;
    double spread;
    row_reach *reach; /* NULL, or to be filled; for models that know their third derivatives */
} influence_target;

sbps_status influence_measure(const posterior *u, const influence_point *at,
                              const influence_target *to, sbps_error *err);

/* The same on the way of another sum over the rows: created, aimed, and then shown every row, by any number
 * of threads with scratch of their own. */
typedef struct influence_meter influence_meter;

sbps_status influence_create(const posterior *u, const influence_target *to,
                             influence_meter **out, sbps_error *err);
sbps_status influence_set_point(influence_meter *in, const influence_point *at,
                                sbps_error *err);
size_t influence_scratch(const influence_meter *in); /* doubles */
size_t influence_width(const influence_meter *in);   /* of what is summed over rows */
void influence_visit(influence_meter *in, row_range r, double *scratch, double *sum);
void influence_finish(influence_meter *in, const double *sum); /* after the last row */
void influence_destroy(influence_meter *in);

#endif
