/* Runs for a caller. */
#include "inference/run/run.h"
#include "api/arguments.h"
#include "inference/run/describe.h"
#include "inference/run/group_effects.h"

sbps_status sbps_run_create(const sbps_table *table, const sbps_options *options,
                            sbps_run **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    if (!table)
        return fail(err, SBPS_BAD_ARG,
                    "there is no table; sbps_table_none makes one for models without rows");
    REQUIRE(options);
    return run_create(table, options, out, err);
}

sbps_status sbps_run_describe(const sbps_run *run, char **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(run);
    return run_describe(run, out, err);
}

sbps_status sbps_run_advance(sbps_run *run, bool *finished, sbps_error *err)
{
    REQUIRE(run);
    REQUIRE(finished);
    return run_advance(run, finished, err);
}

void sbps_run_progress(const sbps_run *run, sbps_progress *out)
{
    sbps_progress full;
    if (!run || !out) return;
    run_progress(run, &full);
    sized_give(&full, sizeof full, out);
}

bool sbps_run_warning(sbps_run *run, sbps_error *out)
{
    if (!run || !out || run->warning.status == SBPS_OK) return false;
    *out = run->warning;
    run->warning = (sbps_error){0};
    return true;
}

sbps_status sbps_run_effects(const sbps_run *run, const char *path, sbps_effects *out,
                             sbps_error *err)
{
    sbps_effects full;
    REQUIRE(run);
    REQUIRE(path);
    sbps_status status = out ? sized_check("sbps_effects", out, err) : SBPS_OK;
    if (status != SBPS_OK) return status;
    status = effects_write(run, path, &full, err);
    if (status == SBPS_OK && out) sized_give(&full, sizeof full, out);
    return status;
}

void sbps_run_interrupt(sbps_run *run)
{
    if (run) atomic_store(&run->interrupt, true);
}

void sbps_run_destroy(sbps_run *run)
{
    run_destroy(run);
}
