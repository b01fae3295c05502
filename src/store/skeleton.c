/* The skeleton of the path as CSV. */
#include "store/skeleton.h"

#include "base/memory.h"
#include "path/path.h"
#include "store/atomic.h"
#include "store/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct skeleton_file {
    FILE *stream;
    char *path;
    size_t dim;
    bool regular; /* not a pipe or a device */
};

static const char *const event_names[] = {
    [EVENT_START] = "start",
    [EVENT_BOUNCE] = "bounce",
    [EVENT_REFRESH] = "refresh",
    [EVENT_STEP] = "step",
};

static sbps_status fail_written(const skeleton_file *f, sbps_error *err)
{
    return fail_file(err, f->path, "written", errno);
}

/* u's columns are u:name, quoted as a whole. False when out of memory. */
static bool put_header(FILE *stream, const char *const *names, size_t dim)
{
    fputs("chain,time,event", stream);
    for (size_t j = 0; j < dim; j++) {
        fputc(',', stream);
        put_field(stream, names[j]);
    }
    for (size_t j = 0; j < dim; j++) {
        char *velocity;
        if (asprintf(&velocity, "u:%s", names[j]) < 0) return false;
        fputc(',', stream);
        put_field(stream, velocity);
        free(velocity);
    }
    fputc('\n', stream);
    return true;
}

static sbps_status make_header(const char *const *names, size_t dim, char **text,
                               size_t *length, sbps_error *err)
{
    *text = NULL;
    FILE *stream = open_memstream(text, length);
    if (!stream) return fail_memory(err);
    bool whole = put_header(stream, names, dim) && !ferror(stream);
    if (fclose(stream) == 0 && whole) return SBPS_OK;
    free(*text);
    *text = NULL;
    return fail_memory(err);
}

/* The kept part must begin with our columns and end with a line. */
static sbps_status check_kept(skeleton_file *f, uint64_t keep, const char *header,
                              size_t length, sbps_error *err)
{
    if (keep < length)
        return fail(err, SBPS_MISMATCH, "%s: the checkpoint keeps less than its first line",
                    f->path);
    for (size_t i = 0; i < length; i++)
        if (fgetc(f->stream) != (unsigned char)header[i])
            return fail(err, SBPS_MISMATCH, "%s: a skeleton of other columns", f->path);
    if (fseeko(f->stream, (off_t)keep - 1, SEEK_SET) != 0)
        return fail_file(err, f->path, "read", errno);
    if (fgetc(f->stream) != '\n')
        return fail(err, SBPS_MISMATCH,
                    "%s: no line ends at byte %llu, where the checkpoint does", f->path,
                    (unsigned long long)keep);
    return SBPS_OK;
}

static sbps_status resume(skeleton_file *f, uint64_t keep, const char *header, size_t length,
                          sbps_error *err)
{
    struct stat status;
    if (!(f->stream = fopen(f->path, "r+e"))) return fail_file(err, f->path, "resumed", errno);
    if (fstat(fileno(f->stream), &status) != 0 || !S_ISREG(status.st_mode))
        return fail_file(err, f->path, "resumed", ESPIPE);
    f->regular = true;
    if ((uint64_t)status.st_size < keep)
        return fail(err, SBPS_MISMATCH, "%s: has %lld bytes, the checkpoint was made at %llu",
                    f->path, (long long)status.st_size, (unsigned long long)keep);
    sbps_status outcome = check_kept(f, keep, header, length, err);
    if (outcome != SBPS_OK) return outcome;
    if (ftruncate(fileno(f->stream), (off_t)keep) != 0 || fseeko(f->stream, 0, SEEK_END) != 0)
        return fail_written(f, err);
    return SBPS_OK;
}

static sbps_status start(skeleton_file *f, const char *header, size_t length, sbps_error *err)
{
    struct stat status;
    if (!(f->stream = fopen(f->path, "we"))) return fail_written(f, err);
    f->regular = fstat(fileno(f->stream), &status) == 0 && S_ISREG(status.st_mode);
    if (fwrite(header, 1, length, f->stream) != length || fflush(f->stream) != 0)
        return fail_written(f, err);
    return SBPS_OK;
}

sbps_status skeleton_open(const char *path, const char *const *names, size_t dim,
                          uint64_t resume_at, skeleton_file **out, sbps_error *err)
{
    char *header = NULL;
    size_t length;
    *out = NULL;
    sbps_status status = make_header(names, dim, &header, &length, err);
    if (status != SBPS_OK) return status;
    skeleton_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = copy_text(path))) {
        status = fail_memory(err);
        goto done;
    }
    f->dim = dim;
    status =
        resume_at ? resume(f, resume_at, header, length, err) : start(f, header, length, err);
done:
    free(header);
    if (status == SBPS_OK)
        *out = f;
    else
        skeleton_close(f);
    return status;
}

static void put_record(const skeleton_file *f, size_t chain, const double *record)
{
    fprintf(f->stream, "%zu,", chain);
    put_number(f->stream, record[0]);
    fprintf(f->stream, ",%s", event_names[(size_t)record[1]]);
    for (size_t j = 0; j < 2 * f->dim; j++) {
        fputc(',', f->stream);
        put_number(f->stream, record[2 + j]);
    }
    fputc('\n', f->stream);
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
    size_t width = 2 + 2 * f->dim;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    for (size_t i = 0; i < count && status == SBPS_OK; i++) {
        const double *record = records + i * width;
        if (!known_event(record[1])) {
            status =
                fail(err, SBPS_BAD_ARG, "%s: event code %g is unknown", f->path, record[1]);
            break;
        }
        errno = 0;
        put_record(f, chain, record);
        if (ferror(f->stream)) status = fail_written(f, err);
    }
    numbers_end(&locale);
    return status;
}

sbps_status skeleton_sync(skeleton_file *f, uint64_t *bytes, sbps_error *err)
{
    *bytes = 0;
    errno = 0;
    if (fflush(f->stream) != 0 || ferror(f->stream)) return fail_written(f, err);
    int error = sync_descriptor(fileno(f->stream));
    if (error) return fail_file(err, f->path, "synced to disk", error);
    if (!f->regular) return SBPS_OK;
    off_t length = ftello(f->stream);
    if (length < 0) return fail_written(f, err);
    *bytes = (uint64_t)length;
    return SBPS_OK;
}

void skeleton_close(skeleton_file *f)
{
    if (!f) return;
    if (f->stream) fclose(f->stream);
    free(f->path);
    free(f);
}
