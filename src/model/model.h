/* Models: what one row says about w. A predictor model sees batches of the linear predictor
 * eta = x.w (+ offset), of its rate d eta/dt along a flight, and of y; a model may also have one
 * auxiliary coordinate `aux` that is no coefficient (linear: log sigma). It knows nothing of
 * mini-batches, N/n, priors, samplers or files. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/kernels.h"
#include "base/rng.h"
#include "data/rows.h"

typedef struct {
    const kernels *k;
    size_t n;
    const double *eta, *y;
    const double *deta; /* NULL where no slope is asked */
    double aux, daux;   /* the auxiliary coordinate and its rate; 0 without one */
} batch;

/* What the options say about a model's shape; each model reads what concerns it. */
typedef struct {
    const char *hidden;     /* network: sizes of its layers, "4" or "8,8" */
    const char *activation; /* network: tanh, relu */
    const char *head;       /* network: softmax, gaussian */
    const char *covariance; /* gaussian: file with a square matrix, or NULL */
    /* how such a file is read: d * d values, to be freed */
    sbps_status (*read_matrix)(const char *path, size_t *d, double **values, sbps_error *err);
    size_t dim;          /* gaussian: without a file */
    double condition;    /* gaussian: of the covariance without a file */
    const char *library; /* a model of the user's own: the file that was named */
} model_shape;

/* A general model is given w itself. `self` is what open made; calls do not allocate. Row weights
 * are the caller's: `factor` multiplies each row's contribution. */
typedef struct general_model {
    bool rowless;     /* a density given in closed form: no table, one pseudo-row */
    bool no_columns;  /* rows hold a target only; other columns are passed over */
    bool no_target;   /* rows hold columns only, and no intercept */
    bool any_storage; /* asks for products of rows alone; else it reads rows of doubles */
    /* w is a vector of weights for each of its outputs, one weight a column, one vector after another */
    bool weights_by_column;
    bool quadratic; /* log p of every row is quadratic in w; then hessian_vector is given */
    sbps_status (*open)(const rows *data, const model_shape *shape, void **self,
                        sbps_error *err);
    void (*close)(void *self); /* NULL self is fine */
    size_t (*dim)(const void *self);
    void (*name)(const void *self, size_t j, size_t size, char *text);
    /* Default prior of coordinate j: normal(0, this); INFINITY: flat. */
    double (*prior_sd)(const void *self, size_t j);
    /* Optional: is coordinate j an intercept, which --prior-intercept is for? NULL: none is. */
    bool (*intercept)(const void *self, size_t j);
    /* Doubles of scratch that a call on n rows needs. */
    size_t (*scratch)(const void *self, size_t n);
    /* log p per row at w */
    void (*loglik)(const void *self, row_range r, const double *w, double *scratch,
                   double *out);
    /* d/dt log p per row at w along u */
    void (*slope)(const void *self, row_range r, const double *w, const double *u,
                  double *scratch, double *out);
    /* out += sum_i factor_i grad log p_i */
    void (*gradient)(const void *self, row_range r, const double *w, const double *factor,
                     double *scratch, double *out);
    /* Optional: out += sum_i factor_i Hess log p_i v. NULL: differences of the gradient. */
    void (*hessian_vector)(const void *self, row_range r, const double *w, const double *v,
                           const double *factor, double *scratch, double *out);
    /* Why a flat prior leaves no proper posterior, whatever the rows; NULL: it may leave one. */
    const char *needs_prior;
    /* Optional: where the search for the mode begins. NULL: at 0. */
    void (*start)(const void *self, double *w);
    /* Optional: where a chain begins, for posteriors unlike the normal one at their mode. NULL:
     * around the mode, twice as wide as the curvature there says. */
    void (*scatter)(const void *self, size_t chain, rng *random, double *w);
    /* Optional, both or none: columns of a synthetic row for a dimension, and one such row. */
    size_t (*columns)(size_t dim);
    void (*simulate)(rng *r, size_t columns, double *x, double *y);
} general_model;

typedef struct model_kind {
    const char *name;
    const char *summary;
    const char *aux_name; /* NULL: the model has none. Reported as exp(aux). */
    /* NULL: a predictor model, which has the members below. Else they are not called. */
    const general_model *general;
    /* Are these targets possible? Names the row (before the shuffle unknown: the value). */
    sbps_status (*check)(const rows *r, sbps_error *err);
    /* log p(y | eta, aux) per row, every constant included */
    void (*loglik)(const batch *b, double *out);
    /* d/dt log p along the flight, per row */
    void (*slope)(const batch *b, double *out);
    /* d log p / d eta per row; d log p / d aux per row unless d_aux is NULL */
    void (*gradient)(const batch *b, double *d_eta, double *d_aux);
    /* second derivatives per row: eta-eta; eta-aux and aux-aux unless NULL */
    void (*curvature)(const batch *b, double *ee, double *ea, double *aa);
    /* Optional: one y given eta and aux. NULL: cannot be simulated. */
    double (*simulate)(rng *r, double eta, double aux);
    /* Scale of y for default priors: sd(y) for linear, 1 (NULL) otherwise. */
    bool scales_with_target;
    bool log_concave; /* log p of every row is concave in w */
    /* d log p/d eta = y - mean(eta), and no auxiliary: slopes are summed by one kernel. MEAN_OTHER:
     * not so. */
    mean_function mean;
    bool counts; /* y counts events of log rate eta: weights can run off only where y is 0 */
    /* Bounds of |d log p/d eta| and |d^2 log p/d eta^2| over all eta and y; 0: there is none. Exact
     * samplers need them. */
    double slope_bound, curvature_bound;
} model_kind;

extern const model_kind *const model_kinds[]; /* NULL at the end */

const model_kind *model_find(const char *name); /* NULL when unknown */
/* Does --model name a file, a model of the user's own? A name with a slash does. */
bool model_is_file(const char *name);

#endif
