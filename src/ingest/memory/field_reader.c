/* Rows in memory are read like those of a file: with a column schema into rows as read, and
 * from these into the table, so that equal cells make equal tables. Types of columns are known
 * and not inferred. Slices of rows are read by several threads, each with its own levels, and
 * joined in their order. */
#include "ingest/memory/field_reader.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/threads.h"
#include "ingest/design/design_matrix.h"
#include "ingest/schema/column_index.h"
#include "ingest/text/source.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_ROWS ((size_t)16384)

static const char TABLE[] = "table"; /* its name in messages: table:17 is its row 17 */

struct field_slice {
    column_schema schema;
    chunks rows;
    size_t dropped;
    char *c_string; /* scratch: a text with a final NUL */
    size_t c_string_size;
    sbps_status status;
    sbps_error error;
};

/* ---- columns ---- */

static sbps_status name_columns(const field_info *about, size_t count, field_reader *r,
                                sbps_error *err)
{
    sbps_status status = columns_create(count, &r->names, err);
    if (status == SBPS_OK) status = column_types_fit(&r->types, count, TABLE, err);
    for (size_t i = 0; status == SBPS_OK && i < count; i++) {
        const char *name = about[i].name ? about[i].name : "";
        if (!(r->names.name[i] = utf8_copy(name, strlen(name)))) status = fail_memory(err);
        r->types.of[i] = about[i].type;
        r->ordered[i] = about[i].ordered;
    }
    r->names.types = &r->types;
    r->names.typed = true;
    if (status == SBPS_OK) status = header_row_names(&r->names, err);
    return status == SBPS_OK ? header_distinguish(&r->names, err) : status;
}

/* Fails for columns that are used and cannot be read. */
static sbps_status refuse_columns(const field_info *about, const column_schema *p,
                                  sbps_error *err)
{
    for (size_t i = 0; i < p->columns->count; i++)
        if (about[i].refused && p->use[i].kind != USE_NONE)
            return fail(err, SBPS_BAD_DATA,
                        "%s: column '%s' holds %s, which are not read; --exclude leaves it out",
                        p->path, show_name(p->columns->name[i]).text, about[i].refused);
    return SBPS_OK;
}

static sbps_status open_slices(field_reader *r, sbps_error *err)
{
    r->threads = reading_threads(r->spec);
    r->slice = calloc(r->threads, sizeof *r->slice);
    bool ready = r->slice != NULL;
    for (unsigned k = 0; ready && k < r->threads; k++) {
        chunks_init(&r->slice[k].rows, r->schema->width, r->read.packed);
        ready = schema_fork(r->schema, &r->slice[k].schema);
    }
    return ready ? SBPS_OK : fail_memory(err);
}

static sbps_status make_reader_schema(field_reader *r, sbps_error *err)
{
    const field_purpose *own = &r->purpose;
    if (own->make_schema) return own->make_schema(own->self, &r->names, &r->schema, err);
    return schema_create(TABLE, &r->names, r->spec, &r->schema, err);
}

/* Finds the columns of the matrix that are not plain numbers. */
static sbps_status find_careful(field_reader *r, sbps_error *err)
{
    field_matrix *m = &r->matrix;
    if (!m->cells) return SBPS_OK;
    m->careful = malloc((m->cells->columns + 1) * sizeof *m->careful);
    if (!m->careful) return fail_memory(err);
    for (size_t c = 0; c < m->cells->columns; c++) {
        use_kind kind = r->schema->use[c].kind;
        if (kind != USE_NONE && kind != USE_NUMBER) m->careful[m->careful_count++] = c;
    }
    return SBPS_OK;
}

/* Returns whether rows are packed. Codes of packed rows could not be changed later. */
static bool are_packed(const field_reader *r)
{
    const sparse_cells *s = r->matrix.cells;
    if (!s || r->purpose.to || r->schema->categories > 0) return false;
    return (double)sparse_entries(s) < PACK_BELOW * (double)s->rows * (double)r->schema->width;
}

sbps_status field_reader_open(const field_info *about, size_t count, const field_request *how,
                              field_reader *r, sbps_error *err)
{
    const rows_spec *spec = how->spec;
    *r = (field_reader){.spec = spec,
                        .ordered = calloc(count + 1, sizeof *r->ordered),
                        .matrix.cells = how->sparse};
    if (how->purpose) r->purpose = *how->purpose;
    sbps_status status = r->ordered ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && count == 0)
        status = fail(err, SBPS_BAD_DATA, "%s: it has no columns", TABLE);
    if (status == SBPS_OK) status = name_columns(about, count, r, err);
    if (status == SBPS_OK) status = na_strings_create(spec->na, &r->missing, err);
    r->names.missing = &r->missing;
    if (status == SBPS_OK) status = make_reader_schema(r, err);
    if (status == SBPS_OK) status = refuse_columns(about, r->schema, err);
    if (status == SBPS_OK) status = find_careful(r, err);
    if (status != SBPS_OK) return status;
    chunks_init(&r->read, r->schema->width, are_packed(r));
    return open_slices(r, err);
}

