/* Atomic files: written next to the target as NAME.tmp.PID.sbps-XXXXXXXX, synced, then renamed
 * over it. A process killed on the way leaves the old target unchanged and its temporary file,
 * which the next writer removes if its process is gone and its lock free. A target that is a
 * device or a pipe cannot be replaced and is written directly. */
#ifndef STORE_ATOMIC_FILE_H
#define STORE_ATOMIC_FILE_H

#include "core/status.h"

#include <stdio.h>

typedef struct {
    FILE *stream; /* for writing; NULL once sealed */
    char *path;   /* as given, for messages */
    char *target; /* the same with symbolic links resolved */
    char *temp;   /* NULL: written directly */
    int error;    /* errno of the first write that failed and was noted */
} atomic_file;

/* Begins a file. End it with file_commit or file_abandon; after a failure there is nothing to
 * end. */
sbps_status file_begin(const char *path, atomic_file *file, sbps_error *err);
/* True if no write has failed. Keeps errno of the first failure, so call it from time to time
 * while printing to the stream; file_seal detects a failure in any case, but not its cause. */
bool file_fine(atomic_file *file);
void file_write(atomic_file *file, const void *bytes, size_t size);
/* Writes everything to disk and closes the stream, without renaming: for sets of files of which
 * all or none are to appear. */
sbps_status file_seal(atomic_file *file, sbps_error *err);
/* Seals the file if necessary and renames it. On failure the file is abandoned. */
sbps_status file_commit(atomic_file *file, sbps_error *err);
void file_abandon(atomic_file *file);

/* SBPS_NO_FILE with the text of errno: "PATH: cannot be VERB: REASON". */
sbps_status fail_file(sbps_error *err, const char *path, const char *verb, int error);
/* fsync; success for devices and pipes, which do not support it. Returns 0 or errno. */
int sync_descriptor(int descriptor);

#endif
