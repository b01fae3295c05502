/* sbps on several processes (ranks), on one machine or many. Each holds a random part of the table's rows; all of them together
 * make runs and modes of such a table. See docs/ranks.md. Read such a table by sbps_table_read with `ranks` in sbps_reading:
 * every rank calls it and gets its part of the rows; the table borrows the ranks.
 *
 * Every function on a table of ranks, or on a run of it, is called by all ranks, with the same options and in the same order.
 * The exceptions are sbps_run_progress and sbps_run_warning, which send no messages. Draws and summaries are then the same on
 * every rank. Only the thread that called sbps_ranks_open, or that began MPI, may call these functions. */
#ifndef SBPS_RANKS_H
#define SBPS_RANKS_H

#include "sbps.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranks sbps_ranks;

/* The ranks among which mpirun, srun or the like started this process. *out is NULL, with SBPS_OK, where the process is alone;
 * NULL ranks are one process. Close with sbps_ranks_close. */
SBPS_API sbps_status sbps_ranks_open(sbps_ranks **out, sbps_error *err);
/* The ranks of a communicator: `comm` points to an MPI_Comm of a program that began MPI and ends it. */
SBPS_API sbps_status sbps_ranks_open_on(const void *comm, sbps_ranks **out, sbps_error *err);
/* To be called after all tables and runs of these ranks are destroyed; ends MPI if sbps_ranks_open began it. */
SBPS_API void sbps_ranks_close(sbps_ranks *ranks);

/* Number of ranks (1 for NULL), and the number of this one, from 0. */
SBPS_API size_t sbps_ranks_size(const sbps_ranks *ranks);
SBPS_API size_t sbps_ranks_rank(const sbps_ranks *ranks);
/* Number of messages that this rank has sent, and their bytes. */
SBPS_API void sbps_ranks_traffic(const sbps_ranks *ranks, double *messages, double *bytes);

/* Exchanges the final status of every rank, 0 for success. Returns true when all ranks have sent theirs: *first_failed is the
 * first rank with another status, or the number of ranks. Returns false when the status of this rank is not 0 and others do not
 * answer: end them by sbps_ranks_end_all, or call this again to wait for the same exchange. */
SBPS_API bool sbps_ranks_exchange_codes(sbps_ranks *ranks, int code, size_t *first_failed);
/* Ends the processes of all ranks, this one included. */
SBPS_API void sbps_ranks_end_all(sbps_ranks *ranks, int code);

#ifdef __cplusplus
}
#endif

#endif
