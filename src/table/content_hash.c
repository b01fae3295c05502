#include "table/content_hash.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/ranks/ranks.h"
#include "core/threads.h"
#include "table/row_groups.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_ROWS  ((size_t)16384)
#define BLOCK_ROWS ((size_t)64)

static const char *const content_names[] = {
    [CONTENT_EXACT] = "exact",
    [CONTENT_ROUNDED] = "rounded",
};

/* ---- formula ---- */

/* Returns whether the formula computes with functions or powers: a name before a parenthesis,
 * or ^. */
static bool calls_function(const char *formula)
{
    for (const char *c = formula; *c; c++)
        if (*c == '^' ||
            (*c == '(' && c > formula && (isalnum((unsigned char)c[-1]) || c[-1] == '_')))
            return true;
    return false;
}

content_kind content_kind_of(const rows *r, const char *formula)
{
    bool rounded = r->storage.x_float || (formula && calls_function(formula));
    return rounded ? CONTENT_ROUNDED : CONTENT_EXACT;
}

/* ---- row ---- */

/* Returns an odd factor, different for each place. */
static uint64_t factor_of(uint64_t place)
{
    uint64_t f = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (f ^ f >> 31) | 1;
}

/* Mixes the bits of a 64-bit word (finaliser of MurmurHash3, variant 13 by Stafford). */
static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

/* Returns hash(cell): the number's bits, mixed, times the factor of its place; 0 for 0. */
static uint64_t number_hash(content_kind kind, uint64_t place, double x)
{
    double rounded = kind == CONTENT_ROUNDED ? (double)(float)x : x;
    uint64_t bits;
    rounded += 0.0; /* -0 is 0 */
    memcpy(&bits, &rounded, sizeof bits);
    bits *= UINT64_C(0xd6e8feb86659fd93);
    return (bits ^ bits >> 32) * factor_of(place);
}

void content_number(row_content *c, uint64_t place, double x)
{
    c->h += number_hash(c->kind, place, x);
}

void content_numbers(row_content *c, size_t n, const double *x)
{
    uint64_t h = 0;
    for (size_t j = 0; j < n; j++) h += number_hash(c->kind, j, x[j]);
    c->h += h;
}

void content_targets(row_content *c, double y, double weight, double offset)
{
    content_number(c, CONTENT_TARGETS, weight > 0.0 ? y : 0.0);
    content_number(c, CONTENT_TARGETS + 1, weight);
    content_number(c, CONTENT_TARGETS + 2, offset);
}

/* FNV-1a, continued from h. */
static uint64_t text_hash(uint64_t h, const char *begin, size_t length)
{
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)begin[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Returns the hash of a level, "a" or, of several columns, "a:b". Numbers count by value: 1e5
 * is 100000. */
static uint64_t level_hash(const char *level)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    char form[256];
    for (size_t length; *level; level += length + (level[length] == ':')) {
        length = strcspn(level, ":");
        bool number = decimal_form(level, length, sizeof form, form);
        h = text_hash(h, number ? form : level, number ? strlen(form) : length);
        h = text_hash(h, ":", 1);
    }
    return h;
}

void content_group(row_content *c, size_t t, const char *level, size_t count, const double *z)
{
    uint64_t place = CONTENT_TARGETS + 3 + ((uint64_t)t << 20);
    c->h += mix(level_hash(level)) * factor_of(place);
    for (size_t j = 0; j < count; j++) content_number(c, place + 1 + j, z[j]);
}

uint64_t content_row(const row_content *c)
{
    return mix(c->h + 1);
}

/* ---- table ---- */

typedef struct {
    const rows *r;
    content_kind kind;
    size_t x_doubles, width; /* doubles of a block of rows, and with those of a group term */
    double *scratch;         /* width doubles per worker */
    _Atomic uint64_t sum;
} table_pass;

/* Adds the levels of row i and the columns that vary with them; z is scratch. */
static void add_groups(const row_groups *g, size_t i, row_content *c, double *z)
{
    for (size_t t = 0; g && t < g->terms; t++) {
        const group_term *term = &g->term[t];
        const group_factor *factor = &g->factor[term->factor];
        for (size_t j = 0; j < term->count; j++)
            z[j] =
                term->column[j] == GROUP_CONSTANT ? 1.0 : g->z[i * g->width + term->column[j]];
        content_group(c, t, factor->level[factor->of[i]], term->count, z);
    }
}

/* Returns the rows of a block as doubles, `stride` from row to row: in place, or in
 * `buffer`. */
