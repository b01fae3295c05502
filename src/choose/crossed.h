/* Which way the effects of crossed factors are sampled: the largest factor integrated over, or all effects together. */
#ifndef CHOOSE_CROSSED_H
#define CHOOSE_CROSSED_H

#include "choose/options.h"
#include "data/rows.h"

/* Are the effects of all factors sampled together? `run`: for a run, not for a mode alone, which needs matrices. */
bool crossed_joint(const sbps_options *o, const rows *data, bool run);

#endif
