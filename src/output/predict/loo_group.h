/* Leave-one-group-out: the part of loo_make for choice->group. */
#ifndef OUTPUT_LOO_GROUP_H
#define OUTPUT_LOO_GROUP_H

#include "output/predict/loo.h"

/* Computes leave-one-out of the groups of choice->group; elements of *out are then groups. */
sbps_status loo_make_groups(const result *r, const char *run, const char *data,
                            const loo_choice *choice, loo *out, sbps_error *err);

#endif
