/* Combines what ranks found in their stretches of the text. All functions are collective. */
#ifndef INGEST_PARTITION_REPORT_H
#define INGEST_PARTITION_REPORT_H

#include "core/ranks/ranks.h"
#include "ingest/text/source.h"

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
