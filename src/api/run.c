/* Runs for a caller. */
#include "run/run.h"

sbps_status sbps_run_create(const sbps_table *table, const sbps_options *options,
                            sbps_run **out, sbps_error *err)
{
    return run_create(table, options, out, err);
}

sbps_status sbps_run_describe(const sbps_run *run, char **out, sbps_error *err)
{
    return run_describe(run, out, err);
}

sbps_status sbps_run_advance(sbps_run *run, bool *finished, sbps_error *err)
{
    return run_advance(run, finished, err);
}

void sbps_run_progress(const sbps_run *run, sbps_progress *out)
{
    run_progress(run, out);
}

bool sbps_run_warning(sbps_run *run, sbps_error *out)
{
    if (run->warning.status == SBPS_OK) return false;
    *out = run->warning;
    run->warning = (sbps_error){0};
    return true;
}

sbps_status sbps_run_effects(const sbps_run *run, const char *path, sbps_error *err)
{
    sbps_effects unused;
    return effects_write(run, path, &unused, err);
}

sbps_status sbps_run_effects_told(const sbps_run *run, const char *path, sbps_effects *told,
                                  sbps_error *err)
{
    return effects_write(run, path, told, err);
}

void sbps_run_interrupt(sbps_run *run)
{
    atomic_store(&run->interrupt, true);
}

void sbps_run_destroy(sbps_run *run)
{
    run_destroy(run);
}
