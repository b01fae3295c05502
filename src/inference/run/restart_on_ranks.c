/* A run carried on by another number of ranks than its checkpoint was written by. Set-up has the same bits whatever their
 * number, so that the mode is the same, and control variate, metric and bands with it. Chains are as many as they were,
 * flown by the sampler that flew them; all that they know goes along, but for the batch of the last look, which other rows
 * take the place of. One process does it, too, as a rank of its own. */
#include "core/text.h"
#include "inference/run/run.h"
#include "store/checkpoint.h"
#include "table/row_partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHAINS_MAX ((uint64_t)1 << 24)

rank_record restart_record(const sbps_run *run)
{
    rank_record r = {ranks_size(run->among), run->chain_count, run->original_options != NULL,
                     ""};
    snprintf(r.sampler, sizeof r.sampler, "%s", run->plan->sampler->name);
    return r;
}

/* *there is false for the checkpoint of one process, and for what is none: of that others speak. */
static sbps_status read_record(const char *path, rank_record *out, bool *there, sbps_error *err)
{
    char *bytes = NULL;
    size_t size;
    *there = checkpoint_peek(path, "ranks", &bytes, &size, NULL) == SBPS_OK;
    bool right = *there && size == sizeof *out;
    if (right) memcpy(out, bytes, sizeof *out);
    free(bytes);
    if (!*there) return SBPS_OK;
    right = right && out->ranks > 0 && out->chains > 0 && out->chains <= CHAINS_MAX &&
            memchr(out->sampler, 0, sizeof out->sampler) && sampler_find(out->sampler);
    return right ? SBPS_OK
                 : fail(err, SBPS_BAD_FILE,
                        "%s: what it says of its ranks is nothing that a run writes", path);
}

static sbps_status refuse_single(const sbps_run *run, const char *path, sbps_error *err)
{
    char *bytes = NULL;
    size_t size;
    bool single = checkpoint_peek(path, "run", &bytes, &size, NULL) == SBPS_OK;
    free(bytes);
    if (!single) return SBPS_OK; /* no checkpoint: its reader says so */
    return fail(err, SBPS_MISMATCH,
                "%s: written by one process, whose batches are not those of %zu ranks: go on "
                "with one, or begin anew",
                path, ranks_size(run->among));
}

static sbps_status take_over(sbps_run *run, const rank_record *from, sbps_error *err)
{
    char chains[32];
    snprintf(chains, sizeof chains, "%" PRIu64, from->chains);
    run->original_options = files_option_lines(run->options);
    if (!run->original_options) return fail_memory(err);
    sbps_status status = options_set(run->options, "chains", chains, err);
    return status == SBPS_OK ? options_set(run->options, "sampler", from->sampler, err)
                             : status;
}

sbps_status restart_begin(sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    rank_record from;
    bool there;
    if (o->dry_run || !o->resume || !*o->resume) return SBPS_OK;
    sbps_status status = read_record(o->resume, &from, &there, err);
    if (status != SBPS_OK) return status;
    if (!there) return run->among ? refuse_single(run, o->resume, err) : SBPS_OK;
    run->moved = from.ranks != ranks_size(run->among);
    if (run->among && !run->moved && !from.restarted) return SBPS_OK;
    if ((status = take_over(run, &from, err)) != SBPS_OK || run->among) return status;
    if ((status = ranks_single(&run->alone, err)) != SBPS_OK) return status;
    run->among = run->alone;
    return partition_create(run->table->data->local_rows, run->alone, &run->whole, err);
}

void restart_end(sbps_run *run)
{
    ranks_close(run->alone);
    free(run->whole);
    free(run->original_options);
}

void restart_unbind(sbps_run *run)
{
    if (!run->moved || ranks_in_step(run)) return;
    for (size_t i = 0; i < run->chain_count; i++) minibatch_move(&run->chains[i].batches);
}

void restart_restore(sbps_run *run)
{
    if (!run->moved || ranks_in_step(run)) return;
    run->tuned.batch = plan_batch_max(&run->data, run->tuned.batch);
    chains_take_batch(run);
}
