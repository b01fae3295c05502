/* Models: the log-likelihood of one row as a function of the coordinates w, and its
 * derivatives.
 *
 * Most models see w through a linear predictor only,
 *
 *   eta_i = x_i.w + offset_i,   log p(y_i | eta_i, aux)                                  (1)
 *
 * with a few further parameters `aux` (linear: log sigma). Such a model is a `predictor`: it is
 * written for batches of eta, of the rate d eta/dt along a path segment, and of y. All others
 * are given w itself. A model knows nothing of mini-batches, priors, samplers or files.
 *
 * Each model has a file of its name. What several have in common: predictor.c (members of
 * models of form (1)), targets.c (checks of y), layers.c (networks and softmax), and
 * agreement.c (the check of a user's own model, plugin.c or function.c). */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "core/coordinate_scale.h"
#include "core/rng.h"
#include "linalg/kernels.h"
#include "table/rows.h"

/* Rows as a predictor sees them: n of them, one number a row in each array. Borrowed. */
typedef struct {
    const kernels *k;
    size_t n;
    const double *eta, *y;
    const double *deta; /* d eta/dt; NULL unless slopes are requested */
    /* The auxiliary coordinates and their rates, auxiliary_count numbers each. daux is NULL
     * unless slopes are requested; both are unused by a model without auxiliaries. */
    const double *aux, *daux;
    /* Outputs for several auxiliaries are stored one auxiliary after another: this is the
     * distance in doubles from the outputs for one to those for the next, at least n. */
    size_t pitch;
} batch;

/* Options that decide the shape of a model. Every model reads the members that concern it and
 * ignores the rest; strings are NULL where the option was not given. */
typedef struct {
    const char *hidden;     /* network: sizes of its hidden layers, "4" or "8,8" */
    const char *activation; /* network: tanh, relu */
    const char *head;       /* network: softmax, gaussian */
    const char *covariance; /* gaussian: file with a square matrix, or NULL */
    /* gaussian: reads such a file. *values receives d * d numbers, which the caller frees. */
    sbps_status (*read_matrix)(const char *path, size_t *d, double **values, sbps_error *err);
    size_t dim;          /* gaussian: dimension, where there is no file */
    double condition;    /* gaussian: condition number, where there is no file; >= 1 */
    const char *library; /* plugin: path of the shared object; function: its label */
    const sbps_model_function *function; /* function: the caller's; NULL: none was given */
    /* A regression with shrunk weights (model/shrinkage/shrink.h): its open takes ownership. */
    struct shrink_shape *shrunk;
    /* Groups: priors of sds and correlations refer to effects at z = 0, not at column means. */
    bool effects_at_zero;
} model_shape;

/* The values that a target may have. */
typedef enum {
    SUPPORT_ANY,         /* no rule: the model checks the target itself, or accepts any */
    SUPPORT_NONE,        /* there is no target */
    SUPPORT_REAL,        /* finite numbers */
    SUPPORT_POSITIVE,    /* above 0 */
    SUPPORT_BINARY,      /* 0 or 1 */
    SUPPORT_PROPORTIONS, /* successes over trials, 0 to 1; one trial: 0 or 1 */
    SUPPORT_UNIT,        /* above 0 and below 1 */
    SUPPORT_COUNTS,      /* 0, 1, 2, ... */
    SUPPORT_CLASSES,     /* 0, 1, 2, ... as names of classes */
    SUPPORT_ORDERED      /* whole numbers as classes in their order */
} target_support;

/* A parameter that is not a weight (sigma, a shape). Its coordinates are the last ones of w, in
 * the order of the model's list. Members before `of_target` are required. */
typedef struct {
    const char *name;       /* as reported */
    const char *option;     /* sets its prior; every listed name has its own option */
    const char *help;       /* of that option; the same wherever the name is listed */
    coordinate_scale scale; /* SCALE_LOG: positive; SCALE_LOGIT: a probability */
    bool of_target;         /* its unit is the sd of the target; else 1 */
    /* In its unit: where the search for the mode begins, and the value in simulated tables. */
    double start;
    const char *prior; /* the default, of the parameter in its unit: "exponential(1)" */
    /* Where the columns predict the target perfectly the parameter is proportional to this
     * power of the residuals: 1 for their sd, -2 for a precision, 0 if it does not move. Only
     * for SCALE_LOG. */
    double perfect_fit;
} model_auxiliary;

/* Help of auxiliaries that several models have. */
#define SIGMA_HELP                                                                             \
    "Prior of the residual standard deviation; student_t: of the residuals' scale. auto: "     \
    "exponential(1/sd(y))."
#define PHI_HELP                                                                               \
    "negative_binomial, beta: prior of phi, larger where y spreads less. auto: "               \
    "gamma(0.01,0.01)."

