/* One cell of a file into its slot: number, level, missing, or a sentence saying what is wrong. */
#include "core/printable.h"
#include "ingest/schema/column_schema.h"

#include "ingest/schema/dates.h"
#include "ingest/schema/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static sbps_status fail_missing(const column_schema *p, size_t column, size_t line,
                                sbps_error *err)
{
    return fail(
        err, SBPS_BAD_DATA,
        "%s:%zu: column '%s': the value is missing; drop such rows with --missing drop, or "
        "the column with --exclude",
        p->path, line, show_name(p->columns->name[column]).text);
}

static sbps_status fail_number(const column_schema *p, size_t column, const char *begin,
                               const char *end, size_t line, sbps_error *err)
{
    bool feature = p->use[column].slot >= p->first;
    const char *flaw = cell_flaw(begin, end, p->c_locale);
    if (flaw)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: column '%s': '%s' has %s; numbers need a point and nothing else, "
                    "such as 1234.5%s",
                    p->path, line, show_name(p->columns->name[column]).text,
                    show(begin, end).text, flaw,
                    feature ? "; --exclude leaves the column out, --categorical takes its "
                              "texts as levels"
                            : "");
    return fail(err, SBPS_BAD_FILE, "%s:%zu: column '%s': '%s' is not a number%s", p->path,
                line, show_name(p->columns->name[column]).text, show(begin, end).text,
                feature ? "; name it in --categorical if it is a category"
                : column == p->target
                    ? "; labels are for models of classes, such as logistic and softmax"
                    : "");
}

/* A cell that is not what its column was taken for: the column is something else from now on, and reading
 * begins once more. */
static bool contradicts(const column_schema *p, size_t column, const char *begin,
                        const char *end, size_t line)
{
    column_types *types = p->columns->types;
    bool number = column == p->weight || column == p->offset || column == p->trials;
    if (!p->learns) return false;
    column_type type = cell_type(begin, end, p->columns->comma, p->c_locale);
    if (number && type != TYPE_DECIMAL) return false;
    bool changed = column_types_join(types, column, type, line);
    if (!changed || types->of[column] == TYPE_NUMBER) return false;
    return types->changed = true;
}

