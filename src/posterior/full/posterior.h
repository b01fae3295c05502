/* The posterior as a function of the parameters w on the full data:
 *
 *   U(w) = -log prior(w) - sum_i weight_i log p(y_i | x_i, w).
 *
 * Immutable once its priors are set, so that any number of threads may evaluate it. The mode
 * is found with it, and mini-batches estimate its gradient. */
#ifndef POSTERIOR_POSTERIOR_H
#define POSTERIOR_POSTERIOR_H

#include "model/likelihood/model.h"
#include "model/prior/prior.h"
#include "table/rows.h"

typedef struct posterior {
    const rows *data; /* borrowed */
    const model_kind *model;
    void *self;                        /* state of the model */
    const struct posterior_form *form; /* how sums over rows are computed, see forms.h */
    size_t dim;                        /* number of parameters */
    /* A padded point, the layout that row sums use, has `width` doubles: `columns`
     * coordinates, padding up to the stride of the table, and then the `auxiliaries`
     * auxiliary coordinates. */
    size_t columns, width, auxiliaries;
    prior *priors; /* dim */
    prior
        *reported_priors; /* dim: priors of the reported quantities; NULL: the same as priors */
    model_kind *own;      /* a model made for this posterior alone and freed with it, or NULL */
    coordinate_scale *scale; /* dim */
    /* Number of intercepts (coordinates 0, data->d, 2 data->d, ...) whose prior is on the
     * linear predictor at the column means; 0: none. See log_prior.c. */
    size_t centred;
    mean_function mean; /* mean function of a predictor model, or MEAN_OTHER */
    const kernels *k;
} posterior;

/* True if coordinate j is a centred intercept. */
static inline bool log_prior_centred(const posterior *u, size_t j)
{
    return u->centred && j % u->data->d == 0 && j / u->data->d < u->centred;
}

/* Opens a posterior with flat priors. data is borrowed until posterior_destroy; shape may be
 * NULL for models without one. On failure *out is NULL. */
sbps_status posterior_open(const rows *data, const model_kind *model, const model_shape *shape,
                           posterior **out, sbps_error *err);
/* Copies dim priors into the posterior; SBPS_BAD_ARG where a prior does not suit its
 * coordinate. */
sbps_status posterior_set_priors(posterior *u, const prior *priors, sbps_error *err);
/* Puts the priors of the intercepts on the linear predictor at the column means, where the
 * model has one intercept per set of columns; otherwise does nothing. */
void posterior_centre(posterior *u);
/* posterior_open and posterior_set_priors, for a predictor model. */
sbps_status posterior_create(const rows *data, const model_kind *model, const prior *priors,
                             posterior **out, sbps_error *err);
/* Frees the posterior and its model; NULL is fine. */
void posterior_destroy(posterior *u);
/* True where the slope and curvature of every row are bounded for all w. */
bool posterior_bounded(const posterior *u);
/* The table column whose weight is coordinate j; data->d where there is none. */
size_t posterior_column(const posterior *u, size_t j);
/* The same, also matched by name: models such as ordinal mix column weights with other
 * parameters. */
size_t posterior_named_column(const posterior *u, size_t j);
/* Writes the name of coordinate j into text (size bytes, null-terminated). */
void posterior_name(const posterior *u, size_t j, size_t size, char *text);
/* True where a function of the coordinate is reported instead of coordinate j; fills *out
 * then. */
bool posterior_derived(const posterior *u, size_t j, model_derived *out);
/* Writes the name of the quantity reported for coordinate j. */
void posterior_reported_name(const posterior *u, size_t j, size_t size, char *text);
/* The prior as the user gave it; for a correlation, that of the whole matrix, not the
 * conditional. */
prior posterior_reported_prior(const posterior *u, size_t j);

/* The following calls sum over all rows, in blocks, with scratch of their own. They return
 * SBPS_OK or SBPS_NO_MEM (or the status of an interrupted sum); values may be infinite far
 * from the mode. */

/* *value = U(w) */
sbps_status posterior_value(const posterior *u, const double *w, double *value,
                            sbps_error *err);
/* gradient (dim) = grad U(w); *value = U(w) unless value is NULL */
sbps_status posterior_gradient(const posterior *u, const double *w, double *value,
                               double *gradient, sbps_error *err);
/* hessian (dim*dim, symmetric, row-major) = Hess U(w) */
sbps_status posterior_hessian(const posterior *u, const double *w, double *hessian,
                              sbps_error *err);
/* hv (dim) = Hess U(w) v */
sbps_status posterior_hessian_vector(const posterior *u, const double *w, const double *v,
                                     double *hv, sbps_error *err);

/* Second-order expansion of U at a point; the three arrays belong to the caller. */
typedef struct expansion {
    double *value, *gradient, *hessian; /* 1, dim, dim*dim */
} expansion;

/* A callback that sees every row during such a pass, called from several threads at once. */
typedef struct {
    void *self;
    size_t scratch; /* doubles of scratch per thread */
    size_t width;   /* length of a sum of its own */
    double *total;  /* width: receives that sum */
    /* batch: linear predictors of the rows at w. Adds the rows' contribution to sum. */
    void (*visit)(void *self, row_range r, const batch *b, double *scratch, double *sum);
} row_visitor;

/* True where one pass over the rows gives value, gradient and Hessian together. */
bool posterior_expands(const posterior *u);
/* That pass. visitor: NULL, or called for every row (predictor models only). */
sbps_status posterior_expand(const posterior *u, const double *w, const expansion *out,
                             const row_visitor *visitor, sbps_error *err);

/* ---- linear predictors, of models that depend on w through eta_i = x_i.w + offset_i ---- */

/* A point and, optionally, a direction, padded to the stride of the table. */
typedef struct {
    double *p, *q;            /* point and direction; q is NULL without a direction */
    const double *aux, *daux; /* auxiliary coordinates of both; borrowed from w and v */
} padded_line;

/* Copies w and, unless it is NULL, v. The caller frees line->p. */
sbps_status padded_line_open(padded_line *line, const posterior *u, const double *w,
                             const double *v, sbps_error *err);
/* Fills eta and, with a direction, its rate deta, each run.n long, and returns the batch
 * that refers to them. batch.y points into the table, or is NULL; numbers of consecutive
 * auxiliaries are run.n apart. */
batch predictors_of(const posterior *u, row_range run, const padded_line *line, double *eta,
                    double *deta);
/* values[i] *= weight of row run.first + i */
void predictors_weigh(const posterior *u, row_range run, double *values);

#endif
