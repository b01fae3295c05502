/* One rank's stretch of the text, read on and on. */
#ifndef INGEST_PARTITION_CURSOR_H
#define INGEST_PARTITION_CURSOR_H

#include "ingest/distributed/text_partition.h"

typedef struct {
    const file_list *files;
    const rows_spec *spec;
    column_types *types;
    const row_source *first;
    const text_partition *cut;
    column_schema *schema; /* by which rows get their codes */
    size_t breaks;         /* line breaks before it, of the file that it begins in */
    bool learns;    /* a cell that contradicts has all to the end of its file looked at */
    size_t file;    /* being read */
    row_source now; /* it */
    bool open;
    size_t begin, at; /* positions: of the first record, behind the last one read */
    bool begun;       /* `begin` is known */
    bool broken;      /* the rows of some file do not end where they should */
    size_t kept, dropped;
    double progress_base,
        more; /* of the way, for whoever watches: done before this look, and that it is */
} partition_cursor;

/* Records that begin before the position `stop`; all of the stretch: SIZE_MAX. Close it also after a failure. */
sbps_status partition_cursor_read(partition_cursor *c, size_t stop, const row_taker *to,
                                  sbps_error *err);
void partition_cursor_close(partition_cursor *c);

#endif
