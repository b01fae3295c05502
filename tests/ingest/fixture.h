/* Small files in a temporary folder, which is removed at exit. Include after check.h. */
#ifndef TESTS_INGEST_FIXTURE_H
#define TESTS_INGEST_FIXTURE_H

#include "ingest/ingest.h"
#include <ftw.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/sbps-data.XXXXXX";
static char file_path[512];
static sbps_error error;

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

__attribute__((constructor)) static void make_folder(void)
{
    if (!mkdtemp(folder)) exit(EXIT_FAILURE);
    atexit(remove_folder);
}

/* Writes the bytes to a file of that name and returns its path, which the next call
 * replaces. */
static const char *put(const char *name, const void *bytes, size_t size)
{
    snprintf(file_path, sizeof file_path, "%s/%s", folder, name);
    FILE *file = fopen(file_path, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(EXIT_FAILURE);
    return file_path;
}

__attribute__((unused)) static const char *put_gzip(const char *name, const void *bytes,
                                                    size_t size)
{
    snprintf(file_path, sizeof file_path, "%s/%s", folder, name);
    gzFile file = gzopen(file_path, "wb");
    if (!file || gzwrite(file, bytes, (unsigned)size) != (int)size || gzclose(file) != Z_OK)
        exit(EXIT_FAILURE);
    return file_path;
}

/* Returns the rows of a file with this content, or NULL and the message in `error`. */
__attribute__((unused)) static rows *rows_from_text(const char *content, const rows_spec *spec)
{
    rows *r;
    memset(&error, 0, sizeof error);
    rows_read(put("t.csv", content, strlen(content)), spec, &r, &error);
    return r;
}

/* Returns the row whose target is y, or NULL; finds a row after the shuffle. */
__attribute__((unused)) static const double *row_with(const rows *r, double y)
{
    for (size_t i = 0; i < r->local_rows; i++)
        if (r->y[i] == y) return r->storage.x + i * r->stride;
    return NULL;
}

__attribute__((unused)) static bool same_doubles(const double *a, const double *b, size_t n)
{
    return (!a && !b) || (a && b && memcmp(a, b, n * sizeof *a) == 0);
}

/* Returns whether two tables are the same to the last bit. */
__attribute__((unused)) static bool same_rows(const rows *a, const rows *b)
{
    bool same = a->local_rows == b->local_rows && a->d == b->d && a->stride == b->stride;
    same = same && same_doubles(a->storage.x, b->storage.x, a->local_rows * a->stride) &&
           same_doubles(a->y, b->y, a->local_rows);
    same = same && same_doubles(a->weight, b->weight, a->local_rows);
    same = same && same_doubles(a->offset, b->offset, a->local_rows);
    same = same && same_doubles(a->table.mean, b->table.mean, a->d) &&
           same_doubles(a->table.sd, b->table.sd, a->d);
    for (size_t j = 0; same && j < a->d; j++)
        same = strcmp(a->table.names[j], b->table.names[j]) == 0;
    return same && a->table.hash == b->table.hash &&
           strcmp(a->table.target, b->table.target) == 0;
}

#endif