void field_reader_close(field_reader *r)
{
    for (unsigned k = 0; r->slice && k < r->threads; k++) {
        chunks_clear(&r->slice[k].rows);
        if (r->slice[k].schema.columns) schema_close_fork(&r->slice[k].schema);
        free(r->slice[k].c_string);
    }
    free(r->slice);
    free(r->matrix.careful);
    chunks_clear(&r->read);
    schema_destroy(r->schema);
    na_strings_clear(&r->missing);
    columns_clear(&r->names);
    column_types_clear(&r->types);
    free(r->ordered);
}

/* ---- cells ---- */

/* Copies a text with a final NUL, as the parsers of numbers need it. */
static sbps_status end_text(field_slice *s, cell_text *text, sbps_error *err)
{
    size_t length = (size_t)(text->end - text->begin);
    if (length >= s->c_string_size) {
        char *grown = realloc(s->c_string, 2 * length + 64);
        if (!grown) return fail_memory(err);
        s->c_string = grown;
        s->c_string_size = 2 * length + 64;
    }
    memcpy(s->c_string, text->begin, length);
    s->c_string[length] = '\0';
    *text = (cell_text){s->c_string, s->c_string + length};
    return SBPS_OK;
}

static sbps_status take_text(field_slice *s, size_t column, cell_text text, size_t line,
                             double *row, bool *missing, sbps_error *err)
{
    const column_schema *p = &s->schema;
    sbps_status status = SBPS_OK;
    if (p->use[column].kind != USE_CATEGORY) status = end_text(s, &text, err);
    if (status != SBPS_OK) return status;
    return schema_read_cell(p, column, text.begin, text.end, line, row, missing, err);
}

/* Reads cell i of a column into its slot. Numbers stay numbers unless they are levels or may
 * mean missing values. */
static sbps_status take_cell(field_slice *s, size_t column, const field *f, size_t i,
                             size_t line, double *row, bool *missing, sbps_error *err)
{
    const column_schema *p = &s->schema;
    use_kind kind = p->use[column].kind;
    bool text = f->type == TYPE_TEXT || kind == USE_CATEGORY || kind == USE_CAREFUL;
    char buffer[CELL_TEXT_BYTES];
    cell_text found;
    double value = NAN;
    field_state state = text ? field_text(f, i, buffer, &found) : field_number(f, i, &value);
    if (state == FIELD_BROKEN)
        return fail(
            err, SBPS_BAD_DATA,
            "%s:%zu: column '%s': the cell is invalid: a code without a level, a text without "
            "an address or with a zero byte, or a time out of range",
            p->path, line, show_name(p->columns->name[column]).text);
    if (state == FIELD_CELL && text)
        return take_text(s, column, found, line, row, missing, err);
    return schema_read_number(p, column, state == FIELD_CELL ? value : NAN, line, row, missing,
                              err);
}

/* Reads the cells of a row of the matrix: entries of plain numbers, and other columns by value,
 * 0 or not. */
static sbps_status take_entries(field_slice *s, const field_matrix *m, size_t i, size_t line,
                                double *row, bool *missing, sbps_error *err)
{
    const column_schema *p = &s->schema;
    const sparse_cells *from = m->cells;
    sbps_status status = SBPS_OK;
    memset(row, 0, p->width * sizeof *row);
    for (size_t at = sparse_start(from, i), end = sparse_start(from, i + 1);
         status == SBPS_OK && at < end; at++) {
        size_t column = sparse_column(from, at);
        if (p->use[column].kind == USE_NUMBER)
            status = schema_read_number(p, column, from->value[at], line, row, missing, err);
    }
    for (size_t k = 0; status == SBPS_OK && k < m->careful_count; k++) {
        double value = sparse_value(from, i, m->careful[k]);
        const field one = {.kind = &field_numbers,
                           .type = TYPE_NUMBER,
                           .value = &value_double,
                           .values = (const unsigned char *)&value,
                           .unit = 1.0};
        status = take_cell(s, m->careful[k], &one, 0, line, row, missing, err);
    }
    return status;
}

/* ---- rows ---- */

typedef struct {
    field_reader *r;
    const field *fields;
    size_t first, rows; /* of the fields */
} field_run;

/* Reads row i of the fields. */
static sbps_status take_row(const field_run *run, field_slice *s, size_t i, sbps_error *err)
{
    const column_schema *p = &s->schema;
    size_t line = run->r->seen + i + 1;
    double *row = chunks_next(&s->rows);
    bool missing = false;
    sbps_status status = row ? SBPS_OK : fail_memory(err);
    const field_matrix *m = &run->r->matrix;
    size_t before = m->cells ? m->cells->columns : 0;
    if (status == SBPS_OK && p->target == SIZE_MAX) row[0] = 0.0;
    if (status == SBPS_OK && m->cells) status = take_entries(s, m, i, line, row, &missing, err);
    for (size_t c = before; status == SBPS_OK && c < p->columns->count; c++)
        if (p->use[c].kind != USE_NONE)
            status = take_cell(s, c, &run->fields[c], i, line, row, &missing, err);
    if (status != SBPS_OK) return status;
    s->dropped += missing;
    if (missing && !p->keeps_missing) return schema_drop_row(p, row), SBPS_OK;
    if (!missing) status = schema_keep_row(p, row, line, err);
    return status == SBPS_OK && !chunks_keep(&s->rows) ? fail_memory(err) : status;
}

