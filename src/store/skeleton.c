/* The skeleton of the path as CSV. */
#include "store/skeleton.h"

#include "core/decimal.h"
#include "core/text.h"
#include "path/path.h"
#include "store/append_file.h"

#include <errno.h>
#include <stdlib.h>

struct skeleton_file {
    append_file file;
    size_t dim;
};

static const char *const event_names[] = {
    [EVENT_START] = "start",
    [EVENT_BOUNCE] = "bounce",
    [EVENT_REFRESH] = "refresh",
    [EVENT_STEP] = "step",
};

/* u's columns are u:name, quoted as a whole. NULL: no memory. */
static char *make_header(const char *const *names, size_t dim)
{
    text header = {0}, velocity = {0};
    text_add(&header, "chain,time,event,rows");
    for (size_t j = 0; j < dim; j++) {
        text_add(&header, ",");
        text_csv_field(&header, names[j]);
    }
    for (size_t j = 0; j < dim; j++) {
        text_cut(&velocity, 0);
        text_add(&velocity, "u:%s", names[j]);
        text_add(&header, ",");
        if (!velocity.failed) text_csv_field(&header, velocity.data);
    }
    text_add(&header, "\n");
    header.failed |= velocity.failed;
    text_free(&velocity);
    return text_take(&header);
}

sbps_status skeleton_open(const char *path, const char *const *names, size_t dim,
                          uint64_t resume_at, skeleton_file **out, sbps_error *err)
{
    *out = NULL;
    char *header = make_header(names, dim);
    skeleton_file *f = calloc(1, sizeof *f);
    sbps_status status = header && f ? append_file_open(path, header, resume_at, &f->file, err)
                                     : fail_memory(err);
    free(header);
    if (status == SBPS_OK) {
        f->dim = dim;
        *out = f;
    } else {
        free(f);
    }
    return status;
}

static void put_record(const skeleton_file *f, size_t chain, const double *record)
{
    FILE *stream = f->file.stream;
    fprintf(stream, "%zu,", chain);
    put_number(stream, record[0]);
    fprintf(stream, ",%s,%.0f", event_names[(size_t)record[1]], record[2]);
    for (size_t j = 3; j < skeleton_width(f->dim); j++) {
        fputc(',', stream);
        put_number(stream, record[j]);
    }
    fputc('\n', stream);
}

static bool known_event(double code)
{
    for (size_t i = 0; i < sizeof event_names / sizeof *event_names; i++)
        if (code == (double)i) return true;
    return false;
}

sbps_status skeleton_append(skeleton_file *f, size_t chain, size_t count, const double *records,
                            sbps_error *err)
{
    number_locale locale;
    size_t width = skeleton_width(f->dim);
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    for (size_t i = 0; i < count && status == SBPS_OK; i++) {
        const double *record = records + i * width;
        if (!known_event(record[1])) {
            status = fail(err, SBPS_BAD_ARG, "%s: event code %g is unknown", f->file.path,
                          record[1]);
            break;
        }
        errno = 0;
        put_record(f, chain, record);
        status = append_file_check(&f->file, err);
    }
    numbers_end(&locale);
    return status;
}

sbps_status skeleton_sync(skeleton_file *f, uint64_t *bytes, sbps_error *err)
{
    return append_file_sync(&f->file, bytes, err);
}

void skeleton_close(skeleton_file *f)
{
    if (!f) return;
    append_file_close(&f->file);
    free(f);
}
