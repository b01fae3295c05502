/* Checks of the target column.
 *
 * A wrong value is found by the rank that has its row. What depends on all rows (does the
 * target vary, do all classes occur) is computed over all ranks, which then decide the same. */
#include "model/likelihood/targets.h"
#include "core/printable.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdlib.h>

/* The target's name as it can be printed. */
static shown shown_target(const rows *r)
{
    return show_name(r->table.target ? r->table.target : "y");
}

/* Fails for the value y, where the model needs `want`. */
static sbps_status refuse_target(const rows *r, double y, const char *model, const char *want,
                                 sbps_error *err)
{
    return fail(err, SBPS_BAD_DATA, "target '%s' holds %g; %s needs %s", shown_target(r).text,
                y, model, want);
}

/* Extends range to the targets of these rows. */
static void widen(const rows *r, double range[2])
{
    for (size_t i = 0; i < r->local_rows; i++) {
        range[0] = fmin(range[0], r->y[i]);
        range[1] = fmax(range[1], r->y[i]);
    }
}

/* Fails if the target is the same in the rows of all ranks. */
static sbps_status check_varies(const rows *r, const char *model, sbps_error *err)
{
    double range[2] = {INFINITY, -INFINITY};
    bool varies = false;
    for (size_t i = 1; i < r->local_rows && !varies; i++) varies = r->y[i] != r->y[0];
    if (r->partition) { /* rows of other ranks may differ from those here */
        row_relay(r, widen, range, 2);
        varies = range[0] < range[1];
    }
    if (varies) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is %g in every row; %s needs a target that varies",
                shown_target(r).text, r->local_rows ? r->y[0] : 0.0, model);
}

sbps_status targets_real(const rows *r, const char *model, sbps_error *err)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (!isfinite(r->y[i])) return refuse_target(r, r->y[i], model, "finite numbers", err);
    return check_varies(r, model, err);
}

sbps_status targets_whole(const rows *r, const char *model, sbps_error *err)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (!isfinite(r->y[i]) || r->y[i] != floor(r->y[i]))
            return refuse_target(r, r->y[i], model, "classes as whole numbers in their order",
                                 err);
    return SBPS_OK;
}

sbps_status targets_counts(const rows *r, const char *model, sbps_error *err)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (!isfinite(r->y[i]) || r->y[i] < 0.0 || r->y[i] != floor(r->y[i]))
            return refuse_target(r, r->y[i], model, "counts: 0, 1, 2, ...", err);
    return SBPS_OK;
}

sbps_status targets_some_counts(const rows *r, const char *model, sbps_error *err)
{
    sbps_status status = targets_counts(r, model, err);
    if (status != SBPS_OK) return status;
    bool some = false;
    for (size_t i = 0; i < r->local_rows && !some; i++) some = r->y[i] > 0.0;
    if (any_rank(r, some)) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is 0 in every row; %s cannot estimate the spread of such counts",
                shown_target(r).text, model);
}

sbps_status targets_between(const rows *r, const char *model, double low, double high,
                            const char *want, sbps_error *err)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (!(r->y[i] > low && r->y[i] < high))
            return refuse_target(r, r->y[i], model, want, err);
    return check_varies(r, model, err);
}

sbps_status targets_proportions(const rows *r, const char *model, sbps_error *err)
{
    bool successes = false, failures = false;
    for (size_t i = 0; i < r->local_rows; i++) {
        double y = r->y[i];
        if (!(y >= 0.0 && y <= 1.0))
            return refuse_target(
                r, y, model,
                "proportions of successes, 0 to 1, or counts of them with --trials", err);
        bool weighs = !r->weight || r->weight[i] > 0.0;
        successes = successes || (weighs && y > 0.0);
        failures = failures || (weighs && y < 1.0);
    }
    successes = any_rank(r, successes);
    failures = any_rank(r, failures);
    if (successes && failures) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is %d in every row: no %s; %s needs both successes and failures",
                shown_target(r).text, successes ? 1 : 0, successes ? "failure" : "success",
                model);
}

/* ---- classes ---- */

/* The largest target so far. */
static void find_last(const rows *data, double *last)
{
    for (size_t i = 0; i < data->local_rows; i++) *last = fmax(*last, data->y[i]);
}

/* Fails unless targets are 0, 1, 2, ...; *last is the largest over all ranks. */
static sbps_status check_labels(const rows *data, const char *model, double *last,
                                sbps_error *err)
{
    *last = 0.0;
    for (size_t i = 0; i < data->local_rows; i++) {
        double y = data->y[i];
        if (!(isfinite(y) && y >= 0.0 && y == floor(y)))
            return fail(err, SBPS_BAD_DATA,
                        "target '%s' holds %g; %s needs classes numbered 0, 1, 2, ...",
                        show_name(data->table.target ? data->table.target : "y").text, y,
                        model);
    }
    row_relay(data, find_last, last, 1);
    return SBPS_OK;
}

sbps_status classes_count(const rows *data, const char *model, size_t *count, sbps_error *err)
{
    const char *target = data->table.target ? data->table.target : "y";
    double last;
    sbps_status status = check_labels(data, model, &last, err);
    if (status != SBPS_OK) return status;
    /* n rows hold at most n classes: if the last number is larger, one of the first n + 1 is
     * missing. */
    *count = last < (double)total_rows(data) ? (size_t)last + 1 : total_rows(data) + 1;
    bool *seen = calloc(*count, sizeof *seen);
    if (!seen) return fail_memory(err);
    size_t missing = 0; /* the first class that no row of any rank holds */
    for (size_t i = 0; i < data->local_rows; i++)
        if (data->y[i] < (double)*count) seen[(size_t)data->y[i]] = true;
    while (missing < *count && any_rank(data, seen[missing])) missing++;
    free(seen);
    if (missing < *count)
        return fail(err, SBPS_BAD_DATA,
                    "target '%s' holds class %.0f but never class %zu; %s needs classes "
                    "numbered 0, 1, 2, ... without gaps",
                    show_name(target).text, last, missing, model);
    if (*count == 1)
        return fail(err, SBPS_BAD_DATA,
                    "target '%s' is 0 in every row: only one class; %s needs at least two",
                    show_name(target).text, model);
    return SBPS_OK;
}
