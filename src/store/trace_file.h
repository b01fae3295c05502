/* The trace of one chain: a CSV of its looks at the slope,
 *
 *   time,t,event,G,c2,mean,rho,lambda,from,lambda_from,accepted
 *
 * with event one of start, proposal, horizon, auxiliary, refresh; cells that say nothing are empty.
 * Written between rounds. */
#ifndef STORE_TRACE_FILE_H
#define STORE_TRACE_FILE_H

#include "path/path.h"
#include "store/append_file.h"

typedef struct {
    double time; /* of the path, when the flight began */
    slope_observation seen;
} trace_record;

sbps_status trace_open(const char *path, uint64_t resume_at, append_file *out, sbps_error *err);
sbps_status trace_append(append_file *f, size_t count, const trace_record *records,
                         sbps_error *err);

#endif