/* A coordinate that is neither a weight nor an auxiliary. Such coordinates follow the
 * weights. */
typedef struct {
    coordinate_scale scale;
    const char *option; /* sets its prior; NULL: its prior cannot be chosen */
    const char *prior;  /* the default, of the parameter in its unit */
    double unit;        /* of the parameter; > 0 */
    double deeper;      /* added to the eta of an lkj prior: for partial correlations */
} model_coordinate;

/* A quantity that is reported in place of a coordinate: a function of several coordinates. */
typedef struct {
    bool effect; /* an effect of one level: reported only if --ranef requests it */
    /* A coordinate whose parameter has the same prior (itself, if its prior is the one wanted);
     * SIZE_MAX: the prior of the quantity is not known in closed form. */
    size_t alike;
    bool at_means; /* the stated prior is that of the predictor at the column means */
    /* Convergence is judged by the coordinate, since the quantity may have no moments. */
    bool watched;
} model_derived;

/* Initialisers: of `model_auxiliary` (name and option), and of `model_kind` (the list). */
#define AUXILIARY(word)   .name = word, .option = "prior-" word
#define AUXILIARIES(list) .auxiliaries = list, .auxiliary_count = sizeof list / sizeof *list

/* A model of form (1). Outputs have one number a row; second derivatives by auxiliaries a and b
 * are at packed_index(a, b) * pitch. */
typedef struct predictor {
    /* ---- required ---- */

    /* Fails if a target is impossible, with a message that names target and value. */
    sbps_status (*check)(const rows *r, sbps_error *err);
    /* out = log p(y | eta, aux), every constant included. */
    void (*loglik)(const batch *b, double *out);
    /* out = d/dt log p along (deta, daux). */
    void (*slope)(const batch *b, double *out);
    /* d_eta = d log p/d eta; d_aux = d log p/d aux, one auxiliary after another, unless
     * NULL. */
    void (*gradient)(const batch *b, double *d_eta, double *d_aux);
    /* Second derivatives: ee by eta twice; unless NULL: ea by eta and each auxiliary, aa by
     * pairs of auxiliaries. */
    void (*curvature)(const batch *b, double *ee, double *ea, double *aa);
    /* The mean of y given eta and aux; for proportions that of one trial. */
    double (*expected)(double eta, const double *aux);

    /* ---- optional: 0 or NULL where it does not apply ---- */

    /* Draws one y given eta and aux. NULL: the model cannot be simulated. */
    double (*simulate)(rng *r, double eta, const double *aux);
    /* A model without auxiliaries whose d log p/d eta is y - mean(eta): slopes are then summed
     * by one kernel. MEAN_OTHER (0): not of this form. */
    mean_function mean;
    /* Simulated tables have smaller weights, since eta is the log or logit of the mean. */
    bool small_weights;
    /* Time of a row's log-likelihood and gradient, relative to the linear model; 0 means 1. */
    double cost;
    /* Bounds of |d log p/d eta| and |d^2 log p/d eta^2| over all eta and y, which exact
     * samplers need; 0: there is no bound. */
    double slope_bound, curvature_bound;
    /* Both or none: d^3 log p/d eta^3, which must not depend on y; and a bound of its size from
     * eta - reach to eta + reach. Reach and bound may be infinite. */
    double (*third)(double eta);
    double (*third_bound)(double eta, double reach);
} predictor;

/* What is true of a model's log-likelihood, whatever the rows. */
typedef struct {
    bool no_rows;     /* a density in closed form: no table, one pseudo-row */
    bool no_columns;  /* rows hold a target only; other columns are ignored */
    bool any_storage; /* uses products with rows only; else it needs rows stored as doubles */
    /* w is one vector of weights, with a weight for each column, per output of the model. */
    bool weights_by_column;
    bool reference_class;    /* class 0 has no weights: its linear predictor is 0 */
    bool quadratic;          /* log p of every row is quadratic in w; needs hessian_vector */
    bool log_concave;        /* log p of every row is concave in w */
    bool scales_with_target; /* w has the scale of the target: sd(y); else 1 */
    bool regression;         /* has a linear predictor, to which an offset can be added */
    bool bounded_above;      /* log p of a row has an upper bound */
    /* There may be no mode within reach: the best point found is accepted as the start. */
    bool mode_optional;
    /* Values and slopes are integrals by quadrature and agree only to this many log units.
     * 0: to rounding. */
    double value_error;
    /* Why a flat prior never gives a proper posterior, for the error message. NULL: it may. */
    const char *needs_prior;
} model_facts;

