/* Points from files written by `sbps map --csv`, `sbps laplace --csv`, `sbps simulate --truth`
 * and `sbps summary --csv`. They are small, so the file is held in memory.
 *
 * A line names a parameter (sigma) or its coordinate (log(sigma)); values of parameters are
 * converted to coordinates, covariances are always those of coordinates. Columns are found by
 * their names, so that a file may have more of them. */
#include "inference/options/start_point.h"
#include "core/memory.h"
#include "core/printable.h"
#include "inference/options/target.h"
#include "ingest/schema/number.h"
#include "ingest/text/text_file.h"
#include "linalg/cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMMETRY 1e-8 /* relative tolerance: files may have few digits */

/* Roles of columns; ROLE_COVARIANCE + j: covariance with coordinate j. */
enum { ROLE_OTHER, ROLE_NAME, ROLE_VALUE, ROLE_COVARIANCE };

typedef struct {
    const char *path;
    const posterior *u;
    const char *const *names;
    text_file *source;
    char *at;
    size_t line;
    locale_t c_locale;
    size_t *roles, columns, covariances;
    size_t *seen; /* dim: line of each parameter; 0: none yet */
    double *w, *covariance;
} reader;

char *coordinate_name(const posterior *u, const char *name, size_t j)
{
    char *own;
    if (u->scale[j] == SCALE_PLAIN) return copy_text(name);
    return asprintf(&own, "%s(%s)", scale_label(u->scale[j]), name) < 0 ? NULL : own;
}

/* ---- fields ---- */

/* Removes the quotes of a field in place and moves r->at after it; NULL: not closed. */
static char *unquote(reader *r)
{
    char *field = r->at + 1, *to = field, *from = field;
    for (; *from && (*from != '"' || from[1] == '"'); from++) {
        r->line += *from == '\n';
        from += *from == '"';
        *to++ = *from;
    }
    if (!*from) return NULL;
    r->at = from + 1;
    *to = '\0';
    return field;
}

/* The next field of the line, terminated; *last: the line ends with it. */
static sbps_status next_field(reader *r, char **field, bool *last, sbps_error *err)
{
    size_t line = r->line;
    if (*r->at == '"') {
        *field = unquote(r);
        if (!*field)
            return fail(err, SBPS_BAD_FILE, "%s:%zu: a quote is not closed", r->path, line);
        if (!strchr(",\r\n", *r->at)) /* also matches the end of the text */
            return fail(err, SBPS_BAD_FILE, "%s:%zu: text follows a quoted field", r->path,
                        line);
    } else {
        *field = r->at;
        r->at += strcspn(r->at, ",\r\n");
    }
    char end = *r->at;
    *last = end != ',';
    if (end) *r->at++ = '\0';
    if (end == '\r' && *r->at == '\n') r->at++;
    r->line += *last;
    return SBPS_OK;
}

/* Lines without any field, also at the end of the file. */
static void skip_blank_lines(reader *r)
{
    for (; *r->at == '\n' || *r->at == '\r'; r->at++) r->line += *r->at == '\n';
}

/* ---- names ---- */

/* True if `name` is the coordinate j itself, such as log(sigma). */
static bool names_coordinate(const reader *r, size_t j, const char *name)
{
    const char *own = r->names[j], *scale_name = scale_label(r->u->scale[j]);
    size_t length = strlen(own), begin = strlen(scale_name);
    if (!*scale_name) return !strcmp(own, name);
    return !strncmp(name, scale_name, begin) && name[begin] == '(' &&
           !strncmp(name + begin + 1, own, length) && !strcmp(name + begin + 1 + length, ")");
}

/* Index of the parameter or coordinate of that name; dim: none. */
static size_t find_name(const reader *r, const char *name, bool *is_coordinate)
{
    for (size_t j = 0; j < r->u->dim; j++) {
        *is_coordinate = names_coordinate(r, j, name);
        if (*is_coordinate || !strcmp(r->names[j], name)) return j;
    }
    return r->u->dim;
}

/* True if the name is a function of several coordinates. */
static bool is_derived(const posterior *u, const char *name)
{
    model_derived of;
    char **reported;
    bool found = false;
    if (target_reported_names(u, &reported, NULL) != SBPS_OK) return false;
    for (size_t j = 0; !found && j < u->dim; j++)
        found = posterior_derived(u, j, &of) && !strcmp(reported[j], name);
    free_texts(reported, u->dim);
    return found;
}

/* Refuses a name that is neither a parameter nor a coordinate. */
static sbps_status unknown_name(const reader *r, size_t line, const char *name, sbps_error *err)
{
    if (is_derived(r->u, name))
        return fail(
            err, SBPS_BAD_FILE,
            "--start: %s:%zu: '%s' is a function of several coordinates; use a file written by "
            "`sbps map --csv` or `sbps laplace --csv`, which contains the coordinates",
            r->path, line, show_name(name).text);
    return fail(err, SBPS_BAD_FILE, "--start: %s:%zu: the model has no parameter '%s'%s",
                r->path, line, show_name(name).text,
                did_you_mean(";", name, r->names, r->u->dim).text);
}