static const double *dense_block(const rows *r, size_t first, size_t n, double *buffer)
{
    if (r->storage.x) return r->storage.x + first * r->stride;
    if (r->storage.kind->gather_dense)
        r->storage.kind->gather_dense(r, rows_from(first, n), buffer, NULL);
    else
        for (size_t i = 0; i < n; i++)
            r->storage.kind->decode(r, first + i, buffer + i * r->stride);
    return buffer;
}

/* Returns the sum (1) over a block of rows. */
static uint64_t sum_block(const table_pass *p, size_t first, size_t n, double *scratch)
{
    const rows *r = p->r;
    const double *x = r->storage.start ? NULL : dense_block(r, first, n, scratch);
    uint64_t sum = 0;
    for (size_t k = 0, i = first; k < n; k++, i++) {
        row_content c = {.kind = p->kind};
        if (x)
            content_numbers(&c, r->d, x + k * r->stride);
        else {
            if (r->intercept) content_number(&c, 0, 1.0);
            for (uint64_t at = r->storage.start[i]; at < r->storage.start[i + 1]; at++)
                content_number(&c, r->storage.column[at],
                               r->storage.value ? r->storage.value[at] : 1.0);
        }
        add_groups(r->groups, i, &c, scratch + p->x_doubles);
        content_targets(&c, r->y ? r->y[i] : 0.0, r->weight ? r->weight[i] : 1.0,
                        r->offset ? r->offset[i] : 0.0);
        sum += content_row(&c);
    }
    return sum;
}

static void sum_part(void *self, unsigned worker, size_t part)
{
    table_pass *p = self;
    size_t end =
        (part + 1) * PART_ROWS < p->r->local_rows ? (part + 1) * PART_ROWS : p->r->local_rows;
    uint64_t sum = 0;
    for (size_t i = part * PART_ROWS; i < end; i += BLOCK_ROWS)
        sum += sum_block(p, i, end - i < BLOCK_ROWS ? end - i : BLOCK_ROWS,
                         p->scratch + worker * p->width);
    atomic_fetch_add(&p->sum, sum);
}

/* Returns the largest number of columns of a group term. */
static size_t max_effects(const row_groups *g)
{
    size_t largest = 0;
    for (size_t t = 0; g && t < g->terms; t++)
        if (g->term[t].count > largest) largest = g->term[t].count;
    return largest;
}

/* Returns the sum over ranks, modulo 2^64. */
static uint64_t content_over_ranks(const rows *r, uint64_t own)
{
    ranks *among = r->partition ? r->partition->among : NULL;
    uint64_t sum = own, theirs;
    for (size_t i = 0; among && i < among->size; i++) {
        theirs = own;
        ranks_broadcast(among, i, &theirs, sizeof theirs);
        if (i != among->rank) sum += theirs;
    }
    return sum;
}

sbps_status content_table(const rows *r, content_kind kind, unsigned threads,
                          table_content *out, sbps_error *err)
{
    table_pass p = {.r = r, .kind = kind};
    *out = (table_content){0};
    if (kind == CONTENT_UNKNOWN || r->storage.recipe) return SBPS_OK;
    if (threads == 0) threads = 1;
    p.x_doubles = r->storage.start || r->storage.x ? 0 : BLOCK_ROWS * r->stride;
    p.width = p.x_doubles + max_effects(r->groups) + 1;
    p.scratch = new_doubles(threads * p.width);
    sbps_status status = p.scratch
                             ? workers_run(threads, (r->local_rows + PART_ROWS - 1) / PART_ROWS,
                                           sum_part, &p, err)
                             : fail_memory(err);
    if (status == SBPS_OK)
        *out = (table_content){kind, content_over_ranks(r, atomic_load(&p.sum))};
    free(p.scratch);
    return status;
}

/* ---- text ---- */

void content_print(const table_content *c, char *text)
{
    if (c->kind == CONTENT_UNKNOWN)
        *text = '\0';
    else
        snprintf(text, 32, "%s:%016" PRIx64, content_names[c->kind], c->sum);
}

table_content content_read(const char *text)
{
    for (content_kind kind = CONTENT_EXACT; text && kind <= CONTENT_ROUNDED; kind++) {
        size_t length = strlen(content_names[kind]);
        char *end;
        if (strncmp(text, content_names[kind], length) != 0 || text[length] != ':') continue;
        uint64_t sum = strtoull(text + length + 1, &end, 16);
        if (end == text + length + 17 && !*end) return (table_content){kind, sum};
    }
    return (table_content){0};
}

