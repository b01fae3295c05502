/* U along single coordinates through the mode: finds coordinates to warp. */
#ifndef POSTERIOR_PROFILE_H
#define POSTERIOR_PROFILE_H

#include "core/status.h"
#include "linalg/metric/metric.h"

struct metric;
struct mode;
struct posterior;

/* Largest distance of w from the exact mode, in posterior sds: farther off, boundaries are
 * not seen. */
#define PROFILE_FROM 0.1

/* Finds the coordinates with a boundary on one side. *out is NULL where there are none; the
 * caller frees it. Evaluates U about twice per coordinate, and some dozens of times for each
 * that is found. */
sbps_status profile_warps(const struct posterior *u, const struct mode *m,
                          const struct metric *a, warps **out, sbps_error *err);

#endif
