/* Chains on MPI ranks: who advances which chain, the exchange after a round, the error from
 * seeing one rank's rows at a time, and resuming on another number of ranks. */
#ifndef INFERENCE_CHAINS_ON_RANKS_H
#define INFERENCE_CHAINS_ON_RANKS_H

#include "inference/run/run.h"

#define RANK_SAMPLE ((size_t)65536) /* rows of a rank used to estimate (2) and (3), at most */

/* SBPS_BAD_ARG if the plan cannot run on several ranks. */
sbps_status ranks_check_plan(const sbps_run *run, sbps_error *err);
/* True if all ranks advance all chains together, with sums over the rows of all ranks. */
bool ranks_in_step(const sbps_run *run);
/* Number of chains, rounded up to a multiple of the ranks unless these are in step. */
size_t ranks_chains(const sbps_run *run);
/* The chains that this rank advances in this round. */
void ranks_own_chains(const sbps_run *run, size_t *first, size_t *count);
/* Prepares the chains that arrived at this rank. Called at the start of a round. */
void ranks_begin_round(sbps_run *run);
/* True if the run is to end early; ranks in step agree on it. */
bool ranks_interrupted(sbps_run *run);
/* After a round: sends the memory of all chains to all ranks. */
void ranks_exchange(sbps_run *run);
/* Records which draws all ranks have, after thinning. */
void ranks_record_sent(sbps_run *run);
/* Measures run->ranks.error and run->ranks.bias. */
sbps_status ranks_measure_error(sbps_run *run, sbps_error *err);
/* R-hat between the groups of chains that started on each rank; NAN: unequal groups, one rank.
 */
double ranks_rhat(const sbps_run *run);
/* Replaces each rank's values of the potential at the draws by their mean over ranks. */
sbps_status ranks_average_values(const sbps_run *run, result *r, sbps_error *err);

/* Record of the ranks that wrote a checkpoint. Pointer-free: block "ranks". */
typedef struct {
    uint64_t ranks, chains, restarted;
    char sampler[40];
} rank_record;

/* Before set-up: adopts chains and sampler of a checkpoint from another number of ranks. */
sbps_status restart_begin(sbps_run *run, sbps_error *err);
/* Frees what restart_begin created. */
void restart_end(sbps_run *run);
/* The record of this run, for its checkpoints. */
rank_record restart_record(const sbps_run *run);
/* After the chains' memory was read from a checkpoint of other ranks, and before it is
 * inspected: drops the batches of the chains, which were other rows. */
void restart_unbind(sbps_run *run);
/* Sets the batch size of such chains, after the checkpoint was inspected. */
void restart_restore(sbps_run *run);

#endif
