/* libsvm text: one row per line, `label index:value index:value ...`; indices begin at 1 and
 * increase, omitted values are 0, # starts a comment. Columns: label, f1, f2, ... An index that
 * occurs in no row is not a column, as its coefficient could not be estimated.
 *
 * The file is read twice, first for the set of indices and the number of entries. The set is a
 * bitmap with counts: memory is that of the largest index, at most 256 MiB, and the rank of an
 * index is found by counting bits. */
#include "ingest/text/source.h"

#include "core/printable.h"
#include "ingest/schema/chunks.h"
#include "ingest/schema/number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets of indices ---- */

/* The largest index: the largest int, as in libsvm itself. */
#define INDEX_MAX ((size_t)2147483647)

typedef struct {
    uint64_t *word; /* bit i % 64 of word i / 64: i is a member */
    size_t words;
    uint32_t *before; /* members in the words before each, after index_set_seal */
    size_t count;
} index_set;

/* Makes sure that the set has this word; returns false without memory. */
static bool reserve_word(index_set *s, size_t word)
{
    if (word < s->words) return true;
    size_t words = 2 * word + 16;
    if (words > INDEX_MAX / 64 + 1) words = INDEX_MAX / 64 + 1;
    uint64_t *fresh = calloc(words, sizeof *fresh);
    if (!fresh) return false;
    if (s->words > 0) memcpy(fresh, s->word, s->words * sizeof *fresh);
    free(s->word);
    s->word = fresh;
    s->words = words;
    return true;
}

/* Adds an index of at most INDEX_MAX; returns false without memory. */
static bool index_set_add(index_set *s, size_t index)
{
    if (!reserve_word(s, index / 64)) return false;
    uint64_t bit = UINT64_C(1) << index % 64;
    s->count += !(s->word[index / 64] & bit);
    s->word[index / 64] |= bit;
    return true;
}

/* Prepares index_set_rank; no index may be added afterwards. Returns false without memory. */
static bool index_set_seal(index_set *s)
{
    uint32_t count = 0;
    s->before = malloc((s->words + 1) * sizeof *s->before);
    if (!s->before) return false;
    for (size_t k = 0; k < s->words; k++) {
        s->before[k] = count;
        count += (uint32_t)__builtin_popcountll(s->word[k]);
    }
    return true;
}

/* Returns the number of members up to `index`, which is one; 0 if it is not a member. */
static size_t index_set_rank(const index_set *s, size_t index)
{
    size_t k = index / 64;
    if (k >= s->words || !(s->word[k] >> index % 64 & 1)) return 0;
    uint64_t upto = s->word[k] << (63 - index % 64);
    return s->before[k] + (size_t)__builtin_popcountll(upto);
}

/* Returns the least member that is at least `index`; 0 if there is none. */
static size_t index_set_from(const index_set *s, size_t index)
{
    uint64_t mask = ~UINT64_C(0) << index % 64;
    for (size_t k = index / 64; k < s->words; k++, mask = ~UINT64_C(0))
        if (s->word[k] & mask) return 64 * k + (size_t)__builtin_ctzll(s->word[k] & mask);
    return 0;
}

/* ---- lines ---- */

typedef struct {
    text_file *source;
    size_t rows, entries; /* data lines, and the index:value pairs in them */
    index_set seen;       /* indices that occur; the column of index i is its rank */
    const char *at, *end; /* the rest of the current line */
    size_t index;         /* the last one read on the line */
    size_t line;          /* its number */
} libsvm;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

static const char *skip_token(const char *p, const char *end)
{
    while (p < end && !is_blank(*p)) p++;
    return p;
}

/* Moves to the next line that holds data; *found is false at the end of the file. */
static sbps_status next_line(libsvm *s, bool *found, sbps_error *err)
{
    text_file *t = s->source;
    for (*found = false; !*found;) {
        char *stop = memchr(t->at, '\n', (size_t)(t->limit - t->at));
        if (!stop && !t->finished) {
            sbps_status status = text_file_more(t, err);
            if (status != SBPS_OK) return status;
            continue;
        }
        if (!stop && t->at == t->limit) return SBPS_OK;
        s->end = stop ? stop : t->limit;
        const char *comment = memchr(t->at, '#', (size_t)(s->end - t->at));
        if (comment) s->end = comment;
        s->at = skip_blanks(t->at, s->end);
        s->line = t->line++;
        s->index = 0;
        *found = s->at < s->end;
        t->at = stop ? stop + 1 : t->limit;
    }
    return SBPS_OK;
}

