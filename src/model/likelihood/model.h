/* Models: what one row says about w. Most see w through the linear predictor eta = x.w (+ offset): they
 * are written for batches of it, of its rate d eta/dt along a flight, and of y, with the auxiliary
 * coordinates `aux` that they list (linear: log sigma). Others are given w itself. None knows
 * of mini-batches, N/n, priors, samplers or files. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "core/coordinate_scale.h"
#include "core/rng.h"
#include "linalg/kernels.h"
#include "table/rows.h"

typedef struct {
    const kernels *k;
    size_t n;
    const double *eta, *y;
    const double *deta; /* NULL where no slope is asked */
    const double *aux,
        *daux;    /* the auxiliary coordinates and their rates, where there are such */
    size_t pitch; /* from what is said about one auxiliary to what is said about the next */
} batch;

/* What the options say about a model's shape; each model reads what concerns it. */
typedef struct {
    const char *hidden;     /* network: sizes of its layers, "4" or "8,8" */
    const char *activation; /* network: tanh, relu */
    const char *head;       /* network: softmax, gaussian */
    const char *covariance; /* gaussian: file with a square matrix, or NULL */
    /* how such a file is read: d * d values, to be freed */
    sbps_status (*read_matrix)(const char *path, size_t *d, double **values, sbps_error *err);
    size_t dim;       /* gaussian: without a file */
    double condition; /* gaussian: of the covariance without a file */
    const char
        *library; /* a model of the user's own: the file that was named, or what it is called */
    const sbps_model_function *function; /* that of the caller; NULL: none */
    struct shrink_shape *shrunk;         /* of model/shrinkage/shrink.h, which takes it */
    bool effects_at_zero; /* groups: priors of their sds and correlations hold at z = 0 */
} model_shape;

/* What a target may be. */
typedef enum {
    SUPPORT_ANY, /* the model checks it itself, or nobody does */
    SUPPORT_NONE,
    SUPPORT_REAL,
    SUPPORT_POSITIVE,
    SUPPORT_BINARY,      /* 0 or 1 */
    SUPPORT_PROPORTIONS, /* of trials, 0 and 1 among them; one trial has no other */
    SUPPORT_UNIT,        /* above 0 and below 1 */
    SUPPORT_COUNTS,      /* 0, 1, 2, ... */
    SUPPORT_CLASSES,     /* likewise, as names */
    SUPPORT_ORDERED      /* whole numbers, as classes in their order */
} target_support;

/* A parameter that is no weight. Coordinates of such are the last of w, in the order of the model's list. */
typedef struct {
    const char *name; /* as it is reported */
    const char
        *option;      /* that gives its prior: there is one for every name that a model lists */
    const char *help; /* of that option; the same wherever the name is listed */
    coordinate_scale
        scale; /* its coordinate: SCALE_LOG where it is positive, SCALE_LOGIT a probability */
    bool of_target;    /* its unit is the sd of the target; else 1 */
    double start;      /* in its unit: where the search begins, and what made-up tables have */
    const char *prior; /* by default, of the parameter in its unit: "exponential(1)" */
    /* Where the columns predict the target perfectly the parameter goes as this power of the residuals:
     * 1 for their sd, -2 for a precision. 0: it stays where it is. Of SCALE_LOG alone. */
    double perfect_fit;
} model_auxiliary;

/* Help of auxiliaries that several models have. */
#define SIGMA_HELP                                                                             \
    "Prior of the residual standard deviation; student_t: of the residuals' scale. auto: "     \
    "exponential(1/sd(y))."
#define PHI_HELP                                                                               \
    "negative_binomial, beta: prior of phi, larger where y spreads less. auto: "               \
    "gamma(0.01,0.01)."
/* A coordinate that is neither a weight nor an auxiliary: such follow the weights. */
typedef struct {
    coordinate_scale scale;
    const char *option; /* that gives its prior; NULL: none does */
    const char *prior;  /* by default, of the parameter in its unit */
    double unit;
    double deeper; /* added to the eta of lkj: of correlations given others */
} model_coordinate;

/* What is reported in the place of a coordinate: a function of several. */
typedef struct {
    bool effect; /* of a level: told where --ranef asks for such, else not at all */
    size_t
        alike; /* a coordinate whose parameter has the same prior, itself where the prior is known; SIZE_MAX: none is known */
    bool at_means; /* the prior is that of the predictor at the means of the columns */
    bool
        watched; /* chains watch the coordinate, not the function of it, which may have no moments */
} model_derived;

#define AUXILIARY(word)   .name = word, .option = "prior-" word
#define AUXILIARIES(list) .auxiliaries = list, .auxiliary_count = sizeof list / sizeof *list

