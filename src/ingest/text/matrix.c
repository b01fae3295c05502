/* Reads a square matrix from a CSV file: a header with d names, then d lines of d numbers. The
 * whole file is held in memory. */
#include "ingest/text/matrix.h"
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/schema/number.h"
#include "ingest/text/text_file.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIM_MAX ((size_t)20000) /* columns: 3.2 GB of numbers */

/* Returns the next line that is not blank, terminated in place, and moves *at on; NULL at the
 * end. */
static char *next_line(text_file *t, char **at)
{
    while (*at < t->limit) {
        char *line = *at, *end = strchr(line, '\n');
        *at = end ? end + 1 : t->limit;
        t->line++;
        if (end) *end = '\0';
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")]) return line;
    }
    return NULL;
}

/* Counts the cells of a line. */
static size_t count_cells(const char *line)
{
    size_t count = 1;
    for (; *line; line++) count += *line == ',';
    return count;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Reads the d finite numbers of a line. */
static sbps_status read_line(const text_file *t, const char *line, size_t d, locale_t c_locale,
                             double *row, sbps_error *err)
{
    for (size_t j = 0; j < d; j++) {
        const char *begin = skip_blanks(line), *cell_end = begin + strcspn(begin, ",");
        const char *end = number_read(begin, c_locale, &row[j]);
        if (!end || skip_blanks(end) != cell_end || !isfinite(row[j]))
            return fail(err, SBPS_BAD_FILE, "%s:%zu: column %zu: '%s' is not a finite number",
                        t->path, t->line, j + 1, show(begin, cell_end).text);
        line = cell_end + (*cell_end == ',');
    }
    return SBPS_OK;
}

/* Reads the lines after the header, which must be d lines of d numbers. */
static sbps_status read_matrix_rows(text_file *t, char *at, size_t d, locale_t c_locale,
                                    double *values, sbps_error *err)
{
    size_t i = 0;
    sbps_status status = SBPS_OK;
    for (char *line; status == SBPS_OK && (line = next_line(t, &at)); i++) {
        if (i == d)
            return fail(err, SBPS_BAD_FILE,
                        "%s:%zu: the matrix is not square: more than %zu rows for %zu columns",
                        t->path, t->line, d, d);
        if (count_cells(line) != d)
            return fail(err, SBPS_BAD_FILE,
                        "%s:%zu: expected %zu columns as in the header, found %zu", t->path,
                        t->line, d, count_cells(line));
        status = read_line(t, line, d, c_locale, values + i * d, err);
    }
    if (status == SBPS_OK && i < d)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the matrix is not square: %zu rows for %zu columns", t->path, i, d);
    return status;
}

/* Counts the columns in the header. A first line of numbers is an error, as it would be
 * lost. */
static sbps_status read_header(text_file *t, char **at, locale_t c_locale, size_t *d,
                               sbps_error *err)
{
    double value;
    const char *line = next_line(t, at);
    if (!line) return fail(err, SBPS_BAD_FILE, "%s: the file is empty", t->path);
    if (number_read(skip_blanks(line), c_locale, &value))
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: the first line contains numbers; it must name the columns",
                    t->path, t->line);
    *d = count_cells(line);
    if (*d <= DIM_MAX) return SBPS_OK;
    return fail(err, SBPS_BAD_FILE, "%s: %zu columns; a matrix may have at most %zu", t->path,
                *d, DIM_MAX);
}

sbps_status matrix_read(const char *path, size_t *d, double **values, sbps_error *err)
{
    text_file *t = NULL;
    *values = NULL;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return fail_memory(err);
    sbps_status status = text_file_open(&(text_input){path, -1}, NULL, &t, err);
    while (status == SBPS_OK && !t->finished) status = text_file_more(t, err);
    if (status != SBPS_OK) goto done;
    t->line = 0;
    char *at = t->at;
    if ((status = read_header(t, &at, c_locale, d, err)) != SBPS_OK) goto done;
    *values = new_doubles(*d * *d);
    status = *values ? read_matrix_rows(t, at, *d, c_locale, *values, err) : fail_memory(err);
    if (status == SBPS_OK) goto done;
    free(*values);
    *values = NULL;
done:
    text_file_close(t);
    freelocale(c_locale);
    return status;
}
