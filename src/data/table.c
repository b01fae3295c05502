/* Tables on disk, from the reader's side: checked, then mapped.
 *
 * Only header, means, sds and names are read and summed; the numbers stay where they are until a
 * window touches them, and their damage goes unseen (the hash is the converter's word). Everything
 * that points into the file is checked against its size, so that no file can make us look outside
 * it. */
#include "data/table.h"

#include "base/memory.h"
#include "data/columns.h"
#include "data/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are little-endian");
_Static_assert(sizeof(table_header) <= TABLE_PAGE, "the header is the first page");

#define KEPT_BYTES 32 /* a row: what control variates keep of it in memory */

static const size_t COUNT_MOST = (size_t)1 << 48; /* products of two cannot be checked beyond */

uint32_t table_crc(const table_header *h)
{
    table_header copy = *h;
    copy.crc = 0;
    return (uint32_t)crc32_z(0, (const unsigned char *)&copy, sizeof copy);
}

uint32_t table_tail_crc(const table_header *h, const unsigned char *base)
{
    uLong crc = 0;
    for (section_name k = SECTION_MEAN; k <= SECTION_TEXT; k++)
        crc = crc32_z(crc, base + h->section[k].at, h->section[k].size);
    return (uint32_t)crc;
}

char *table_list(const char *list)
{
    size_t room = (list ? strlen(list) : 0) + 2;
    char *out = calloc(1, room), *word = malloc(room), *to = out;
    while (out && word && list && next_in_list(&list, word)) {
        if (to > out) *to++ = ',';
        to = stpcpy(to, word);
    }
    if (!word) {
        free(out);
        out = NULL;
    }
    free(word);
    return out;
}

bool table_recognise(const char *path)
{
    struct stat about;
    char magic[8] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    /* a pipe would lose its first bytes */
    bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    ssize_t got = regular ? pread(file, magic, sizeof magic, 0) : 0;
    close(file);
    return got == sizeof magic && memcmp(magic, TABLE_MAGIC, sizeof magic) == 0;
}

/* ---- is it sound? ---- */

static sbps_status fail_damaged(const char *path, const char *what, sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s: the table is damaged: %s; convert it again", path,
                what);
}

static sbps_status check_header(const char *path, const table_header *h, uint64_t bytes,
                                sbps_error *err)
{
    if (h->version > TABLE_VERSION)
        return fail(err, SBPS_BAD_FILE,
                    "%s: a table of version %u; this program reads version %d: convert it "
                    "again, or use a newer program",
                    path, (unsigned)h->version, TABLE_VERSION);
    if (table_crc(h) != h->crc)
        return fail_damaged(path, "the checksum of its header is wrong", err);
    if (bytes < h->bytes)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the table is cut off: it has %llu bytes of %llu; convert it again",
                    path, (unsigned long long)bytes, (unsigned long long)h->bytes);
    if (bytes > h->bytes) return fail_damaged(path, "bytes follow its end", err);
    return SBPS_OK;
}

/* The storage kinds a file can have, and what a number takes. */
static const struct {
    const storage_kind *kind;
    size_t bytes;
} storages[] = {{&storage_dense, sizeof(double)}, {&storage_float, sizeof(float)}};

static size_t storage_index(const table_header *h)
{
    size_t count = sizeof storages / sizeof *storages, k = 0;
    while (k < count && strncmp(h->storage, storages[k].kind->name, sizeof h->storage)) k++;
    return k;
}

static bool section_fits(const table_header *h, section_name k, uint64_t size)
{
    const table_section *s = &h->section[k];
    return s->size == size && s->at % TABLE_PAGE == 0 && s->at >= TABLE_PAGE &&
           s->at <= h->bytes && size <= h->bytes - s->at;
}

