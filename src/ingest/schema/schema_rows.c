/* From cells to rows: each cell becomes a number, level or missing value in its slot, or fails
 * with file, line and column; complete rows are checked and counted.
 *
 * Successes y of m trials become the proportion y / m with weight m (times the row's own
 * weight).
 *
 * Threads read parts of a file at the same time, each with a fork of the schema that has its
 * own levels. Merged in the order of the file, levels get the codes that a single reader would
 * give. */
#include "ingest/schema/column_schema.h"

#include "core/printable.h"
#include "ingest/schema/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

/* Reports a cell that is not a number: what is wrong with it and, for a feature, how to use it
 * anyway. */
static sbps_status fail_number(const column_schema *p, size_t column, const char *begin,
                               const char *end, size_t line, sbps_error *err)
{
    bool feature = p->use[column].slot >= p->first;
    const char *flaw = cell_flaw(begin, end, p->c_locale);
    if (flaw)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: column '%s': '%s' has %s; write plain numbers such as 1234.5%s",
                    p->path, line, show_name(p->columns->name[column]).text,
                    show(begin, end).text, flaw,
                    feature ? ", or use --exclude to leave the column out, or --categorical to "
                              "use its texts as levels"
                            : "");
    return fail(err, SBPS_BAD_FILE, "%s:%zu: column '%s': '%s' is not a number%s", p->path,
                line, show_name(p->columns->name[column]).text, show(begin, end).text,
                feature ? "; name it in --categorical if it is a category"
                : column == p->target
                    ? "; text labels need a model of classes such as logistic or softmax"
                    : "");
}

/* Widens the column's type to cover the cell. Returns true if it changed: the file must be read
 * again. */
static bool contradicts(const column_schema *p, size_t column, const char *begin,
                        const char *end, size_t line)
{
    column_types *types = p->columns->types;
    /* Weight, offset and trials stay numbers; only their decimal point may be a comma. */
    bool number = column == p->weight || column == p->offset || column == p->trials;
    if (!p->learns) return false;
    column_type type = cell_type(begin, end, p->columns->comma, p->c_locale);
    if (number && type != TYPE_DECIMAL) return false;
    bool changed = column_types_join(types, column, type, line);
    if (!changed || types->of[column] == TYPE_NUMBER) return false;
    return types->changed = true;
}

/* Reads a number with a decimal point. SBPS_BAD_FILE without a message: the column's type
 * changed. */
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

#define WHOLE_MAX                                                                              \
    9007199254740992.0 /* 2^53: above it, different whole numbers are one double */

/* Returns whether the text is a whole number that the double does not represent exactly. */
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

/* Levels must not become equal because a double has too few digits: the column becomes a
 * category if its type is inferred; else fails. */
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
    return fail(
        err, SBPS_BAD_DATA,
        "%s:%zu: column '%s': %s has more digits than a number can hold, so that levels "
        "would merge; use --categorical to keep the cells as text",
        p->path, line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

/* Reads a number whose column may have decimal commas. */
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
                "%s:%zu: column '%s': '%s' has a decimal point, but other cells of the column "
                "have a decimal comma",
                p->path, line, show_name(p->columns->name[column]).text, show(begin, end).text);
}

/* Reads a date; for a column of times, a date is its midnight. */
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
                "%s:%zu: column '%s': '%s' is not a date like the cells before it; name the "
                "column in --categorical if it is a category",
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
    if (p->drop_missing) return SBPS_OK;
    return fail(
        err, SBPS_BAD_DATA,
        "%s:%zu: column '%s': the value is missing; drop such rows with --missing drop, or "
        "the column with --exclude",
        p->path, line, show_name(p->columns->name[column]).text);
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

/* ---- complete rows ---- */

void schema_drop_row(const column_schema *p, const double *row)
{
    for (size_t i = 0; i < p->columns->count; i++)
        if (p->use[i].kind != USE_NONE && isnan(row[p->use[i].slot])) p->use[i].missing++;
}

/* Adds the row to the counts of its levels. */
static void count_levels(const column_schema *p, const double *row)
{
    const column_use *target = p->target == SIZE_MAX ? NULL : &p->use[p->target];
    if (target && target->levels) target->levels->item[(size_t)row[target->slot]].rows++;
    for (size_t f = 0; f < p->features; f++) {
        const column_use *use = &p->use[p->feature[f]];
        if (use->levels) use->levels->item[(size_t)row[use->slot]].rows++;
    }
}

/* Reports trials that are no count, or successes that are not among them. */
static sbps_status fail_trials(const column_schema *p, double y, double trials, size_t line,
                               sbps_error *err)
{
    if (trials < 0.0 || trials != floor(trials))
        return fail(err, SBPS_BAD_DATA,
                    "%s:%zu: column '%s': %g is not a number of trials (0, 1, 2, ...)", p->path,
                    line, show_name(p->columns->name[p->trials]).text, trials);
    return fail(err, SBPS_BAD_DATA,
                "%s:%zu: column '%s': %g successes in %g trials; with --trials the target must "
                "be a whole number from 0 to the number of trials",
                p->path, line, show_name(p->columns->name[p->target]).text, y, trials);
}

/* Turns successes into a proportion. A row without trials has weight 0 and proportion 0. */
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

