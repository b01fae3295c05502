/* Cells of tables in memory, as numbers and as the texts that a CSV file would have. Arrow
 * stores texts one after another with offsets, or as views of 16 bytes: a length, then the text
 * itself, or its beginning and its address (Arrow columnar format). */
#include "ingest/memory/fields.h"

#include "core/decimal.h"
#include "ingest/schema/types.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VIEW_BYTES = 16, VIEW_INLINE = 12 };

static bool is_null(const field *f, size_t i)
{
    size_t bit = f->first + i;
    return f->validity && !(f->validity[bit / 8] >> bit % 8 & 1);
}

static const unsigned char *value_at(const field *f, size_t i)
{
    return f->values + (ptrdiff_t)(f->first + i) * f->stride;
}

field_state field_number(const field *f, size_t i, double *out)
{
    return is_null(f, i) ? FIELD_MISSING : f->kind->number(f, i, out);
}

field_state field_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    return is_null(f, i) ? FIELD_MISSING : f->kind->text(f, i, buffer, out);
}

static field_state give_text(const char *begin, size_t length, cell_text *out)
{
    *out = (cell_text){begin, begin + length};
    return FIELD_CELL;
}

/* ---- numbers ---- */

static field_state numbers_number(const field *f, size_t i, double *out)
{
    *out = f->value->number(value_at(f, i));
    if (f->unit != 1.0) *out /= f->unit;
    if (f->type == TYPE_DATE) *out = floor(*out);
    return isnan(*out) ? FIELD_MISSING : FIELD_CELL;
}

static bool print_time(double seconds, bool clock, char *buffer)
{
    double whole = floor(seconds);
    time_t moment = (time_t)whole;
    struct tm parts;
    if (fabs(seconds) > 2e11 || !gmtime_r(&moment, &parts)) return false;
    size_t length =
        strftime(buffer, CELL_TEXT_BYTES, clock ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d", &parts);
    if (seconds > whole)
        snprintf(buffer + length, CELL_TEXT_BYTES - length, ".%06d",
                 (int)(1e6 * (seconds - whole)));
    return true;
}

static field_state numbers_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    double value;
    field_state state = numbers_number(f, i, &value);
    if (state != FIELD_CELL) return state;
    if (f->type == TYPE_DATE || f->type == TYPE_TIME) {
        bool clock = f->type == TYPE_TIME;
        if (!print_time(clock ? value : DAY_SECONDS * value, clock, buffer))
            return FIELD_BROKEN;
    } else if (f->value->print && f->unit == 1.0)
        f->value->print(value_at(f, i), buffer);
    else {
        /* As R does: with 15 digits where they are enough. */
        decimal_print(buffer, CELL_TEXT_BYTES, "%.15g", value);
        if (decimal_read(buffer, NULL) != value)
            decimal_print(buffer, CELL_TEXT_BYTES, "%.17g", value);
    }
    return give_text(buffer, strlen(buffer), out);
}

/* ---- missing values and booleans ---- */

static field_state nothing_number(const field *f, size_t i, double *out)
{
    (void)f, (void)i, (void)out;
    return FIELD_MISSING;
}

static field_state nothing_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    (void)f, (void)i, (void)buffer, (void)out;
    return FIELD_MISSING;
}

static field_state give_truth(bool value, cell_text *out)
{
    return value ? give_text("TRUE", 4, out) : give_text("FALSE", 5, out);
}

static field_state bits_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    size_t bit = f->first + i;
    (void)buffer;
    return give_truth(f->values[bit / 8] >> bit % 8 & 1, out);
}

static field_state bytes_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    (void)buffer;
    return give_truth(*value_at(f, i), out);
}

/* ---- texts ---- */

/* Returns a part of a heap as text. Texts with a zero byte are refused, because a CSV file
 * could not hold them. */
static field_state give_part(const char *heap, int64_t begin, int64_t end, cell_text *out)
{
    if (begin < 0 || end < begin || (!heap && end > begin)) return FIELD_BROKEN;
    if (end == begin) return give_text("", 0, out);
    if (memchr(heap + begin, '\0', (size_t)(end - begin))) return FIELD_BROKEN;
    return give_text(heap + begin, (size_t)(end - begin), out);
}

static field_state texts_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    int32_t ends[2];
    (void)buffer;
    memcpy(ends, value_at(f, i), sizeof ends);
    return give_part(f->heap, ends[0], ends[1], out);
}

static field_state large_texts_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    int64_t ends[2];
    (void)buffer;
    memcpy(ends, value_at(f, i), sizeof ends);
    return give_part(f->heap, ends[0], ends[1], out);
}

