/* A uniform permutation in bounded memory.
 *
 *   key_i = word i of the random stream,  i = 0, 1, ... in the order of the source      (1)
 *   rows are sorted by (key_i, i)                                                       (2)
 *
 * Keys are independent and uniform on 2^64 values, so that every order is equally likely but
 * for rows with equal keys: 10^9 rows have one such pair in 40 tables. (2) does not depend on
 * the memory.
 *
 * Rows go to 128 buckets by the top bits of their keys. A bucket is a list of blocks in one
 * temporary file. A bucket that fits in memory is loaded and sorted; a larger one is divided
 * again by the next bits. Everything stays in memory until the first block of some bucket is
 * full. */
#include "table/shuffle.h"

#include "core/rng.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUCKET_BITS 7
#define BUCKETS     ((size_t)1 << BUCKET_BITS)
#define BLOCK_MIN   ((size_t)4096) /* bytes; smaller reads and writes are slow */
#define BLOCK_MAX   ((size_t)1 << 20)

/* A record is its key, the number of words of its row, and the row. */
typedef union {
    uint64_t key, count;
    double value;
} word;

enum { HEAD = 2 }; /* words of a record before its row */

/* A block in the file. */
typedef struct {
    uint64_t at;
    size_t words;
} piece;

typedef struct {
    word *block;                 /* being filled; NULL: none yet, or all are written */
    size_t used, block_capacity; /* words of the block */
    size_t rows, words;
    piece *written;
    size_t count, capacity;
} bucket;

struct shuffle {
    char *output_path;
    int file;         /* -1 while everything is in memory */
    uint64_t end;     /* of the file, bytes */
    size_t block;     /* words of a block, unless a record is longer */
    size_t block_max; /* words of the longest so far */
    size_t memory, rows;
    rng random;
    bucket *first; /* buckets by the first bits of the key */
};

typedef struct {
    uint64_t key;
    size_t at; /* of the record in its bucket, words */
} place;

static sbps_status fail_spill(const shuffle *s, const char *verb, int error, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE, "%s: the temporary file in its folder cannot be %s: %s",
                s->output_path, verb, strerrordesc_np(error));
}

/* ---- blocks in the temporary file ---- */

/* Creates the temporary file. It has no name, so that it disappears with the process. */
static sbps_status open_spill(shuffle *s, sbps_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s.XXXXXX", s->output_path) < 0) return fail_memory(err);
    s->file = mkostemp(path, O_CLOEXEC);
    int error = errno;
    if (s->file >= 0) unlink(path);
    free(path);
    return s->file >= 0 ? SBPS_OK : fail_spill(s, "created", error, err);
}

static sbps_status write_all(const shuffle *s, const void *bytes, size_t size, uint64_t at,
                             sbps_error *err)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t done = pwrite(s->file, from, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_spill(s, "written", done < 0 ? errno : ENOSPC, err);
        from += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return SBPS_OK;
}

