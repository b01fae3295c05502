/* Mapping of converted tables.
 *
 * Only header, means, sds and names are read and checksummed. The numbers stay on disk until
 * they are used, and damage to them is not detected. Everything that points into the file is
 * checked against its size, so that no file makes the program read outside the mapping: the
 * starts and columns of sparse rows, too, which takes one pass over them. */
#include "table/mapped_table.h"

#include "core/memory.h"
#include "core/printable.h"
#include "table/read_ahead.h"
#include "table/row_groups.h"
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

static const size_t COUNT_MAX = (size_t)1
                                << 48; /* keeps products of two counts within 64 bits */

uint32_t table_crc(const table_header *h)
{
    table_header copy = *h;
    size_t size = h->version >= TABLE_VERSION_DESIGN   ? sizeof copy
                  : h->version >= TABLE_VERSION_GROUPS ? TABLE_HEADER_GROUPS
                  : h->version > TABLE_VERSION_DENSE   ? TABLE_HEADER_SPARSE
                                                       : TABLE_HEADER_DENSE;
    copy.crc = 0;
    return (uint32_t)crc32_z(0, (const unsigned char *)&copy, size);
}

table_section table_add_section(table_header *h, uint64_t size)
{
    table_section made = {.at = h->bytes, .size = size};
    h->bytes = (h->bytes + size + TABLE_PAGE - 1) / TABLE_PAGE * TABLE_PAGE;
    return made;
}

uint32_t table_tail_crc(const table_header *h, const unsigned char *base)
{
    uLong crc = 0;
    for (section_name k = SECTION_MEAN; k <= SECTION_TEXT; k++)
        crc = crc32_z(crc, base + h->section[k].at, h->section[k].size);
    return (uint32_t)crc;
}

uint32_t table_design_crc(const char *design)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)design, strlen(design));
}

bool table_recognise(const char *path)
{
    struct stat about;
    char magic[8] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    /* reading from a pipe would consume its first bytes */
    bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    ssize_t got = regular ? pread(file, magic, sizeof magic, 0) : 0;
    close(file);
    return got == sizeof magic && memcmp(magic, TABLE_MAGIC, sizeof magic) == 0;
}

/* ---- checks ---- */

static sbps_status fail_damaged(const char *path, const char *what, sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s: the table is damaged: %s; convert it again", path,
                what);
}

static sbps_status check_header(const char *path, const table_header *h, uint64_t bytes,
                                sbps_error *err)
{
    if (h->version > TABLE_VERSION)
        return fail(
            err, SBPS_BAD_FILE,
            "%s: the table has format version %u, and this program reads up to version %d: "
            "convert it again, or use a newer program",
            path, (unsigned)h->version, TABLE_VERSION);
    if (table_crc(h) != h->crc)
        return fail_damaged(path, "the checksum of its header is wrong", err);
    if (bytes < h->bytes)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the table is truncated: %llu of %llu bytes; convert it again", path,
                    (unsigned long long)bytes, (unsigned long long)h->bytes);
    if (bytes > h->bytes) return fail_damaged(path, "bytes follow its end", err);
    if (h->version < TABLE_VERSION_GROUPS && (h->groups.at || h->groups.size))
        return fail_damaged(path, "its version does not have groups", err);
    return SBPS_OK;
}

static const storage_kind *const storages[] = {STORAGE_KINDS(KIND_LISTED)};

/* Returns the storage that the header names; NULL: unknown. */
static const storage_kind *storage_named(const table_header *h)
{
    for (size_t k = 0; k < sizeof storages / sizeof *storages; k++)
        if (!strncmp(h->storage, storages[k]->name, sizeof h->storage)) return storages[k];
    return NULL;
}

/* Returns whether a section has the expected size and is aligned and inside the file. */
static bool section_fits(const table_header *h, const table_section *s, uint64_t size)
{
    return s->size == size && s->at % TABLE_PAGE == 0 && s->at >= TABLE_PAGE &&
           s->at <= h->bytes && size <= h->bytes - s->at;
}

/* Dense rows: stride numbers each, of `number` bytes. */
static bool x_fits(const table_header *h, size_t number)
{
    if (h->columns > 0 && h->rows > h->bytes / (h->stride * number)) return false;
    return section_fits(h, &h->section[SECTION_X], h->rows * h->stride * number);
}

