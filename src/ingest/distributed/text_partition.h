/* Divides the text of a table among ranks, and reads the stretch of one rank.
 *
 * A position counts the bytes of rows in all files, one file after another, from the first row
 * of the first file on; headers are not counted. Each rank gets a stretch of positions [from,
 * to). A record belongs to the rank in whose stretch it begins. */
#ifndef INGEST_TEXT_PARTITION_H
#define INGEST_TEXT_PARTITION_H

#include "core/ranks/ranks.h"
#include "ingest/text/file_list.h"
#include "ingest/text/parts.h"
#include "ingest/text/source.h"

typedef struct {
    size_t files;
    size_t *start;   /* of each file: the byte where its rows begin */
    size_t *size;    /* of each file: the byte where its rows end */
    size_t *base;    /* of each file: the position of its first row; base[files]: of the end */
    size_t from, to; /* the stretch of this rank, as positions */
} text_partition;

/* Measures the files on rank 0 and divides them on all ranks (collective). base[files] is 0 if
 * the files cannot be divided. Close *c also after a failure. */
sbps_status text_partition_open(const file_list *files, const rows_spec *spec,
                                column_types *types, const row_source *first, text_partition *c,
                                sbps_error *err);
/* Frees the partition. */
void text_partition_close(text_partition *c);

/* Returns the bytes of all rows. */
size_t text_partition_bytes(const text_partition *c);
/* Returns the file that contains a position: the last one that begins there or before. */
size_t text_partition_file(const text_partition *c, size_t position);
/* Returns the byte of file k at a position, limited to the rows of that file. */
size_t text_partition_byte(const text_partition *c, size_t k, size_t position);
/* Counts the line breaks before this rank's stretch in the file where it begins
 * (collective). */
sbps_status text_partition_breaks(const text_partition *c, const file_list *files, ranks *among,
                                  size_t *breaks, sbps_error *err);

/* Reads one rank's stretch, in one call or several. */
typedef struct {
    const file_list *files;
    const rows_spec *spec;
    column_types *types;
    const row_source *first;
    const text_partition *cut;
    column_schema *schema; /* gives rows their codes */
    size_t breaks;         /* line breaks before the stretch in its first file */
    bool learns;           /* after a contradicting cell, infer types to the end of its file */
    size_t file;           /* the one being read */
    row_source now;        /* that file, if open */
    bool open;
    size_t begin; /* position of the first record */
    size_t at;    /* position after the last record read */
    bool begun;   /* `begin` is known */
    bool broken;  /* the rows of some file do not end where they should */
    size_t kept, dropped;
    double progress_base; /* fraction of all work done before this pass */
    double more;          /* fraction of all work in this pass */
} partition_cursor;

/* Reads the records that begin before the position `stop`; SIZE_MAX: all of the stretch. Close
 * the cursor also after a failure. */
sbps_status partition_cursor_read(partition_cursor *c, size_t stop, const row_taker *to,
                                  sbps_error *err);
/* Closes the file being read. */
void partition_cursor_close(partition_cursor *c);

/* ---- reports of ranks ----
 *
 * Combines what ranks found in their stretches of the text. All functions are collective. */

/* What a rank found in its stretch. Sent as bytes: only uint64_t members. */
typedef struct {
    uint64_t begin; /* position of its first record */
    uint64_t end;   /* position after its last record; equal to begin: it has none */
    uint64_t kept, dropped;
    uint64_t numbers; /* cells of numeric features that are not 0 */
    uint64_t trouble; /* nonzero: it could not be read to its end */
    uint64_t broken;  /* nonzero: a file did not end where its rows should */
} partition_report;

/* The combined result, the same on all ranks except for `before`. */
typedef struct {
    bool fits;      /* each stretch begins where the one before ended, up to rank `trouble` */
    size_t trouble; /* the first rank with an error; the number of ranks: none */
    size_t before;  /* rows kept by the ranks before this one */
    size_t kept, dropped, numbers; /* sums over ranks */
} partition_verdict;

/* Gathers all reports and combines them; `bytes` is the size of the whole text. */
sbps_status partition_compare(ranks *among, const partition_report *own, size_t bytes,
                              partition_verdict *out, sbps_error *err);

/* Sends types, status and message of rank `from` to all ranks; returns that status. */
sbps_status partition_broadcast(ranks *among, size_t from, column_types *types,
                                sbps_status status, sbps_error *err);

/* Merges levels and counts of missing cells of all ranks into the schema, in the order of the
 * text. */
sbps_status partition_merge_schemas(ranks *among, column_schema *p, sbps_error *err);

#endif
