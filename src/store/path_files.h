/* CSV files that grow while a run advances: skeleton and trace. They are not atomic: a
 * checkpoint records their length, and a resumed run truncates them to it. Main thread only. */
#ifndef STORE_PATH_FILES_H
#define STORE_PATH_FILES_H

#include "core/status.h"
#include "path/path.h"

#include <stdio.h>

typedef struct {
    FILE *stream; /* for writing */
    char *path;
    bool regular; /* not a pipe or a device */
} append_file;

/* Opens the file. resume_at 0: creates or overwrites it and writes `header`. Else: keeps that
 * many bytes and appends. SBPS_MISMATCH if the file is shorter or has other columns,
 * SBPS_NO_FILE if another run is writing to it. After a failure there is nothing to close. */
sbps_status append_file_open(const char *path, const char *header, uint64_t resume_at,
                             append_file *out, sbps_error *err);
/* Flushes the file to disk. *bytes: its length, for resume_at; 0 for a pipe or a device, which
 * cannot be resumed. */
sbps_status append_file_sync(append_file *f, uint64_t *bytes, sbps_error *err);
void append_file_close(append_file *f);

/* Skeleton: the events of the path, with columns
 *
 *   chain,time,event,rows,<w names...>,<u:names...>
 *
 * event is start, bounce, refresh or step; rows: rows evaluated by the chain since sampling
 * began; w and u: position and velocity after the event, so that w(t) = w + (t - time) u up to
 * the next event of the chain. */
typedef struct skeleton_file skeleton_file;

/* As append_file_open; *out is the caller's. */
sbps_status skeleton_open(const char *path, const char *const *names, size_t dim,
                          uint64_t resume_at, skeleton_file **out, sbps_error *err);
/* Numbers of a record: time, event_kind, rows, w, u. */
static inline size_t skeleton_width(size_t dim)
{
    return 3 + 2 * dim;
}
/* Appends records: count * skeleton_width(dim) numbers. */
sbps_status skeleton_append(skeleton_file *f, size_t chain, size_t count, const double *records,
                            sbps_error *err);
/* As append_file_sync. */
sbps_status skeleton_sync(skeleton_file *f, uint64_t *bytes, sbps_error *err);
/* NULL is fine. Data that was not synced may be lost without an error. */
void skeleton_close(skeleton_file *f);

/* Trace: the observations of the slope made by one chain, with columns
 *
 *   time,t,event,G,c2,mean,rho,lambda,from,lambda_from,accepted
 *
 * event is start, proposal, horizon, auxiliary or refresh; cells without a value are empty. */
typedef struct {
    double time; /* of the path at the beginning of the segment */
    slope_observation seen;
} trace_record;

/* As append_file_open. */
sbps_status trace_open(const char *path, uint64_t resume_at, append_file *out, sbps_error *err);
sbps_status trace_append(append_file *f, size_t count, const trace_record *records,
                         sbps_error *err);

#endif