/* A model that sees w through the linear predictor alone. */
typedef struct predictor {
    /* Are these targets possible? Names the row (before the shuffle unknown: the value). */
    sbps_status (*check)(const rows *r, sbps_error *err);
    /* log p(y | eta, aux) per row, every constant included */
    void (*loglik)(const batch *b, double *out);
    /* d/dt log p along the flight, per row */
    void (*slope)(const batch *b, double *out);
    /* d log p / d eta per row; d log p / d aux per row, for one auxiliary after another, unless d_aux is NULL */
    void (*gradient)(const batch *b, double *d_eta, double *d_aux);
    /* second derivatives per row: eta-eta; for one auxiliary after another eta-aux, and aux-aux packed as
     * packed_index has it, unless NULL */
    void (*curvature)(const batch *b, double *ee, double *ea, double *aa);
    /* Optional: one y given eta and aux. NULL: cannot be simulated. */
    double (*simulate)(rng *r, double eta, const double *aux);
    /* The mean of y; of shares that of one trial. */
    double (*expected)(double eta, const double *aux);
    /* d log p/d eta = y - mean(eta), and no auxiliary: slopes are summed by one kernel. MEAN_OTHER:
     * not so. */
    mean_function mean;
    bool small_weights; /* those of made-up tables: where eta is the log of the mean */
    double cost; /* of a row's log likelihood and gradient, beside those of linear; 0: 1 */
    /* Bounds of |d log p/d eta| and |d^2 log p/d eta^2| over all eta and y; 0: there is none. Exact
     * samplers need them. */
    double slope_bound, curvature_bound;
    /* Optional, both or none: d^3 log p/d eta^3, the same for every y; and a bound of its size from eta -
     * reach to eta + reach, which may be infinite, as may be the bound. */
    double (*third)(double eta);
    double (*third_bound)(double eta, double reach);
} predictor;

/* `self` is what open made; calls do not allocate. Row weights are the caller's: `factor` multiplies
 * each row's contribution. */
typedef struct model_kind {
    const char *name;
    const char *summary;
    const struct model_kind
        *row_model; /* of groups: what their rows say; NULL: these are rows */
    target_support support;
    /* Optional: the same where the shape decides it. */
    target_support (*support_of)(const model_shape *shape);
    const model_auxiliary *auxiliaries; /* see AUXILIARIES; none: 0 of them */
    size_t auxiliary_count;
    bool rowless;     /* a density given in closed form: no table, one pseudo-row */
    bool no_columns;  /* rows hold a target only; other columns are passed over */
    bool any_storage; /* asks for products of rows alone; else it reads rows of doubles */
    /* w is a vector of weights for each of its outputs, one weight a column, one vector after another */
    bool weights_by_column;
    bool quadratic;   /* log p of every row is quadratic in w; then hessian_vector is given */
    bool log_concave; /* log p of every row is concave in w */
    bool scales_with_target; /* w has the scale of the target: sd(y), and 1 for others */
    bool regression; /* w is seen through a linear predictor, to which an offset may be added */
    bool bounded_above; /* log p of a row has an upper bound: no density grows for ever */
    bool uneven; /* its surface may have no mode within reach: the best point found will do */
    double
        grain; /* nats: its values and slopes agree no further, integrals being sums; 0: to rounding */
    const char
        *needs_prior; /* why a flat prior leaves no proper posterior, whatever the rows; NULL:
                                it may leave one */
    /* NULL, or the model is a predictor's: see PREDICTOR_MODEL, and the calls with rows are not given. */
    const predictor *predictor;

    sbps_status (*open)(const struct model_kind *kind, const rows *data,
                        const model_shape *shape, void **self, sbps_error *err);
    void (*close)(void *self); /* NULL self is fine */
    size_t (*dim)(const void *self);
    void (*name_of)(const void *self, size_t j, size_t size, char *text);
    /* Default prior of a coordinate that is no auxiliary: normal around its mean (NULL: 0) with this sd;
     * INFINITY: flat. */
    double (*prior_sd)(const void *self, size_t j);
    double (*prior_mean)(const void *self, size_t j);
    /* Of models with auxiliaries: the unit of each. */
    double (*auxiliary_unit)(const void *self, size_t index);
    /* Optional: is coordinate j such a one? Then it is described. NULL: none is. */
    bool (*coordinate)(const void *self, size_t j, model_coordinate *out);
    /* Optional, all three or none: is something else reported in the place of coordinate j? Then it is described, and
     * has a name. NULL: nothing ever is. */
    bool (*derived)(const void *self, size_t j, model_derived *out);
    void (*derived_name)(const void *self, size_t j, size_t size, char *text);
    /* Its value at w, for `count` coordinates from `first` on; those that are reported themselves are left alone. */
    void (*derive)(const void *self, const double *w, size_t first, size_t count, double *out);
    /* Optional, both or none: what is added to the log of the priors of coordinates, where they are not independent, and
     * out += factor times its gradient. */
    double (*prior_value)(const void *self, const double *w);
    void (*prior_gradient)(const void *self, const double *w, double factor, double *out);
    /* Optional: is coordinate j an intercept, which --prior-intercept is for? NULL: none is. */
    bool (*intercept)(const void *self, size_t j);
    /* Optional: where the search for the mode begins. NULL: at 0. */
    void (*start)(const void *self, double *w);
    /* Optional: where a chain begins, for posteriors unlike the normal one at their mode. NULL:
     * around the mode, twice as wide as the curvature there says. */
    void (*scatter)(const void *self, size_t chain, rng *random, double *w);

    /* Optional, all or none: rows are evaluated at another point than w, a function of w with as many numbers; what
     * follows is evaluated there, without slopes and Hessians. lead: the point, and the log density beside rows and
     * priors. back: from the gradient of U by that point to that by w, with what is beside rows and priors; `at` is as
     * lead has left it. transform_scratch: numbers behind the point, in `at`, that lead leaves for back. */
    double (*transform)(const void *self, const double *w, double *at);
    void (*pullback)(const void *self, const double *w, double *at, double *gradient);
    size_t (*transform_scratch)(const void *self);

    /* ---- with rows, given w itself ---- */

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
    /* Optional: all of them at once, times factor_i and summed: log p, its gradient, the lower triangle of its
     * Hessian, dim*dim. */
    void (*expand)(const void *self, row_range r, const double *w, const double *factor,
                   double *scratch, double *value, double *gradient, double *hessian);
    /* Optional: what a row's slope costs, in numbers multiplied. NULL: dim. */
    double (*work)(const void *self);
    /* Optional: out += sum_i factor_i Hess log p_i v. NULL: differences of the gradient. */
    void (*hessian_vector)(const void *self, row_range r, const double *w, const double *v,
                           const double *factor, double *scratch, double *out);

    /* Optional: why it can say nothing any more, of one that may fail on the way; NULL: it can. What it
     * has said since is not a number. */
    const char *(*failure)(const void *self);

    /* ---- made-up tables ---- */

    /* Optional, both or none: columns of a synthetic row for a dimension, and one such row. */
    size_t (*columns)(size_t dim);
    void (*simulate)(rng *r, size_t columns, double *x, double *y);
} model_kind;

