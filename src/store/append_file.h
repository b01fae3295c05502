/* Text files that grow while a run flies. Not atomic: a checkpoint holds their length, and a resumed
 * run cuts them there. Main thread only. */
#ifndef STORE_APPEND_FILE_H
#define STORE_APPEND_FILE_H

#include "core/status.h"

#include <stdio.h>

typedef struct {
    FILE *stream; /* write here */
    char *path;
    bool regular; /* not a pipe or a device */
} append_file;

/* resume_at 0: a new file that begins with `header`, an old one is overwritten. Else that many bytes
 * are kept and appended to; SBPS_MISMATCH when the file is shorter or begins otherwise;
 * SBPS_NO_FILE when another run is writing it. On failure nothing is left to close. */
sbps_status append_file_open(const char *path, const char *header, uint64_t resume_at,
                             append_file *out, sbps_error *err);
/* SBPS_OK while every write so far went well. */
sbps_status append_file_check(const append_file *f, sbps_error *err);
/* All appended so far is on disk; *bytes is the length for resume_at (0 for a pipe or a device,
 * which cannot be resumed). */
sbps_status append_file_sync(append_file *f, uint64_t *bytes, sbps_error *err);
void append_file_close(append_file *f);

#endif
