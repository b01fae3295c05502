/* Column moments. Of a block of n rows by the corrected two-pass algorithm (Chan, Golub,
 * LeVeque 1983):
 *
 *   m    = s + (1/n) sum (x - s),   s the first row                            (1)
 *   e    = (1/n) sum (x - m),   mean = m + e                                   (2)
 *   var  = (1/n) sum (x - m)^2 - e^2                                           (3)
 *
 * and of blocks a and b together, of which b has the fraction f of the rows, t = mean_b -
 * mean_a,
 *
 *   mean = mean_a + f t,   var = (1 - f) var_a + f var_b + f (1 - f) t^2.      (4)
 *
 * A block stays in cache over its two passes and its hash; memory is read once. Blocks of a
 * piece (HASH_ROWS rows) are merged in their order, and so are pieces, whatever thread has
 * computed them. */
#include "table/column_moments.h"

#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/threads.h"
#include "table/content_hash.h"
#include "table/gathered_rows.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 1024 };

typedef struct {
    const row_pass *pass;
    size_t width;          /* doubles of a mean, or of a variance */
    size_t pieces;         /* of the table */
    size_t first;          /* piece that begins on this rank */
    double *of_piece;      /* own pieces * 2 width: mean and variance of each */
    double *of_thread;     /* threads * thread_doubles: mean, variance and two sums of a
                      block; its rows, where they are not doubles */
    size_t thread_doubles; /* of each thread's share of of_thread */
    bool hashed;
    uint64_t seed;
    atomic_ullong joined;
} survey;

/* ---- a block ---- */

/* sum += sum of x - shift over the rows. Four rows at a time keep a sum in its register. */
static void add_deviations(size_t width, size_t stride, size_t count, const double *x,
                           const double *shift, double *restrict sum)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4, x += 4 * stride)
        for (size_t j = 0; j < width; j++) {
            double s = shift[j], all = sum[j] + (x[j] - s);
            all += x[stride + j] - s;
            all += x[2 * stride + j] - s;
            sum[j] = all + (x[3 * stride + j] - s);
        }
    for (; i < count; i++, x += stride)
        for (size_t j = 0; j < width; j++) sum[j] += x[j] - shift[j];
}

/* square += sum of (x - shift)^2 over the rows. */
static void add_squared_deviations(size_t width, size_t stride, size_t count, const double *x,
                                   const double *shift, double *restrict square)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4, x += 4 * stride)
        for (size_t j = 0; j < width; j++) {
            double a = x[j] - shift[j], b = x[stride + j] - shift[j];
            double c = x[2 * stride + j] - shift[j], d = x[3 * stride + j] - shift[j];
            double all = square[j] + a * a;
            all += b * b;
            all += c * c;
            square[j] = all + d * d;
        }
    for (; i < count; i++, x += stride)
        for (size_t j = 0; j < width; j++) square[j] += (x[j] - shift[j]) * (x[j] - shift[j]);
}

/* (2), (3): mean += e and variance, from the sums of x - mean and of its square. */
static void correct(size_t width, double n, const double *sum, const double *square,
                    double *mean, double *variance)
{
    for (size_t j = 0; j < width; j++) {
        double e = sum[j] / n, v = square[j] / n - e * e;
        mean[j] += e;
        variance[j] = v < 0 ? 0.0 : v;
    }
}

/* (1) to (3) for one block; `mean` is followed by room for the variance and two sums. */
static void block_moments(size_t width, size_t stride, size_t count, const double *x,
                          double *mean)
{
    double *variance = mean + width, *sum = variance + width, *square = sum + width;
    memcpy(mean, x, width * sizeof *mean);
    memset(sum, 0, 2 * width * sizeof *sum);
    add_deviations(width, stride, count, x, mean, sum);
    for (size_t j = 0; j < width; j++) mean[j] += sum[j] / (double)count;
    memset(sum, 0, width * sizeof *sum);
    add_deviations(width, stride, count, x, mean, sum);
    add_squared_deviations(width, stride, count, x, mean, square);
    correct(width, (double)count, sum, square, mean, variance);
}

