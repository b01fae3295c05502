/* What only all ranks together know of a text that each has read a stretch of. */
#ifndef INGEST_PARTITION_REPORT_H
#define INGEST_PARTITION_REPORT_H

#include "core/ranks/ranks.h"
#include "ingest/text/source.h"

/* What a rank has found in its stretch. */
typedef struct {
    uint64_t begin,
        end; /* positions: of its first record, behind its last; the same: it has none */
    uint64_t kept, dropped;
    uint64_t numbers; /* cells of features that are numbers and not 0 */
    uint64_t trouble; /* it could not be read to its end */
    uint64_t broken;  /* a file did not end where its rows should */
} partition_report;

typedef struct {
    bool
        fits; /* every stretch begins where the one before ended, up to the first that is in trouble */
    size_t trouble;                /* the rank of that one; as many as there are: none is */
    size_t before;                 /* rows kept by the ranks before this one */
    size_t kept, dropped, numbers; /* of all */
} partition_verdict;

/* `bytes`: of all the text. */
sbps_status partition_compare(ranks *among, const partition_report *own, size_t bytes,
                              partition_verdict *out, sbps_error *err);

/* What the rank `from` knows of types, how it fared and the sentence for it become what all know. */
sbps_status partition_broadcast(ranks *among, size_t from, column_types *types,
                                sbps_status status, sbps_error *err);

/* Levels and counts of missing cells of all ranks become the plan's, as one reader would have met them. */
sbps_status partition_merge_schemas(ranks *among, column_schema *p, sbps_error *err);

#endif
