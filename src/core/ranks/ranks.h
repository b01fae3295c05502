/* Several processes, on one machine or many, that work on one table: ranks. All that is known of how they talk to
 * each other is here. A NULL pointer to ranks is a process by itself. All calls but size, rank, send and receive
 * are made by every rank, in the same order. */
#ifndef CORE_RANKS_H
#define CORE_RANKS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How messages go; send and receive are not asked for where there is but one. A transport that fails ends the whole job with a sentence of its own. */
typedef struct {
    void (*send)(void *self, size_t to, const void *bytes, size_t size);
    void (*receive)(void *self, size_t from, void *bytes, size_t size);
    /* bytes of rank `from` become those of all */
    void (*broadcast)(void *self, size_t from, void *bytes, size_t size);
    /* all: `size` bytes of each rank, in their order */
    void (*gather)(void *self, const void *mine, void *all, size_t size);
    /* Numbers from each rank to each: words[i] of them for rank i, one run after another; got[i] come from rank i. */
    void (*trade)(void *self, const uint64_t *out, const size_t *send_counts, uint64_t *in,
                  const size_t *got);
    /* The last word of every rank. False: not all have come within so many seconds; INFINITY waits for them. */
    bool (*collect_status)(void *self, int mine, double seconds, int *all);
    void (*end_all)(void *self, int code); /* the job ends here and now; does not return */
    void (*close)(void *self);
} transport;

typedef struct ranks {
    const transport *by;
    void *self;
    size_t size, rank;
    double *scratch;        /* size: for a number of each */
    double messages, bytes; /* sent or received here */
} ranks;

/* The ranks that this process was started among, by mpirun, srun or the like; NULL where it is one by itself: MPI
 * is then not touched. Fails where it was started among several and cannot talk to them. */
sbps_status ranks_open(ranks **out, sbps_error *err);
/* Those of a communicator that the caller has; `comm` points to an MPI_Comm. */
sbps_status ranks_open_on(const void *comm, ranks **out, sbps_error *err);
/* alone.c: a single rank, for what is made for ranks. */
sbps_status ranks_alone(ranks **out, sbps_error *err);
void ranks_close(ranks *r);

/* How many processes the environment says were started together; 1: this one. */
size_t ranks_started(void);

static inline size_t ranks_size(const ranks *r)
{
    return r ? r->size : 1;
}

static inline size_t ranks_rank(const ranks *r)
{
    return r ? r->rank : 0;
}

void ranks_send(ranks *r, size_t to, const void *bytes, size_t size);
void ranks_receive(ranks *r, size_t from, void *bytes, size_t size);
void ranks_broadcast(ranks *r, size_t from, void *bytes, size_t size);
void ranks_gather(ranks *r, const void *mine, void *all, size_t size);
/* Less than 2^31 numbers from and to a rank in all. What the others send must be known: exchange that first. */
void ranks_trade(ranks *r, const uint64_t *out, const size_t *send_counts, uint64_t *in,
                 const size_t *got);
/* The largest of what ranks say. */
double ranks_max(ranks *r, double mine);
/* As sbps_ranks.h has it. */
bool ranks_collect_status(ranks *r, int code, size_t *speaker);

/* mpi.c; comm NULL: MPI is begun, and ended with the ranks. */
sbps_status ranks_mpi(const void *comm, ranks **out, sbps_error *err);

#endif