/* What every predictor's model has in common: one weight a column of the table, and its auxiliaries. */
#define PREDICTOR_MODEL(of)                                                                    \
    .predictor = &(of), .regression = true, .any_storage = true, .weights_by_column = true,    \
    .open = predictor_open, .close = predictor_close, .dim = predictor_dim,                    \
    .name_of = predictor_name, .prior_sd = predictor_prior_sd,                                 \
    .prior_mean = predictor_prior_mean, .auxiliary_unit = predictor_auxiliary_unit,            \
    .intercept = predictor_intercept
sbps_status predictor_open(const model_kind *kind, const rows *data, const model_shape *shape,
                           void **self, sbps_error *err);
void predictor_close(void *self);
size_t predictor_dim(const void *self);
void predictor_name(const void *self, size_t j, size_t size, char *text);
double predictor_prior_sd(const void *self, size_t j);
double predictor_prior_mean(const void *self, size_t j);
double predictor_auxiliary_unit(const void *self, size_t index);
double predictor_scale(const void *self); /* of eta: sd(y) where it has that, else 1 */
bool predictor_intercept(const void *self, size_t j);

target_support model_support(const model_kind *kind, const model_shape *shape);
/* Can its tables be made up? Then one has so many columns, and a row of it is x and, given weights w and after
 * them the auxiliary coordinates (only regressions ask for them), y. */
bool model_simulates(const model_kind *kind);
size_t model_columns(const model_kind *kind, size_t dim);
double model_reach(const model_kind *kind, size_t dim); /* half-width of the weights' law */
void model_simulate(const model_kind *kind, rng *r, size_t columns, const double *w, double *x,
                    double *y);
/* One over the last place of x, as it is written: y is drawn at those numbers. */
#define MODEL_DECIMALS 1e6

extern const model_kind *const model_kinds[]; /* NULL at the end */

#define MODEL_AUXILIARIES_MAX 16 /* different names */

/* The auxiliaries of all models listed, each name once; returns how many there are. */
size_t model_auxiliary_list(const model_auxiliary *out[MODEL_AUXILIARIES_MAX]);

const model_kind *model_find(const char *name); /* NULL when unknown */
/* Why it can say nothing any more, NULL where it can. */
const char *model_failure(const model_kind *kind, const void *self);
/* Does --model name a file, a model of the user's own? A name with a slash does. */
bool model_is_file(const char *name);

#endif
