/* The mode of models with groups: recentred effects, polynomial approximations, quadrature, and
 * a matrix-free search for models that sample all effects. */
#ifndef INFERENCE_GROUP_MODE_H
#define INFERENCE_GROUP_MODE_H

#include "inference/run/run.h"

/* Recentres the effects of crossed factors at the starting point of the search, which would be
 * long otherwise. Refuses a start from a file. Does nothing for other models. */
sbps_status groups_ready(const posterior *u, bool has_start, sbps_error *err);
/* Finds the mode as mode_find_by. With crossed factors a failed search is repeated with
 * recentring on the way. *out is the caller's. */
sbps_status groups_find(const posterior *u, const double *start, const mode_request *how,
                        mode **out, sbps_error *err);
/* Finds the mode with the initial quadrature rule. rough: with many groups, a point near it. *out
 * is the caller's. */
sbps_status groups_near(const posterior *u, const double *start, bool rough, mode **out,
                        sbps_error *err);
/* Chooses the quadrature rule at the mode, and finds the mode again with it unless how->method
 * is NULL. rough: with many groups, a point near the mode, and a corrected rule. Does nothing
 * without groups. *optimum is NULL after a failed search. */
sbps_status groups_choose_nodes(const posterior *u, const mode_request *how, bool rough,
                                mode **optimum, quadrature *rule, sbps_error *err);
/* Mode and metric of a model with too many coordinates for a dense Hessian. Refuses a start
 * from a file. *a and *optimum are the caller's. */
sbps_status wide_find(const posterior *u, bool has_start, metric **a, mode **optimum,
                      sbps_error *err);
/* A reference point in place of a mode for sweeps: effects and fixed effects fitted given the
 * model's first standard deviations; *a is the identity. Refuses a start from a file. *a and
 * *out are the caller's. */
sbps_status sweep_reference(const posterior *u, const struct sweep *s, bool has_start,
                            metric **a, mode **out, sbps_error *err);

#endif
