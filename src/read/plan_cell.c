/* One cell of a file into its slot: number, level, missing, or a sentence saying what is wrong. */
#include "base/printable.h"
#include "read/plan.h"

#include "read/number.h"
#include <math.h>
#include <string.h>

static sbps_status fail_missing(const plan *p, size_t column, size_t line, sbps_error *err)
{
    return fail(err, SBPS_BAD_DATA,
                "%s:%zu: column '%s': the value is missing; drop such rows with --missing drop",
                p->path, line, show_name(p->columns->name[column]).text);
}

static sbps_status fail_number(const plan *p, size_t column, const char *begin, const char *end,
                               size_t line, sbps_error *err)
{
    bool feature = p->use[column].slot >= p->first;
    double value;
    const char *comma = memchr(begin, ',', (size_t)(end - begin));
    if (comma && number_read(begin, p->c_locale, &value) == comma)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: column '%s': '%s' has a decimal comma; numbers need a point",
                    p->path, line, show_name(p->columns->name[column]).text,
                    show(begin, end).text);
    return fail(err, SBPS_BAD_FILE, "%s:%zu: column '%s': '%s' is not a number%s", p->path,
                line, show_name(p->columns->name[column]).text, show(begin, end).text,
                feature ? "; name it in --categorical if it is a category" : "");
}

static sbps_status read_number(const plan *p, size_t column, const char *begin, const char *end,
                               size_t line, double *out, sbps_error *err)
{
    const char *stop = number_read(begin, p->c_locale, out);
    bool whole = stop == end && begin != end;
    if (whole && isfinite(*out)) return SBPS_OK;
    if (!whole && !text_is_infinite(begin, end))
        return fail_number(p, column, begin, end, line, err);
    return fail(err, SBPS_BAD_DATA, "%s:%zu: column '%s': '%s' is not a finite number", p->path,
                line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

sbps_status plan_cell(const plan *p, size_t column, const char *begin, const char *end,
                      size_t line, double *row, bool *missing, sbps_error *err)
{
    const column_use *use = &p->use[column];
    if (use->kind == USE_NONE) return SBPS_OK;
    if (text_is_missing(begin, end)) {
        *missing = true;
        return p->drop_missing ? SBPS_OK : fail_missing(p, column, line, err);
    }
    if (use->kind == USE_NUMBER)
        return read_number(p, column, begin, end, line, &row[use->slot], err);
    size_t code;
    if (!levels_code(use->levels, begin, end, &code)) return fail_memory(err);
    row[use->slot] = (double)code;
    return SBPS_OK;
}

static void count_levels(const plan *p, const double *row)
{
    for (size_t f = 0; f < p->features; f++) {
        const column_use *use = &p->use[p->feature[f]];
        if (use->levels) use->levels->item[(size_t)row[use->slot]].rows++;
    }
}

sbps_status plan_keep(const plan *p, const double *row, size_t line, sbps_error *err)
{
    if (p->weight != SIZE_MAX && row[p->use[p->weight].slot] < 0)
        return fail(err, SBPS_BAD_DATA, "%s:%zu: column '%s': the weight %g is negative",
                    p->path, line, show_name(p->columns->name[p->weight]).text,
                    row[p->use[p->weight].slot]);
    if (p->categories > 0) count_levels(p, row);
    return SBPS_OK;
}
