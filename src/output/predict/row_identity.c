#include "output/predict/row_identity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t identity_row(const saved_schema *b, content_kind kind, const seen_row *seen)
{
    row_content c = {.kind = kind};
    const double *z = seen->z;
    content_numbers(&c, b->names, seen->x);
    for (size_t t = 0; t < seen->terms; t++) {
        size_t count = saved_schema_effects(b, t);
        content_group(&c, t, seen->level[t].data, count, z);
        z += count;
    }
    content_beside(&c, seen->y, seen->weight, seen->offset);
    return content_row(&c);
}

static bool has_hash(const rows *table, const char *hash)
{
    char own[17];
    snprintf(own, sizeof own, "%016" PRIx64, table->hash);
    return strcmp(own, hash) == 0;
}

sbps_status identity_find(const result *r, const rows *table, unsigned threads,
                          const table_content *read, double whole, rows_identity *out,
                          sbps_error *err)
{
    const char *hash = table && r->info.table_hash ? r->info.table_hash : "";
    table_content run = content_read(r->info.rows_content), own = *read;
    sbps_status status = SBPS_OK;
    *out = ROWS_UNKNOWN;
    if (*hash && has_hash(table, hash)) {
        *out = ROWS_OWN;
        return SBPS_OK;
    }
    if (table) status = content_table(table, run.kind, threads, &own, err);
    if (run.kind != CONTENT_UNKNOWN)
        *out = own.sum == run.sum ? ROWS_OWN : ROWS_OTHER;
    else if (*hash || fabs(whole - r->info.rows) > 0.5 + 1e-9 * whole)
        *out = ROWS_OTHER;
    return status;
}

const char *identity_text(rows_identity identity)
{
    static const char *const sentences[] = {
        [ROWS_UNKNOWN] = "unknown whether they are the table of this run",
        [ROWS_OWN] = "the table of this run",
        [ROWS_OTHER] = "another table than that of this run"};
    return sentences[identity];
}

void identity_json(text *t, rows_identity identity)
{
    static const char *const values[] = {
        [ROWS_UNKNOWN] = "null", [ROWS_OWN] = "true", [ROWS_OTHER] = "false"};
    text_add(t, ", \"same_table\": %s", values[identity]);
}