static field_state views_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    const unsigned char *view = value_at(f, i);
    int32_t length, where[2]; /* index of the heap, and offset in it */
    (void)buffer;
    memcpy(&length, view, sizeof length);
    if (length <= VIEW_INLINE)
        return give_part((const char *)view, 4, 4 + (int64_t)length, out);
    memcpy(where, view + 8, sizeof where);
    if (where[0] < 0 || (size_t)where[0] >= f->heap_count) return FIELD_BROKEN;
    return give_part(f->heaps[where[0]], where[1], (int64_t)where[1] + length, out);
}

static field_state pointers_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    const char *text;
    (void)buffer;
    memcpy(&text, value_at(f, i), sizeof text);
    return text ? give_text(text, strlen(text), out) : FIELD_MISSING;
}

/* ---- codes of levels ---- */

/* Finds the level of a cell. A code below the first means a missing value, as -1 does in data
 * frames. */
static field_state find_level(const field *f, size_t i, size_t *level)
{
    double code = f->value->number(value_at(f, i)) - f->first_level;
    if (code < 0.0) return FIELD_MISSING;
    if (!(code < (double)f->level_count)) return FIELD_BROKEN;
    *level = (size_t)code;
    return FIELD_CELL;
}

static field_state coded_number(const field *f, size_t i, double *out)
{
    size_t level;
    field_state state = find_level(f, i, &level);
    return state == FIELD_CELL ? field_number(f->levels, level, out) : state;
}

static field_state coded_text(const field *f, size_t i, char *buffer, cell_text *out)
{
    size_t level;
    field_state state = find_level(f, i, &level);
    return state == FIELD_CELL ? field_text(f->levels, level, buffer, out) : state;
}

const field_kind field_numbers = {numbers_number, numbers_text};
const field_kind field_nothing = {nothing_number, nothing_text};
const field_kind field_bits = {NULL, bits_text};
const field_kind field_bytes = {NULL, bytes_text};
const field_kind field_texts = {NULL, texts_text};
const field_kind field_large_texts = {NULL, large_texts_text};
const field_kind field_views = {NULL, views_text};
const field_kind field_pointers = {NULL, pointers_text};
const field_kind field_coded = {coded_number, coded_text};

/* ---- values ---- */

/* Single values, read by memcpy because they may be unaligned. */
#define INTEGER(name, type, wide, format)                                                      \
    static double name##_number(const void *at)                                                \
    {                                                                                          \
        type value;                                                                            \
        memcpy(&value, at, sizeof value);                                                      \
        return (double)value;                                                                  \
    }                                                                                          \
    static void name##_print(const void *at, char *buffer)                                     \
    {                                                                                          \
        type value;                                                                            \
        memcpy(&value, at, sizeof value);                                                      \
        snprintf(buffer, CELL_TEXT_BYTES, "%" format, (wide)value);                            \
    }                                                                                          \
    const value_kind value_##name = {sizeof(type), name##_number, name##_print};

INTEGER(int8, int8_t, int64_t, PRId64)
INTEGER(int16, int16_t, int64_t, PRId64)
INTEGER(int32, int32_t, int64_t, PRId64)
INTEGER(int64, int64_t, int64_t, PRId64)
INTEGER(uint8, uint8_t, uint64_t, PRIu64)
INTEGER(uint16, uint16_t, uint64_t, PRIu64)
INTEGER(uint32, uint32_t, uint64_t, PRIu64)
INTEGER(uint64, uint64_t, uint64_t, PRIu64)

