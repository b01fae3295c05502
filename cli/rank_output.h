/* One program on several ranks (MPI): the first rank prints for all, and a job that fails ends
 * with one message. */
#ifndef CLI_RANK_OUTPUT_H
#define CLI_RANK_OUTPUT_H

#include "sbps_ranks.h"

typedef struct {
    sbps_ranks *ranks; /* NULL: this process runs alone */
    int log_fd; /* memory file with the messages of this rank; -1: they go to standard error */
    int stderr_fd; /* standard error as it was */
} rank_output;

/* Joins the ranks. All but the first write their messages to memory and drop their results. */
sbps_status rank_output_begin(rank_output *s, sbps_error *err);

/* Waits for all ranks and leaves them; returns the exit code of this one. If ranks failed, the
 * first of them prints its messages. */
int rank_output_end(rank_output *s, int code);

/* Whether this process is the first rank, which writes results that all ranks have. */
bool is_first_rank(const sbps_ranks *ranks);

#endif
