/* Columns that stay in a caller's memory may be changed while a run goes on. A number that becomes none makes sums over
 * rows NaN, and most samplers would take a NaN for a proposal to reject: the path would go on, past the data. */
#include "core/printable.h"
#include "inference/run/run.h"

#include <math.h>

bool chain_lost_numbers(const sbps_run *run, chain *c)
{
    double value;
    if (!c->batches.is.had_nan) return false;
    c->batches.is.had_nan = false;
    if (!run->data.storage.place || run->among) return false;
    /* far out a density may be no number either, but not at the reference */
    return posterior_value(run->target, run->reference->w, &value, NULL) == SBPS_OK &&
           isnan(value);
}

sbps_status run_check_numbers(const sbps_run *run, sbps_error *err)
{
    const rows *r = &run->data;
    bool failed = false;
    for (size_t i = 0; i < run->chain_count; i++)
        failed = failed || run->chains[i].state->failed;
    for (size_t i = 0; failed && !run->among && r->storage.place && i < r->local_rows; i++)
        for (size_t j = r->intercept; j < r->d; j++) {
            double value = r->storage.kind->cell(r, i, j);
            if (isfinite(value)) continue;
            return fail(err, SBPS_BAD_DATA,
                        "table:%zu: column '%s' has become %s while the run went on: the "
                        "caller's memory was changed, which --storage given does not allow; "
                        "draws made before are kept",
                        (size_t)r->storage.source_row[i] + 1, show_name(r->table.names[j]).text,
                        isnan(value) ? "NaN" : "infinite");
        }
    return SBPS_OK;
}