static double double_number(const void *at)
{
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

static double float_number(const void *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
static double half_number(const void *at)
{
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0   ? ldexp(fraction, -24)
                  : exponent < 31 ? ldexp(1024 + fraction, exponent - 25)
                  : fraction == 0 ? INFINITY
                                  : NAN;
    return bits & 0x8000 ? -size : size;
}

/* 128 bits, least significant first: the whole number before the unit is taken out. */
static double decimal_number(const void *at)
{
    uint64_t word[2];
    memcpy(word, at, sizeof word);
    bool negative = word[1] >> 63;
    if (negative) {
        word[0] = ~word[0] + 1;
        word[1] = ~word[1] + (word[0] == 0);
    }
    double size = ldexp((double)word[1], 64) + (double)word[0];
    return negative ? -size : size;
}

const value_kind value_double = {sizeof(double), double_number, NULL};
const value_kind value_float = {sizeof(float), float_number, NULL};
const value_kind value_half = {sizeof(uint16_t), half_number, NULL};
const value_kind value_decimal = {2 * sizeof(uint64_t), decimal_number, NULL};

/* ---- sparse cells ----
 *
 * A matrix by rows is borrowed; one by columns is transposed: entries per row are counted, and
 * then each column's entries are appended to their rows. */

static sbps_status refuse_matrix(const char *what, sbps_error *err)
{
    return fail(err, SBPS_BAD_ARG, "the sparse matrix: %s", what);
}

/* Returns what is wrong with the entries, or NULL; each run must increase and be below
 * `limit`. */
static const char *flaw_of(const sparse_cells *c, size_t runs, size_t limit)
{
    if (!c->start) return "its starts are NULL";
    if (sparse_start(c, 0) != 0) return "its entries do not begin at 0";
    if (sparse_start(c, runs) > PTRDIFF_MAX) return "its starts are negative";
    if (sparse_start(c, runs) > 0 && (!c->index || !c->value)) return "its entries are NULL";
    for (size_t k = 0; k < runs; k++) {
        size_t begin = sparse_start(c, k), end = sparse_start(c, k + 1);
        if (end < begin || end > sparse_start(c, runs)) return "its starts decrease";
        for (size_t at = begin; at < end; at++) {
            if (sparse_column(c, at) >= limit) return "an entry is outside it";
            if (at > begin && sparse_column(c, at) <= sparse_column(c, at - 1))
                return "entries are not in increasing order, or there are two for a cell";
        }
    }
    return NULL;
}

static const char *flaw_of_names(const sbps_sparse *from)
{
    if (from->struct_size < sizeof *from) return "its struct_size is not set";
    if (from->columns > 0 && !from->names) return "its columns have no names";
    for (size_t j = 0; j < from->columns; j++)
        if (!from->names[j]) return "a column has no name";
    return NULL;
}

static sbps_status transpose_cells(sparse_cells *c, const sparse_cells *by_columns,
                                   sbps_error *err)
{
    size_t entries = sparse_start(by_columns, c->columns);
    int64_t *next = calloc(c->rows + 2, sizeof *next);
    c->own_start = next;
    c->own_index = malloc((entries + 1) * sizeof *c->own_index);
    c->own_value = malloc((entries + 1) * sizeof *c->own_value);
    if (!next || !c->own_index || !c->own_value) return fail_memory(err);
    for (size_t at = 0; at < entries; at++) next[sparse_column(by_columns, at) + 2]++;
    for (size_t i = 0; i < c->rows; i++) next[i + 2] += next[i + 1];
    for (size_t j = 0; j < c->columns; j++)
        for (size_t at = sparse_start(by_columns, j); at < sparse_start(by_columns, j + 1);
             at++) {
            size_t to = (size_t)next[sparse_column(by_columns, at) + 1]++;
            c->own_index[to] = (int32_t)j;
            c->own_value[to] = by_columns->value[at];
        }
    c->start = c->own_start; /* next[i] is now where row i ends */
    c->wide_start = true;
    c->index = c->own_index;
    c->wide_index = false;
    c->value = c->own_value;
    return SBPS_OK;
}

sbps_status sparse_cells_open(size_t rows, const sbps_sparse *from, sparse_cells *out,
                              sbps_error *err)
{
    *out = (sparse_cells){0};
    const char *flaw = flaw_of_names(from);
    if (flaw) return refuse_matrix(flaw, err);
    if (from->columns > INT32_MAX) return refuse_matrix("it has more than 2^31 columns", err);
    const sparse_cells borrowed = {.rows = rows,
                                   .columns = from->columns,
                                   .wide_start = from->wide_start,
                                   .wide_index = from->wide_index,
                                   .start = from->start,
                                   .index = from->index,
                                   .value = from->values};
    *out = borrowed;
    flaw = from->by_columns ? flaw_of(&borrowed, from->columns, rows)
                            : flaw_of(&borrowed, rows, from->columns);
    if (flaw) return refuse_matrix(flaw, err);
    return from->by_columns ? transpose_cells(out, &borrowed, err) : SBPS_OK;
}

void sparse_cells_clear(sparse_cells *c)
{
    free(c->own_start);
    free(c->own_index);
    free(c->own_value);
}

double sparse_value(const sparse_cells *c, size_t row, size_t column)
{
    size_t low = sparse_start(c, row), end = sparse_start(c, row + 1), high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sparse_column(c, middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && sparse_column(c, low) == column ? c->value[low] : 0.0;
}

size_t sparse_entries(const sparse_cells *c)
{
    return sparse_start(c, c->rows);
}
