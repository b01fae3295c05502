/* Text files that grow while a run flies. */
#include "store/append_file.h"

#include "core/memory.h"
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static sbps_status fail_written(const append_file *f, sbps_error *err)
{
    return fail_file(err, f->path, "written", errno);
}

/* The kept part must begin with our columns and end with a line. */
static sbps_status check_kept(append_file *f, uint64_t keep, const char *header, size_t length,
                              sbps_error *err)
{
    if (keep < length)
        return fail(err, SBPS_MISMATCH, "%s: the checkpoint keeps less than its first line",
                    f->path);
    for (size_t i = 0; i < length; i++)
        if (fgetc(f->stream) != (unsigned char)header[i])
            return fail(err, SBPS_MISMATCH, "%s: begins with other columns", f->path);
    if (fseeko(f->stream, (off_t)keep - 1, SEEK_SET) != 0)
        return fail_file(err, f->path, "read", errno);
    if (fgetc(f->stream) != '\n')
        return fail(err, SBPS_MISMATCH,
                    "%s: no line ends at byte %llu, where the checkpoint does", f->path,
                    (unsigned long long)keep);
    return SBPS_OK;
}

/* Two runs that write one file would mix their lines. Where files cannot be locked nobody is refused. */
static sbps_status take_alone(const append_file *f, sbps_error *err)
{
    if (flock(fileno(f->stream), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return SBPS_OK;
    return fail(err, SBPS_NO_FILE, "%s: another run is writing it", f->path);
}

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
        return fail(err, SBPS_MISMATCH, "%s: has %lld bytes, the checkpoint was made at %llu",
                    f->path, (long long)status.st_size, (unsigned long long)keep);
    outcome = check_kept(f, keep, header, length, err);
    if (outcome != SBPS_OK) return outcome;
    if (ftruncate(fileno(f->stream), (off_t)keep) != 0 || fseeko(f->stream, 0, SEEK_END) != 0)
        return fail_written(f, err);
    return SBPS_OK;
}

static sbps_status begin_file(append_file *f, const char *header, size_t length,
                              sbps_error *err)
{
    struct stat status;
    int descriptor =
        open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666); /* emptied once alone */
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

sbps_status append_file_check(const append_file *f, sbps_error *err)
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
