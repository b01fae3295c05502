/* The skeleton of the path: a CSV of its events, chain,time,event,rows,<w names...>,<u:names...>,
 * with event one of start, bounce, refresh, step; rows are those the chain has touched since
 * sampling began; w and u are the position and the velocity after the event, so that until the chain's next event w(t) = w + (t - time) u. Written by the main thread
 * between rounds; not atomic, since it grows: a checkpoint holds its length and a resumed run
 * cuts it there. */
#ifndef STORE_SKELETON_H
#define STORE_SKELETON_H

#include "core/status.h"

typedef struct skeleton_file skeleton_file;

/* resume_at 0: a new file with its header, an old one is overwritten. Else that many bytes are
 * kept and appended to; SBPS_MISMATCH when the file is shorter or of other columns. */
sbps_status skeleton_open(const char *path, const char *const *names, size_t dim,
                          uint64_t resume_at, skeleton_file **out, sbps_error *err);
/* Numbers of a record: time, event_kind, rows, w, u. */
static inline size_t skeleton_width(size_t dim)
{
    return 3 + 2 * dim;
}
/* records: count x skeleton_width(dim). */
sbps_status skeleton_append(skeleton_file *f, size_t chain, size_t count, const double *records,
                            sbps_error *err);
/* All appended so far is on disk; *bytes is the length for resume_at (0 for a pipe or a device,
 * which cannot be resumed). */
sbps_status skeleton_sync(skeleton_file *f, uint64_t *bytes, sbps_error *err);
void skeleton_close(
    skeleton_file *f); /* NULL is fine; what was not synced may be lost unseen */

#endif