/* (4): merges the moments of `more` rows into those of `have`. */
static void merge_moments(size_t width, size_t have, size_t more, double *mean,
                          const double *other)
{
    double *variance = mean + width, f = (double)more / (double)(have + more);
    if (have == 0) {
        memcpy(mean, other, 2 * width * sizeof *mean);
        return;
    }
    for (size_t j = 0; j < width; j++) {
        double t = other[j] - mean[j];
        mean[j] += f * t;
        variance[j] = (1 - f) * variance[j] + f * other[width + j] + f * (1 - f) * t * t;
    }
}

/* ---- all rows ---- */

/* Returns the rows of a block as doubles: in place, or in `buffer`. */
static const double *rows_of_block(const rows *r, size_t first, size_t count, double *buffer)
{
    if (r->storage.x) return r->storage.x + first * r->stride;
    if (r->storage.place)
        return gather_borrowed(r, rows_from(first, count), buffer, NULL), buffer;
    for (size_t i = 0; i < count; i++)
        r->storage.kind->decode(r, first + i, buffer + i * r->stride);
    return buffer;
}

/* Returns the number of rows of the table from `first` on, at most `limit`. */
static size_t rows_from_on(const rows *r, size_t first, size_t limit)
{
    return total_rows(r) - first < limit ? total_rows(r) - first : limit;
}

/* Returns the row of the table that is row 0 on this rank. */
static size_t rows_before(const rows *r)
{
    return r->partition ? r->partition->first_row : 0;
}

/* Returns the first piece that begins at row i of the table or later. */
static size_t piece_from(size_t i)
{
    return (i + HASH_ROWS - 1) / HASH_ROWS;
}

/* Moments and hash of one piece. A piece belongs to the rank on which it begins, which also
 * has its last rows. */
static void survey_piece(void *self, unsigned worker, size_t index)
{
    survey *s = self;
    const row_pass *pass = s->pass;
    const rows *r = pass->r;
    double *own = s->of_thread + worker * s->thread_doubles, *buffer = own + 4 * s->width;
    size_t row_bytes, piece = index + s->first;
    size_t count = rows_from_on(r, piece * HASH_ROWS, HASH_ROWS);
    size_t begin = piece * HASH_ROWS - rows_before(r);
    const unsigned char *bytes = hash_rows(r, &row_bytes);
    hash_stream hash = hash_open(s->seed, count * row_bytes);
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < BLOCK_ROWS ? count - done : BLOCK_ROWS;
        if (pass->before) pass->before(pass->self, begin + done, n);
        const double *x = rows_of_block(r, begin + done, n, buffer);
        block_moments(s->width, r->stride, n, x, own);
        merge_moments(s->width, done, n, s->of_piece + 2 * s->width * index, own);
        const unsigned char *at =
            r->storage.place ? (const unsigned char *)x : bytes + (begin + done) * row_bytes;
        if (s->hashed && done + n < count) hash_more(&hash, at, n * row_bytes);
        if (!s->hashed || done + n < count) continue;
        uint64_t joined = hash_close(&hash, at, n * row_bytes);
        atomic_fetch_add(&s->joined, hash_join(0, joined, piece, s->pieces));
    }
}

/* Merges the pieces in their order. Ranks do so one after another, each continuing with the
 * total of the rank before; all receive the last one's. The joined hash is summed over
 * ranks. */
static void join_pieces(survey *s, size_t own, double *total)
{
    const rows *r = s->pass->r;
    ranks *among = r->partition ? r->partition->among : NULL;
    size_t bytes = 2 * s->width * sizeof *total, rank = ranks_rank(among);
    if (rank > 0) ranks_receive(among, rank - 1, total, bytes);
    for (size_t k = 0; k < own; k++) {
        size_t begin = (s->first + k) * HASH_ROWS;
        merge_moments(s->width, begin, rows_from_on(r, begin, HASH_ROWS), total,
                      s->of_piece + 2 * s->width * k);
    }
    if (!among) return;
    if (rank + 1 < among->size) ranks_send(among, rank + 1, total, bytes);
    ranks_broadcast(among, among->size - 1, total, bytes);
    uint64_t here = atomic_load(&s->joined), theirs;
    for (size_t i = 0; i < among->size; i++) {
        theirs = here;
        ranks_broadcast(among, i, &theirs, sizeof theirs);
        if (i != rank) atomic_fetch_add(&s->joined, theirs);
    }
}

