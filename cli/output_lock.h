/* One run at a time writes an output. */
#ifndef CLI_OUTPUT_LOCK_H
#define CLI_OUTPUT_LOCK_H

#include "sbps.h"

typedef struct {
    int file; /* -1: nothing is locked */
    char *name;
} output_lock;

/* SBPS_NO_FILE when another run has locked `path`. Devices and pipes are not locked. To be released in
 * any case. */
sbps_status output_lock_take(const char *path, output_lock *out, sbps_error *err);
void output_lock_release(output_lock *lock);

#endif
