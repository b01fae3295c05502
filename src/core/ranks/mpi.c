/* Ranks by MPI. Errors of MPI end the job, as MPI does by itself: a message that did not arrive cannot be made good. */
#include "core/ranks/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PIECE ((size_t)1 << 30) /* bytes of a message at most: MPI counts in int */
#define TAG   0

typedef struct {
    MPI_Comm talk,
        last;    /* the second for the last word alone, which crosses what is under way */
    bool begun;  /* here, and to be ended here */
    int *layout; /* four a rank: counts and places of an exchange */
} mpi;

static size_t piece_of(size_t left)
{
    return left < PIECE ? left : PIECE;
}

static void mpi_send(void *self, size_t to, const void *bytes, size_t size)
{
    const mpi *m = self;
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_of(size - at);
        MPI_Send((const char *)bytes + at, (int)n, MPI_BYTE, (int)to, TAG, m->talk);
    }
}

static void mpi_receive(void *self, size_t from, void *bytes, size_t size)
{
    const mpi *m = self;
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_of(size - at);
        MPI_Recv((char *)bytes + at, (int)n, MPI_BYTE, (int)from, TAG, m->talk,
                 MPI_STATUS_IGNORE);
    }
}

static void mpi_broadcast(void *self, size_t from, void *bytes, size_t size)
{
    const mpi *m = self;
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_of(size - at);
        MPI_Bcast((char *)bytes + at, (int)n, MPI_BYTE, (int)from, m->talk);
    }
}

static void mpi_gather(void *self, const void *mine, void *all, size_t size)
{
    const mpi *m = self;
    MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, m->talk);
}

/* Counts and places of runs that follow each other; a count that MPI cannot say ends the job. */
static void set_displacements(const mpi *m, const size_t *lengths, int size, int *count,
                              int *at)
{
    size_t before = 0;
    for (int i = 0; i < size; before += lengths[i++]) {
        if (before + lengths[i] > INT_MAX) {
            fputs("sbps: more than 2^31 numbers in one exchange of ranks\n", stderr);
            MPI_Abort(m->talk, 1);
        }
        count[i] = (int)lengths[i];
        at[i] = (int)before;
    }
}

static void mpi_exchange(void *self, const uint64_t *out, const size_t *send_counts,
                         uint64_t *in, const size_t *got)
{
    const mpi *m = self;
    int size, *layout = m->layout;
    MPI_Comm_size(m->talk, &size);
    set_displacements(m, send_counts, size, layout, layout + size);
    set_displacements(m, got, size, layout + 2 * size, layout + 3 * size);
    MPI_Alltoallv(out, layout, layout + size, MPI_UINT64_T, in, layout + 2 * size,
                  layout + 3 * size, MPI_UINT64_T, m->talk);
}

static void doze(void)
{
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
}

static bool mpi_collect_status(void *self, int mine, double seconds, int *all)
{
    const mpi *m = self;
    MPI_Request request;
    int done = 0;
    double begin = MPI_Wtime();
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, m->last, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done || MPI_Wtime() - begin > seconds) return done;
        doze();
    }
}

static void mpi_end_all(void *self, int code)
{
    const mpi *m = self;
    MPI_Abort(m->talk, code);
}

static void mpi_close(void *self)
{
    mpi *m = self;
    MPI_Comm_free(&m->talk);
    MPI_Comm_free(&m->last);
    if (m->begun) MPI_Finalize();
    free(m->layout);
    free(m);
}

static const transport by_mpi = {
    .send = mpi_send,
    .receive = mpi_receive,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .trade = mpi_exchange,
    .collect_status = mpi_collect_status,
    .end_all = mpi_end_all,
    .close = mpi_close,
};

/* Only the thread that began it calls MPI. */
static bool initialise_mpi(void)
{
    int there = 0, had;
    MPI_Initialized(&there);
    if (!there) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &had);
    return !there;
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
    m->begun = initialise_mpi();
    MPI_Comm whole = comm ? *(const MPI_Comm *)comm : MPI_COMM_WORLD;
    MPI_Comm_dup(whole, &m->talk);
    MPI_Comm_dup(whole, &m->last);
    MPI_Comm_size(m->talk, &size);
    MPI_Comm_rank(m->talk, &rank);
    **out = (ranks){.by = &by_mpi, .self = m, .size = (size_t)size, .rank = (size_t)rank};
    (*out)->scratch = calloc((size_t)size, sizeof *(*out)->scratch);
    m->layout = calloc(4 * (size_t)size, sizeof *m->layout);
    if ((*out)->scratch && m->layout) return SBPS_OK;
    ranks_close(*out);
    *out = NULL;
    return fail_memory(err);
}
