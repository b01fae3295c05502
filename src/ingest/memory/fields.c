/* Cells of tables in memory, as numbers and as the texts that a CSV file would hold. Texts of Arrow lie one behind
 * the other, told by offsets, or are views of 16 bytes: a length, and the text itself or its beginning and where it
 * is, see the columnar format of Arrow. */
#include "ingest/memory/fields.h"

#include "core/decimal.h"
#include "ingest/schema/types.h"
#include <math.h>
#include <stdio.h>
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

/* As R writes it: 15 digits where they are enough. */
static void print_number(double value, char *buffer)
{
    decimal_print(buffer, CELL_TEXT_BYTES, "%.15g", value);
    if (decimal_read(buffer, NULL) != value)
        decimal_print(buffer, CELL_TEXT_BYTES, "%.17g", value);
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
    else
        print_number(value, buffer);
    return give_text(buffer, strlen(buffer), out);
}

/* ---- nothing, and truth ---- */

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
    return value ? give_text("true", 4, out) : give_text("false", 5, out);
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

/* A text ends at its first zero byte, and nobody else's does: such texts are refused. */
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
    int32_t length, where[2]; /* which of the heaps, and where in it */
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

/* The level that a cell points at. A code below the first stands for nothing, as -1 does in data frames. */
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
