/* Ranks independently of the transport: how many processes were started, counts of messages,
 * the end of a job, and the transport of a single rank. MPI is in mpi.c. */
#include "core/ranks/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAILURE_SECONDS 5.0 /* that a failed rank waits for the others to fail, too */

/* Environment variables in which launchers pass the number of processes. SLURM_NTASKS is not
 * among them: Slurm sets it for a batch script, too, which is one process; srun sets
 * SLURM_STEP_NUM_TASKS. */
static const char *const count_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                              "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"};

size_t ranks_started(void)
{
    size_t largest = 0;
    for (size_t i = 0; i < sizeof count_variables / sizeof *count_variables; i++) {
        const char *value = getenv(count_variables[i]);
        size_t count = value ? strtoul(value, NULL, 10) : 0;
        if (count > largest) largest = count;
    }
    /* a launcher that supports PMIx alone passes the rank but not the number of ranks */
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

/* Counts messages of `size` bytes each. */
static void count_traffic(ranks *r, size_t messages, size_t size)
{
    r->messages += (double)messages;
    r->bytes += (double)messages * (double)size;
}

void ranks_send(ranks *r, size_t to, const void *bytes, size_t size)
{
    count_traffic(r, 1, size);
    r->by->send(r->self, to, bytes, size);
}

void ranks_receive(ranks *r, size_t from, void *bytes, size_t size)
{
    count_traffic(r, 1, size);
    r->by->receive(r->self, from, bytes, size);
}

void ranks_broadcast(ranks *r, size_t from, void *bytes, size_t size)
{
    count_traffic(r, 1, size);
    r->by->broadcast(r->self, from, bytes, size);
}

void ranks_gather(ranks *r, const void *mine, void *all, size_t size)
{
    count_traffic(r, r->size, size);
    r->by->gather(r->self, mine, all, size);
}

static size_t add_up(const size_t *lengths, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += lengths[i];
    return sum;
}

void ranks_all_to_all(ranks *r, const uint64_t *out, const size_t *send_counts, uint64_t *in,
                      const size_t *receive_counts)
{
    size_t all = add_up(send_counts, r->size) + add_up(receive_counts, r->size);
    r->messages += 2.0 * (double)(r->size - 1);
    r->bytes += (double)(all - send_counts[r->rank] - receive_counts[r->rank]) * sizeof *out;
    r->by->all_to_all(r->self, out, send_counts, in, receive_counts);
}

double ranks_max(ranks *r, double mine)
{
    if (!r) return mine;
    ranks_gather(r, &mine, r->scratch, sizeof mine);
    for (size_t i = 0; i < r->size; i++) mine = fmax(mine, r->scratch[i]);
    return mine;
}

/* A rank that has failed does not wait for ever: the others may be waiting for a message of
 * it. */
bool ranks_collect_status(ranks *r, int code, size_t *first_failed)
{
    *first_failed = ranks_rank(r);
    if (!r) return true;
    int *all = calloc(r->size, sizeof *all);
    bool complete =
        all && r->by->collect_status(r->self, code, code ? FAILURE_SECONDS : INFINITY, all);
    *first_failed = r->size;
    for (size_t i = r->size; complete && i-- > 0;)
        if (all[i]) *first_failed = i;
    free(all);
    return complete;
}

/* ---- a single rank ---- */

static void single_broadcast(void *self, size_t from, void *bytes, size_t size)
{
    (void)self, (void)from, (void)bytes, (void)size;
}

static void single_gather(void *self, const void *mine, void *all, size_t size)
{
    (void)self;
    memcpy(all, mine, size);
}

static bool single_collect_status(void *self, int mine, double seconds, int *all)
{
    (void)self, (void)seconds;
    *all = mine;
    return true;
}

static void single_end_all(void *self, int code)
{
    (void)self;
    exit(code);
}

static void single_close(void *self)
{
    (void)self;
}

static const transport single_transport = {
    .broadcast = single_broadcast,
    .gather = single_gather,
    .collect_status = single_collect_status,
    .end_all = single_end_all,
    .close = single_close,
};

sbps_status ranks_single(ranks **out, sbps_error *err)
{
    *out = calloc(1, sizeof **out);
    double *scratch = calloc(1, sizeof *scratch);
    if (!*out || !scratch) {
        free(*out);
        free(scratch);
        *out = NULL;
        return fail_memory(err);
    }
    **out = (ranks){.by = &single_transport, .size = 1, .scratch = scratch};
    return SBPS_OK;
}
