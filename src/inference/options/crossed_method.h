/* Which way the effects of crossed factors are sampled: the largest factor integrated over, or all effects together. */
#ifndef INFERENCE_CROSSED_METHOD_H
#define INFERENCE_CROSSED_METHOD_H

#include "inference/options/options.h"
#include "model/likelihood/model.h"
#include "table/rows.h"

/* Of small tables whose factors are nested, or of which one has few levels, all effects are sampled together by nuts:
 * integrals within integrals are dear there, and the tails of sds are long. */
bool crossed_nuts(const sbps_options *o, const rows *data);
/* Do the options allow nuts of all effects together where integrals over effects have failed? */
bool crossed_may_give_up_integrals(const sbps_options *o, const rows *data);
/* The same where a set-up with integrals has found them dear: few rows, which are not normal. */
bool crossed_prefers_nuts(const sbps_options *o, const rows *data);
/* Are the effects of all factors sampled together? `run`: for a run, not for a mode alone, which needs matrices. */
bool crossed_joint(const sbps_options *o, const rows *data, bool run);
/* SBPS_BAD_DATA for a linear model with a level for every row: the sd of its effects cannot be told from sigma. */
sbps_status groups_check_levels(const model_kind *model, const rows *data, sbps_error *err);

#endif