/* The coordinates of a model. All required unless marked. */
typedef struct {
    size_t (*dim)(const void *self);
    /* The name of coordinate j, into text of `size` bytes. */
    void (*name)(const void *self, size_t j, size_t size, char *text);
    /* Default prior of a coordinate that is not an auxiliary: normal with this sd (INFINITY:
     * flat) around prior_mean (optional; NULL: 0). */
    double (*prior_sd)(const void *self, size_t j);
    double (*prior_mean)(const void *self, size_t j);
    /* Unit of an auxiliary; required of models that list auxiliaries. */
    double (*auxiliary_unit)(const void *self, size_t index);
    /* Optional: true if coordinate j is neither weight nor auxiliary, which it then describes in
     * *out. NULL: there are none. */
    bool (*coordinate)(const void *self, size_t j, model_coordinate *out);
    /* Optional: is coordinate j an intercept, to which --prior-intercept applies? NULL: none. */
    bool (*intercept)(const void *self, size_t j);
    /* Optional: where the search for the mode begins. NULL: at 0. */
    void (*start)(const void *self, double *w);
    /* Optional: where a chain begins, for posteriors unlike the normal density at their mode.
     * NULL: around the mode, with twice the sds of that normal density. */
    void (*scatter)(const void *self, size_t chain, rng *random, double *w);
    /* Optional, both or none: added to the sum of the log priors of the coordinates, where these
     * are not independent (NULL: they are); and out += factor times its gradient. */
    double (*joint_prior)(const void *self, const double *w);
    void (*joint_prior_gradient)(const void *self, const double *w, double factor, double *out);
    /* Optional: turns w, whose coordinates were drawn from their own priors one by one, into a
     * draw from the joint prior. alike: all intercepts have the same prior. False: w is not in
     * the support and has to be drawn anew. NULL: the coordinates are independent. */
    bool (*join_prior_draw)(const void *self, bool alike, double *w);
} model_parameters;

/* Quantities that are reported in place of coordinates. Optional, all three or none. */
typedef struct {
    /* True if another quantity, described in *out, is reported in place of coordinate j.
     * NULL: never. */
    bool (*describe)(const void *self, size_t j, model_derived *out);
    void (*name)(const void *self, size_t j, size_t size, char *text);
    /* Their values at w for `count` coordinates from `first` on. Entries of coordinates that are
     * reported themselves are left unchanged. */
    void (*values)(const void *self, const double *w, size_t first, size_t count, double *out);
} model_reported;

/* Rows are evaluated at T(w), with as many numbers as w, instead of w. Optional, all three or
 * none. Slopes and Hessians of rows are then not used. */
typedef struct {
    /* at = T(w); returns the part of the log density that is in neither rows nor priors.
     * NULL: T(w) = w. */
    double (*apply)(const void *self, const double *w, double *at);
    /* Turns the gradient of U = -log density by T(w) into that by w, with the part that apply
     * returned; `at` is what apply left. */
    void (*pullback)(const void *self, const double *w, double *at, double *gradient);
    /* Numbers that `at` has behind T(w), which apply leaves for pullback. */
    size_t (*scratch)(const void *self);
} model_transformation;

/* The log-likelihood of rows, given w. Required unless `predictor` is given; members from
 * `expand` on are optional. */
typedef struct {
    /* Doubles of scratch that a call on n rows needs. */
    size_t (*scratch)(const void *self, size_t n);
    /* out = log p per row at w */
    void (*loglik)(const void *self, row_range r, const double *w, double *scratch,
                   double *out);
    /* out = d/dt log p per row at w along u */
    void (*slope)(const void *self, row_range r, const double *w, const double *u,
                  double *scratch, double *out);
    /* out += sum_i factor_i grad log p_i */
    void (*gradient)(const void *self, row_range r, const double *w, const double *factor,
                     double *scratch, double *out);
    /* Adds the sums over rows, times factor_i, of log p, its gradient, and the lower triangle
     * (dim * dim) of its Hessian. NULL: the Hessian is taken from hessian_vector. */
    void (*expand)(const void *self, row_range r, const double *w, const double *factor,
                   double *scratch, double *value, double *gradient, double *hessian);
    /* out += sum_i factor_i Hess log p_i v. NULL: differences of the gradient. */
    void (*hessian_vector)(const void *self, row_range r, const double *w, const double *v,
                           const double *factor, double *scratch, double *out);
    /* Cost of a row's slope in multiplications. NULL: dim. */
    double (*cost)(const void *self);
    /* The reason why rows can no longer be evaluated, or NULL; results since then are NAN.
     * NULL member: evaluation never fails. */
    const char *(*failure)(const void *self);
} model_rows;

/* Simulated tables. Optional, both or none: NULL: cannot be simulated. Predictors have their
 * own function. */
typedef struct {
    /* Columns of a simulated row for a dimension. */
    size_t (*columns)(size_t dim);
    /* Draws one such row. */
    void (*row)(rng *r, size_t columns, double *x, double *y);
} model_simulation;

