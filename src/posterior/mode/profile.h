/* What U does along single coordinates through the mode. */
#ifndef POSTERIOR_PROFILE_H
#define POSTERIOR_PROFILE_H

#include "linalg/metric/metric.h"
#include "linalg/metric/warp.h"
#include "posterior/mode/mode.h"

#define PROFILE_FROM 0.1 /* posterior sd that a mode may be off; farther ones show no walls */

/* Coordinates with a wall at one side; NULL when there are none. Looks at all rows about twice a
 * coordinate, and some dozens of times for each that is found. Give back with free. */
sbps_status profile_warps(const posterior *u, const mode *m, const metric *a, warps **out,
                          sbps_error *err);

#endif
