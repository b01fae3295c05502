/* The mode of the posterior and the curvature there. */
#ifndef POSTERIOR_MODE_H
#define POSTERIOR_MODE_H

#include "core/status.h"

struct metric;
struct posterior;
struct row_cache;

typedef struct mode {
    double *w; /* dim: the mode */
    /* dim*dim: the Hessian of U there, made positive definite by a ridge where it was not;
     * NULL from mode_find_wide. */
    double *hessian;
    double value;         /* U at the mode */
    double gradient_norm; /* distance to the exact mode in posterior sds: sqrt(g' H^-1 g) */
    double plain_norm;    /* |g| */
    double ridge;         /* added to the diagonal, relative to it; usually 0 */
    /* `hessian` is that of U: without ridge, kink curvature or covariance */
    bool exact_hessian;
    size_t iterations;
    double epochs;      /* passes through the rows by SAG; 0 for other methods */
    const char *method; /* the method that found it */
    /* Why a path in the metric of `hessian` would not cross the posterior; status SBPS_OK:
     * it would. */
    sbps_error unusable;
} mode;

/* How a mode is to be found. */
typedef struct {
    const char *method; /* auto, newton, lbfgs, sag */
    /* lbfgs and sag end at sqrt(g' H^-1 g) <= tolerance; Newton always at 1e-8. */
    double tolerance;
    double max_epochs; /* of sag */
    uint64_t seed;     /* of sag */
    /* Newton: if there is no mode within this many steps, the best point reached takes its
     * place; 0: as many steps as it takes, and a mode is required. */
    size_t max_steps;
} mode_request;

/* Finds the mode of u: Newton with line search where the Hessian is affordable, L-BFGS first
 * where the start is bad. start: dim numbers, or NULL for the default (zeros, log sigma at
 * log sd(y)). The caller destroys *out, which is NULL on failure.
 *
 * Fails with SBPS_NO_MODE and an explanation, for example of a separable table with a flat
 * prior. For a model that may lack a mode within reach, the best point reached takes its
 * place: then `gradient_norm` is large and `ridge` is 1e-3 or more. */
sbps_status mode_find(const struct posterior *u, const double *start, mode **out,
                      sbps_error *err);
/* The same for a reference point, which need not be exact: in a long table, with a cache or if
 * `rough`, it is within about 0.3 posterior sd per coordinate, after less than three passes
 * over the rows. cache: NULL, or filled at the point found; complete unless cache->complete is
 * false. */
sbps_status mode_near(const struct posterior *u, const double *start, struct row_cache *cache,
                      bool rough, mode **out, sbps_error *err);
/* The mode of a subset, the first rows: one in `one_in` of the table or more, with the
 * Hessian scaled to all rows. NULL if the table is short or the subset has no mode. */
mode *mode_of_subset(const struct posterior *u, size_t one_in);
/* Finds the mode by the requested method; the message of a failure names methods that apply. */
sbps_status mode_find_by(const struct posterior *u, const double *start,
                         const mode_request *how, mode **out, sbps_error *err);
/* Uses w as the mode. precision: dim*dim, positive definite, in place of the Hessian; NULL:
 * the Hessian at w. */
sbps_status mode_take(const struct posterior *u, const double *w, const double *precision,
                      mode **out, sbps_error *err);
/* Finds the mode without a Hessian, in the scales of metric a: until |A' grad U| <= goal or
 * no step lowers U. held: dim flags of coordinates that stay fixed, or NULL. */
sbps_status mode_find_wide(const struct posterior *u, const double *start,
                           const struct metric *a, const bool *held, double goal, mode **out,
                           sbps_error *err);
/* Frees m; NULL is fine. */
void mode_destroy(mode *m);

#endif