static sbps_status read_number(const column_schema *p, size_t column, const char *begin,
                               const char *end, size_t line, double *out, sbps_error *err)
{
    const char *stop = number_read(begin, p->c_locale, out);
    bool whole = stop == end && begin != end;
    if (whole && isfinite(*out)) return SBPS_OK;
    if (contradicts(p, column, begin, end, line)) return SBPS_BAD_FILE;
    if (!whole && !text_is_infinite(begin, end))
        return fail_number(p, column, begin, end, line, err);
    return fail(err, SBPS_BAD_DATA, "%s:%zu: column '%s': '%s' is not a finite number", p->path,
                line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

#define WHOLE_MAX 9007199254740992.0 /* 2^53: from there on whole numbers share doubles */

/* Digits alone, or with a sign, that are not those of the double. */
static bool loses_digits(const char *begin, const char *end, double value)
{
    char own[32];
    const char *at = begin + (*begin == '-' || *begin == '+');
    if (fabs(value) < WHOLE_MAX) return false;
    for (const char *c = at; c < end; c++)
        if (*c < '0' || *c > '9') return false;
    int length = snprintf(own, sizeof own, "%.0f", fabs(value));
    return (size_t)(end - at) != (size_t)length || memcmp(own, at, (size_t)length) != 0;
}

/* Levels must not merge because a double has too few digits: the column becomes a category, if it may. */
static sbps_status keep_digits(const column_schema *p, size_t column, const char *begin,
                               const char *end, size_t line, double value, sbps_error *err)
{
    const column_use *use = &p->use[column];
    column_types *types = p->columns->types;
    if (!use->exact || !loses_digits(begin, end, value)) return SBPS_OK;
    if (p->learns && !use->number && column_types_join(types, column, TYPE_TEXT, line)) {
        types->changed = true;
        return SBPS_BAD_FILE;
    }
    return fail(err, SBPS_BAD_DATA,
                "%s:%zu: column '%s': %s has more digits than a number holds, and levels would "
                "merge: --categorical takes the column as texts, which keep all digits",
                p->path, line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

/* The same, where a comma stands for the point. */
static sbps_status read_careful(const column_schema *p, size_t column, const char *begin,
                                const char *end, size_t line, double *out, sbps_error *err)
{
    bool point = memchr(begin, '.', (size_t)(end - begin));
    if (!p->columns->types || p->columns->types->of[column] != TYPE_DECIMAL)
        return read_number(p, column, begin, end, line, out, err);
    if (comma_read(begin, end, p->c_locale, out) && isfinite(*out)) return SBPS_OK;
    if (!point || cell_type(begin, end, true, p->c_locale) != TYPE_NUMBER)
        return read_number(p, column, begin, end, line, out, err);
    return fail(err, SBPS_BAD_FILE,
                "%s:%zu: column '%s': '%s' has a point, where other cells have a decimal comma",
                p->path, line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

static sbps_status read_date(const column_schema *p, size_t column, const char *begin,
                             const char *end, size_t line, double *out, sbps_error *err)
{
    double days;
    bool time = p->use[column].kind == USE_TIME;
    if (time && time_read(begin, end, out)) return SBPS_OK;
    if (date_read(begin, end, &days)) {
        *out = time ? DAY_SECONDS * days : days;
        return SBPS_OK;
    }
    if (contradicts(p, column, begin, end, line)) return SBPS_BAD_FILE;
    return fail(err, SBPS_BAD_FILE,
                "%s:%zu: column '%s': '%s' is not a date as those before it; name it in "
                "--categorical if it is a category",
                p->path, line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

sbps_status schema_read_number(const column_schema *p, size_t column, double value, size_t line,
                               double *row, bool *missing, sbps_error *err)
{
    row[p->use[column].slot] = value;
    if (isfinite(value)) return SBPS_OK;
    if (isinf(value))
        return fail(err, SBPS_BAD_DATA, "%s:%zu: column '%s': '%g' is not a finite number",
                    p->path, line, show_name(p->columns->name[column]).text, value);
    *missing = true;
    return p->drop_missing ? SBPS_OK : fail_missing(p, column, line, err);
}

sbps_status schema_read_cell(const column_schema *p, size_t column, const char *begin,
                             const char *end, size_t line, double *row, bool *missing,
                             sbps_error *err)
{
    const column_use *use = &p->use[column];
    if (use->kind == USE_NONE) return SBPS_OK;
    if (is_missing(p->columns->missing, begin, end))
        return schema_read_number(p, column, NAN, line, row, missing, err);
    if (use->kind == USE_NUMBER)
        return read_number(p, column, begin, end, line, &row[use->slot], err);
    if (use->kind == USE_CAREFUL) {
        sbps_status status = read_careful(p, column, begin, end, line, &row[use->slot], err);
        if (status != SBPS_OK) return status;
        return keep_digits(p, column, begin, end, line, row[use->slot], err);
    }
    if (use->kind != USE_CATEGORY)
        return read_date(p, column, begin, end, line, &row[use->slot], err);
    size_t code;
    if (!levels_code(use->levels, begin, end, &code)) return fail_memory(err);
    row[use->slot] = (double)code;
    return SBPS_OK;
}

void schema_drop_row(const column_schema *p, const double *row)
{
    for (size_t i = 0; i < p->columns->count; i++)
        if (p->use[i].kind != USE_NONE && isnan(row[p->use[i].slot])) p->use[i].missing++;
}

static void count_levels(const column_schema *p, const double *row)
{
    const column_use *target = p->target == SIZE_MAX ? NULL : &p->use[p->target];
    if (target && target->levels) target->levels->item[(size_t)row[target->slot]].rows++;
    for (size_t f = 0; f < p->features; f++) {
        const column_use *use = &p->use[p->feature[f]];
        if (use->levels) use->levels->item[(size_t)row[use->slot]].rows++;
    }
}

static sbps_status fail_trials(const column_schema *p, double y, double trials, size_t line,
                               sbps_error *err)
{
    if (trials < 0.0 || trials != floor(trials))
        return fail(err, SBPS_BAD_DATA,
                    "%s:%zu: column '%s': %g is no number of trials: 0, 1, 2, ...", p->path,
                    line, show_name(p->columns->name[p->trials]).text, trials);
    return fail(err, SBPS_BAD_DATA,
                "%s:%zu: column '%s': %g successes of %g trials: with --trials the target "
                "counts them, 0, 1, 2, ... up to that number",
                p->path, line, show_name(p->columns->name[p->target]).text, y, trials);
}

/* A row without trials says nothing: whatever its share, its weight is 0. */
static sbps_status take_trials(const column_schema *p, double *row, size_t line,
                               sbps_error *err)
{
    double *y = &row[p->use[p->target].slot], *weight = &row[p->use[p->weight].slot];
    double trials = row[p->use[p->trials].slot];
    bool whole = trials == floor(trials) && *y == floor(*y);
    if (!whole || *y < 0.0 || *y > trials) return fail_trials(p, *y, trials, line, err);
    *y = trials > 0.0 ? *y / trials : 0.0;
    if (p->trials != p->weight) *weight *= trials;
    return SBPS_OK;
}

sbps_status schema_keep_row(const column_schema *p, double *row, size_t line, sbps_error *err)
{
    if (p->weight != SIZE_MAX && p->weight != p->trials && row[p->use[p->weight].slot] < 0)
        return fail(err, SBPS_BAD_DATA, "%s:%zu: column '%s': the weight %g is negative",
                    p->path, line, show_name(p->columns->name[p->weight]).text,
                    row[p->use[p->weight].slot]);
    if (p->categories > 0) count_levels(p, row);
    sbps_status status = p->trials == SIZE_MAX ? SBPS_OK : take_trials(p, row, line, err);
    return status == SBPS_OK && p->formula ? schema_calculate_row(p, row, line, err) : status;
}
