/* sbps on several processes, on one machine or many: ranks. Each has a random part of the table's rows; runs and
 * modes of such a table are made by all of them together. docs/ranks.md says how and at what price.
 *
 * Every function that takes a table of ranks, or a run of it, is called by all ranks, with the same options and in the
 * same order; all but sbps_run_progress and sbps_run_warning, which ask nobody else. Draws and summaries are then those
 * of all ranks, on every rank. Only the thread that called sbps_ranks_open or began MPI may call them. */
#ifndef SBPS_RANKS_H
#define SBPS_RANKS_H

#include "sbps.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranks sbps_ranks;

/* Those that this process was started among by mpirun, srun or the like; *out is NULL where it is one by itself,
 * which is fine wherever ranks are asked for. */
SBPS_API sbps_status sbps_ranks_open(sbps_ranks **out, sbps_error *err);
/* Those of a communicator: `comm` points to an MPI_Comm of a program that has begun MPI and will end it. */
SBPS_API sbps_status sbps_ranks_open_on(const void *comm, sbps_ranks **out, sbps_error *err);
/* After all tables and runs of theirs; MPI ends if it was begun here. */
SBPS_API void sbps_ranks_close(sbps_ranks *ranks);

SBPS_API size_t sbps_ranks_size(const sbps_ranks *ranks);
SBPS_API size_t sbps_ranks_rank(const sbps_ranks *ranks);
/* Messages of this rank so far, and their bytes. */
SBPS_API void sbps_ranks_traffic(const sbps_ranks *ranks, double *messages, double *bytes);

/* As sbps_table_read_watched; the table is this rank's share of the rows. It borrows the ranks. */
SBPS_API sbps_status sbps_table_read_on(sbps_ranks *ranks, const char *path,
                                        const sbps_options *options, sbps_convert_watch watch,
                                        void *self, sbps_table **out, sbps_error *err);

/* The last word of every rank, 0 for all is well. True when all have come: *speaker is the first that has something
 * else to say, or their number. False when this rank's is not 0 and the others go on: they wait for it, and
 * sbps_ranks_end_all ends them. */
SBPS_API bool sbps_ranks_exchange_codes(sbps_ranks *ranks, int code, size_t *speaker);
/* Ends all of them, this one, too. */
SBPS_API void sbps_ranks_end_all(sbps_ranks *ranks, int code);

#ifdef __cplusplus
}
#endif

#endif
