/* Ranks by MPI. An error of MPI ends the job, which is the default of MPI: the data of a lost
 * message cannot be recovered. */
#include "core/ranks/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE ((size_t)1 << 30) /* largest message in bytes: MPI counts in int */
#define TAG   0

typedef struct {
    MPI_Comm comm;
    MPI_Comm status_comm; /* for final status codes, which may overtake messages in transit */
    bool initialised;     /* MPI was initialised here, and is finalised here */
    int *layout;          /* four per rank: counts and offsets of an exchange */
    /* The exchange of final codes. Until it is complete (MPI_REQUEST_NULL), MPI reads `code` and
     * writes `codes`, one per rank, also after a rank has stopped waiting for the others. */
    MPI_Request exchange;
    int code, *codes;
} mpi;

static size_t piece_of(size_t left)
{
    return left < PIECE ? left : PIECE;
}

/* Messages longer than PIECE are sent in several pieces. */
static void mpi_send(void *self, size_t to, const void *bytes, size_t size)
{
    const mpi *m = self;
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_of(size - at);
        MPI_Send((const char *)bytes + at, (int)n, MPI_BYTE, (int)to, TAG, m->comm);
    }
}

static void mpi_receive(void *self, size_t from, void *bytes, size_t size)
{
    const mpi *m = self;
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_of(size - at);
        MPI_Recv((char *)bytes + at, (int)n, MPI_BYTE, (int)from, TAG, m->comm,
                 MPI_STATUS_IGNORE);
    }
}

static void mpi_broadcast(void *self, size_t from, void *bytes, size_t size)
{
    const mpi *m = self;
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_of(size - at);
        MPI_Bcast((char *)bytes + at, (int)n, MPI_BYTE, (int)from, m->comm);
    }
}

static void mpi_gather(void *self, const void *mine, void *all, size_t size)
{
    const mpi *m = self;
    MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, m->comm);
}

/* Counts and offsets of consecutive runs. Counts beyond the range of int end the job. */
static void set_displacements(const mpi *m, const size_t *lengths, int size, int *count,
                              int *at)
{
    size_t before = 0;
    for (int i = 0; i < size; before += lengths[i++]) {
        if (before + lengths[i] > INT_MAX) {
            fputs("sbps: more than 2^31 numbers in one exchange of ranks\n", stderr);
            MPI_Abort(m->comm, 1);
        }
        count[i] = (int)lengths[i];
        at[i] = (int)before;
    }
}

static void mpi_all_to_all(void *self, const uint64_t *out, const size_t *send_counts,
                           uint64_t *in, const size_t *receive_counts)
{
    const mpi *m = self;
    int size, *layout = m->layout;
    MPI_Comm_size(m->comm, &size);
    set_displacements(m, send_counts, size, layout, layout + size);
    set_displacements(m, receive_counts, size, layout + 2 * size, layout + 3 * size);
    MPI_Alltoallv(out, layout, layout + size, MPI_UINT64_T, in, layout + 2 * size,
                  layout + 3 * size, MPI_UINT64_T, m->comm);
}

/* Polls a non-blocking gather, because a rank may never answer. */
static bool mpi_collect_status(void *self, int mine, double seconds, int *all)
{
    mpi *m = self;
    const struct timespec millisecond = {0, 1000000};
    int size, done = 0;
    double begin = MPI_Wtime();
    MPI_Comm_size(m->status_comm, &size);
    if (m->exchange == MPI_REQUEST_NULL) {
        m->code = mine;
        MPI_Iallgather(&m->code, 1, MPI_INT, m->codes, 1, MPI_INT, m->status_comm,
                       &m->exchange);
    }
    for (;;) {
        MPI_Test(&m->exchange, &done, MPI_STATUS_IGNORE);
        if (done || MPI_Wtime() - begin > seconds) break;
        nanosleep(&millisecond, NULL);
    }
    if (done) memcpy(all, m->codes, (size_t)size * sizeof *all);
    return done;
}

static void mpi_end_all(void *self, int code)
{
    const mpi *m = self;
    MPI_Abort(m->comm, code);
}

static void mpi_close(void *self)
{
    mpi *m = self;
    MPI_Wait(&m->exchange, MPI_STATUS_IGNORE);
    MPI_Comm_free(&m->comm);
    MPI_Comm_free(&m->status_comm);
    if (m->initialised) MPI_Finalize();
    free(m->layout);
    free(m->codes);
    free(m);
}

static const transport mpi_transport = {
    .send = mpi_send,
    .receive = mpi_receive,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .all_to_all = mpi_all_to_all,
    .collect_status = mpi_collect_status,
    .end_all = mpi_end_all,
    .close = mpi_close,
};

/* Initialises MPI unless the program has; returns true if it did. Only the thread that calls
 * this may call MPI later. */
static bool initialise_mpi(void)
{
    int initialised = 0, provided;
    MPI_Initialized(&initialised);
    if (!initialised) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    return !initialised;
}

sbps_status ranks_mpi(const void *comm, ranks **out, sbps_error *err)
{
    int size, rank;
    *out = calloc(1, sizeof **out);
    mpi *m = calloc(1, sizeof *m);
    if (!*out || !m) {
        free(*out);
        free(m);
        *out = NULL;
        return fail_memory(err);
    }
    m->initialised = initialise_mpi();
    m->exchange = MPI_REQUEST_NULL;
    MPI_Comm whole = comm ? *(const MPI_Comm *)comm : MPI_COMM_WORLD;
    MPI_Comm_dup(whole, &m->comm);
    MPI_Comm_dup(whole, &m->status_comm);
    MPI_Comm_size(m->comm, &size);
    MPI_Comm_rank(m->comm, &rank);
    **out =
        (ranks){.by = &mpi_transport, .self = m, .size = (size_t)size, .rank = (size_t)rank};
    (*out)->scratch = calloc((size_t)size, sizeof *(*out)->scratch);
    m->layout = calloc(4 * (size_t)size, sizeof *m->layout);
    m->codes = calloc((size_t)size, sizeof *m->codes);
    if ((*out)->scratch && m->layout && m->codes) return SBPS_OK;
    ranks_close(*out);
    *out = NULL;
    return fail_memory(err);
}
