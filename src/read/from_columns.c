/* Columns of a caller become fields, one run of all rows. */
#include "base/memory.h"
#include "read/in_place.h"
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
    field_about *about;
    field *fields, *levels; /* one a column each */
} field_set;

/* Callers may have been compiled with more members than there are today, or with fewer one day. */
static const sbps_column *column_at(const sbps_column *given, size_t index)
{
    return (const sbps_column *)((const char *)given + index * given->struct_size);
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
    return fail(err, SBPS_BAD_ARG, "column %zu of the table: %s is not set, or not a known one",
                index + 1, wrong);
}

static void lay_out(const sbps_column *c, field *to, field *listed)
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

static sbps_status take_columns(size_t n, size_t count, const sbps_column *given, field_set *to,
                                sbps_error *err)
{
    for (size_t k = 0; k < count; k++) {
        const sbps_column *c = column_at(given, k);
        sbps_status status = check_column(c, given->struct_size, n, k, err);
        if (status != SBPS_OK) return status;
        to->about[k] = (field_about){.name = c->name,
                                     .type = layouts[c->type].type,
                                     .ordered = c->type == SBPS_LEVEL && c->ordered};
        lay_out(c, &to->fields[k], &to->levels[k]);
    }
    return SBPS_OK;
}

static sbps_status read_columns(field_reader *r, const field *fields, size_t n, rows **out,
                                sbps_error *err)
{
    if (in_place_wanted(r->spec)) return in_place_create(r, fields, n, out, err);
    sbps_status status = field_reader_add(r, fields, n, err);
    return status == SBPS_OK ? field_reader_finish(r, out, err) : status;
}

sbps_status rows_from_columns(size_t n, size_t count, const sbps_column *given,
                              const rows_spec *spec, rows **out, sbps_error *err)
{
    field_set set = {.about = calloc(count + 1, sizeof *set.about),
                     .fields = calloc(count + 1, sizeof *set.fields),
                     .levels = calloc(count + 1, sizeof *set.levels)};
    field_reader reader = {0};
    *out = NULL;
    sbps_status status = set.about && set.fields && set.levels ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && !given && count > 0)
        status = fail(err, SBPS_BAD_ARG, "the table's columns are NULL");
    if (status == SBPS_OK) status = take_columns(n, count, given, &set, err);
    if (status == SBPS_OK) status = field_reader_open(set.about, count, spec, &reader, err);
    if (status == SBPS_OK) status = read_columns(&reader, set.fields, n, out, err);
    field_reader_close(&reader);
    free(set.about);
    free(set.fields);
    free(set.levels);
    return status;
}
