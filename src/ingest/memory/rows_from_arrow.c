/* Tables from Arrow streams (C data interface). A batch is a struct array whose children are
 * the columns: it is read in place and released before the next is requested. Lengths are
 * checked; what the pointers point to cannot be. */
#include "core/printable.h"
#include "ingest/ingest.h"
#include "ingest/memory/field_reader.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- format strings ---- */

/* Format strings of Arrow's C data interface. Those that are not supported are described by
 * their prefix in messages. */
#define DECIMAL_DIGITS 38 /* of a decimal of 128 bits */

/* A column before its values are there; `levels` is of a dictionary. */
typedef struct {
    field model, levels;
    bool coded;
} arrow_column;

typedef struct {
    const char *format;
    const field_kind *kind;
    const value_kind *value;
    column_type type;
    double unit;
} arrow_format;

static const arrow_format formats[] = {
    {"n", &field_nothing, NULL, TYPE_NUMBER, 1},
    {"b", &field_bits, NULL, TYPE_TEXT, 1},
    {"c", &field_numbers, &value_int8, TYPE_NUMBER, 1},
    {"C", &field_numbers, &value_uint8, TYPE_NUMBER, 1},
    {"s", &field_numbers, &value_int16, TYPE_NUMBER, 1},
    {"S", &field_numbers, &value_uint16, TYPE_NUMBER, 1},
    {"i", &field_numbers, &value_int32, TYPE_NUMBER, 1},
    {"I", &field_numbers, &value_uint32, TYPE_NUMBER, 1},
    {"l", &field_numbers, &value_int64, TYPE_NUMBER, 1},
    {"L", &field_numbers, &value_uint64, TYPE_NUMBER, 1},
    {"e", &field_numbers, &value_half, TYPE_NUMBER, 1},
    {"f", &field_numbers, &value_float, TYPE_NUMBER, 1},
    {"g", &field_numbers, &value_double, TYPE_NUMBER, 1},
    {"u", &field_texts, NULL, TYPE_TEXT, 1},
    {"U", &field_large_texts, NULL, TYPE_TEXT, 1},
    {"vu", &field_views, NULL, TYPE_TEXT, 1},
    {"tdD", &field_numbers, &value_int32, TYPE_DATE, 1},
    {"tdm", &field_numbers, &value_int64, TYPE_DATE, 86400e3},
    {"tDs", &field_numbers, &value_int64, TYPE_NUMBER, 1},
    {"tDm", &field_numbers, &value_int64, TYPE_NUMBER, 1e3},
    {"tDu", &field_numbers, &value_int64, TYPE_NUMBER, 1e6},
    {"tDn", &field_numbers, &value_int64, TYPE_NUMBER, 1e9},
};

/* The time zone after the colon concerns display only. */
static const arrow_format timestamps[] = {
    {"tss:", &field_numbers, &value_int64, TYPE_TIME, 1},
    {"tsm:", &field_numbers, &value_int64, TYPE_TIME, 1e3},
    {"tsu:", &field_numbers, &value_int64, TYPE_TIME, 1e6},
    {"tsn:", &field_numbers, &value_int64, TYPE_TIME, 1e9},
};

