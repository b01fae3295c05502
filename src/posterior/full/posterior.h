/* The posterior as a function of w on the full data: U(w) = -log prior - sum log p. Immutable;
 * what the mode is found with and what the potentials look at through noise. */
#ifndef POSTERIOR_POSTERIOR_H
#define POSTERIOR_POSTERIOR_H

#include "model/likelihood/model.h"
#include "model/prior/prior.h"
#include "table/rows.h"

typedef struct {
    const rows *data;
    const model_kind *model;
    void *self;                        /* of the model */
    const struct posterior_form *form; /* how its sums are made, see forms.h */
    size_t dim;
    /* A point as the rows want it has `width` doubles: `columns` coordinates, padding, and last the
     * auxiliaries, so many. */
    size_t columns, width, auxiliaries;
    prior *priors;           /* dim */
    prior *reported_priors;  /* dim: as they were stated of what is reported; NULL: the same */
    model_kind *own;         /* freed with it: a model made for it alone; NULL: none */
    coordinate_scale *scale; /* dim */
    /* Intercepts whose prior is of the predictor at the means of the columns: coordinates 0, data->d,
     * 2 data->d, ..., so many; 0: none. See log_prior.c. */
    size_t centred;
    mean_function mean; /* of a predictor; MEAN_OTHER: there is none */
    const kernels *k;
} posterior;

/* Every prior flat until it is set; data is borrowed. shape may be NULL where the model has none. */
sbps_status posterior_open(const rows *data, const model_kind *model, const model_shape *shape,
                           posterior **out, sbps_error *err);
/* Copies dim priors. */
sbps_status posterior_set_priors(posterior *u, const prior *priors, sbps_error *err);
/* The priors of its intercepts are of the predictor at the means of the columns from now on, where
 * the model has intercepts of columns. */
void posterior_centre(posterior *u);
/* Both, for a predictor model. */
sbps_status posterior_create(const rows *data, const model_kind *model, const prior *priors,
                             posterior **out, sbps_error *err);
void posterior_destroy(posterior *u);
/* Has every row's slope and curvature a bound? */
bool posterior_bounded(const posterior *u);
/* The column of the table that coordinate j is the weight of; data->d: of none. */
size_t posterior_column(const posterior *u, size_t j);
/* The same, also of models whose weights have the names of columns among other parameters, such as ordinal. */
size_t posterior_named_column(const posterior *u, size_t j);
/* Name of a coordinate. */
void posterior_name(const posterior *u, size_t j, size_t size, char *text);
/* Is something else reported in its place? */
bool posterior_derived(const posterior *u, size_t j, model_derived *out);
/* Name of what is reported in its place, or of itself. */
void posterior_reported_name(const posterior *u, size_t j, size_t size, char *text);
/* Prior as it was asked for: of correlations that of all of them, not of each given others. */
prior posterior_reported_prior(const posterior *u, size_t j);

/* Full-data calls allocate their scratch and stream the rows in blocks. They return SBPS_NO_MEM
 * or SBPS_OK; values may be infinite where w is absurd. */
sbps_status posterior_value(const posterior *u, const double *w, double *value,
                            sbps_error *err);
sbps_status posterior_gradient(const posterior *u, const double *w, double *value,
                               double *gradient, sbps_error *err);
/* d*d, symmetric, row-major. */
sbps_status posterior_hessian(const posterior *u, const double *w, double *hessian,
                              sbps_error *err);
/* All three, where that takes one pass over the rows: see posterior_expands. */
typedef struct {
    double *value, *gradient, *hessian; /* 1, dim, dim*dim */
} expansion;

/* Somebody who looks at every row on the way of such a pass; by several threads. */
typedef struct {
    void *self;
    size_t scratch; /* doubles that it needs, a thread */
    size_t width;   /* numbers of a sum of its own */
    double *total;  /* where that goes */
    /* batch: the rows' predictors at w; sum += what they say */
    void (*see)(void *self, row_range r, const batch *b, double *scratch, double *sum);
} row_visitor;

bool posterior_expands(const posterior *u);
/* beside: NULL, or who comes along; of predictor models alone. */
sbps_status posterior_expand(const posterior *u, const double *w, const expansion *out,
                             const row_visitor *beside, sbps_error *err);
sbps_status posterior_hessian_vector(const posterior *u, const double *w, const double *v,
                                     double *hv, sbps_error *err);

#endif