/* ---- header ---- */

/* Determines the role of the next column from its header. */
static sbps_status take_role(reader *r, const char *field, size_t *role, sbps_error *err)
{
    bool value = !strcmp(field, "value") || !strcmp(field, "mean"), is_coordinate;
    *role = ROLE_OTHER;
    if (r->columns == 0 && strcmp(field, "name"))
        return fail(
            err, SBPS_BAD_FILE,
            "--start: %s:1: the first column is '%s', not 'name': expected a file written "
            "by `sbps map --csv` or `sbps laplace --csv`",
            r->path, show_name(field).text);
    if (r->columns == 0) *role = ROLE_NAME;
    if (r->columns == 1 && value) *role = ROLE_VALUE;
    if (r->columns == 1 && !value)
        return fail(err, SBPS_BAD_FILE,
                    "--start: %s:1: the second column is '%s', not 'value' or 'mean'", r->path,
                    show_name(field).text);
    if (strncmp(field, "cov:", 4)) return SBPS_OK;
    size_t j = find_name(r, field + 4, &is_coordinate);
    if (j == r->u->dim) return unknown_name(r, 1, field + 4, err);
    if (!is_coordinate)
        return fail(err, SBPS_BAD_FILE,
                    "--start: %s:1: '%s' is on the log scale: expected the column cov:log(%s)",
                    r->path, show_name(field + 4).text, show_name(field + 4).text);
    for (size_t k = 0; k < r->columns; k++)
        if (r->roles[k] == ROLE_COVARIANCE + j)
            return fail(err, SBPS_BAD_FILE, "--start: %s:1: column '%s' appears twice", r->path,
                        show_name(field).text);
    *role = ROLE_COVARIANCE + j;
    r->covariances++;
    return SBPS_OK;
}

/* Reads the header and the roles of all columns. */
static sbps_status read_header(reader *r, sbps_error *err)
{
    char *field;
    bool last = false;
    sbps_status status = SBPS_OK;
    while (!last) {
        size_t *roles = realloc(r->roles, (r->columns + 1) * sizeof *roles);
        if (!roles) return fail_memory(err);
        r->roles = roles;
        if ((status = next_field(r, &field, &last, err)) != SBPS_OK) return status;
        if ((status = take_role(r, field, &roles[r->columns], err)) != SBPS_OK) return status;
        r->columns++;
    }
    if (r->columns < 2)
        return fail(err, SBPS_BAD_FILE, "--start: %s:1: expected the columns name and value",
                    r->path);
    if (r->covariances && r->covariances < r->u->dim)
        return fail(err, SBPS_BAD_FILE,
                    "--start: %s:1: the covariance has columns for %zu of the model's %zu "
                    "parameters",
                    r->path, r->covariances, r->u->dim);
    return SBPS_OK;
}

/* ---- lines ---- */

/* Finds the parameter of a line; refuses a second line for it. */
static sbps_status take_name(reader *r, const char *name, size_t *j, bool *is_coordinate,
                             sbps_error *err)
{
    *j = find_name(r, name, is_coordinate);
    if (*j == r->u->dim) return unknown_name(r, r->line, name, err);
    if (r->seen[*j])
        return fail(err, SBPS_BAD_FILE, "--start: %s:%zu: '%s' was already given on line %zu",
                    r->path, r->line, show_name(name).text, r->seen[*j]);
    if (r->covariances && !*is_coordinate)
        return fail(err, SBPS_BAD_FILE,
                    "--start: %s:%zu: '%s' is on the log scale: expected log(%s)", r->path,
                    r->line, show_name(name).text, show_name(name).text);
    r->seen[*j] = r->line;
    return SBPS_OK;
}

/* Parses a finite number. */
static sbps_status take_number(const reader *r, size_t line, size_t column, const char *field,
                               double *out, sbps_error *err)
{
    const char *end = number_read(field, r->c_locale, out);
    if (end && !*end && isfinite(*out)) return SBPS_OK;
    return fail(err, SBPS_BAD_FILE, "--start: %s:%zu: column %zu: '%s' is not a finite number",
                r->path, line, column + 1, show_name(field).text);
}

/* Converts a parameter to its coordinate. */
static sbps_status to_coordinate(const reader *r, size_t line, size_t j, double *value,
                                 sbps_error *err)
{
    static const char *const ranges[] = {"a number", "positive", "between -1 and 1",
                                         "between 0 and 1"};
    double coordinate = scale_coordinate(r->u->scale[j], *value);
    if (!isfinite(coordinate))
        return fail(err, SBPS_BAD_FILE, "--start: %s:%zu: %s must be %s, not %g", r->path, line,
                    r->names[j], ranges[r->u->scale[j]], *value);
    *value = coordinate;
    return SBPS_OK;
}

