/* Rows that say more than others: those that move the answer by themselves, and what rows that no batch may
 * have met would have missed. */
#include "core/decimal.h"
#include "core/text.h"
#include "inference/run/run.h"
#include "table/row_origin.h"

#include <math.h>

/* "row 12", counted as in the file, or "group 'north' of 'region'". */
static sbps_status name_one(const sbps_run *run, size_t row, text *out, sbps_error *err)
{
    const rows *data = run->table->data;
    if (data->member_rows) {
        const row_groups *g = data->member_rows->groups;
        const group_factor *by = &g->factor[g->by];
        text_add(out, "group '%s' of '%s'", by->level[by->of[g->start[row]]], by->name);
        return SBPS_OK;
    }
    size_t origin;
    sbps_status status = rows_origin(data, row, &origin, err);
    if (status == SBPS_OK) text_add(out, "row %zu", origin + 1);
    return status;
}

#define FIRST_ORDER                                                                            \
    2.0 /* posterior sd: a larger shift is a first-order extrapolation, printed as "about" */

/* "row 12 moves 'amount' by +1.3 posterior sd; row 9 moves 'x' by about +12 posterior sd; ..." */
static sbps_status name_rows(const sbps_run *run, result_info *info, sbps_error *err)
{
    text message = {0};
    char shift[32];
    sbps_status status = SBPS_OK;
    for (size_t i = 0; i < run->moving.count && status == SBPS_OK; i++) {
        const row_effect *e = &run->moving_rows[i];
        if (i > 0) text_add(&message, "; ");
        status = name_one(run, e->row, &message, err);
        decimal_print(shift, sizeof shift, "%+.2g", e->shift);
        text_add(&message, " moves '%s' by %s%s posterior sd",
                 run->reported_names[e->parameter],
                 fabs(e->shift) > FIRST_ORDER ? "about " : "", shift);
    }
    if (status == SBPS_OK) return text_give(&message, &info->influential_rows, err);
    text_free(&message);
    return status;
}

/* A row whose slope, when it is met, lies above any band is missed where it should have turned the path, at
 * the rate of its influence per posterior sd of flight; the meter sees that only if it is met. */
static double unmet(const sbps_run *run)
{
    const sampler_kind *kind = run->plan->sampler;
    double noise = 0.0;
    if (!(run->tally.sum > 0.0) || !kind->curve || !kind->noise) return NAN;
    for (size_t i = 0; i < run->chain_count; i++) noise += kind->noise(&run->chains[i].s);
    double width = run->chains->s.settings->band.width * sqrt(noise / (double)run->chain_count);
    bool parts = run->tuned.minibatch == &batch_strata;
    return strata_beyond(&run->tally, parts ? run->parts : NULL, run->tuned.batch,
                         width + AUTO_SLOPE);
}

sbps_status influential_rows_fill(const sbps_run *run, result_info *info, sbps_error *err)
{
    info->eta_unmet = unmet(run);
    return name_rows(run, info, err);
}
