/* Predictions as numbers: the library's CSV is read piece by piece, as it comes, so that no file is written. */
#include "sbps_r.h"

#include <R_ext/Arith.h>
#include <R_ext/Utils.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *bytes;
    size_t count, capacity;
} buffer;

typedef struct {
    buffer line;    /* the line that is not complete yet */
    buffer header;  /* the first line */
    buffer classes; /* labels of rows, each ended by 0 */
    double *value;  /* row by row */
    size_t values, capacity;
    size_t cells; /* numbers in a row, without `row` and `class` */
    bool has_class;
    bool failed; /* out of memory */
} csv_rows;

static bool append(buffer *b, const char *bytes, size_t count)
{
    if (b->count + count + 1 > b->capacity) {
        size_t capacity = 2 * (b->count + count + 1);
        char *grown = realloc(b->bytes, capacity);
        if (!grown) return false;
        b->bytes = grown;
        b->capacity = capacity;
    }
    memcpy(b->bytes + b->count, bytes, count);
    b->count += count;
    b->bytes[b->count] = '\0';
    return true;
}

/* Removes the quotes of a cell and returns the place behind it and its comma. */
static char *take_cell(char *from, char **cell)
{
    char *to = from;
    *cell = from;
    bool quoted = *from == '"';
    if (quoted) from++;
    for (; *from && (quoted || *from != ','); from++) {
        if (*from == '"' && quoted) {
            if (from[1] != '"') {
                quoted = false;
                continue;
            }
            from++;
        }
        *to++ = *from;
    }
    char *next = *from ? from + 1 : from;
    *to = '\0';
    return next;
}

static bool put_value(csv_rows *t, double value)
{
    if (t->values == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 1024;
        double *grown = realloc(t->value, capacity * sizeof *grown);
        if (!grown) return false;
        t->value = grown;
        t->capacity = capacity;
    }
    t->value[t->values++] = value;
    return true;
}

static bool take_header(csv_rows *t)
{
    if (!append(&t->header, t->line.bytes, t->line.count)) return false;
    t->has_class = !strncmp(t->header.bytes, "row,class,", 10);
    t->cells = 0;
    for (const char *c = t->header.bytes; *c; c++) t->cells += *c == ',';
    t->cells -= t->has_class;
    return true;
}

static bool take_line(csv_rows *t)
{
    char *cell, *at = t->line.bytes;
    if (t->line.count > 0 && at[t->line.count - 1] == '\r') at[t->line.count - 1] = '\0';
    if (!t->header.bytes) return take_header(t);
    at = take_cell(at, &cell);
    if (t->has_class) {
        at = take_cell(at, &cell);
        if (!append(&t->classes, cell, strlen(cell) + 1)) return false;
    }
    for (size_t k = 0; k < t->cells; k++) {
        at = take_cell(at, &cell);
        if (!put_value(t, *cell ? R_atof(cell) : NA_REAL)) return false;
    }
    return true;
}

static bool take_piece(void *self, const char *bytes, size_t count)
{
    csv_rows *t = self;
    while (count > 0 && !t->failed) {
        const char *end = memchr(bytes, '\n', count);
        size_t length = end ? (size_t)(end - bytes) : count;
        t->failed = !append(&t->line, bytes, length);
        if (!t->failed && end) {
            t->failed = !take_line(t);
            t->line.count = 0;
        }
        length += end != NULL;
        bytes += length;
        count -= length;
    }
    return !t->failed;
}

static SEXP values_of(const csv_rows *t)
{
    size_t rows = t->cells ? t->values / t->cells : 0;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)t->cells, (int)rows));
    if (t->values) memcpy(REAL(out), t->value, t->values * sizeof(double));
    UNPROTECT(1);
    return out;
}

static SEXP classes_of(const csv_rows *t, size_t rows)
{
    if (!t->has_class) return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)rows));
    const char *at = t->classes.bytes;
    for (size_t i = 0; i < rows; i++, at += strlen(at) + 1)
        SET_STRING_ELT(out, (R_xlen_t)i, Rf_mkCharCE(at, CE_UTF8));
    UNPROTECT(1);
    return out;
}

static void release(csv_rows *t)
{
    free(t->line.bytes);
    free(t->header.bytes);
    free(t->classes.bytes);
    free(t->value);
}

/* The header, a matrix with a column for each line, and the labels. An error of R here would leak the rows. */
static SEXP predictions_of(const csv_rows *t)
{
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(out, 0, text_of(t->header.bytes ? t->header.bytes : ""));
    SEXP values = values_of(t);
    SET_VECTOR_ELT(out, 1, values);
    SET_VECTOR_ELT(out, 2, classes_of(t, (size_t)Rf_ncols(values)));
    UNPROTECT(1);
    return out;
}

typedef struct {
    const csv_rows *from;
    SEXP made;
} transfer;

static void make_predictions(void *self)
{
    transfer *t = self;
    t->made = predictions_of(t->from);
    R_PreserveObject(t->made);
}

/* words: kind, new levels; numbers: draws (0 or 1), most of them, seed, threads. */
SEXP r_predict(SEXP run, SEXP data, SEXP words, SEXP numbers)
{
    sbps_error err = {0};
    sbps_result *r = NULL;
    sbps_predicted predicted = {.struct_size = sizeof predicted};
    csv_rows taken = {0};
    want_vector(words, STRSXP, 2, "words");
    want_vector(numbers, REALSXP, 4, "numbers");
    const double *number = REAL(numbers);
    const char *from = only_text(run);
    row_set rows;
    rows_given(data, &rows);
    const sbps_prediction how = {.struct_size = sizeof how,
                                 .kind = utf8(STRING_ELT(words, 0)),
                                 .new_levels = utf8(STRING_ELT(words, 1)),
                                 .draws = number[0] != 0.0,
                                 .max_draws = (size_t)number[1],
                                 .seed = (uint64_t)number[2],
                                 .threads = (unsigned)number[3],
                                 .take = take_piece,
                                 .self = &taken,
                                 .frame = rows.in_memory ? &rows.frame : NULL};
    sbps_status status = sbps_result_read(from, &r, &err);
    if (status == SBPS_OK) status = sbps_predict(r, from, rows.name, &how, &predicted, &err);
    sbps_result_destroy(r);
    transfer t = {.from = &taken, .made = R_NilValue};
    bool fits = !taken.failed && (status != SBPS_OK || R_ToplevelExec(make_predictions, &t));
    release(&taken);
    if (!fits) return failure_called("SBPS_NO_MEM", "out of memory for the predictions");
    if (status != SBPS_OK) return failure_of(&err);
    R_ReleaseObject(t.made);
    return t.made;
}
