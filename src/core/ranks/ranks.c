/* What is the same for every transport: who was started with whom, counts of messages, and how a job ends. */
#include "core/ranks/ranks.h"

#include <math.h>
#include <stdlib.h>

#define PATIENCE                                                                               \
    5.0 /* seconds: that a rank that has failed waits for the others to fail, too */

/* What those who start several processes say of their number. Slurm's batch script has SLURM_NTASKS, too, and is
 * one process; what srun starts has SLURM_STEP_NUM_TASKS. */
static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                     "SLURM_STEP_NUM_TASKS"};

size_t ranks_started(void)
{
    size_t largest = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *value = getenv(counts[i]);
        size_t count = value ? strtoul(value, NULL, 10) : 0;
        if (count > largest) largest = count;
    }
    /* who speaks PMIx alone has told this process its place, and not how many there are */
    if (largest == 0) return getenv("PMIX_RANK") ? 2 : 1;
    return largest;
}

#ifndef SBPS_MPI
sbps_status ranks_mpi(const void *comm, ranks **out, sbps_error *err)
{
    (void)comm;
    *out = NULL;
    return fail(err, SBPS_BAD_ARG,
                "this sbps was built without MPI and cannot be one of several ranks: build it "
                "where MPI is installed, with -DSBPS_MPI=ON, or start it by itself");
}
#endif

sbps_status ranks_open(ranks **out, sbps_error *err)
{
    *out = NULL;
    if (ranks_started() == 1) return SBPS_OK;
    sbps_status status = ranks_mpi(NULL, out, err);
    if (status == SBPS_OK && (*out)->size == 1) {
        ranks_close(*out);
        *out = NULL;
    }
    return status;
}

sbps_status ranks_open_on(const void *comm, ranks **out, sbps_error *err)
{
    return ranks_mpi(comm, out, err);
}

void ranks_close(ranks *r)
{
    if (!r) return;
    r->by->close(r->self);
    free(r->scratch);
    free(r);
}

static void count(ranks *r, size_t messages, size_t size)
{
    r->messages += (double)messages;
    r->bytes += (double)messages * (double)size;
}

void ranks_send(ranks *r, size_t to, const void *bytes, size_t size)
{
    count(r, 1, size);
    r->by->send(r->self, to, bytes, size);
}

void ranks_receive(ranks *r, size_t from, void *bytes, size_t size)
{
    count(r, 1, size);
    r->by->receive(r->self, from, bytes, size);
}

void ranks_broadcast(ranks *r, size_t from, void *bytes, size_t size)
{
    count(r, 1, size);
    r->by->broadcast(r->self, from, bytes, size);
}

void ranks_gather(ranks *r, const void *mine, void *all, size_t size)
{
    count(r, r->size, size);
    r->by->gather(r->self, mine, all, size);
}

static size_t add_up(const size_t *lengths, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += lengths[i];
    return sum;
}

void ranks_trade(ranks *r, const uint64_t *out, const size_t *send_counts, uint64_t *in,
                 const size_t *got)
{
    size_t all = add_up(send_counts, r->size) + add_up(got, r->size);
    r->messages += 2.0 * (double)(r->size - 1);
    r->bytes += (double)(all - send_counts[r->rank] - got[r->rank]) * sizeof *out;
    r->by->trade(r->self, out, send_counts, in, got);
}

double ranks_max(ranks *r, double mine)
{
    if (!r) return mine;
    ranks_gather(r, &mine, r->scratch, sizeof mine);
    for (size_t i = 0; i < r->size; i++) mine = fmax(mine, r->scratch[i]);
    return mine;
}

/* Who has failed cannot wait for ever: the others may be waiting for it. */
bool ranks_collect_status(ranks *r, int code, size_t *speaker)
{
    *speaker = ranks_rank(r);
    if (!r) return true;
    int *all = calloc(r->size, sizeof *all);
    bool complete =
        all && r->by->collect_status(r->self, code, code ? PATIENCE : INFINITY, all);
    *speaker = r->size;
    for (size_t i = r->size; complete && i-- > 0;)
        if (all[i]) *speaker = i;
    free(all);
    return complete;
}