/* Reads a line of the file into the point. */
static sbps_status read_line(reader *r, sbps_error *err)
{
    char *field;
    bool last = false, is_coordinate = false;
    size_t j = 0, column = 0, line = r->line;
    for (; !last; column++) {
        double number = 0.0;
        sbps_status status = next_field(r, &field, &last, err);
        if (status != SBPS_OK) return status;
        if (column == r->columns) last = true; /* too many fields */
        if (column == r->columns) continue;
        size_t role = r->roles[column], line_now = r->line;
        r->line = line; /* messages name the first line of a record */
        if (role == ROLE_NAME) status = take_name(r, field, &j, &is_coordinate, err);
        if (role >= ROLE_VALUE) status = take_number(r, line, column, field, &number, err);
        if (role == ROLE_VALUE && status == SBPS_OK && !is_coordinate)
            status = to_coordinate(r, line, j, &number, err);
        r->line = line_now;
        if (status != SBPS_OK) return status;
        if (role == ROLE_VALUE) r->w[j] = number;
        if (role >= ROLE_COVARIANCE)
            r->covariance[j * r->u->dim + (role - ROLE_COVARIANCE)] = number;
    }
    if (column == r->columns) return SBPS_OK;
    return fail(err, SBPS_BAD_FILE, "--start: %s:%zu: expected %zu columns, as in the header",
                r->path, line, r->columns);
}

/* Reads all lines and checks that no parameter is missing. */
static sbps_status read_lines(reader *r, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (skip_blank_lines(r); *r->at && status == SBPS_OK; skip_blank_lines(r))
        status = read_line(r, err);
    for (size_t j = 0; j < r->u->dim && status == SBPS_OK; j++)
        if (!r->seen[j])
            status = fail(err, SBPS_BAD_FILE, "--start: %s: no line for the parameter '%s'",
                          r->path, show_name(r->names[j]).text);
    return status;
}

/* ---- the covariance ---- */

/* Refuses a covariance that is not symmetric up to rounding. */
static sbps_status check_symmetric(const reader *r, sbps_error *err)
{
    size_t d = r->u->dim;
    const double *s = r->covariance;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            double size = sqrt(fabs(s[i * d + i] * s[j * d + j]));
            if (fabs(s[i * d + j] - s[j * d + i]) > SYMMETRY * size)
                return fail(err, SBPS_BAD_FILE,
                            "--start: %s: the covariance is not symmetric: '%s' with '%s' is "
                            "%g, but %g the other way round",
                            r->path, show_name(r->names[i]).text, show_name(r->names[j]).text,
                            s[i * d + j], s[j * d + i]);
        }
    return SBPS_OK;
}

/* Replaces the covariance by its inverse; refuses one that is not symmetric positive definite.
 */
static sbps_status invert(const reader *r, double **out, sbps_error *err)
{
    size_t d = r->u->dim;
    sbps_status status = check_symmetric(r, err);
    if (status != SBPS_OK) return status;
    size_t pivot = cholesky_pivot(d, r->covariance, 0.0);
    if (pivot < d)
        return fail(err, SBPS_BAD_FILE,
                    "--start: %s: the covariance is not positive definite: '%s' has no "
                    "variance given the parameters before it",
                    r->path, show_name(r->names[pivot]).text);
    double *precision = *out = new_doubles(d * d);
    if (!precision) return fail_memory(err);
    cholesky_inverse(d, r->covariance, precision);
    return SBPS_OK;
}

/* ---- the file ---- */

/* Reads the file into memory; *hash: of its text. */
static sbps_status load(reader *r, uint64_t *hash, sbps_error *err)
{
    sbps_status status = text_file_open(&(text_input){r->path, -1}, NULL, &r->source, err);
    while (status == SBPS_OK && !r->source->finished) status = text_file_more(r->source, err);
    if (status != SBPS_OK) return status;
    r->at = r->source->at;
    *hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *at = r->at; at < r->source->limit; at++)
        *hash = (*hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    skip_blank_lines(r);
    return *r->at ? SBPS_OK
                  : fail(err, SBPS_BAD_FILE, "--start: %s: the file is empty", r->path);
}

sbps_status start_read(const char *path, const posterior *u, const char *const *names,
                       start_point *out, sbps_error *err)
{
    *out = (start_point){.w = new_doubles(u->dim)};
    reader r = {.path = path, .u = u, .names = names, .line = 1, .w = out->w};
    r.seen = calloc(u->dim, sizeof *r.seen);
    r.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    sbps_status status = r.w && r.seen && r.c_locale ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = load(&r, &out->hash, err);
    if (status == SBPS_OK) status = read_header(&r, err);
    if (status == SBPS_OK && r.covariances) {
        r.covariance = new_doubles(u->dim * u->dim);
        if (!r.covariance) status = fail_memory(err);
    }
    if (status == SBPS_OK) status = read_lines(&r, err);
    if (status == SBPS_OK && r.covariance) status = invert(&r, &out->precision, err);
    free(r.covariance);
    free(r.roles);
    free(r.seen);
    text_file_close(r.source);
    if (r.c_locale) freelocale(r.c_locale);
    return status;
}

void start_release(start_point *s)
{
    free(s->w);
    free(s->precision);
    *s = (start_point){0};
}