/* Moments of dense, borrowed and generated rows: piece by piece. */
static sbps_status survey_dense(survey *s, double *total, sbps_error *err)
{
    const rows *r = s->pass->r;
    size_t buffer_doubles = r->storage.x ? 0 : BLOCK_ROWS * r->stride;
    s->pieces = piece_from(total_rows(r));
    s->first = piece_from(rows_before(r));
    size_t own = piece_from(rows_before(r) + r->local_rows) - s->first;
    /* the rank before computes moments of the rows whose piece begins there; this one stores
     * these rows */
    size_t head = s->first * HASH_ROWS - rows_before(s->pass->r), n = s->pass->r->local_rows;
    if (s->pass->before) s->pass->before(s->pass->self, 0, head < n ? head : n);
    s->thread_doubles = 4 * s->width + buffer_doubles;
    s->of_piece = unset_doubles(2 * s->width * own);
    s->of_thread = unset_doubles(s->thread_doubles * s->pass->threads);
    bool ready = s->of_piece && s->of_thread;
    sbps_status status =
        ready ? workers_run(s->pass->threads, own, survey_piece, s, err) : fail_memory(err);
    if (status == SBPS_OK) join_pieces(s, own, total);
    free(s->of_piece);
    free(s->of_thread);
    return status;
}

/* Sums of x - shift and of its square over all rows, rank after rank; all ranks receive the
 * last one's. */
static void sum_shifted(const rows *r, const double *shift, double *sum)
{
    size_t d = r->d, bytes = 3 * d * sizeof *sum;
    ranks *among = r->partition ? r->partition->among : NULL;
    size_t rank = ranks_rank(among), size = ranks_size(among);
    memset(sum, 0, bytes);
    if (rank > 0) ranks_receive(among, rank - 1, sum, bytes);
    r->storage.kind->sums(r, shift, sum, sum + d, sum + 2 * d);
    if (rank + 1 < size) ranks_send(among, rank + 1, sum, bytes);
    if (rank + 1 == size) r->storage.kind->sum_rest(r, shift, sum, sum + d, sum + 2 * d);
    if (among) ranks_broadcast(among, size - 1, sum, bytes);
}

/* Moments of a storage that has `sums`: (1) to (3) with all rows as one block. */
static sbps_status survey_sparse(const survey *s, double *mean, sbps_error *err)
{
    const rows *r = s->pass->r;
    size_t d = r->d, width = s->width;
    double *sum = new_doubles(3 * d), *square = sum + d;
    if (!sum) return fail_memory(err);
    r->storage.kind->decode(r, 0, mean);
    if (r->partition) ranks_broadcast(r->partition->among, 0, mean, d * sizeof *mean);
    sum_shifted(r, mean, sum);
    for (size_t j = 0; j < d; j++) mean[j] += sum[j] / (double)total_rows(r);
    sum_shifted(r, mean, sum);
    correct(d, (double)total_rows(r), sum, square, mean, mean + width);
    free(sum);
    return SBPS_OK;
}

sbps_status column_moments(const row_pass *pass, double *mean, double *sd, uint64_t *pieces,
                           sbps_error *err)
{
    const rows *r = pass->r;
    survey s = {.pass = pass, .width = r->stride, .hashed = pieces != NULL};
    double *total = new_doubles(2 * s.width);
    if (!total) return fail_memory(err);
    if (s.hashed) s.seed = hash_seed(r);
    sbps_status status =
        r->storage.kind->sums ? survey_sparse(&s, total, err) : survey_dense(&s, total, err);
    memcpy(mean, total, r->d * sizeof *mean);
    for (size_t j = 0; j < r->d; j++) sd[j] = sqrt(total[s.width + j]);
    if (pieces) *pieces = atomic_load(&s.joined);
    free(total);
    return status;
}