/* ---- computed by a formula ---- */

/* Reports a term of the formula that has no finite value in a row. */
static sbps_status fail_fault(const column_schema *p, const formula_fault *fault, size_t line,
                              sbps_error *err)
{
    if (isfinite(fault->value))
        return fail(err, SBPS_BAD_DATA, "%s:%zu: '%s': %g is outside its intervals or levels",
                    p->path, line, fault->term, fault->value);
    return fail(err, SBPS_BAD_DATA, "%s:%zu: '%s' is %s in this row; it must be finite",
                p->path, line, fault->term,
                isnan(fault->value)  ? "not a number"
                : fault->value > 0.0 ? "infinite"
                                     : "minus infinity");
}

/* Turns successes, and failures or trials, into a proportion and *trials. */
static sbps_status take_proportion(const column_schema *p, double *row, size_t line,
                                   double *trials, sbps_error *err)
{
    const formula *f = p->formula;
    double successes = row[0], other = formula_number(f, &f->n, row);
    *trials = f->failures ? successes + other : other;
    bool whole = *trials == floor(*trials) && successes == floor(successes);
    if (!whole || successes < 0.0 || successes > *trials)
        return fail(
            err, SBPS_BAD_DATA,
            "%s:%zu: %g successes in %g trials; both must be whole numbers, with no more "
            "successes than trials",
            p->path, line, successes, *trials);
    row[0] = *trials > 0.0 ? successes / *trials : 0.0;
    return SBPS_OK;
}

/* Computes the weight of a row: its own times its trials. */
static sbps_status take_weight(const column_schema *p, double *row, size_t line, double trials,
                               sbps_error *err)
{
    const formula *f = p->formula;
    double own = f->weights              ? formula_number(f, &f->w, row)
                 : p->weight != SIZE_MAX ? row[p->use[p->weight].slot]
                                         : 1.0;
    if (own < 0.0)
        return fail(err, SBPS_BAD_DATA, "%s:%zu: the weight %g is negative", p->path, line,
                    own);
    row[p->weight_slot] = own * trials;
    return SBPS_OK;
}

sbps_status schema_calculate_row(const column_schema *p, double *row, size_t line,
                                 sbps_error *err)
{
    const formula *f = p->formula;
    formula_fault fault;
    double trials = 1.0;
    sbps_status status = SBPS_OK;
    if (!formula_check(f, row, &fault)) return fail_fault(p, &fault, line, err);
    if (p->target == SIZE_MAX) row[0] = formula_number(f, &f->y, row);
    if (f->trials || f->failures) status = take_proportion(p, row, line, &trials, err);
    if (status == SBPS_OK && (f->weights || f->trials || f->failures))
        status = take_weight(p, row, line, trials, err);
    if (f->offsets == 0) return status;
    double column_offset = p->offset == SIZE_MAX ? 0.0 : row[p->use[p->offset].slot];
    row[p->offset_slot] = column_offset + formula_offset(f, row);
    return status;
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

/* ---- parts of a file ---- */

bool schema_fork(const column_schema *p, column_schema *out)
{
    size_t count = p->columns->count;
    *out = *p;
    out->learns = false;
    out->use = calloc(count + 1, sizeof *out->use);
    bool whole = out->use != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        out->use[i] = p->use[i];
        if (p->use[i].levels) whole = (out->use[i].levels = levels_create());
    }
    return whole;
}

void schema_reset(column_schema *fork)
{
    for (size_t i = 0; i < fork->columns->count; i++) fork->use[i].missing = 0;
    for (size_t i = 0; fork->categories > 0 && i < fork->columns->count; i++) {
        levels *l = fork->use[i].levels;
        if (l) levels_reset(l);
    }
}

/* Returns whether code[k] is k for all k. */
static bool same_codes(const size_t *code, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (code[k] != k) return false;
    return true;
}

/* Replaces the codes in `slot` of all rows. */
static void recode(const chunks *read, size_t slot, const size_t *code)
{
    for (size_t k = 0; k < read->runs; k++)
        for (size_t i = 0; i < read->run[k].rows; i++) {
            double *cell = read->run[k].first + i * read->width + slot;
            if (!isnan(*cell)) *cell = (double)code[(size_t)*cell];
        }
}

/* Codes equal those of a single reader, as parts are merged in the order of the file. */
bool schema_merge(const column_schema *p, const column_schema *fork, chunks *read)
{
    bool whole = true;
    for (size_t i = 0; p->drop_missing && i < p->columns->count; i++)
        p->use[i].missing += fork->use[i].missing;
    for (size_t i = 0; whole && p->categories > 0 && i < p->columns->count; i++) {
        const column_use *use = &p->use[i];
        const levels *own = fork->use[i].levels;
        if (!own) continue;
        size_t *code = malloc((own->count + 1) * sizeof *code);
        whole = code && levels_merge(use->levels, own, code);
        if (whole && !same_codes(code, own->count)) recode(read, use->slot, code);
        free(code);
    }
    return whole;
}

void schema_close_fork(column_schema *fork)
{
    for (size_t i = 0; fork->use && i < fork->columns->count; i++)
        levels_destroy(fork->use[i].levels);
    free(fork->use);
}