static sbps_status read_all(const shuffle *s, void *bytes, size_t size, uint64_t at,
                            sbps_error *err)
{
    char *to = bytes;
    while (size > 0) {
        ssize_t done = pread(s->file, to, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_spill(s, "read", done < 0 ? errno : EIO, err);
        to += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return SBPS_OK;
}

/* Makes room for another entry in the list of blocks; false: no memory. */
static bool grow_block_list(bucket *b)
{
    if (b->count < b->capacity) return true;
    size_t capacity = b->capacity ? 2 * b->capacity : 8;
    piece *written = realloc(b->written, capacity * sizeof *written);
    if (!written) return false;
    b->written = written;
    b->capacity = capacity;
    return true;
}

/* Writes the block being filled, whole or not. */
static sbps_status flush_block(shuffle *s, bucket *b, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (b->used == 0) return SBPS_OK;
    if (s->file < 0 && (status = open_spill(s, err)) != SBPS_OK) return status;
    if (!grow_block_list(b)) return fail_memory(err);
    status = write_all(s, b->block, b->used * sizeof(word), s->end, err);
    if (status != SBPS_OK) return status;
    b->written[b->count++] = (piece){s->end, b->used};
    s->end += b->used * sizeof(word);
    b->used = 0;
    return SBPS_OK;
}

/* Copies block k of a bucket into memory and releases its space in the file. *words is its
 * size. */
static sbps_status read_block(const shuffle *s, const bucket *b, size_t k, word *to,
                              size_t *words, sbps_error *err)
{
    if (k >= b->count) {
        *words = b->used;
        if (b->used > 0) memcpy(to, b->block, b->used * sizeof(word));
        return SBPS_OK;
    }
    const piece *from = &b->written[k];
    size_t bytes = from->words * sizeof(word);
    *words = from->words;
    sbps_status status = read_all(s, to, bytes, from->at, err);
    /* file systems without holes keep the file large */
    (void)!fallocate(s->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from->at,
                     (off_t)bytes);
    return status;
}

/* ---- buckets ---- */

static bucket *buckets_create(void)
{
    return calloc(BUCKETS, sizeof(bucket));
}

static void bucket_clear(bucket *b)
{
    free(b->block);
    free(b->written);
    *b = (bucket){0};
}

static void buckets_destroy(bucket *b)
{
    for (size_t i = 0; b && i < BUCKETS; i++) bucket_clear(&b[i]);
    free(b);
}

/* Allocates an empty block for records of at least `words` words. */
static bool make_block(shuffle *s, bucket *b, size_t words)
{
    free(b->block);
    b->block_capacity = words > s->block ? words : s->block;
    b->block = malloc(b->block_capacity * sizeof *b->block);
    if (b->block_capacity > s->block_max) s->block_max = b->block_capacity;
    return b->block;
}

/* Returns room for the next record of a bucket in *out. */
static sbps_status bucket_next(shuffle *s, bucket *b, size_t words, word **out, sbps_error *err)
{
    if (b->block && words > b->block_capacity - b->used) {
        sbps_status status = flush_block(s, b, err);
        if (status != SBPS_OK) return status;
    }
    bool too_small = !b->block || words > b->block_capacity;
    /* a block that was enlarged for a long record is not kept */
    if ((too_small || (b->used == 0 && b->block_capacity > s->block)) &&
        !make_block(s, b, words))
        return fail_memory(err);
    *out = b->block + b->used;
    b->used += words;
    b->words += words;
    b->rows++;
    return SBPS_OK;
}

/* Returns the bucket of a key at a level of division. */
static size_t bucket_of(uint64_t key, size_t level)
{
    return (size_t)(key >> (64 - BUCKET_BITS * (level + 1))) & (BUCKETS - 1);
}

/* Ends a division. Once there is a file all blocks are written, so that memory is free for
 * sorting. */
static sbps_status flush_buckets(shuffle *s, bucket *b, sbps_error *err)
{
    for (size_t i = 0; s->file >= 0 && i < BUCKETS; i++) {
        sbps_status status = flush_block(s, &b[i], err);
        if (status != SBPS_OK) return status;
        free(b[i].block);
        b[i].block = NULL;
        b[i].block_capacity = 0;
    }
    return SBPS_OK;
}

/* Divides the records of a bucket into 128 others. */
static sbps_status scatter_again(shuffle *s, const bucket *from, bucket *to, size_t level,
                                 sbps_error *err)
{
    word *block = malloc(s->block_max * sizeof *block);
    sbps_status status = block ? SBPS_OK : fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k <= from->count; k++) {
        size_t words = 0;
        status = read_block(s, from, k, block, &words, err);
        for (size_t at = 0, length; status == SBPS_OK && at < words; at += length) {
            const word *record = block + at;
            word *slot = NULL;
            length = HEAD + record[1].count;
            status = bucket_next(s, &to[bucket_of(record->key, level)], length, &slot, err);
            if (status == SBPS_OK) memcpy(slot, record, length * sizeof *slot);
        }
    }
    free(block);
    return status != SBPS_OK ? status : flush_buckets(s, to, err);
}

/* ---- sorting ---- */

static int by_key(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

typedef struct {
    shuffle *s;
    shuffle_sink sink;
    void *self;
    bool all;
} drain;

/* Loads the records of a bucket, and where each begins. */
static sbps_status load(const shuffle *s, const bucket *b, word *record, place *order,
                        sbps_error *err)
{
    size_t done = 0, at = 0;
    for (size_t k = 0; k <= b->count; k++) {
        size_t got = 0;
        sbps_status status = read_block(s, b, k, record + done, &got, err);
        if (status != SBPS_OK) return status;
        done += got;
    }
    for (size_t i = 0; i < b->rows; at += HEAD + record[at + 1].count, i++)
        order[i] = (place){record[at].key, at};
    return SBPS_OK;
}

/* Sorts a bucket that fits in memory and passes its rows to the sink. */
static sbps_status drain_small(drain *d, const bucket *b, sbps_error *err)
{
    word *record = malloc(b->words * sizeof *record);
    place *order = malloc(b->rows * sizeof *order);
    sbps_status status = record && order ? load(d->s, b, record, order, err) : fail_memory(err);
    if (status == SBPS_OK) qsort(order, b->rows, sizeof *order, by_key);
    for (size_t i = 0; status == SBPS_OK && d->all && i < b->rows; i++)
        d->all = d->sink(d->self, &record[order[i].at + HEAD].value);
    free(record);
    free(order);
    return status;
}

/* Passes the rows of a bucket to the sink in order, dividing it first if it does not fit. */
static sbps_status drain_bucket(drain *d, bucket *b, size_t level, sbps_error *err)
{
    if (b->rows == 0 || !d->all) return SBPS_OK;
    bool more_bits = BUCKET_BITS * (level + 1) <= 64;
    if ((b->words * sizeof(word) + b->rows * sizeof(place) <= d->s->memory) || !more_bits)
        return drain_small(d, b, err);
    bucket *parts = buckets_create();
    sbps_status status = parts ? scatter_again(d->s, b, parts, level, err) : fail_memory(err);
    bucket_clear(b);
    for (size_t i = 0; status == SBPS_OK && i < BUCKETS; i++) {
        status = drain_bucket(d, &parts[i], level + 1, err);
        bucket_clear(&parts[i]);
    }
    buckets_destroy(parts);
    return status;
}

/* ---- public functions ---- */

sbps_status shuffle_create(const char *output_path, size_t width, uint64_t seed, size_t memory,
                           shuffle **out, sbps_error *err)
{
    *out = NULL;
    size_t record = (HEAD + width) * sizeof(word), block = memory / (2 * BUCKETS);
    if (block < BLOCK_MIN) block = BLOCK_MIN;
    if (block > BLOCK_MAX) block = BLOCK_MAX;
    if (block < record) block = record;
    if (BUCKETS * block > memory)
        return fail(
            err, SBPS_BAD_ARG,
            "%zu bytes of memory are too few to shuffle rows of %zu numbers: at least %zu "
            "are needed",
            memory, width, BUCKETS * block);
    shuffle *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err);
    *s = (shuffle){.output_path = strdup(output_path),
                   .file = -1,
                   .block = block / sizeof(word),
                   .block_max = block / sizeof(word),
                   .memory = memory,
                   .random = rng_stream(seed, 0, RNG_SHUFFLE),
                   .first = buckets_create()};
    if (!s->output_path || !s->first) {
        shuffle_destroy(s);
        return fail_memory(err);
    }
    *out = s;
    return SBPS_OK;
}

sbps_status shuffle_add(shuffle *s, const double *row, size_t count, sbps_error *err)
{
    word *slot = NULL;
    uint64_t key = rng_word(&s->random);
    bucket *b = &s->first[bucket_of(key, 0)];
    sbps_status status = bucket_next(s, b, HEAD + count, &slot, err);
    if (status != SBPS_OK) return status;
    slot[0].key = key;
    slot[1].count = count;
    memcpy(slot + HEAD, row, count * sizeof *row);
    s->rows++;
    return SBPS_OK;
}

sbps_status shuffle_drain(shuffle *s, shuffle_sink sink, void *self, bool *all, sbps_error *err)
{
    drain d = {.s = s, .sink = sink, .self = self, .all = true};
    sbps_status status = flush_buckets(s, s->first, err);
    for (size_t i = 0; status == SBPS_OK && i < BUCKETS; i++) {
        status = drain_bucket(&d, &s->first[i], 1, err);
        bucket_clear(&s->first[i]);
    }
    *all = d.all;
    return status;
}

size_t shuffle_rows_added(const shuffle *s)
{
    return s->rows;
}

void shuffle_destroy(shuffle *s)
{
    if (!s) return;
    if (s->file >= 0) close(s->file);
    buckets_destroy(s->first);
    free(s->output_path);
    free(s);
}
