/* Which targets there can be. */
#include "model/likelihood/targets.h"

#include "core/printable.h"
#include "table/row_partition.h"

#include <math.h>

static shown shown_target(const rows *r)
{
    return show_name(r->target ? r->target : "y");
}

static sbps_status refuse_target(const rows *r, double y, const char *model, const char *want,
                                 sbps_error *err)
{
    return fail(err, SBPS_BAD_DATA, "target '%s' holds %g; %s wants %s", shown_target(r).text,
                y, model, want);
}

static void widen(const rows *r, double range[2])
{
    for (size_t i = 0; i < r->n; i++) {
        range[0] = fmin(range[0], r->y[i]);
        range[1] = fmax(range[1], r->y[i]);
    }
}

static sbps_status check_varies(const rows *r, const char *model, sbps_error *err)
{
    double range[2] = {INFINITY, -INFINITY};
    bool varies = false;
    for (size_t i = 1; i < r->n && !varies; i++) varies = r->y[i] != r->y[0];
    if (r->partition) { /* rows of other ranks may differ from ours */
        row_relay(r, widen, range, 2);
        varies = range[0] < range[1];
    }
    if (varies) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is %g in every row; %s wants a target that varies",
                shown_target(r).text, r->n ? r->y[0] : 0.0, model);
}

sbps_status targets_real(const rows *r, const char *model, sbps_error *err)
{
    for (size_t i = 0; i < r->n; i++)
        if (!isfinite(r->y[i])) return refuse_target(r, r->y[i], model, "finite numbers", err);
    return check_varies(r, model, err);
}

sbps_status targets_whole(const rows *r, const char *model, sbps_error *err)
{
    for (size_t i = 0; i < r->n; i++)
        if (!isfinite(r->y[i]) || r->y[i] != floor(r->y[i]))
            return refuse_target(r, r->y[i], model, "classes as whole numbers in their order",
                                 err);
    return SBPS_OK;
}

sbps_status targets_counts(const rows *r, const char *model, sbps_error *err)
{
    for (size_t i = 0; i < r->n; i++)
        if (!isfinite(r->y[i]) || r->y[i] < 0.0 || r->y[i] != floor(r->y[i]))
            return refuse_target(r, r->y[i], model, "counts: 0, 1, 2, ...", err);
    return SBPS_OK;
}

sbps_status targets_some_counts(const rows *r, const char *model, sbps_error *err)
{
    sbps_status status = targets_counts(r, model, err);
    if (status != SBPS_OK) return status;
    bool some = false;
    for (size_t i = 0; i < r->n && !some; i++) some = r->y[i] > 0.0;
    if (rows_any(r, some)) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is 0 in every row; %s cannot tell how such counts spread",
                shown_target(r).text, model);
}

sbps_status targets_between(const rows *r, const char *model, double low, double high,
                            const char *want, sbps_error *err)
{
    for (size_t i = 0; i < r->n; i++)
        if (!(r->y[i] > low && r->y[i] < high))
            return refuse_target(r, r->y[i], model, want, err);
    return check_varies(r, model, err);
}

sbps_status targets_proportions(const rows *r, const char *model, sbps_error *err)
{
    bool successes = false, failures = false;
    for (size_t i = 0; i < r->n; i++) {
        double y = r->y[i];
        if (!(y >= 0.0 && y <= 1.0))
            return refuse_target(r, y, model,
                                 "shares of successes, 0 to 1, or counts of them with --trials",
                                 err);
        bool weighs = !r->weight || r->weight[i] > 0.0;
        successes = successes || (weighs && y > 0.0);
        failures = failures || (weighs && y < 1.0);
    }
    successes = rows_any(r, successes);
    failures = rows_any(r, failures);
    if (successes && failures) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' is %d in every row: no %s; %s wants both successes and failures",
                shown_target(r).text, successes ? 1 : 0, successes ? "failure" : "success",
                model);
}
