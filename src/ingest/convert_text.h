/* Converts text to a table on disk, which runs can map. */
#ifndef INGEST_CONVERT_TEXT_H
#define INGEST_CONVERT_TEXT_H

#include "ingest/ingest.h"

typedef struct {
    const char *from;         /* path or pattern of the text */
    const char *to;           /* path of the table, for messages */
    const char *temp_near;    /* temporary files are created in the folder of this path */
    int file;                 /* the table: an empty file open for reading and writing */
    size_t memory;            /* bytes for the shuffle */
    sbps_convert_watch watch; /* progress callback, or NULL */
    void *self;               /* its first argument */
} table_job;

/* Reads job->from and writes the table, with rows shuffled by spec->seed. Fails without
 * changing anything but job->file. */
sbps_status table_write(const table_job *job, const rows_spec *spec, sbps_error *err);

#endif
