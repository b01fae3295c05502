/* Rows that say more than others: those that move the answer by themselves, and what rows that no batch may
 * have met would have missed. */
#include "base/decimal.h"
#include "base/memory.h"
#include "data/origin.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "row 12 moves 'amount' by +1.3 posterior sd; ..." */
static sbps_status name_rows(const sbps_run *run, result_info *info, sbps_error *err)
{
    char text[EFFECTS_MOST * 400];
    size_t used = 0;
    text[0] = '\0';
    size_t told =
        run->table->data->groups ? 0 : run->moving.count; /* rows of groups lie elsewhere */
    for (size_t i = 0; i < told && used < sizeof text; i++) {
        const row_effect *e = &run->moving_rows[i];
        size_t origin;
        sbps_status status = rows_origin(run->table->data, e->row, &origin, err);
        if (status != SBPS_OK) return status;
        used += (size_t)decimal_print(
            text + used, sizeof text - used, "%srow %zu moves '%.255s' by %+.2g posterior sd",
            i ? "; " : "", origin + 1, run->told[e->parameter], e->shift);
    }
    info->influential_rows = copy_text(text);
    return info->influential_rows ? SBPS_OK : fail_memory(err);
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
