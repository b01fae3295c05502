/* Tables from matrices in memory: the numbers are read as a file of columns. */
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/design/design_matrix.h"
#include "ingest/ingest.h"
#include "ingest/text/source.h"
#include <math.h>
#include <stdio.h>

/* The columns x..., target, (weights), (offset). */
typedef struct {
    size_t n, columns;
    const double *x, *y, *weight, *offset;
} numbers;

static const char NUMBERS[] = "table", WEIGHTS[] = "(weights)", OFFSET[] = "(offset)";

static sbps_status name_numbers(const numbers *from, const char *const *names,
                                const char *target, columns *out, sbps_error *err)
{
    sbps_status status = columns_create(from->columns + 3, out, err);
    if (status != SBPS_OK) return status;
    bool ready = true;
    for (size_t j = 0; ready && j < from->columns; j++) {
        if (names)
            ready = (out->name[j] = copy_text(names[j])) != NULL;
        else if (asprintf(&out->name[j], "x%zu", j + 1) < 0)
            ready = false, out->name[j] = NULL;
    }
    char **rest = out->name + from->columns;
    rest[0] = copy_text(target);
    if (from->weight) rest[1] = copy_text(WEIGHTS);
    if (from->offset) rest[2] = copy_text(OFFSET);
    ready = ready && (!target || rest[0]) && (!from->weight || rest[1]) &&
            (!from->offset || rest[2]);
    return ready ? SBPS_OK : fail_memory(err);
}

static double number_at(const numbers *from, size_t i, size_t column)
{
    if (column < from->columns) return from->x[i * from->columns + column];
    const double *rest[] = {from->y, from->weight, from->offset};
    return rest[column - from->columns][i];
}

/* Copies row i into its slots; messages count rows from 1. */
static sbps_status copy_row(const numbers *from, size_t i, const column_schema *p, double *row,
                            bool *missing, sbps_error *err)
{
    *missing = false;
    for (size_t c = 0; c < p->columns->count; c++) {
        if (p->use[c].kind == USE_NONE) continue;
        double value = number_at(from, i, c);
        row[p->use[c].slot] = value;
        *missing |= isnan(value);
        if (isinf(value) || (isnan(value) && !p->drop_missing))
            return fail(err, SBPS_BAD_DATA, "row %zu, column '%s': %g is not a finite number",
                        i + 1, show_name(p->columns->name[c]).text, value);
        if (c == p->weight && value < 0)
            return fail(err, SBPS_BAD_DATA, "row %zu: the weight %g is negative", i + 1, value);
    }
    return SBPS_OK;
}

static sbps_status copy_rows(const numbers *from, const column_schema *p, chunks *read,
                             size_t *dropped, sbps_error *err)
{
    *dropped = 0;
    for (size_t i = 0; i < from->n; i++) {
        bool missing;
        double *row = chunks_next(read);
        if (!row) return fail_memory(err);
        sbps_status status = copy_row(from, i, p, row, &missing, err);
        if (status != SBPS_OK) return status;
        if (!missing && !chunks_keep(read)) return fail_memory(err);
        *dropped += missing;
    }
    return check_row_count(p->path, read->rows, *dropped, err);
}

/* Fails for options that name columns of a file: they would have no effect here. */
static sbps_status check_spec(const numbers *from, const rows_spec *spec, sbps_error *err)
{
    const struct {
        const char *name, *value;
    } of_files[] = {{"formula", spec->formula},         {"features", spec->features},
                    {"categorical", spec->categorical}, {"exclude", spec->exclude},
                    {"reference", spec->reference},     {"weights", spec->weights},
                    {"trials", spec->trials},           {"offset", spec->offset}};
    for (size_t k = 0; k < sizeof of_files / sizeof *of_files; k++)
        if (nonblank_text(of_files[k].value))
            return fail(err, SBPS_BAD_ARG, "--%s names columns of a file; this table has none",
                        of_files[k].name);
    if ((!from->y && !spec->no_target) || (!from->x && from->columns > 0))
        return fail(err, SBPS_BAD_ARG, "the table's numbers or its target are NULL");
    return SBPS_OK;
}

sbps_status rows_copy(size_t n, size_t column_count, const double *x, const char *const *names,
                      const double *y, const double *weight, const double *offset,
                      const rows_spec *spec, rows **out, sbps_error *err)
{
    const numbers from = {n, column_count, x, y, weight, offset};
    columns named = {0};
    size_t dropped;
    column_schema *p = NULL;
    chunks read = {0};
    rows_spec own_spec = *spec;
    *out = NULL;
    sbps_status status = check_spec(&from, spec, err);
    if (status != SBPS_OK) return status;
    if (!nonblank_text(own_spec.target)) own_spec.target = spec->no_target ? NULL : "y";
    own_spec.weights = weight ? WEIGHTS : NULL;
    own_spec.offset = offset ? OFFSET : NULL;
    if ((status = name_numbers(&from, names, own_spec.target, &named, err)) != SBPS_OK)
        goto done;
    if ((status = schema_create(NUMBERS, &named, &own_spec, &p, err)) != SBPS_OK) goto done;
    chunks_init(&read, p->width, false);
    if ((status = copy_rows(&from, p, &read, &dropped, err)) != SBPS_OK) goto done;
    status = design_create(p, &own_spec, &read, out, err);
    if (status == SBPS_OK) (*out)->table.dropped = dropped;
done:
    chunks_clear(&read);
    schema_destroy(p);
    columns_clear(&named);
    return status;
}
