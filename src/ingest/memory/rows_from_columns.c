/* Tables from the columns of a caller: each becomes a field with all rows. */
#include "core/memory.h"
#include "ingest/ingest.h"
#include "ingest/memory/direct_columns.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const field_kind *kind;
    const value_kind *value;
    size_t bytes;
    column_type type;
} column_layout;

static const column_layout layouts[] = {
    [SBPS_DOUBLE] = {&field_numbers, &value_double, sizeof(double), TYPE_NUMBER},
    [SBPS_FLOAT] = {&field_numbers, &value_float, sizeof(float), TYPE_NUMBER},
    [SBPS_INT8] = {&field_numbers, &value_int8, 1, TYPE_NUMBER},
    [SBPS_INT16] = {&field_numbers, &value_int16, 2, TYPE_NUMBER},
    [SBPS_INT32] = {&field_numbers, &value_int32, 4, TYPE_NUMBER},
    [SBPS_INT64] = {&field_numbers, &value_int64, 8, TYPE_NUMBER},
    [SBPS_UINT8] = {&field_numbers, &value_uint8, 1, TYPE_NUMBER},
    [SBPS_UINT16] = {&field_numbers, &value_uint16, 2, TYPE_NUMBER},
    [SBPS_UINT32] = {&field_numbers, &value_uint32, 4, TYPE_NUMBER},
    [SBPS_UINT64] = {&field_numbers, &value_uint64, 8, TYPE_NUMBER},
    [SBPS_BOOL] = {&field_bytes, NULL, 1, TYPE_TEXT},
    [SBPS_STRING] = {&field_pointers, NULL, sizeof(char *), TYPE_TEXT},
    [SBPS_LEVEL] = {&field_coded, &value_int32, 4, TYPE_TEXT},
};

#define LAYOUTS (sizeof layouts / sizeof *layouts)

typedef struct {
    field_source base; /* first member: the source that others see */
    field_info *about;
    field *fields, *levels; /* of each column */
    size_t n;
    sparse_cells sparse; /* its columns come first */
} column_source;

/* Returns a column of the array by the caller's struct_size, which may be larger than ours. */
static const sbps_column *column_at(const sbps_column *array, size_t index)
{
    return (const sbps_column *)((const char *)array + index * array->struct_size);
}

static sbps_status check_column(const sbps_column *c, size_t size, size_t n, size_t index,
                                sbps_error *err)
{
    const char *wrong = c->struct_size != size || size < sizeof *c ? "its struct_size"
                        : !c->name                                 ? "its name"
                        : (size_t)c->type >= LAYOUTS               ? "its type"
                        : !c->values && n > 0                      ? "its values"
                        : c->type == SBPS_LEVEL && !c->levels && c->level_count > 0
                            ? "its levels"
                            : NULL;
    for (size_t k = 0; !wrong && c->type == SBPS_LEVEL && k < c->level_count; k++)
        if (!c->levels[k]) wrong = "a level";
    if (!wrong) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG, "column %zu of the table: %s is not set or unknown",
                index + 1, wrong);
}

static void field_from_column(const sbps_column *c, field *to, field *listed)
{
    const column_layout *how = &layouts[c->type];
    *listed = (field){.kind = &field_pointers,
                      .type = TYPE_TEXT,
                      .values = (const unsigned char *)c->levels,
                      .stride = sizeof(char *)};
    *to = (field){.kind = how->kind,
                  .type = how->type,
                  .value = how->value,
                  .values = c->values,
                  .stride = c->stride ? c->stride : (ptrdiff_t)how->bytes,
                  .validity = c->validity,
                  .unit = 1.0,
                  .levels = listed,
                  .level_count = c->level_count,
                  .first_level = c->first_level};
}

static sbps_status take_columns(size_t n, size_t count, const sbps_column *array,
                                column_source *to, sbps_error *err)
{
    for (size_t k = 0; k < count; k++) {
        const sbps_column *c = column_at(array, k);
        sbps_status status = check_column(c, array->struct_size, n, k, err);
        if (status != SBPS_OK) return status;
        size_t at = to->sparse.columns + k;
        to->about[at] = (field_info){.name = c->name,
                                     .type = layouts[c->type].type,
                                     .ordered = c->type == SBPS_LEVEL && c->ordered};
        field_from_column(c, &to->fields[at], &to->levels[at]);
    }
    return SBPS_OK;
}

static sbps_status read_columns(field_source *s, sbps_error *err)
{
    const column_source *own = (const column_source *)s;
    return field_reader_add(&s->reader, own->fields, own->n, err);
}

static void close_columns(field_source *s)
{
    column_source *own = (column_source *)s;
    sparse_cells_clear(&own->sparse);
    free(own->about);
    free(own->fields);
    free(own->levels);
    free(own);
}

static sbps_status take_matrix(const sbps_frame *from, column_source *own, sbps_error *err)
{
    if (!from->sparse) return SBPS_OK;
    sbps_status status = sparse_cells_open(from->rows, from->sparse, &own->sparse, err);
    for (size_t j = 0; status == SBPS_OK && j < own->sparse.columns; j++)
        own->about[j] = (field_info){.name = from->sparse->names[j], .type = TYPE_NUMBER};
    return status;
}

static sbps_status open_columns(const sbps_frame *from, const rows_spec *spec,
                                const field_purpose *purpose, column_source *own,
                                sbps_error *err)
{
    size_t all = from->count + (from->sparse ? from->sparse->columns : 0);
    own->about = calloc(all + 1, sizeof *own->about);
    own->fields = calloc(all + 1, sizeof *own->fields);
    own->levels = calloc(all + 1, sizeof *own->levels);
    if (!own->about || !own->fields || !own->levels) return fail_memory(err);
    if (!from->columns && from->count > 0)
        return fail(err, SBPS_BAD_ARG, "the table's columns are NULL");
    sbps_status status = take_matrix(from, own, err);
    if (status == SBPS_OK)
        status = take_columns(from->rows, from->count, from->columns, own, err);
    if (status != SBPS_OK) return status;
    const field_request how = {spec, purpose, from->sparse ? &own->sparse : NULL};
    return field_reader_open(own->about, all, &how, &own->base.reader, err);
}

sbps_status columns_source(const sbps_frame *from, const rows_spec *spec,
                           const field_purpose *purpose, field_source **out, sbps_error *err)
{
    column_source *own = calloc(1, sizeof *own);
    *out = NULL;
    if (!own) return fail_memory(err);
    own->base.read = read_columns;
    own->base.close = close_columns;
    own->n = from->rows;
    *out = &own->base;
    return open_columns(from, spec, purpose, own, err);
}

sbps_status rows_from_columns(const sbps_frame *from, const rows_spec *spec, rows **out,
                              sbps_error *err)
{
    field_source *s;
    *out = NULL;
    sbps_status status = columns_source(from, spec, NULL, &s, err);
    if (status == SBPS_OK && borrowed_columns_requested(spec) && !from->sparse)
        status = borrowed_columns_create(&s->reader, ((column_source *)s)->fields, from->rows,
                                         out, err);
    else if (status == SBPS_OK)
        status = direct_columns_create(&s->reader, ((column_source *)s)->fields, from->rows,
                                       out, err);
    if (status == SBPS_OK && !*out) {
        status = s->read(s, err);
        if (status == SBPS_OK) status = field_reader_finish(&s->reader, out, err);
    }
    field_source_close(s);
    return status;
}