/* ---- the hash of the rows in their order ----
 *
 * A 64-bit hash of a table, by which a checkpoint recognises it. Words go round-robin through
 * four lanes, each h <- rotate((h ^ word) K, 29); the lanes are folded in the same way. Fast
 * and well mixed; no defence against an adversary.
 *
 * Dense rows of more than one piece are hashed piece by piece: the hash of x is the sum of the
 * pieces' hashes, each mixed with its number, and so does not depend on the order in which
 * threads finish. */

static uint64_t mix_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h << 29 | h >> 35;
}

hash_stream hash_open(uint64_t seed, size_t size)
{
    return (hash_stream){{seed, seed + 1, seed + 2, seed + 3}, mix_word(seed, size)};
}

void hash_more(hash_stream *s, const void *bytes, size_t size)
{
    const unsigned char *p = bytes, *end = p + size;
    hash_stream now = *s; /* a local copy stays in registers */
    for (; p < end; p += sizeof now.lane) {
        uint64_t words[HASH_LANES];
        memcpy(words, p, sizeof words);
        for (size_t k = 0; k < HASH_LANES; k++) now.lane[k] = mix_word(now.lane[k], words[k]);
    }
    *s = now;
}

uint64_t hash_close(hash_stream *s, const void *bytes, size_t size)
{
    size_t rest = size % sizeof s->lane;
    uint64_t words[HASH_LANES] = {0}, h = s->end;
    hash_more(s, bytes, size - rest);
    if (rest > 0) memcpy(words, (const unsigned char *)bytes + (size - rest), rest);
    for (size_t k = 0; k < HASH_LANES; k++) h = mix_word(h, mix_word(s->lane[k], words[k]));
    return h ^ h >> 32;
}

static uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    hash_stream s = hash_open(seed, size);
    return hash_close(&s, bytes, size);
}

static uint64_t hash_doubles(uint64_t h, const double *x, size_t count)
{
    return x ? hash_bytes(h, x, count * sizeof *x) : mix_word(h, 1);
}

/* ---- over ranks ---- */

typedef struct {
    hash_stream stream;
    unsigned char rest[HASH_LANES * sizeof(uint64_t)]; /* bytes that do not fill all lanes */
    uint64_t held;                                     /* number of those bytes */
} hash_relay;

/* Adds bytes that need not fill whole lanes. */
static void relay_add(hash_relay *c, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    size_t space = sizeof c->rest - c->held, first = size < space ? size : space;
    if (size == 0) return;
    memcpy(c->rest + c->held, from, first);
    c->held += first;
    if (c->held < sizeof c->rest) return;
    hash_more(&c->stream, c->rest, sizeof c->rest);
    size_t whole = (size - first) / sizeof c->rest * sizeof c->rest;
    hash_more(&c->stream, from + first, whole);
    c->held = size - first - whole;
    memcpy(c->rest, from + first + whole, c->held);
}

/* Continues with the hash of the rank before. */
static void relay_receive(ranks *among, hash_relay *c)
{
    if (ranks_rank(among) > 0) ranks_receive(among, among->rank - 1, c, sizeof *c);
}

/* Sends the hash to the next rank; returns the last rank's on all of them. */
static uint64_t relay_finish(ranks *among, hash_relay *c)
{
    if (!among) return hash_close(&c->stream, c->rest, c->held);
    if (among->rank + 1 < among->size) ranks_send(among, among->rank + 1, c, sizeof *c);
    uint64_t h = hash_close(&c->stream, c->rest, c->held);
    ranks_broadcast(among, among->size - 1, &h, sizeof h);
    return h;
}

uint64_t hash_over(ranks *among, uint64_t seed, const void *bytes, size_t size, size_t whole)
{
    hash_relay c = {.stream = hash_open(seed, whole)};
    relay_receive(among, &c);
    relay_add(&c, bytes, size);
    return relay_finish(among, &c);
}

static ranks *ranks_with(const rows *r)
{
    return r->partition ? r->partition->among : NULL;
}

/* Hash of one number per row, over all ranks. */
static uint64_t hash_column(uint64_t h, const rows *r, const double *x)
{
    if (!x) return mix_word(h, 1);
    return hash_over(ranks_with(r), h, x, r->local_rows * sizeof *x, total_rows(r) * sizeof *x);
}

/* ---- sparse rows ---- */

/* Hash of the starts of rows, counted as if one process had the entries of all ranks; `before`
 * is the number of entries on the ranks before. */
