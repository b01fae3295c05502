/* CSV files that grow while a run advances: skeleton and trace. */
#include "store/path_files.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "core/text.h"
#include "path/path.h"
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static sbps_status fail_written(const append_file *f, sbps_error *err)
{
    return fail_file(err, f->path, "written", errno);
}

/* Checks that the kept part begins with the expected header and ends at the end of a line. */
static sbps_status check_kept(append_file *f, uint64_t keep, const char *header, size_t length,
                              sbps_error *err)
{
    if (keep < length)
        return fail(err, SBPS_MISMATCH,
                    "%s: the position in the checkpoint is inside the header line", f->path);
    for (size_t i = 0; i < length; i++)
        if (fgetc(f->stream) != (unsigned char)header[i])
            return fail(err, SBPS_MISMATCH, "%s: has different columns", f->path);
    if (fseeko(f->stream, (off_t)keep - 1, SEEK_SET) != 0)
        return fail_file(err, f->path, "read", errno);
    if (fgetc(f->stream) != '\n')
        return fail(err, SBPS_MISMATCH,
                    "%s: no line ends at byte %llu, the position in the checkpoint", f->path,
                    (unsigned long long)keep);
    return SBPS_OK;
}

/* Locks the file: two runs writing to it would mix their lines. Without support for locks it
 * succeeds. */
static sbps_status take_alone(const append_file *f, sbps_error *err)
{
    if (flock(fileno(f->stream), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return SBPS_OK;
    return fail(err, SBPS_NO_FILE, "%s: another run is writing to it", f->path);
}

/* Opens an existing file, checks its first `keep` bytes and truncates it to them. */
static sbps_status resume(append_file *f, uint64_t keep, const char *header, size_t length,
                          sbps_error *err)
{
    struct stat status;
    if (!(f->stream = fopen(f->path, "r+e"))) return fail_file(err, f->path, "resumed", errno);
    if (fstat(fileno(f->stream), &status) != 0 || !S_ISREG(status.st_mode))
        return fail_file(err, f->path, "resumed", ESPIPE);
    f->regular = true;
    sbps_status outcome = take_alone(f, err);
    if (outcome != SBPS_OK) return outcome;
    if ((uint64_t)status.st_size < keep)
        return fail(err, SBPS_MISMATCH,
                    "%s: has %lld bytes, but had %llu when the checkpoint was written", f->path,
                    (long long)status.st_size, (unsigned long long)keep);
    outcome = check_kept(f, keep, header, length, err);
    if (outcome != SBPS_OK) return outcome;
    if (ftruncate(fileno(f->stream), (off_t)keep) != 0 || fseeko(f->stream, 0, SEEK_END) != 0)
        return fail_written(f, err);
    return SBPS_OK;
}

/* Opens a new or existing file, truncates it and writes the header. */
static sbps_status begin_file(append_file *f, const char *header, size_t length,
                              sbps_error *err)
{
    struct stat status;
    int descriptor =
        open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666); /* truncated after locking */
    if (descriptor < 0) return fail_written(f, err);
    if (!(f->stream = fdopen(descriptor, "w"))) {
        close(descriptor);
        return fail_memory(err);
    }
    if (fstat(descriptor, &status) != 0) return fail_written(f, err);
    f->regular = S_ISREG(status.st_mode);
    sbps_status outcome = f->regular ? take_alone(f, err) : SBPS_OK;
    if (outcome != SBPS_OK) return outcome;
    if (f->regular && ftruncate(descriptor, 0) != 0) return fail_written(f, err);
    if (fwrite(header, 1, length, f->stream) != length || fflush(f->stream) != 0)
        return fail_written(f, err);
    return SBPS_OK;
}

sbps_status append_file_open(const char *path, const char *header, uint64_t resume_at,
                             append_file *out, sbps_error *err)
{
    *out = (append_file){.path = copy_text(path)};
    if (!out->path) return fail_memory(err);
    size_t length = strlen(header);
    sbps_status status = resume_at ? resume(out, resume_at, header, length, err)
                                   : begin_file(out, header, length, err);
    if (status != SBPS_OK) append_file_close(out);
    return status;
}

/* SBPS_OK if all writes so far succeeded. */
static sbps_status append_file_check(const append_file *f, sbps_error *err)
{
    return ferror(f->stream) ? fail_written(f, err) : SBPS_OK;
}

sbps_status append_file_sync(append_file *f, uint64_t *bytes, sbps_error *err)
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

void append_file_close(append_file *f)
{
    if (f->stream) fclose(f->stream);
    free(f->path);
    *f = (append_file){0};
}

/* ---- skeleton ---- */

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

/* The header of a skeleton; velocities are called u:name. The caller's; NULL: no memory. */
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

/* Writes a skeleton record as a line. */
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

/* ---- trace ---- */

static const char trace_header[] =
    "time,t,event,G,c2,mean,rho,lambda,from,lambda_from,accepted\n";

static const char *const observation_names[] = {
    [OBSERVATION_START] = "start",     [OBSERVATION_PROPOSAL] = "proposal",
    [OBSERVATION_HORIZON] = "horizon", [OBSERVATION_AUXILIARY] = "auxiliary",
    [OBSERVATION_REFRESH] = "refresh",
};

sbps_status trace_open(const char *path, uint64_t resume_at, append_file *out, sbps_error *err)
{
    return append_file_open(path, trace_header, resume_at, out, err);
}

/* Writes a trace record as a line; NAN as an empty cell. */
static void put_trace_record(FILE *stream, const trace_record *r)
{
    const slope_observation *l = &r->seen;
    const double cells[] = {l->slope, l->variance, l->mean,     l->sd,
                            l->rate,  l->from,     l->rate_from};
    put_number(stream, r->time + l->t);
    fputc(',', stream);
    put_number(stream, l->t);
    fprintf(stream, ",%s,", observation_names[l->kind]);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        if (!isnan(cells[i])) put_number(stream, cells[i]);
        fputc(',', stream);
    }
    fputs(l->kind != OBSERVATION_PROPOSAL ? "\n" : l->bounced ? "1\n" : "0\n", stream);
}

sbps_status trace_append(append_file *f, size_t count, const trace_record *records,
                         sbps_error *err)
{
    number_locale locale;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    for (size_t i = 0; i < count && status == SBPS_OK; i++) {
        put_trace_record(f->stream, &records[i]);
        status = append_file_check(f, err);
    }
    numbers_end(&locale);
    return status;
}
