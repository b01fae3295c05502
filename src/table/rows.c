/* Rows: what every table has, however it was made. */
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
    for (size_t j = 0; r->names && j < r->d; j++) free(r->names[j]);
    free(r->names);
    for (size_t j = 0; r->origin && j < r->d; j++) {
        free(r->origin[j].column);
        free(r->origin[j].level);
        free(r->origin[j].reference);
    }
    free(r->origin);
    free(r->target);
    free(r->design);
    free(r->notes);
    free_texts(r->labels, r->label_count);
    free(r->source);
    free(r->partition);
    table_unmap(r);
    free(r->x);
    free(r->x_float);
    free(r->start);
    free(r->column);
    free(r->value);
    free(r->place);
    free(r->from);
    free(r->y);
    free(r->weight);
    free(r->offset);
    free(r->mean);
    free(r->sd);
    row_groups_destroy(r->groups);
    rows_destroy(r->member_rows);
    free(r->kept);
    free(r->recipe);
    free(r);
}

sbps_status rows_none(rows **out, sbps_error *err)
{
    rows *r = *out = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (rows){.storage = &storage_double, .n = 1, .stride = KERNEL_LANES};
    r->x = new_doubles(r->stride);
    r->y = new_doubles(1);
    r->target = copy_text("");
    if (r->x && r->y && r->target) {
        r->hash = rows_hash(r);
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
    sbps_status status = notes_add(&r->notes, format, values, err);
    va_end(values);
    return status;
}
