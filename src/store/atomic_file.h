/* Files that appear whole or not at all: written beside the target as
 * NAME.tmp.PID.sbps-XXXXXXXX, synced, then renamed over it. A process killed on the way leaves the old target as it was, and its
 * temporary file, which the next to write there removes: one whose process is gone and whose lock
 * is free. A target that is a device or a pipe cannot be replaced and is written
 * directly. */
#ifndef STORE_ATOMIC_FILE_H
#define STORE_ATOMIC_FILE_H

#include "core/status.h"

#include <stdio.h>

typedef struct {
    FILE *stream; /* write here; NULL once sealed */
    char *path;   /* as the caller named it, for messages */
    char *target; /* the same with symbolic links resolved */
    char *temp;   /* NULL: written directly */
    int error;    /* errno of the first write that failed and was noted */
} atomic_file;

/* On success end with commit or abandon; on failure nothing is left to end. */
sbps_status file_begin(const char *path, atomic_file *file, sbps_error *err);
/* Notes why the stream has failed, while errno still tells; false once it has. To be asked now
 * and then by those who print to the stream; seal sees a failure in any case, if not its cause.
 */
bool file_fine(atomic_file *file);
void file_write(atomic_file *file, const void *bytes, size_t size);
/* Everything written so far reaches the disk and the stream is closed, the target still as it
 * was: for sets of files of which all or none should appear. */
sbps_status file_seal(atomic_file *file, sbps_error *err);
/* Seals when that is still to do, then renames. On failure the file is abandoned. */
sbps_status file_commit(atomic_file *file, sbps_error *err);
void file_abandon(atomic_file *file);

/* SBPS_NO_FILE with the text of errno: "PATH: cannot be VERB: REASON". */
sbps_status fail_file(sbps_error *err, const char *path, const char *verb, int error);
/* fsync, content with devices and pipes that know no such thing. 0, or errno. */
int sync_descriptor(int descriptor);

#endif
