/* Importance weights of all chains together: how heavy their tail is. */
#include "inference/run/run.h"
#include "linalg/pareto.h"

#include <math.h>
#include <string.h>

static size_t count_weights(const sbps_run *run)
{
    size_t total = 0;
    for (size_t i = 0; run->plan->sampler->weights && i < run->chain_count; i++) {
        size_t count;
        run->plan->sampler->weights(&run->chains[i].s, &count);
        total += count;
    }
    return total;
}

double run_pareto_k(const sbps_run *run)
{
    size_t total = count_weights(run);
    if (total == 0) return NAN;
    double *all = new_doubles(total), *next = all;
    ranked_weight *scratch = malloc(total * sizeof *scratch);
    for (size_t i = 0; all && scratch && i < run->chain_count; i++) {
        size_t count;
        const double *from = run->plan->sampler->weights(&run->chains[i].s, &count);
        memcpy(next, from, count * sizeof *from);
        next += count;
    }
    double k = all && scratch ? pareto_smooth(total, all, scratch) : NAN;
    free(all);
    free(scratch);
    return k;
}

sbps_status run_check_weights(const sbps_run *run, sbps_error *err)
{
    double k = run_pareto_k(run);
    if (!(k > PARETO_TRUSTED)) return SBPS_OK;
    return fail(
        err, SBPS_DIVERGED,
        "%s: the weights' Pareto k-hat is %.2f, above %g: the Student t at the mode is too "
        "unlike this posterior for its averages to be trusted; hmc and sbps take it",
        run->plan->sampler->name, k, PARETO_TRUSTED);
}