static void read_slice(void *self, unsigned worker, size_t index)
{
    const field_run *run = self;
    field_slice *s = &run->r->slice[index];
    size_t begin = run->first + index * SLICE_ROWS,
           end = begin + SLICE_ROWS < run->rows ? begin + SLICE_ROWS : run->rows;
    const field_purpose *own = &run->r->purpose;
    s->dropped = 0;
    s->status = SBPS_OK;
    for (size_t i = begin; s->status == SBPS_OK && i < end; i++)
        s->status = take_row(run, s, i, &s->error);
    if (own->put && s->status == SBPS_OK && s->dropped == 0)
        own->put(own->putter, worker, run->r->seen + begin, &s->rows);
}

/* Joins a slice to the reader; of several errors the first is reported. */
static sbps_status join_slice(field_reader *r, field_slice *s, sbps_error *err)
{
    if (s->status != SBPS_OK) return fail(err, s->status, "%s", s->error.text);
    if (!schema_merge(r->schema, &s->schema, &s->rows)) return fail_memory(err);
    schema_reset(&s->schema);
    r->dropped += s->dropped;
    if (r->purpose.put) return chunks_reset(&s->rows), SBPS_OK;
    if (r->purpose.to) return r->purpose.to->take(r->purpose.to->self, &s->rows, err);
    if (!chunks_move(&s->rows, &r->read)) return fail_memory(err);
    return memory_holds(TABLE, (double)r->read.rows, (double)r->read.width,
                        2 * chunks_bytes(&r->read), err);
}

/* Reports progress; fails if the watcher stops the reading. */
static sbps_status poll_watch(const field_reader *r, size_t done, sbps_error *err)
{
    const rows_spec *spec = r->spec;
    if (!spec->watch || spec->watch(spec->watcher, "reading", r->seen + done, NAN))
        return SBPS_OK;
    return fail(err, SBPS_INTERRUPTED, "%s: reading stopped on request", TABLE);
}

/* Levels with an order of their own get their codes in it. */
static sbps_status list_levels(const field_reader *r, size_t column, const field *f,
                               sbps_error *err)
{
    levels *l = r->schema->use[column].levels;
    for (size_t k = 0; k < f->level_count; k++) {
        char buffer[CELL_TEXT_BYTES];
        cell_text text;
        size_t code;
        if (field_text(f->levels, k, buffer, &text) != FIELD_CELL) continue;
        if (!levels_code(l, text.begin, text.end, &code)) return fail_memory(err);
    }
    l->listed = true;
    return SBPS_OK;
}

sbps_status field_reader_add(field_reader *r, const field *fields, size_t row_count,
                             sbps_error *err)
{
    field_run run = {.r = r, .fields = fields, .rows = row_count};
    sbps_status status = SBPS_OK;
    for (size_t c = 0; status == SBPS_OK && c < r->names.count; c++)
        if (r->ordered[c] && r->schema->use[c].levels)
            status = list_levels(r, c, &fields[c], err);
    for (size_t count; status == SBPS_OK && run.first < row_count;
         run.first += count * SLICE_ROWS) {
        count = (row_count - run.first + SLICE_ROWS - 1) / SLICE_ROWS;
        if (count > r->threads) count = r->threads;
        status = workers_run(r->threads, count, read_slice, &run, err);
        for (size_t k = 0; status == SBPS_OK && k < count; k++)
            status = join_slice(r, &r->slice[k], err);
        if (status == SBPS_OK) status = poll_watch(r, run.first, err);
    }
    r->seen += row_count;
    return status;
}

void field_reader_rewind(field_reader *r)
{
    for (size_t c = 0; c < r->names.count; c++) r->schema->use[c].missing = 0;
    chunks_reset(&r->read);
    r->seen = r->dropped = 0;
}

sbps_status field_reader_finish(field_reader *r, rows **out, sbps_error *err)
{
    sbps_status status = check_row_count(TABLE, r->read.rows, r->dropped, err);
    if (status == SBPS_OK) status = design_create(r->schema, r->spec, &r->read, out, err);
    if (status != SBPS_OK) return status;
    (*out)->table.dropped = r->dropped;
    status = rows_note_dropped(*out, r->schema, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*out);
    *out = NULL;
    return status;
}

void field_source_close(field_source *s)
{
    if (!s) return;
    field_reader_close(&s->reader);
    s->close(s);
}