/* A model. `self` is the instance that open makes; every other call borrows it, does not change
 * it and does not allocate, so that threads may call at once. Weights of rows are the caller's:
 * `factor` multiplies each row's contribution. */
typedef struct model_kind {
    const char *name;    /* required: as --model has it */
    const char *summary; /* required: one sentence */
    /* Models of groups: the model of one row within a group. NULL: rows are rows. */
    const struct model_kind *row_model;
    /* Models of form (1), see PREDICTOR_MODEL, which then need no `rows`. NULL: others. */
    const predictor *predictor;
    target_support support;
    /* Optional: support where the shape decides it. NULL: `support` is right. */
    target_support (*support_of)(const model_shape *shape);
    const model_auxiliary *auxiliaries; /* see AUXILIARIES; NULL with a count of 0: none */
    size_t auxiliary_count;
    model_facts facts;

    /* Required. Makes *self for these rows, which stay the caller's and must outlive it; NULL on
     * failure. */
    sbps_status (*open)(const struct model_kind *kind, const rows *data,
                        const model_shape *shape, void **self, sbps_error *err);
    void (*close)(void *self); /* required; NULL self is fine */

    model_parameters parameters;
    model_reported reported;
    model_transformation transformation;
    model_rows rows;
    model_simulation simulated;
} model_kind;

/* ---- models of form (1): members that they have in common, defined in predictor.c ---- */

/* One weight for each column of the table, then the auxiliaries. */
#define PREDICTOR_MODEL(of)                                                                    \
    .predictor = &(of), .facts.regression = true, .facts.any_storage = true,                   \
    .facts.weights_by_column = true, .open = predictor_open, .close = predictor_close,         \
    .parameters = {.dim = predictor_dim,                                                       \
                   .name = predictor_name,                                                     \
                   .prior_sd = predictor_prior_sd,                                             \
                   .prior_mean = predictor_prior_mean,                                         \
                   .auxiliary_unit = predictor_auxiliary_unit,                                 \
                   .intercept = predictor_intercept}
/* Checks the target, unless rows are generated. Takes mean and sd of the target if the model
 * scales with it. */
sbps_status predictor_open(const model_kind *kind, const rows *data, const model_shape *shape,
                           void **self, sbps_error *err);
/* NULL is fine. */
void predictor_close(void *self);
/* Columns and auxiliaries. */
size_t predictor_dim(const void *self);
/* The name of the column or of the auxiliary. */
void predictor_name(const void *self, size_t j, size_t size, char *text);
/* Default prior of a weight: 2.5 scale/sd of its column; of the intercept 10 scale, with the
 * scale of predictor_scale. */
double predictor_prior_sd(const void *self, size_t j);
/* Mean of y for the intercept of a model that scales with the target, else 0. */
double predictor_prior_mean(const void *self, size_t j);
/* predictor_scale for an auxiliary that is `of_target`, else 1. */
double predictor_auxiliary_unit(const void *self, size_t index);
/* Is j the column of ones? */
bool predictor_intercept(const void *self, size_t j);

/* The scale of eta: sd(y) if the model scales with the target, else 1. */
double predictor_scale(const void *self);

/* ---- densities without a table ---- */

/* name_of: w1, w2, ... */
void density_name(const void *self, size_t j, size_t size, char *text);
/* prior_sd: INFINITY, no prior. */
double density_flat(const void *self, size_t j);

/* ---- any model ---- */

/* The values that a target may have, by the shape where it matters. */
target_support model_support(const model_kind *kind, const model_shape *shape);
/* The reason why rows can no longer be evaluated; NULL: they can. self may be NULL. */
const char *model_failure(const model_kind *kind, const void *self);

/* Can tables be simulated from the model? */
bool model_simulates(const model_kind *kind);
/* The number of columns of a simulated table for a dimension. */
size_t model_columns(const model_kind *kind, size_t dim);
/* Half the width of the interval that a simulated table's weights are drawn from. */
double model_reach(const model_kind *kind, size_t dim);
/* Draws one row: x, and y given the weights w and behind them the auxiliary coordinates. Only
 * regressions read w. */
void model_simulate(const model_kind *kind, rng *r, size_t columns, const double *w, double *x,
                    double *y);
/* Simulated columns are rounded to multiples of 1/MODEL_DECIMALS, as they are written to files,
 * and y is drawn at the rounded numbers. */
#define MODEL_DECIMALS 1e6

extern const model_kind *const model_kinds[]; /* NULL at the end */

#define MODEL_AUXILIARIES_MAX 16 /* different names over all models */

/* The auxiliaries of all listed models, each name once; returns their number. */
size_t model_auxiliary_list(const model_auxiliary *out[MODEL_AUXILIARIES_MAX]);

/* The model that --model names; a name with a slash is model_plugin. NULL: unknown. */
const model_kind *model_find(const char *name);

#endif
