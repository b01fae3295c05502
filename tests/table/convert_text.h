/* Converts text to tables on disk and reads them back. Include after check.h. */
#ifndef TESTS_TABLE_CONVERT_TEXT_H
#define TESTS_TABLE_CONVERT_TEXT_H

#include "ingest/convert_text.h"
#include "ingest/fixture.h"
#include "table/mapped_table.h"
#include <fcntl.h>
#include <sys/stat.h>

#define MEMORY ((size_t)1 << 20)

static char table_path[600];

/* Converts a text file to a table in the same folder. Returns its path, or NULL on failure. */
static const char *convert(const char *from, const rows_spec *spec, size_t memory,
                           const char *name)
{
    snprintf(table_path, sizeof table_path, "%s/%s", folder, name);
    int file = open(table_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    table_job job = {.from = from, .to = table_path, .temp_near = table_path, .memory = memory};
    job.file = file;
    memset(&error, 0, sizeof error);
    sbps_status status = table_write(&job, spec, &error);
    close(file);
    return status == SBPS_OK ? table_path : NULL;
}

static rows *map_table(const char *path, const rows_spec *spec)
{
    rows *r = NULL;
    memset(&error, 0, sizeof error);
    if (path) rows_read(path, spec, &r, &error);
    return r;
}

static char *bytes_of(const char *path, size_t *size)
{
    struct stat about;
    FILE *file = fopen(path, "r");
    if (!file || fstat(fileno(file), &about) != 0) exit(EXIT_FAILURE);
    char *bytes = malloc((size_t)about.st_size + 1);
    *size = fread(bytes, 1, (size_t)about.st_size, file);
    fclose(file);
    return bytes;
}

static const rows_spec no_wish = {.intercept = true};

static bool refused(const void *bytes, size_t size, const char *sentence)
{
    rows *r = map_table(put("bad", bytes, size), &no_wish);
    bool fine = !r && error.status == SBPS_BAD_FILE && strstr(error.text, sentence);
    if (!fine) printf("got '%s', expected '%s'\n", error.text, sentence);
    rows_destroy(r);
    return fine;
}

#endif