static size_t entry_count(const table_header *h)
{
    return h->entries[ENTRIES_COLUMN].size / sizeof(uint32_t);
}

static bool entries_fit(const table_header *h)
{
    const table_section *e = h->entries;
    uint64_t count = entry_count(h);
    bool fine = h->version > TABLE_VERSION_DENSE && count < COUNT_MAX;
    fine = fine && section_fits(h, &e[ENTRIES_START], (h->rows + 1) * sizeof(uint64_t));
    fine = fine && section_fits(h, &e[ENTRIES_COLUMN], count * sizeof(uint32_t));
    if (e[ENTRIES_VALUE].size == 0) return fine;
    return fine && section_fits(h, &e[ENTRIES_VALUE], count * sizeof(double));
}

static bool rows_fit(const table_header *h, const storage_kind *storage)
{
    if (storage == &storage_sparse) return entries_fit(h);
    return x_fits(h, storage == &storage_float ? sizeof(float) : sizeof(double));
}

static bool counts_fit(const table_header *h)
{
    size_t n = h->rows, d = h->columns;
    bool fine = n >= 2 && n < COUNT_MAX && d < COUNT_MAX && h->stride < COUNT_MAX;
    fine = fine && h->stride == (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    return fine && n <= h->bytes / sizeof(double) && d <= h->bytes / sizeof(double);
}

/* Checks that every section has the size that the counts imply, before anything is read. */
static sbps_status check_sections(const char *path, const table_header *h, sbps_error *err)
{
    const storage_kind *storage = storage_named(h);
    const table_section *s = h->section;
    if (!storage)
        return fail(err, SBPS_BAD_FILE, "%s: unknown storage '%.15s'; use a newer program",
                    path, show(h->storage, h->storage + strnlen(h->storage, 15)).text);
    if (!counts_fit(h)) return fail_damaged(path, "its counts do not match its size", err);
    uint64_t row_bytes = h->rows * sizeof(double), column_bytes = h->columns * sizeof(double);
    bool fine = rows_fit(h, storage) && section_fits(h, &s[SECTION_Y], row_bytes) &&
                section_fits(h, &s[SECTION_MEAN], column_bytes) &&
                section_fits(h, &s[SECTION_SD], column_bytes) &&
                section_fits(h, &s[SECTION_TEXT], s[SECTION_TEXT].size);
    for (section_name k = SECTION_WEIGHT; k <= SECTION_OFFSET; k++)
        if (s[k].size > 0) fine = fine && section_fits(h, &s[k], row_bytes);
    if (h->version >= TABLE_VERSION_GROUPS)
        fine = fine && (h->groups.size == 0 || section_fits(h, &h->groups, h->groups.size));
    if (h->version >= TABLE_VERSION_DESIGN)
        fine = fine && h->design.size > 0 && section_fits(h, &h->design, h->design.size);
    return fine ? SBPS_OK : fail_damaged(path, "a section is outside the file", err);
}

/* ---- text section ---- */

typedef struct {
    table_making how;
    const char *names;          /* first name of a column, each ending in NUL */
    const char *notes, *labels; /* NULL: none; the first label */
    size_t label_count;
} table_text;

static bool read_text(const table_header *h, const unsigned char *base, table_text *out)
{
    const char *p = (const char *)base + h->section[SECTION_TEXT].at;
    const char *end = p + h->section[SECTION_TEXT].size;
    if (p == end || end[-1] != '\0') return false;
    for (size_t i = 0; i < TEXTS + h->columns; i++) {
        if (p >= end) return false;
        if (i < TEXTS) out->how.texts[i] = p;
        if (i == TEXTS) out->names = p;
        p += strlen(p) + 1;
    }
    if (h->version <= TABLE_VERSION_SPARSE) return p == end;
    if (p >= end) return false;
    out->notes = p;
    p += strlen(p) + 1;
    if (p - out->notes > 1 && p[-2] != '\n') return false; /* every note ends its line */
    out->labels = p;
    for (; p < end; p += strlen(p) + 1) out->label_count++;
    return true;
}

/* ---- rows ---- */

double *table_at(const table_header *h, unsigned char *base, section_name k)
{
    return h->section[k].size > 0 ? (double *)(base + h->section[k].at) : NULL;
}

static void *entries_at(const table_header *h, unsigned char *base, entries_name k)
{
    return h->entries[k].size > 0 ? base + h->entries[k].at : NULL;
}

void table_show_entries(const table_header *h, unsigned char *base, rows *r)
{
    r->storage.start = entries_at(h, base, ENTRIES_START);
    r->storage.column = entries_at(h, base, ENTRIES_COLUMN);
    r->storage.value = entries_at(h, base, ENTRIES_VALUE);
}

/* Returns whether the columns of a row increase and are columns of the table; the intercept has
 * no entries. */
static bool columns_are_sound(const rows *r, const uint32_t *column, size_t count)
{
    bool sound = count == 0 || (column[0] >= r->intercept && column[count - 1] < r->d);
    for (size_t k = 1; k < count; k++) sound &= column[k - 1] < column[k];
    return sound;
}

/* Returns what is wrong with the entries, or NULL. Starts are checked before columns are read
 * through them. */
static const char *fault_of_entries(const rows *r, size_t count)
{
    if (r->storage.start[0] != 0 || r->storage.start[r->local_rows] != count)
        return "the entries of its rows do not add up";
    for (size_t i = 0; i < r->local_rows; i++) {
        if (r->storage.start[i] > r->storage.start[i + 1] || r->storage.start[i + 1] > count)
            return "the entries of a row end before they begin";
        size_t begin = r->storage.start[i], row_count = r->storage.start[i + 1] - begin;
        if (row_count > 0 && !columns_are_sound(r, r->storage.column + begin, row_count))
            return "the columns of a row do not increase, or are not in the table";
    }
    return NULL;
}

/* Copies notes and labels into r; false: no memory. */
static bool copy_notes(const table_text *t, rows *r)
{
    const char *label = t->labels;
    if (t->notes && *t->notes && !(r->table.notes = copy_text(t->notes))) return false;
    if (t->label_count == 0) return true;
    if (!(r->table.labels = calloc(t->label_count, sizeof *r->table.labels))) return false;
    r->table.label_count = t->label_count;
    for (size_t k = 0; k < r->table.label_count; k++, label += strlen(label) + 1)
        if (!(r->table.labels[k] = copy_text(label))) return false;
    return true;
}

/* Copies means, sds, names, target, notes and labels into r; false: no memory. */
static bool copy_small(const table_header *h, unsigned char *base, const table_text *t, rows *r)
{
    r->table.mean = new_doubles(r->d);
    r->table.sd = new_doubles(r->d);
    r->table.names = calloc(r->d + 1, sizeof *r->table.names);
    r->table.target = copy_text(t->how.texts[TEXT_TARGET]);
    if (!r->table.mean || !r->table.sd || !r->table.names || !r->table.target) return false;
    if (r->d > 0)
        memcpy(r->table.mean, table_at(h, base, SECTION_MEAN), r->d * sizeof *r->table.mean);
    if (r->d > 0)
        memcpy(r->table.sd, table_at(h, base, SECTION_SD), r->d * sizeof *r->table.sd);
    const char *name = t->names;
    for (size_t j = 0; j < r->d; j++, name += strlen(name) + 1)
        if (!(r->table.names[j] = copy_text(name))) return false;
    return copy_notes(t, r);
}

/* Points r to the sections of the mapped file and copies the small ones. */
static sbps_status make_rows(const table_header *h, const table_text *t, rows *r,
                             sbps_error *err)
{
    unsigned char *base = r->storage.mapped->base;
    r->storage.kind = storage_named(h);
    r->local_rows = h->rows;
    r->stride = h->stride;
    r->intercept = h->flags & TABLE_INTERCEPT;
    if (r->storage.kind == &storage_sparse)
        table_show_entries(h, base, r);
    else if (r->storage.kind == &storage_float)
        r->storage.x_float = (float *)(base + h->section[SECTION_X].at);
    else
        r->storage.x = table_at(h, base, SECTION_X);
    r->y = table_at(h, base, SECTION_Y);
    r->weight = table_at(h, base, SECTION_WEIGHT);
    r->offset = table_at(h, base, SECTION_OFFSET);
    r->table.hash = h->hash;
    r->table.seed = h->seed;
    r->d = h->columns;
    if (copy_small(h, base, t, r)) return SBPS_OK;
    if (!r->table.names) r->d = 0;
    return fail_memory(err);
}

/* Opens, checks and maps the file. */
static sbps_status open_map(const char *path, struct table_file *f, table_header *h,
                            sbps_error *err)
{
    struct stat about;
    f->file = open(path, O_RDONLY | O_CLOEXEC);
    if (f->file < 0 || fstat(f->file, &about) != 0)
        return fail(err, SBPS_NO_FILE, "%s: %s", path, strerrordesc_np(errno));
    if (pread(f->file, h, sizeof *h, 0) != (ssize_t)sizeof *h)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the table is truncated within its header; convert it again", path);
    sbps_status status = check_header(path, h, (uint64_t)about.st_size, err);
    if (status == SBPS_OK) status = check_sections(path, h, err);
    if (status != SBPS_OK) return status;
    void *map = mmap(NULL, h->bytes, PROT_READ, MAP_SHARED, f->file, 0);
    if (map == MAP_FAILED)
        return fail(err, SBPS_NO_FILE, "%s: cannot be mapped: %s", path,
                    strerrordesc_np(errno));
    f->base = map;
    f->size = h->bytes;
    if (table_tail_crc(h, map) != h->tail_crc)
        return fail_damaged(path, "the checksum of its names and means is wrong", err);
    return SBPS_OK;
}

/* Copies the groups of rows, if the table has some. */
static sbps_status read_groups(const char *path, const table_header *h, rows *r,
                               table_making *how, sbps_error *err)
{
    bool none = h->version >= TABLE_VERSION_DESIGN && h->groups.size == 0;
    if (h->version < TABLE_VERSION_GROUPS || none) return SBPS_OK;
    r->groups = groups_read(r->storage.mapped->base + h->groups.at, h->groups.size,
                            r->local_rows, &how->formula);
    return r->groups ? SBPS_OK : fail_damaged(path, "its groups are inconsistent", err);
}

static sbps_status read_design(const char *path, const table_header *h, rows *r,
                               sbps_error *err)
{
    if (h->version < TABLE_VERSION_DESIGN) return SBPS_OK;
    const char *text = (const char *)r->storage.mapped->base + h->design.at;
    if (text[h->design.size - 1] != '\0' || table_design_crc(text) != h->design_crc)
        return fail_damaged(path, "the checksum of its design is wrong", err);
    return (r->table.design = copy_text(text)) ? SBPS_OK : fail_memory(err);
}

sbps_status table_map(const char *path, rows **out, table_making *how, sbps_error *err)
{
    table_header h;
    table_text t = {0};
    *out = NULL;
    rows *r = calloc(1, sizeof *r);
    if (r) r->storage.mapped = calloc(1, sizeof *r->storage.mapped);
    if (!r || !r->storage.mapped) {
        free(r);
        return fail_memory(err);
    }
    r->storage.mapped->file = -1;
    r->storage.mapped->readers = readers_create();
    sbps_status status = r->storage.mapped->readers ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) status = open_map(path, r->storage.mapped, &h, err);
    if (status == SBPS_OK && !read_text(&h, r->storage.mapped->base, &t))
        status = fail_damaged(path, "its text section is incomplete", err);
    if (status == SBPS_OK) status = make_rows(&h, &t, r, err);
    if (status == SBPS_OK) status = read_groups(path, &h, r, &t.how, err);
    if (status == SBPS_OK) status = read_design(path, &h, r, err);
    if (status == SBPS_OK && r->storage.start) {
        const char *fault = fault_of_entries(r, entry_count(&h));
        status = fault ? fail_damaged(path, fault, err) : SBPS_OK;
    }
    if (status == SBPS_OK) {
        madvise(r->storage.mapped->base, r->storage.mapped->size,
                MADV_RANDOM); /* read_ahead.c asks for more */
        t.how.standardized = h.flags & TABLE_STANDARDIZED;
        *how = t.how;
        *out = r;
    } else
        rows_destroy(r);
    return status;
}

void table_unmap(rows *r)
{
    if (!r->storage.mapped) return;
    readers_destroy(r->storage.mapped->readers);
    if (r->storage.mapped->base) munmap(r->storage.mapped->base, r->storage.mapped->size);
    if (r->storage.mapped->file >= 0) close(r->storage.mapped->file);
    free(r->storage.mapped);
    r->storage.mapped = NULL;
    r->storage.x = r->y = r->weight = r->offset = NULL;
    r->storage.x_float = NULL;
    r->storage.start = NULL;
    r->storage.column = NULL;
    r->storage.value = NULL;
}
