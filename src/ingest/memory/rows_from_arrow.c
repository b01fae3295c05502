/* From an Arrow stream to a table. A batch is a struct array whose children are the columns: it is read where it lies
 * and released before the next is asked for. What is told of lengths is checked; what lies behind its pointers is the
 * producer's word. */
#include "core/printable.h"
#include "ingest/ingest.h"
#include "ingest/memory/arrow_schema.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESSES ((int64_t)1 << 56) /* bytes; no machine has more */

typedef struct {
    field_source base; /* the first: it is what others see */
    struct ArrowArrayStream *from;
    arrow_column *column;
    field_about *about;
    field *fields, *levels; /* of a batch */
    size_t count;
} arrow_reading;

static sbps_status fail_stream(struct ArrowArrayStream *from, int code, const char *what,
                               sbps_error *err)
{
    const char *message = from->get_last_error ? from->get_last_error(from) : NULL;
    return fail(err, SBPS_BAD_DATA, "Arrow stream: %s cannot be had: %s", what,
                message && *message     ? message
                : strerrordesc_np(code) ? strerrordesc_np(code)
                                        : "unknown");
}

static sbps_status fail_batch(const char *what, sbps_error *err)
{
    return fail(err, SBPS_BAD_DATA, "Arrow stream: a batch is not sound: %s", what);
}

/* ---- one array ---- */

/* Validity apart from views, whose heaps may be any number, and the lengths of these behind them. */
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

/* Whether values up to the array's end could lie in memory at all; places are computed in ptrdiff_t. */
static bool fits_in_memory(const struct ArrowArray *a, size_t bytes)
{
    int64_t limit = ADDRESSES / (int64_t)(bytes ? bytes : 1);
    return a->offset <= limit && a->length <= limit - a->offset;
}

/* What its numbers say of each other, before any of its buffers is read; NULL: nothing is wrong. */
static const char *fault_of_array(const struct ArrowArray *a, const field *model)
{
    if (!a || a->length < 0 || a->offset < 0) return "an array is missing, or its length";
    if (a->null_count < -1 || a->null_count > a->length)
        return "the null count of a column exceeds its length";
    return fits_in_memory(a, value_bytes(model))
               ? NULL
               : "the offset and length of a column are too large";
}

/* `rows` of an array from its row `first` on. */
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
        return "a column has not the buffers of its type";
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

static bool is_used(const arrow_reading *r, size_t column)
{
    return r->base.reader.schema->use[column].kind != USE_NONE;
}

/* Not counted, but marked. */
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

/* Its numbers, before any of its columns is read; NULL: nothing is wrong. */
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
        if (is_used(r, c))
            wrong = bind_column(batch->children[c], &r->column[c], (size_t)batch->offset,
                                (size_t)batch->length, &r->fields[c], &r->levels[c]);
    if (wrong) return fail_batch(wrong, err);
    return field_reader_add(&r->base.reader, r->fields, (size_t)batch->length, err);
}

static sbps_status take_batches(field_source *s, sbps_error *err)
{
    arrow_reading *r = (arrow_reading *)s;
    for (sbps_status status = SBPS_OK;;) {
        struct ArrowArray batch = {0};
        int code = r->from->get_next(r->from, &batch);
        if (code != 0) return fail_stream(r->from, code, "a batch", err);
        if (!batch.release) return SBPS_OK; /* the end */
        status = take_batch(r, &batch, err);
        if (batch.release) batch.release(&batch);
        if (status != SBPS_OK) return status;
    }
}

/* ---- the schema ---- */

static sbps_status check_schema(const struct ArrowSchema *schema, sbps_error *err)
{
    bool sound = schema->format && !strcmp(schema->format, "+s") && schema->n_children >= 0;
    for (int64_t c = 0; sound && c < schema->n_children; c++) {
        const struct ArrowSchema *child = schema->children ? schema->children[c] : NULL;
        sound = child && child->format && (!child->dictionary || child->dictionary->format);
    }
    return sound ? SBPS_OK
                 : fail(err, SBPS_BAD_DATA, "Arrow stream: its schema is not that of a table");
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
    const field_wants how = {spec, purpose, NULL};
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
        return fail(err, SBPS_BAD_ARG, "Arrow stream: there is none, or it was released");
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
