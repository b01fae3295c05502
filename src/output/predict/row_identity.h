/* Are rows those that a run was made of? */
#ifndef OUTPUT_ROW_IDENTITY_H
#define OUTPUT_ROW_IDENTITY_H

#include "core/text.h"
#include "ingest/design/saved_schema.h"
#include "store/result.h"
#include "table/content_hash.h"

/* In any order. */
typedef enum {
    ROWS_UNKNOWN, /* the run's file does not tell */
    ROWS_OWN,
    ROWS_OTHER
} rows_identity;

/* What a row as a model sees it adds to the content of its table. */
uint64_t identity_row(const saved_schema *b, content_kind kind, const seen_row *seen);
/* Of a converted table (NULL: none), or of `whole` rows whose content sums to that of `read`; by the content where the
 * run's file has it, else by the number of rows. */
sbps_status identity_find(const result *r, const rows *table, unsigned threads,
                          const table_content *read, double whole, rows_identity *out,
                          sbps_error *err);

/* "the table of this run" */
const char *identity_text(rows_identity identity);
/* , "same_table": true, false, or null where it is unknown */
void identity_json(text *t, rows_identity identity);

#endif