/* Reports a token that is not index:value. */
static sbps_status fail_pair(const libsvm *s, const char *begin, const char *end,
                             sbps_error *err)
{
    const char *path = s->source->path;
    if (end - begin >= 4 && memcmp(begin, "qid:", 4) == 0)
        return fail(err, SBPS_BAD_FILE,
                    "%s:%zu: qid is for ranking models, which sbps does not have; remove it",
                    path, s->line);
    return fail(err, SBPS_BAD_FILE, "%s:%zu: '%s' is not index:value", path, s->line,
                show(begin, end).text);
}

/* Fails unless the index is in 1 ... INDEX_MAX and larger than the one before it on the
 * line. */
static sbps_status check_index(const libsvm *s, size_t index, sbps_error *err)
{
    const char *path = s->source->path;
    if (index == 0)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: index 0: indices begin at 1", path, s->line);
    if (index > INDEX_MAX)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: an index is above %zu, the largest allowed",
                    path, s->line, INDEX_MAX);
    if (index <= s->index)
        return fail(err, SBPS_BAD_FILE, "%s:%zu: index %zu after %zu: indices must increase",
                    path, s->line, index, s->index);
    return SBPS_OK;
}

/* Reads the next index:value of the line: the index into s->index, the value as [*begin, *end).
 * *begin is NULL at the end of the line. */
static sbps_status next_pair(libsvm *s, const char **begin, const char **end, sbps_error *err)
{
    const char *p = skip_blanks(s->at, s->end), *stop = skip_token(p, s->end), *first = p;
    size_t index = 0;
    *begin = NULL;
    s->at = stop;
    if (p == stop) return SBPS_OK;
    for (; p < stop && '0' <= *p && *p <= '9'; p++)
        if (index < SIZE_MAX / 16) index = 10 * index + (size_t)(*p - '0');
    if (p == first || p == stop || *p != ':' || p + 1 == stop)
        return fail_pair(s, first, stop, err);
    sbps_status status = check_index(s, index, err);
    s->index = index;
    *begin = p + 1;
    *end = stop;
    return status;
}

/* ---- columns ---- */

/* Fails if sparse rows do not fit into memory: every entry once as read and once as stored, and
 * the name and use of every column. Dense rows are checked later, when the storage is
 * chosen. */
static sbps_status check_memory(const libsvm *s, sbps_error *err)
{
    const double n = (double)s->rows, d = (double)s->seen.count + 1;
    const double entry_bytes = 16, row_bytes = 24, column_bytes = 128;
    return memory_holds(s->source->path, n, d,
                        entry_bytes * (double)s->entries + row_bytes * n + column_bytes * d,
                        err);
}

/* The first reading: counts rows and entries and collects the indices. */
static sbps_status survey(libsvm *s, sbps_error *err)
{
    bool found;
    for (;;) {
        sbps_status status = next_line(s, &found, err);
        if (status != SBPS_OK || !found) return status;
        s->rows++;
        s->at = skip_token(s->at, s->end);
        for (;;) {
            const char *begin, *end;
            if ((status = next_pair(s, &begin, &end, err)) != SBPS_OK) return status;
            if (!begin) break;
            s->entries++;
            if (!index_set_add(&s->seen, s->index)) return fail_memory(err);
        }
    }
}

/* Fills *out with label, f1, f2, ... for the indices that occur. */
static sbps_status name_columns(libsvm *s, columns *out, sbps_error *err)
{
    sbps_status status = columns_create(s->seen.count + 1, out, err);
    if (status != SBPS_OK) return status;
    double cells = (double)s->rows * (double)s->seen.count;
    out->rows = s->rows;
    out->filled = cells > 0 ? (double)s->entries / cells : 1.0;
    out->target = out->name[0] = strdup("label");
    if (!out->target || !index_set_seal(&s->seen)) return fail_memory(err);
    size_t index = 0;
    for (size_t column = 1; column < out->count; column++) {
        index = index_set_from(&s->seen, index + 1);
        if (asprintf(&out->name[column], "f%zu", index) < 0) {
            out->name[column] = NULL;
            return fail_memory(err);
        }
    }
    return SBPS_OK;
}

static void libsvm_close(void *self)
{
    libsvm *s = self;
    if (!s) return;
    free(s->seen.word);
    free(s->seen.before);
    s->seen = (index_set){0};
    free(s);
}

