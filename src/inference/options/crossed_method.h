/* How the effects of groups are sampled: integrating over the largest factor, or all effects
 * jointly, by hmc or nuts. */
#ifndef INFERENCE_CROSSED_METHOD_H
#define INFERENCE_CROSSED_METHOD_H

#include "inference/options/options.h"
#include "model/likelihood/model.h"
#include "table/rows.h"

/* True if nuts samples all effects jointly: small tables with nested factors, or with a factor
 * of few levels, where nested integrals are expensive and standard deviations have long tails.
 */
bool crossed_nuts(const sbps_options *o, const rows *data);
/* True if the options allow nuts on all effects when integrating over them has failed. */
bool crossed_may_give_up_integrals(const sbps_options *o, const rows *data);
/* True if nuts on all effects is cheaper than integrals after set-up: few rows, not normal, or
 * nested integrals at every step of hmc. */
bool crossed_prefers_nuts(const sbps_options *o, const rows *data, bool hmc);
/* True if the effects of all factors are sampled jointly. run: for a run; false for a mode
 * only, which needs dense matrices. */
bool crossed_joint(const sbps_options *o, const rows *data, bool run);
/* SBPS_BAD_DATA for a linear model and a factor with one level per row, whose standard
 * deviation is not identified beside sigma. */
sbps_status groups_check_levels(const model_kind *model, const rows *data, sbps_error *err);

#endif
