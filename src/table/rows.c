/* Creation, destruction and targets of tables, whatever their storage. */
#include "table/rows.h"

#include "core/memory.h"
#include "core/text.h"
#include "linalg/kernels.h"
#include "table/generated_rows.h"
#include "table/mapped_table.h"
#include "table/row_groups.h"
#include <stdarg.h>
#include <stdlib.h>

void rows_destroy(rows *r)
{
    if (!r) return;
    for (size_t j = 0; r->table.names && j < r->d; j++) free(r->table.names[j]);
    free(r->table.names);
    for (size_t j = 0; r->table.origin && j < r->d; j++) {
        free(r->table.origin[j].column);
        free(r->table.origin[j].level);
        free(r->table.origin[j].reference);
    }
    free(r->table.origin);
    free(r->table.target);
    free(r->table.design);
    free(r->table.notes);
    free_texts(r->table.labels, r->table.label_count);
    free(r->table.source);
    free(r->partition);
    table_unmap(r);
    free(r->storage.x);
    free(r->storage.x_float);
    free(r->storage.start);
    free(r->storage.column);
    free(r->storage.value);
    free(r->storage.place);
    free(r->storage.source_row);
    free(r->y);
    free(r->weight);
    free(r->offset);
    free(r->table.mean);
    free(r->table.sd);
    row_groups_destroy(r->groups);
    rows_destroy(r->member_rows);
    free(r->storage.owner);
    free(r->storage.recipe);
    free(r);
}

sbps_status rows_none(rows **out, sbps_error *err)
{
    rows *r = *out = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (rows){.storage.kind = &storage_double, .local_rows = 1, .stride = KERNEL_LANES};
    r->storage.x = new_doubles(r->stride);
    r->y = new_doubles(1);
    r->table.target = copy_text("");
    if (r->storage.x && r->y && r->table.target) {
        r->table.hash = rows_hash(r);
        return SBPS_OK;
    }
    rows_destroy(r);
    *out = NULL;
    return fail_memory(err);
}

const double *rows_targets(const rows *data, row_range r, double *buffer)
{
    if (!data->y) return generated_targets(data, r, buffer);
    if (!r.list) return data->y + r.first;
    for (size_t i = 0; i < r.n; i++) buffer[i] = data->y[r.list[i]];
    return buffer;
}

sbps_status rows_note(rows *r, sbps_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sbps_status status = notes_add(&r->table.notes, format, values, err);
    va_end(values);
    return status;
}
