/* The chains of a run: memory, starting points, rounds, and checks that they are still sound.
 */
#ifndef INFERENCE_CHAIN_H
#define INFERENCE_CHAIN_H

#include "inference/run/run.h"

/* Allocates run->chains. SBPS_NO_MEM names the options to reduce. */
sbps_status chains_create(sbps_run *run, sbps_error *err);
/* Frees run->chains and the handles copied from them. */
void chains_destroy(sbps_run *run);

/* Puts every chain at an over-dispersed random point and resets the estimates. */
void chains_start(sbps_run *run);
/* Starts chain i at reference + points[i]; points: chain_count * dim numbers. */
void chains_start_at(sbps_run *run, const double *points);
/* Discards moments, counts, bias estimates and draws. */
void chains_reset_estimates(sbps_run *run);
/* Hands a new control variate to all chains. Between rounds only. */
void chains_take_control(sbps_run *run);
/* Likewise a new kind or size of batches. */
void chains_take_batch(sbps_run *run);
/* Rebuilds what is not stored in the chains' memory after a checkpoint was read into it. */
void chains_restore(sbps_run *run);

/* Advances all chains by a round. False if an interrupt cut the round short. */
bool chains_round(sbps_run *run);
/* Doubles the length of rounds while they take a small part of --seconds. */
void chains_lengthen_rounds(sbps_run *run, double seconds);

/* SBPS_DIVERGED if the path of a chain ended in a non-finite value. */
sbps_status chains_check(const sbps_run *run, sbps_error *err);
/* SBPS_DIVERGED if warm-up does not converge and a chain is far outside the posterior. Called
 * at the end of an epoch. */
sbps_status chains_check_depth(const sbps_run *run, sbps_error *err);

/* SBPS_BAD_DATA, with row and column, if such a change ended a chain. */
sbps_status run_check_numbers(const sbps_run *run, sbps_error *err);

/* Pareto k-hat of the importance weights of all chains; NAN: no weights. */
double run_pareto_k(const sbps_run *run);
/* SBPS_DIVERGED if k-hat is too large for the weighted averages to be reliable. */
sbps_status run_check_weights(const sbps_run *run, sbps_error *err);

#endif
