/* Opens a converted table. The options of the conversion stay in force: options of this run
 * must be absent or equal to them. */
#include "ingest/text/converted.h"

#include "core/printable.h"
#include "ingest/schema/chunks.h"
#include "ingest/schema/column_index.h"
#include "table/mapped_table.h"
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES 32 /* memory that control variates need per row */

char *table_list(const char *list)
{
    size_t capacity = (list ? strlen(list) : 0) + 2;
    char *out = calloc(1, capacity), *name = malloc(capacity), *to = out;
    while (out && name && list && next_in_list(&list, name)) {
        if (to > out) *to++ = ',';
        to = stpcpy(to, name);
    }
    if (!name) {
        free(out);
        out = NULL;
    }
    free(name);
    return out;
}

/* Reports an option that differs from `was`, its value at the conversion; "": it was not
 * given. */
static sbps_status refuse_option(const char *path, const char *option, const char *was,
                                 sbps_error *err)
{
    if (!*was)
        return fail(
            err, SBPS_BAD_ARG,
            "%s: the table was converted without --%s; omit the option here, or convert "
            "again with it",
            path, option);
    return fail(err, SBPS_BAD_ARG,
                "%s: --%s: the table was converted with '%s'; convert again to change it", path,
                option, show_name(was).text);
}

/* Checks an option that lists columns against its value at the conversion, `was` or `also`. */
static sbps_status check_list(const char *path, const char *option, const char *requested,
                              const char *was, const char *also, sbps_error *err)
{
    if (!nonblank_text(requested)) return SBPS_OK;
    char *list = table_list(requested);
    if (!list) return fail_memory(err);
    bool same = !strcmp(list, was) || (also && !strcmp(list, also));
    free(list);
    return same ? SBPS_OK : refuse_option(path, option, *was ? was : also ? also : "", err);
}

/* Checks options that are not lists. */
static sbps_status check_switches(const char *path, const rows *r, const table_making *how,
                                  const rows_spec *spec, sbps_error *err)
{
    if (spec->standardize && !how->standardized)
        return refuse_option(path, "standardize", "", err);
    const char *storage = nonblank_text(spec->storage), *was = r->storage.kind->name;
    if (storage && strcmp(storage, "auto") && strcmp(storage, was))
        return refuse_option(path, "storage", was, err);
    if (spec->needs_doubles && r->storage.kind != &storage_double)
        return fail(err, SBPS_BAD_ARG,
                    "%s: the model needs rows of doubles, but the table was converted with "
                    "--storage %s; convert again with --storage double",
                    path, was);
    if (!spec->intercept && r->intercept) return refuse_option(path, "no-intercept", "", err);
    return SBPS_OK;
}

/* Refuses options that the file does not record. */
static sbps_status check_column_options(const char *path, const rows_spec *spec,
                                        sbps_error *err)
{
    const char *option = nonblank_text(spec->exclude)       ? "exclude"
                         : nonblank_text(spec->reference)   ? "reference"
                         : nonblank_text(spec->success)     ? "success"
                         : nonblank_text(spec->label_order) ? "levels"
                                                            : NULL;
    if (!option) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "%s: --%s: the columns and labels of a converted table are fixed; omit the option "
        "here, or convert again with it",
        path, option);
}

/* Checks all options of `spec`. */
static sbps_status check_spec(const char *path, const rows *r, const table_making *how,
                              const rows_spec *spec, sbps_error *err)
{
    const char *target = how->texts[TEXT_TARGET];
    if (spec->no_target || spec->no_columns)
        return fail(err, SBPS_BAD_ARG,
                    "%s: this model cannot use a converted table, which has a target and "
                    "features; use the text file",
                    path);
    if (nonblank_text(spec->trials))
        return fail(
            err, SBPS_BAD_ARG,
            "%s: --trials: a converted table has none; use the text file, or omit the option",
            path);
    bool same =
        how->formula && nonblank_text(spec->formula) && !strcmp(how->formula, spec->formula);
    if (nonblank_text(spec->formula) && !same)
        return fail(
            err, SBPS_BAD_ARG,
            "%s: --formula: the columns of a converted table are fixed; omit the option "
            "here, or convert again with it",
            path);
    /* `also`: without --features, the features that were used may be listed as well. */
    const struct {
        const char *option, *requested, *was, *also;
    } lists[] = {
        {"target", spec->target, target, NULL},
        {"features", spec->features, how->texts[TEXT_FEATURES], how->texts[TEXT_COLUMNS]},
        {"categorical", spec->categorical, how->texts[TEXT_CATEGORICAL], NULL},
        {"weights", spec->weights, how->texts[TEXT_WEIGHTS], NULL},
        {"offset", spec->offset, how->texts[TEXT_OFFSET], NULL},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sbps_status status = check_list(path, lists[i].option, lists[i].requested, lists[i].was,
                                        lists[i].also, err);
        if (status != SBPS_OK) return status;
    }
    if (spec->in_order)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --no-shuffle: the rows of a converted table are already shuffled",
                    path);
    sbps_status status = check_column_options(path, spec, err);
    return status == SBPS_OK ? check_switches(path, r, how, spec, err) : status;
}

sbps_status converted_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err)
{
    table_making how;
    sbps_status status = table_map(path, out, &how, err);
    if (status != SBPS_OK) return status;
    /* Rows stay in the file; memory is needed only for what is kept of each row. */
    const rows *r = *out;
    double partitions = spec->partitions ? (double)spec->partitions : 1.0;
    status = check_spec(path, r, &how, spec, err);
    if (status == SBPS_OK)
        status = memory_holds(path, (double)r->local_rows, (double)r->d,
                              KEPT_BYTES * (double)r->local_rows / partitions, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*out);
    *out = NULL;
    return status;
}