static const struct {
    const char *prefix, *name;
} refusals[] = {
    {"+s", "structures"},
    {"+u", "unions"},
    {"+m", "maps"},
    {"+r", "run-end encoded values"},
    {"+", "lists"},
    {"z", "binary data"},
    {"Z", "binary data"},
    {"vz", "binary data"},
    {"w:", "binary data"},
    {"tt", "times of day"},
    {"ti", "calendar intervals"},
    {"d:", "decimals of other than 1 to 38 digits in 128 bits"},
    {"", "values of an unknown type"},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const arrow_format *find_format(const char *format)
{
    for (size_t k = 0; k < COUNT(formats); k++)
        if (!strcmp(formats[k].format, format)) return &formats[k];
    for (size_t k = 0; k < COUNT(timestamps); k++)
        if (!strncmp(timestamps[k].format, format, strlen(timestamps[k].format)))
            return &timestamps[k];
    return NULL;
}

static const char *refusal_of(const char *format)
{
    size_t k = 0;
    while (strncmp(refusals[k].prefix, format, strlen(refusals[k].prefix)) != 0) k++;
    return refusals[k].name;
}

/* Reads a whole number of at most 5 characters, which cannot overflow; moves *at past it. */
static bool take_number(const char **at, long *out)
{
    const char *digits = *at + (**at == '-');
    char *end;
    *out = strtol(*at, &end, 10);
    bool taken = *digits >= '0' && *digits <= '9' && end - digits <= 5;
    *at = end;
    return taken;
}

/* Reads d:precision,scale or d:precision,scale,128; false: it is not that. */
static bool find_decimal(const char *format, field *out)
{
    long precision, scale, bits = 128;
    const char *at = format + 2;
    if (strncmp(format, "d:", 2) || !take_number(&at, &precision) || *at++ != ',' ||
        !take_number(&at, &scale) || (*at == ',' && (at++, !take_number(&at, &bits))) || *at)
        return false;
    if (precision < 1 || precision > DECIMAL_DIGITS || labs(scale) > DECIMAL_DIGITS ||
        bits != 128)
        return false;
    *out = (field){.kind = &field_numbers,
                   .type = TYPE_NUMBER,
                   .value = &value_decimal,
                   .unit = pow(10.0, (double)scale)};
    return true;
}

/* Fills the kind of the values; returns NULL, or the name of a type that cannot be read. */
static const char *describe_values(const char *format, field *out)
{
    const arrow_format *known = find_format(format);
    *out = (field){.kind = &field_nothing, .type = TYPE_NUMBER, .unit = 1.0};
    if (!known) return find_decimal(format, out) ? NULL : refusal_of(format);
    *out = (field){
        .kind = known->kind, .type = known->type, .value = known->value, .unit = known->unit};
    return NULL;
}

/* Fills the column and what is known of it; borrows the schema. */
static void arrow_describe(const struct ArrowSchema *schema, arrow_column *column,
                           field_info *about)
{
    const struct ArrowSchema *list = schema->dictionary;
    *column = (arrow_column){.coded = list != NULL};
    *about = (field_info){.name = schema->name};
    about->refused = describe_values(schema->format, &column->model);
    if (list) {
        const value_kind *codes = column->model.value;
        about->refused = list->dictionary ? "dictionaries of dictionaries"
                         : codes          ? describe_values(list->format, &column->levels)
                                          : "codes that are no numbers";
        about->ordered = schema->flags & ARROW_FLAG_DICTIONARY_ORDERED;
        column->model = (field){
            .kind = &field_coded, .type = column->levels.type, .value = codes, .unit = 1.0};
    }
    about->type = column->model.type;
}

#define ADDRESSES ((int64_t)1 << 56) /* bytes; more than any address space */

typedef struct {
    field_source base; /* first member: the source that others see */
    struct ArrowArrayStream *from;
    arrow_column *column;
    field_info *about;
    field *fields, *levels; /* of the current batch */
    size_t count;
} arrow_reading;

static sbps_status fail_stream(struct ArrowArrayStream *from, int code, const char *what,
                               sbps_error *err)
{
    const char *message = from->get_last_error ? from->get_last_error(from) : NULL;
    return fail(err, SBPS_BAD_DATA, "Arrow stream: %s cannot be read: %s", what,
                message && *message     ? message
                : strerrordesc_np(code) ? strerrordesc_np(code)
                                        : "unknown");
}

/* ---- one array ---- */

/* Returns whether an array has the buffers of its type. Validity is one of them; views have any
 * number of heaps, and the lengths of these last. */
static bool has_buffers(const field *model, const struct ArrowArray *a)
{
    bool texts = model->kind == &field_texts || model->kind == &field_large_texts;
    if (model->kind == &field_nothing) return true;
    if (model->kind == &field_views) return a->n_buffers >= 3;
    return a->n_buffers == (texts ? 3 : 2);
}

static size_t value_bytes(const field *model)
{
    return model->kind == &field_texts         ? sizeof(int32_t)
           : model->kind == &field_large_texts ? sizeof(int64_t)
           : model->kind == &field_views       ? 16
           : model->value                      ? model->value->bytes
                                               : 0;
}

/* Returns whether values up to the array's end could be in memory; addresses are computed in
 * ptrdiff_t. */
static bool fits_in_memory(const struct ArrowArray *a, size_t bytes)
{
    int64_t limit = ADDRESSES / (int64_t)(bytes ? bytes : 1);
    return a->offset <= limit && a->length <= limit - a->offset;
}

/* Returns what is wrong with an array's lengths, or NULL; reads none of its buffers. */
static const char *fault_of_array(const struct ArrowArray *a, const field *model)
{
    if (!a || a->length < 0 || a->offset < 0) return "an array is missing, or its length";
    if (a->null_count < -1 || a->null_count > a->length)
        return "the null count of a column exceeds its length";
    return fits_in_memory(a, value_bytes(model))
               ? NULL
               : "the offset and length of a column are too large";
}

/* Binds `row_count` rows of an array from row `first` on to a field; returns what is wrong, or
 * NULL. */
static const char *bind_array(const struct ArrowArray *a, const field *model, size_t first,
                              size_t row_count, field *out)
{
    *out = *model;
    const char *wrong = fault_of_array(a, model);
    if (wrong) return wrong;
    if ((size_t)a->length < first || (size_t)a->length - first < row_count)
        return "a column is too short";
    if (model->kind == &field_nothing || row_count == 0) return NULL;
    if (!has_buffers(model, a) || !a->buffers || !a->buffers[1])
        return "a column does not have the buffers of its type";
    if (a->null_count > 0 && !a->buffers[0])
        return "a column has a null count but no validity bitmap";
    out->first = (size_t)a->offset + first;
    out->validity = a->null_count == 0 ? NULL : a->buffers[0];
    out->values = a->buffers[1];
    out->stride = (ptrdiff_t)value_bytes(model);
    if (a->n_buffers < 3) return NULL;
    out->heap = a->buffers[2];
    out->heaps = (const void *const *)a->buffers + 2;
    out->heap_count = (size_t)a->n_buffers - 3;
    return NULL;
}

static const char *bind_column(const struct ArrowArray *a, const arrow_column *column,
                               size_t first, size_t row_count, field *out, field *listed)
{
    const char *wrong = bind_array(a, &column->model, first, row_count, out);
    if (wrong || !column->coded) return wrong;
    const struct ArrowArray *list = a->dictionary;
    if (!list || list->length < 0) return "a dictionary is missing";
    out->levels = listed;
    out->level_count = (size_t)list->length;
    return bind_array(list, &column->levels, 0, out->level_count, listed);
}

/* ---- batches ---- */

/* Returns whether a batch without a null count has missing rows. */
static bool lacks_rows(const struct ArrowArray *batch)
{
    const uint8_t *valid = batch->n_buffers > 0 && batch->buffers && batch->null_count < 0
                               ? batch->buffers[0]
                               : NULL;
    bool whole = true;
    for (int64_t i = batch->offset; valid && i < batch->offset + batch->length; i++)
        whole = whole && (valid[i / 8] >> i % 8 & 1);
    return !whole;
}

/* Returns what is wrong with a batch, or NULL; reads none of its columns. */
static const char *fault_of_batch(const arrow_reading *r, const struct ArrowArray *batch)
{
    if (batch->length < 0 || batch->offset < 0 || batch->n_children != (int64_t)r->count ||
        (r->count > 0 && !batch->children))
        return "its columns are not those of the schema";
    if (!fits_in_memory(batch, 1)) return "its offset and length are too large";
    return batch->null_count > 0 || lacks_rows(batch) ? "whole rows are missing" : NULL;
}

static sbps_status take_batch(arrow_reading *r, const struct ArrowArray *batch, sbps_error *err)
{
    const char *wrong = fault_of_batch(r, batch);
    for (size_t c = 0; !wrong && c < r->count; c++)
        if (r->base.reader.schema->use[c].kind != USE_NONE)
            wrong = bind_column(batch->children[c], &r->column[c], (size_t)batch->offset,
                                (size_t)batch->length, &r->fields[c], &r->levels[c]);
    if (wrong) return fail(err, SBPS_BAD_DATA, "Arrow stream: a batch is invalid: %s", wrong);
    return field_reader_add(&r->base.reader, r->fields, (size_t)batch->length, err);
}

static sbps_status take_batches(field_source *s, sbps_error *err)
{
    arrow_reading *r = (arrow_reading *)s;
    for (sbps_status status = SBPS_OK;;) {
        struct ArrowArray batch = {0};
        int code = r->from->get_next(r->from, &batch);
        if (code != 0) return fail_stream(r->from, code, "a batch", err);
        if (!batch.release) return SBPS_OK; /* end of the stream */
        status = take_batch(r, &batch, err);
        if (batch.release) batch.release(&batch);
        if (status != SBPS_OK) return status;
    }
}

/* ---- schema ---- */

static sbps_status check_schema(const struct ArrowSchema *schema, sbps_error *err)
{
    bool sound = schema->format && !strcmp(schema->format, "+s") && schema->n_children >= 0;
    for (int64_t c = 0; sound && c < schema->n_children; c++) {
        const struct ArrowSchema *child = schema->children ? schema->children[c] : NULL;
        sound = child && child->format && (!child->dictionary || child->dictionary->format);
    }
    return sound ? SBPS_OK
                 : fail(err, SBPS_BAD_DATA, "Arrow stream: the schema is not that of a table");
}

static sbps_status take_schema(arrow_reading *r, const struct ArrowSchema *schema,
                               const rows_spec *spec, const field_purpose *purpose,
                               sbps_error *err)
{
    sbps_status status = check_schema(schema, err);
    if (status != SBPS_OK) return status;
    size_t count = r->count = (size_t)schema->n_children;
    r->column = calloc(count + 1, sizeof *r->column);
    r->about = calloc(count + 1, sizeof *r->about);
    r->fields = calloc(count + 1, sizeof *r->fields);
    r->levels = calloc(count + 1, sizeof *r->levels);
    if (!r->column || !r->about || !r->fields || !r->levels) return fail_memory(err);
    for (size_t c = 0; c < count; c++)
        arrow_describe(schema->children[c], &r->column[c], &r->about[c]);
    const field_request how = {spec, purpose, NULL};
    return field_reader_open(r->about, count, &how, &r->base.reader, err);
}

static sbps_status open_stream(arrow_reading *r, const rows_spec *spec,
                               const field_purpose *purpose, sbps_error *err)
{
    struct ArrowSchema schema = {0};
    int code = r->from->get_schema(r->from, &schema);
    if (code != 0) return fail_stream(r->from, code, "its schema", err);
    sbps_status status = take_schema(r, &schema, spec, purpose, err);
    if (schema.release) schema.release(&schema);
    return status;
}

static void close_stream(field_source *s)
{
    arrow_reading *r = (arrow_reading *)s;
    free(r->column);
    free(r->about);
    free(r->fields);
    free(r->levels);
    r->from->release(r->from);
    free(r);
}

sbps_status arrow_source(struct ArrowArrayStream *stream, const rows_spec *spec,
                         const field_purpose *purpose, field_source **out, sbps_error *err)
{
    *out = NULL;
    if (!stream || !stream->release)
        return fail(err, SBPS_BAD_ARG, "Arrow stream: it is NULL or was released");
    arrow_reading *r = calloc(1, sizeof *r);
    if (!r) {
        stream->release(stream);
        return fail_memory(err);
    }
    *r = (arrow_reading){.base = {.read = take_batches, .close = close_stream}, .from = stream};
    *out = &r->base;
    return open_stream(r, spec, purpose, err);
}

sbps_status rows_from_arrow(struct ArrowArrayStream *stream, const rows_spec *spec, rows **out,
                            sbps_error *err)
{
    field_source *s;
    *out = NULL;
    sbps_status status = arrow_source(stream, spec, NULL, &s, err);
    if (status == SBPS_OK) status = s->read(s, err);
    if (status == SBPS_OK) status = field_reader_finish(&s->reader, out, err);
    field_source_close(s);
    return status;
}