/* Sizes as the counts ask for; only then may anything be touched. */
static sbps_status check_sections(const char *path, const table_header *h, sbps_error *err)
{
    size_t kind = storage_index(h), n = h->rows, d = h->columns;
    if (kind == sizeof storages / sizeof *storages)
        return fail(err, SBPS_BAD_FILE, "%s: numbers are stored as '%.15s', which is unknown",
                    path, show(h->storage, h->storage + strnlen(h->storage, 15)).text);
    bool fine = n >= 2 && n < COUNT_MOST && d < COUNT_MOST && h->stride < COUNT_MOST;
    fine = fine && h->stride == (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    fine = fine && (d == 0 || n <= h->bytes / (h->stride * storages[kind].bytes));
    fine = fine && n <= h->bytes / sizeof(double) && d <= h->bytes / sizeof(double);
    if (!fine) return fail_damaged(path, "its counts do not fit its size", err);
    fine = section_fits(h, SECTION_X, n * h->stride * storages[kind].bytes) &&
           section_fits(h, SECTION_Y, n * sizeof(double)) &&
           section_fits(h, SECTION_MEAN, d * sizeof(double)) &&
           section_fits(h, SECTION_SD, d * sizeof(double)) &&
           section_fits(h, SECTION_TEXT, h->section[SECTION_TEXT].size);
    for (section_name k = SECTION_WEIGHT; k <= SECTION_OFFSET; k++)
        if (h->section[k].size > 0) fine = fine && section_fits(h, k, n * sizeof(double));
    return fine ? SBPS_OK : fail_damaged(path, "a section lies outside it", err);
}

/* ---- what its text says ---- */

typedef struct {
    const char *said[TEXTS];
    const char *names; /* the first of the columns' names, each ending in NUL */
} table_text;

static bool read_text(const table_header *h, const unsigned char *base, table_text *out)
{
    const char *p = (const char *)base + h->section[SECTION_TEXT].at;
    const char *end = p + h->section[SECTION_TEXT].size;
    if (p == end || end[-1] != '\0') return false;
    for (size_t i = 0; i < TEXTS + h->columns; i++) {
        if (p >= end) return false;
        if (i < TEXTS) out->said[i] = p;
        if (i == TEXTS) out->names = p;
        p += strlen(p) + 1;
    }
    return p == end;
}

static sbps_status refuse_option(const char *path, const char *option, const char *was,
                                 sbps_error *err)
{
    if (!*was)
        return fail(err, SBPS_BAD_ARG,
                    "%s: the table was converted without --%s: leave it out here, or convert "
                    "again with it",
                    path, option);
    return fail(err, SBPS_BAD_ARG,
                "%s: --%s: the table was converted with '%s': that cannot be changed now; "
                "convert again",
                path, option, show_name(was).text);
}

/* An option that lists columns against what was asked for then. */
static sbps_status check_list(const char *path, const char *option, const char *given,
                              const char *was, const char *also, sbps_error *err)
{
    if (!given_text(given)) return SBPS_OK;
    char *list = table_list(given);
    if (!list) return fail_memory(err);
    bool same = !strcmp(list, was) || (also && !strcmp(list, also));
    free(list);
    return same ? SBPS_OK : refuse_option(path, option, *was ? was : also ? also : "", err);
}

static sbps_status check_switches(const char *path, const table_header *h,
                                  const rows_spec *spec, sbps_error *err)
{
    if (spec->standardize && !(h->flags & TABLE_STANDARDIZED))
        return refuse_option(path, "standardize", "", err);
    const char *storage = given_text(spec->storage);
    if (storage && strcmp(storage, "auto") && strcmp(storage, h->storage))
        return refuse_option(path, "storage", h->storage, err);
    if (spec->needs_doubles && strcmp(h->storage, storage_dense.name))
        return fail(err, SBPS_BAD_ARG,
                    "%s: the model reads rows of doubles and the table has %ss; convert again",
                    path, h->storage);
    if (!spec->intercept && h->flags & TABLE_INTERCEPT)
        return refuse_option(path, "no-intercept", "", err);
    return SBPS_OK;
}

/* What is not said here is as it was then. */
static sbps_status check_spec(const char *path, const table_header *h, const table_text *t,
                              const rows_spec *spec, sbps_error *err)
{
    const char *target = t->said[TEXT_TARGET];
    if (spec->no_target || spec->no_columns)
        return fail(err, SBPS_BAD_ARG,
                    "%s: a converted table is for models that explain a target by columns; "
                    "this one reads text",
                    path);
    const struct {
        const char *option, *given, *was, *also;
    } lists[] = {
        {"target", spec->target, target, NULL},
        {"features", spec->features, t->said[TEXT_FEATURES], t->said[TEXT_COLUMNS]},
        {"categorical", spec->categorical, t->said[TEXT_CATEGORICAL], NULL},
        {"weights", spec->weights, t->said[TEXT_WEIGHTS], NULL},
        {"offset", spec->offset, t->said[TEXT_OFFSET], NULL},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sbps_status status =
            check_list(path, lists[i].option, lists[i].given, lists[i].was, lists[i].also, err);
        if (status != SBPS_OK) return status;
    }
    return check_switches(path, h, spec, err);
}

/* ---- rows over the map ---- */

double *table_at(const table_header *h, unsigned char *base, section_name k)
{
    return h->section[k].size > 0 ? (double *)(base + h->section[k].at) : NULL;
}

static bool copy_small(const table_header *h, unsigned char *base, const table_text *t, rows *r)
{
    r->mean = new_doubles(r->d);
    r->sd = new_doubles(r->d);
    r->names = calloc(r->d + 1, sizeof *r->names);
    r->target = copy_text(t->said[TEXT_TARGET]);
    if (!r->mean || !r->sd || !r->names || !r->target) return false;
    if (r->d > 0) memcpy(r->mean, table_at(h, base, SECTION_MEAN), r->d * sizeof *r->mean);
    if (r->d > 0) memcpy(r->sd, table_at(h, base, SECTION_SD), r->d * sizeof *r->sd);
    const char *name = t->names;
    for (size_t j = 0; j < r->d; j++, name += strlen(name) + 1)
        if (!(r->names[j] = copy_text(name))) return false;
    return true;
}

static sbps_status make_rows(const table_header *h, const table_text *t, rows *r,
                             sbps_error *err)
{
    unsigned char *base = r->mapped->base;
    r->storage = storages[storage_index(h)].kind;
    r->n = h->rows;
    r->stride = h->stride;
    r->intercept = h->flags & TABLE_INTERCEPT;
    if (r->storage == &storage_float)
        r->x_float = (float *)(base + h->section[SECTION_X].at);
    else
        r->x = table_at(h, base, SECTION_X);
    r->y = table_at(h, base, SECTION_Y);
    r->weight = table_at(h, base, SECTION_WEIGHT);
    r->offset = table_at(h, base, SECTION_OFFSET);
    r->hash = h->hash;
    r->seed = h->seed;
    r->d = h->columns;
    if (copy_small(h, base, t, r)) return SBPS_OK;
    if (!r->names) r->d = 0;
    return fail_memory(err);
}

static sbps_status open_map(const char *path, struct table_file *f, table_header *h,
                            sbps_error *err)
{
    struct stat about;
    f->file = open(path, O_RDONLY | O_CLOEXEC);
    if (f->file < 0 || fstat(f->file, &about) != 0)
        return fail(err, SBPS_NO_FILE, "%s: %s", path, strerrordesc_np(errno));
    if (pread(f->file, h, sizeof *h, 0) != (ssize_t)sizeof *h)
        return fail(err, SBPS_BAD_FILE, "%s: the table is cut off within its header", path);
    sbps_status status = check_header(path, h, (uint64_t)about.st_size, err);
    if (status == SBPS_OK) status = check_sections(path, h, err);
    if (status != SBPS_OK) return status;
    void *map = mmap(NULL, h->bytes, PROT_READ, MAP_SHARED, f->file, 0);
    if (map == MAP_FAILED)
        return fail(err, SBPS_NO_FILE, "%s: cannot be mapped: %s", path,
                    strerrordesc_np(errno));
    f->base = map;
    f->size = h->bytes;
    madvise(map, h->bytes, MADV_RANDOM); /* see ahead.c */
    if (table_tail_crc(h, map) != h->tail_crc)
        return fail_damaged(path, "the checksum of its names and means is wrong", err);
    return SBPS_OK;
}

sbps_status table_map(const char *path, const rows_spec *spec, rows **out, sbps_error *err)
{
    table_header h;
    table_text t = {0};
    *out = NULL;
    rows *r = calloc(1, sizeof *r);
    if (r) r->mapped = calloc(1, sizeof *r->mapped);
    if (!r || !r->mapped) {
        free(r);
        return fail_memory(err);
    }
    r->mapped->file = -1;
    r->mapped->readers = readers_create();
    sbps_status status = r->mapped->readers ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = open_map(path, r->mapped, &h, err);
    if (status == SBPS_OK && !read_text(&h, r->mapped->base, &t))
        status = fail_damaged(path, "its text does not hold what it should", err);
    if (status == SBPS_OK) status = check_spec(path, &h, &t, spec, err);
    if (status == SBPS_OK)
        status = memory_holds(path, (double)h.rows, (double)h.columns,
                              KEPT_BYTES * (double)h.rows, err);
    if (status == SBPS_OK) status = make_rows(&h, &t, r, err);
    if (status == SBPS_OK)
        *out = r;
    else
        rows_destroy(r);
    return status;
}

void table_unmap(rows *r)
{
    if (!r->mapped) return;
    readers_destroy(r->mapped->readers);
    if (r->mapped->base) munmap(r->mapped->base, r->mapped->size);
    if (r->mapped->file >= 0) close(r->mapped->file);
    free(r->mapped);
    r->mapped = NULL;
    r->x = r->y = r->weight = r->offset = NULL;
    r->x_float = NULL;
}