static uint64_t hash_starts(uint64_t h, const rows *r, uint64_t before)
{
    ranks *among = ranks_with(r);
    size_t last = ranks_rank(among) + 1 == ranks_size(among);
    if (!among)
        return hash_bytes(h, r->storage.start, (r->local_rows + 1) * sizeof *r->storage.start);
    hash_relay c = {.stream = hash_open(h, (total_rows(r) + 1) * sizeof *r->storage.start)};
    relay_receive(among, &c);
    for (size_t i = 0; i < r->local_rows + last; i++) {
        uint64_t start = r->storage.start[i] + before;
        relay_add(&c, &start, sizeof start);
    }
    return relay_finish(among, &c);
}

/* Hash of the starts, columns and values of sparse rows, over all ranks. */
static uint64_t hash_entries(uint64_t h, const rows *r)
{
    ranks *among = ranks_with(r);
    size_t entries = r->storage.start[r->local_rows], before = 0, all = entries;
    for (size_t i = 0; among && i < among->size; i++) {
        size_t theirs = entries;
        ranks_broadcast(among, i, &theirs, sizeof theirs);
        before += i < among->rank ? theirs : 0;
        all += i == among->rank ? 0 : theirs;
    }
    h = hash_starts(h, r, before);
    h = hash_over(among, h, r->storage.column, entries * sizeof *r->storage.column,
                  all * sizeof *r->storage.column);
    if (!r->storage.value) return mix_word(h, 1);
    return hash_over(among, h, r->storage.value, entries * sizeof *r->storage.value,
                     all * sizeof *r->storage.value);
}

const unsigned char *hash_rows(const rows *r, size_t *bytes)
{
    *bytes = rows_stride_bytes(r);
    return r->storage.x ? (const unsigned char *)r->storage.x
                        : (const unsigned char *)r->storage.x_float;
}

uint64_t hash_seed(const rows *r)
{
    const uint64_t shape[] = {total_rows(r), r->d, r->stride, r->intercept};
    uint64_t h = hash_bytes(0, shape, sizeof shape);
    h = hash_bytes(h, r->storage.kind->name, strlen(r->storage.kind->name));
    return r->storage.x || r->storage.place ? h : mix_word(h, 1);
}

uint64_t hash_join(uint64_t others, uint64_t piece, size_t index, size_t count)
{
    return count == 1 ? piece : others + mix_word(piece, index);
}

static uint64_t hash_texts(uint64_t h, char *const *texts, size_t count)
{
    for (size_t k = 0; k < count; k++) h = hash_bytes(h, texts[k], strlen(texts[k]));
    return h;
}

static uint64_t hash_groups(uint64_t h, const row_groups *g, size_t n)
{
    for (size_t k = 0; k < g->factors; k++) {
        const group_factor *f = &g->factor[k];
        h = hash_bytes(h, f->name, strlen(f->name));
        h = hash_texts(h, f->level, f->levels);
        h = hash_bytes(h, f->of, n * sizeof *f->of);
    }
    for (size_t k = 0; k < g->terms; k++) {
        const group_term *t = &g->term[k];
        h = mix_word(mix_word(h, t->factor), t->correlated);
        h = hash_texts(h, t->names, t->count);
        h = hash_bytes(h, t->column, t->count * sizeof *t->column);
    }
    h = hash_doubles(h, g->z, n * g->width);
    return hash_bytes(h, g->start, (g->count + 1) * sizeof *g->start);
}

uint64_t hash_table(const rows *r, uint64_t pieces)
{
    uint64_t h = r->storage.start ? hash_entries(hash_seed(r), r) : pieces;
    h = hash_column(h, r, r->y);
    h = hash_column(h, r, r->weight);
    h = hash_column(h, r, r->offset);
    h = hash_doubles(h, r->table.mean, r->d);
    h = hash_doubles(h, r->table.sd, r->d);
    /* the intercept has two names: "(Intercept)" with a formula, and one hash */
    if (r->intercept) h = hash_bytes(h, "intercept", strlen("intercept"));
    for (size_t j = r->intercept; j < r->d; j++)
        h = hash_bytes(h, r->table.names[j], strlen(r->table.names[j]));
    if (r->groups) h = hash_groups(h, r->groups, r->local_rows);
    return hash_bytes(h, r->table.target, strlen(r->table.target));
}

uint64_t rows_hash(const rows *r)
{
    size_t bytes, count = (r->local_rows + HASH_ROWS - 1) / HASH_ROWS;
    const unsigned char *x = hash_rows(r, &bytes);
    uint64_t all = 0, seed = hash_seed(r);
    for (size_t k = 0; !r->storage.start && k < count; k++) {
        size_t first = k * HASH_ROWS,
               n = r->local_rows - first < HASH_ROWS ? r->local_rows - first : HASH_ROWS;
        all = hash_join(all, hash_bytes(seed, x + first * bytes, n * bytes), k, count);
    }
    return hash_table(r, all);
}
