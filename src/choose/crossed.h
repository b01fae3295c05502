/* Which way the effects of crossed factors are sampled: the largest factor integrated over, or all effects together. */
#ifndef CHOOSE_CROSSED_H
#define CHOOSE_CROSSED_H

#include "choose/options.h"
#include "data/rows.h"

/* Of small tables whose factors are nested, or of which one has few levels, all effects are sampled together by nuts:
 * integrals within integrals are dear there, and the tails of sds are long. */
bool crossed_nuts(const sbps_options *o, const rows *data);
/* Are the effects of all factors sampled together? `run`: for a run, not for a mode alone, which needs matrices. */
bool crossed_joint(const sbps_options *o, const rows *data, bool run);

#endif
