/* Tables from matrices in memory: the numbers are read as a file of columns. */
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/design/design_matrix.h"
#include "ingest/design/saved_schema.h"
#include "ingest/ingest.h"
#include "ingest/memory/field_reader.h"
#include "ingest/text/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns x..., target, (weights), (offset). */
typedef struct {
    size_t n, columns;
    const double *x, *y, *weight, *offset;
} numbers;

static const char NUMBERS[] = "table", WEIGHTS[] = "(weights)", OFFSET[] = "(offset)";

static sbps_status name_numbers(const numbers *from, const char *const *names,
                                const char *target, columns *out, sbps_error *err)
{
    sbps_status status = columns_create(from->columns + 3, out, err);
    if (status != SBPS_OK) return status;
    bool ready = true;
    for (size_t j = 0; ready && j < from->columns; j++) {
        if (names)
            ready = (out->name[j] = copy_text(names[j])) != NULL;
        else if (asprintf(&out->name[j], "x%zu", j + 1) < 0)
            ready = false, out->name[j] = NULL;
    }
    char **rest = out->name + from->columns;
    rest[0] = copy_text(target);
    if (from->weight) rest[1] = copy_text(WEIGHTS);
    if (from->offset) rest[2] = copy_text(OFFSET);
    ready = ready && (!target || rest[0]) && (!from->weight || rest[1]) &&
            (!from->offset || rest[2]);
    return ready ? SBPS_OK : fail_memory(err);
}

static double number_at(const numbers *from, size_t i, size_t column)
{
    if (column < from->columns) return from->x[i * from->columns + column];
    const double *rest[] = {from->y, from->weight, from->offset};
    return rest[column - from->columns][i];
}

/* Copies row i into its slots; messages count rows from 1. */
static sbps_status copy_row(const numbers *from, size_t i, const column_schema *p, double *row,
                            bool *missing, sbps_error *err)
{
    *missing = false;
    for (size_t c = 0; c < p->columns->count; c++) {
        if (p->use[c].kind == USE_NONE) continue;
        double value = number_at(from, i, c);
        row[p->use[c].slot] = value;
        *missing |= isnan(value);
        if (isinf(value) || (isnan(value) && !p->drop_missing))
            return fail(err, SBPS_BAD_DATA, "row %zu, column '%s': %g is not a finite number",
                        i + 1, show_name(p->columns->name[c]).text, value);
        if (c == p->weight && value < 0)
            return fail(err, SBPS_BAD_DATA, "row %zu: the weight %g is negative", i + 1, value);
    }
    return SBPS_OK;
}

static sbps_status copy_rows(const numbers *from, const column_schema *p, chunks *read,
                             size_t *dropped, sbps_error *err)
{
    *dropped = 0;
    for (size_t i = 0; i < from->n; i++) {
        bool missing;
        double *row = chunks_next(read);
        if (!row) return fail_memory(err);
        sbps_status status = copy_row(from, i, p, row, &missing, err);
        if (status != SBPS_OK) return status;
        if (!missing && !chunks_keep(read)) return fail_memory(err);
        *dropped += missing;
    }
    return check_row_count(p->path, read->rows, *dropped, err);
}

/* Fails for options that name columns of a file: they would have no effect here. */
static sbps_status check_spec(const numbers *from, const rows_spec *spec, sbps_error *err)
{
    const struct {
        const char *name, *value;
    } of_files[] = {{"formula", spec->formula},         {"features", spec->features},
                    {"categorical", spec->categorical}, {"exclude", spec->exclude},
                    {"reference", spec->reference},     {"weights", spec->weights},
                    {"trials", spec->trials},           {"offset", spec->offset}};
    for (size_t k = 0; k < sizeof of_files / sizeof *of_files; k++)
        if (nonblank_text(of_files[k].value))
            return fail(err, SBPS_BAD_ARG, "--%s names columns of a file; this table has none",
                        of_files[k].name);
    if ((!from->y && !spec->no_target) || (!from->x && from->columns > 0))
        return fail(err, SBPS_BAD_ARG, "the table's numbers or its target are NULL");
    return SBPS_OK;
}

sbps_status rows_copy(size_t n, size_t column_count, const double *x, const char *const *names,
                      const double *y, const double *weight, const double *offset,
                      const rows_spec *spec, rows **out, sbps_error *err)
{
    const numbers from = {n, column_count, x, y, weight, offset};
    columns named = {0};
    size_t dropped;
    column_schema *p = NULL;
    chunks read = {0};
    rows_spec own_spec = *spec;
    *out = NULL;
    sbps_status status = check_spec(&from, spec, err);
    if (status != SBPS_OK) return status;
    if (!nonblank_text(own_spec.target)) own_spec.target = spec->no_target ? NULL : "y";
    own_spec.weights = weight ? WEIGHTS : NULL;
    own_spec.offset = offset ? OFFSET : NULL;
    if ((status = name_numbers(&from, names, own_spec.target, &named, err)) != SBPS_OK)
        goto done;
    if ((status = schema_create(NUMBERS, &named, &own_spec, &p, err)) != SBPS_OK) goto done;
    chunks_init(&read, p->width, false);
    if ((status = copy_rows(&from, p, &read, &dropped, err)) != SBPS_OK) goto done;
    status = design_create(p, &own_spec, &read, out, err);
    if (status == SBPS_OK) (*out)->table.dropped = dropped;
done:
    chunks_clear(&read);
    schema_destroy(p);
    columns_clear(&named);
    return status;
}

/* ---- tables from the columns of a caller: each becomes a field with all rows ---- */

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

/* ---- new rows in memory, read with a column schema made from the saved schema ---- */

struct saved_schema_frame {
    const saved_schema *b;
    const char *name;
    new_row_request request;
    rows_spec spec;
    row_taker to;
    field_source *source;
};

static sbps_status match_frame_columns(const void *self, const columns *c, column_schema **out,
                                       sbps_error *err)
{
    const saved_schema_frame *f = self;
    return saved_schema_match(f->b, f->name, c, f->request, out, err);
}

sbps_status saved_schema_frame_open(const saved_schema *b, const char *name,
                                    const sbps_frame *from, new_row_request request,
                                    unsigned threads, const row_taker *to,
                                    saved_schema_frame **out, sbps_error *err)
{
    saved_schema_frame *f = *out = calloc(1, sizeof *f);
    if (!f) return fail_memory(err);
    *f = (saved_schema_frame){.b = b,
                              .name = name,
                              .request = request,
                              .spec = {.na = b->na, .threads = threads},
                              .to = *to};
    const field_purpose purpose = {.make_schema = match_frame_columns, .self = f, .to = &f->to};
    if (from->stream) return arrow_source(from->stream, &f->spec, &purpose, &f->source, err);
    return columns_source(from, &f->spec, &purpose, &f->source, err);
}

const column_schema *saved_schema_frame_columns(const saved_schema_frame *f)
{
    return f->source->reader.schema;
}

sbps_status saved_schema_frame_read(saved_schema_frame *f, sbps_error *err)
{
    return f->source->read(f->source, err);
}

void saved_schema_frame_close(saved_schema_frame *f)
{
    if (!f) return;
    field_source_close(f->source);
    free(f);
}
