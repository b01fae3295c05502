/* Priors: which prior each coordinate gets from --prior, --prior-intercept and the like. */
#ifndef INFERENCE_COORDINATE_PRIORS_H
#define INFERENCE_COORDINATE_PRIORS_H

#include "inference/options/options.h"
#include "posterior/full/posterior.h"

/* Sets the prior of every coordinate of the target. */
sbps_status priors_choose(const sbps_options *options, posterior *target, sbps_error *err);

/* One prior of a list such as "normal(0,2.5); x1=normal(0,1); g:*=student_t(3,0,1)". */
typedef struct {
    char *name; /* may contain *, which matches any text; NULL: the remaining coefficients */
    bool usual; /* "auto" */
    prior distribution;
    bool used; /* matched a coefficient */
} prior_piece;

/* The pieces of --prior in their order; zeroed: an empty list. */
typedef struct {
    prior_piece *piece;
    size_t count;
} prior_list;

/* Parses the text of --prior. Close the list also after a failure. */
sbps_status prior_list_parse(const char *text, prior_list *out, sbps_error *err);
/* The prior of a coefficient, marked as used: the one with exactly its name, else the last with
 * a matching pattern, else the one without a name, else NULL. */
const prior_piece *prior_list_find(prior_list *list, const char *name);
/* Frees the pieces; a list of zeros is fine. */
void prior_list_close(prior_list *list);

/* True if --prior contains a shrinkage prior, such as a horseshoe. */
bool shrinkage_requested(const sbps_options *o);
/* Replaces *target, whose priors are set, by a posterior of weights and their scales if --prior
 * contains a shrinkage prior; else does nothing. */
sbps_status shrinkage_apply(const sbps_options *o, posterior **target, sbps_error *err);

#endif
