/* Ranks: several processes, on one machine or many, that work on one table. This is the only
 * place that knows how they exchange messages. A NULL pointer to ranks means a single process.
 * Every function but ranks_size, ranks_rank, ranks_send and ranks_receive is called by all
 * ranks, in the same order. */
#ifndef CORE_RANKS_H
#define CORE_RANKS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How messages are sent. A transport that fails ends the whole job with a message of its own.
 * With one rank send, receive and all_to_all are not called. */
typedef struct {
    void (*send)(void *self, size_t to, const void *bytes, size_t size);
    void (*receive)(void *self, size_t from, void *bytes, size_t size);
    /* copies the bytes of rank `from` to all ranks */
    void (*broadcast)(void *self, size_t from, void *bytes, size_t size);
    /* collects `size` bytes of each rank into `all`, in the order of the ranks */
    void (*gather)(void *self, const void *mine, void *all, size_t size);
    /* sends numbers from each rank to each: send_counts[i] numbers, one run after another in
     * `out`, go to rank i, and receive_counts[i] numbers come from rank i into `in` */
    void (*all_to_all)(void *self, const uint64_t *out, const size_t *send_counts, uint64_t *in,
                       const size_t *receive_counts);
    /* collects the final status of every rank into `all`; returns false if not all arrived
     * within `seconds` (INFINITY: waits for them). A call after that waits for the same exchange
     * again; the status of the first call is the one that the others receive */
    bool (*collect_status)(void *self, int mine, double seconds, int *all);
    /* ends the job at once, on all ranks; does not return */
    void (*end_all)(void *self, int code);
    void (*close)(void *self);
} transport;

typedef struct ranks {
    const transport *by;
    void *self; /* of the transport */
    size_t size, rank;
    double *scratch;        /* size: one number per rank */
    double messages, bytes; /* sent or received by this rank */
} ranks;

/* Opens the ranks among which this process was started by mpirun, srun or the like. *out is
 * NULL if it was started alone; MPI is then not initialised. Fails if it was one of several but
 * cannot reach the others. */
sbps_status ranks_open(ranks **out, sbps_error *err);
/* Opens the ranks of a communicator of the caller; `comm` points to an MPI_Comm. */
sbps_status ranks_open_on(const void *comm, ranks **out, sbps_error *err);
/* Opens a single rank, for code that needs ranks. */
sbps_status ranks_single(ranks **out, sbps_error *err);
/* Opens ranks by MPI, in mpi.c; comm NULL: MPI is initialised here, and finalised by
 * ranks_close. */
sbps_status ranks_mpi(const void *comm, ranks **out, sbps_error *err);
void ranks_close(ranks *r); /* NULL is fine */

/* The number of processes started together, according to the environment; 1: this one alone. */
size_t ranks_started(void);

static inline size_t ranks_size(const ranks *r)
{
    return r ? r->size : 1;
}

static inline size_t ranks_rank(const ranks *r)
{
    return r ? r->rank : 0;
}

/* The functions of the transport, with messages and bytes counted. */
void ranks_send(ranks *r, size_t to, const void *bytes, size_t size);
void ranks_receive(ranks *r, size_t from, void *bytes, size_t size);
void ranks_broadcast(ranks *r, size_t from, void *bytes, size_t size);
void ranks_gather(ranks *r, const void *mine, void *all, size_t size);
/* A rank sends, and receives, less than 2^31 numbers in all. Receive counts must be known:
 * exchange the counts first. */
void ranks_all_to_all(ranks *r, const uint64_t *out, const size_t *send_counts, uint64_t *in,
                      const size_t *receive_counts);
/* Returns the largest `mine` of all ranks. */
double ranks_max(ranks *r, double mine);
/* Exchanges final exit codes: see sbps_ranks_exchange_codes. *first_failed becomes the first rank
 * whose code is not 0, or the number of ranks. */
bool ranks_collect_status(ranks *r, int code, size_t *first_failed);

#endif
