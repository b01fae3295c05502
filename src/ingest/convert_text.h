/* From text to a table on disk. */
#ifndef INGEST_CONVERT_TEXT_H
#define INGEST_CONVERT_TEXT_H

#include "ingest/ingest.h"

typedef struct {
    const char *from, *to;    /* `to` is for sentences */
    const char *beside;       /* a temporary file may lie beside this one */
    int file;                 /* open for reading and writing, empty */
    size_t memory;            /* bytes for the shuffle */
    sbps_convert_watch watch; /* or NULL */
    void *self;
} table_job;

/* Reads `from` and writes the table, rows shuffled by spec->seed. */
sbps_status table_write(const table_job *job, const rows_spec *spec, sbps_error *err);

#endif