/* Reads the whole file for its columns, then goes back to its first byte. */
static sbps_status libsvm_open(text_file *source, const rows_spec *spec, columns *out,
                               void **self, sbps_error *err)
{
    (void)spec;
    *self = NULL;
    libsvm *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err);
    s->source = source;
    sbps_status status = survey(s, err);
    if (status == SBPS_OK) status = check_memory(s, err);
    if (status == SBPS_OK) status = name_columns(s, out, err);
    if (status == SBPS_OK) status = text_file_rewind(source, err);
    if (status == SBPS_OK)
        *self = s;
    else
        libsvm_close(s);
    return status;
}

/* ---- rows ---- */

/* Sets every slot to the value of an omitted pair: 0, or the level "0". */
static sbps_status fill_zeros(const column_schema *p, double *row, sbps_error *err)
{
    static const char zero[] = "0";
    for (size_t i = 0; i < p->width; i++) row[i] = 0.0;
    for (size_t f = 0; p->categories > 0 && f < p->features; f++) {
        bool missing;
        if (p->use[p->feature[f]].kind != USE_CATEGORY) continue;
        sbps_status status =
            schema_read_cell(p, p->feature[f], zero, zero + 1, 0, row, &missing, err);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

/* Reads the next row; omitted pairs are zeros. */
static sbps_status libsvm_next(void *self, const column_schema *p, double *row, row_fate *fate,
                               sbps_error *err)
{
    libsvm *s = self;
    bool found, missing = false;
    sbps_status status = next_line(s, &found, err);
    *fate = ROW_END;
    if (status != SBPS_OK || !found) return status;
    if ((status = fill_zeros(p, row, err)) != SBPS_OK) return status;
    const char *begin = s->at, *end = skip_token(s->at, s->end);
    s->at = end;
    for (size_t column = 0; begin;) {
        status = schema_read_cell(p, column, begin, end, s->line, row, &missing, err);
        if (status == SBPS_OK) status = next_pair(s, &begin, &end, err);
        if (status != SBPS_OK) return status;
        if (begin && (column = index_set_rank(&s->seen, s->index)) == 0)
            return fail(err, SBPS_BAD_FILE, "%s:%zu: the file changed while it was read",
                        s->source->path, s->line);
    }
    *fate = missing ? ROW_DROPPED : ROW_KEPT;
    if (missing) schema_drop_row(p, row);
    return missing ? SBPS_OK : schema_keep_row(p, row, s->line, err);
}

/* The fork borrows the set of indices. */
static void *libsvm_fork(const void *self, text_file *view)
{
    const libsvm *s = self;
    libsvm *fork = calloc(1, sizeof *fork);
    if (!fork) return NULL;
    *fork = (libsvm){.source = view, .seen = s->seen};
    return fork;
}

/* ---- recognition: a number, then index:value or qid:value ---- */

typedef enum { LINE_EMPTY, LINE_LABEL_ONLY, LINE_PAIRS, LINE_OTHER } line_kind;

static bool looks_like_pair(const char *begin, const char *end)
{
    const char *p = begin;
    while (p < end && '0' <= *p && *p <= '9') p++;
    if (p > begin && p < end && *p == ':') return true;
    return end - begin >= 4 && memcmp(begin, "qid:", 4) == 0;
}

/* Classifies the line [p, end): a label consists of the characters of numbers. */
static line_kind classify_line(const char *p, const char *end)
{
    const char *comment = memchr(p, '#', (size_t)(end - p));
    if (comment) end = comment;
    p = skip_blanks(p, end);
    if (p == end) return LINE_EMPTY;
    const char *token_end = skip_token(p, end), *next = skip_blanks(token_end, end);
    bool sign = *p == '-' || *p == '+';
    for (p += sign; p < token_end; p++)
        if (!strchr("0123456789.eE+-", *p)) return LINE_OTHER;
    if (next == end) return LINE_LABEL_ONLY;
    return looks_like_pair(next, skip_token(next, end)) ? LINE_PAIRS : LINE_OTHER;
}

/* The first line with more than a label decides. A single column of numbers is CSV. */
static bool libsvm_recognise(const char *begin, const char *end)
{
    while (begin < end) {
        const char *stop = memchr(begin, '\n', (size_t)(end - begin));
        if (!stop) stop = end;
        line_kind kind = classify_line(begin, stop);
        if (kind == LINE_PAIRS) return true;
        if (kind == LINE_OTHER) return false;
        begin = stop < end ? stop + 1 : end;
    }
    return false;
}

const format_kind format_libsvm = {
    .name = "libsvm",
    .recognise = libsvm_recognise,
    .open = libsvm_open,
    .next = libsvm_next,
    .close = libsvm_close,
    .fork = libsvm_fork,
    .join = free,
};
