/* Tables are looked at more than once: for the types of their columns, by several threads, and again where a cell
 * contradicts. A pipe gives its bytes once; so they are put where they can be had again, packed as they come. */
#include "ingest/text/spool.h"

#include "ingest/text/text_file.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPOOL_BYTES = 256 * 1024 };

static const char *spool_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* Without a name, so that it goes when the process does, however that ends. */
static int open_spool(void)
{
    char *path = NULL;
    if (asprintf(&path, "%s/sbps.XXXXXX", spool_folder()) < 0) return -1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    free(path);
    return file >= 0 ? file : memfd_create("sbps", MFD_CLOEXEC);
}

static sbps_status fail_kept(const text_input *from, int number, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE,
                "%s: cannot be kept in %s, where what comes through a pipe lies until it is "
                "read: %s; TMPDIR names another folder",
                text_input_name(from), spool_folder(), strerrordesc_np(number));
}

static sbps_status write_all(const text_input *from, const char *bytes, size_t size,
                             sbps_error *err)
{
    while (size > 0) {
        ssize_t done = write(from->kept, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_kept(from, done < 0 ? errno : ENOSPC, err);
        bytes += done;
        size -= (size_t)done;
    }
    return SBPS_OK;
}

static sbps_status poll_watch(const text_input *from, const rows_spec *spec, sbps_error *err)
{
    if (!spec->watch || spec->watch(spec->watcher, "reading", 0, NAN)) return SBPS_OK;
    return fail(err, SBPS_NO_FILE, "%s: not read: stopped on request", text_input_name(from));
}

static sbps_status copy_all(const text_input *from, int pipe, const rows_spec *spec,
                            sbps_error *err)
{
    char *block = malloc(SPOOL_BYTES);
    sbps_status status = block ? SBPS_OK : fail_memory(err);
    for (ssize_t got = 1; status == SBPS_OK && got != 0;) {
        got = read(pipe, block, SPOOL_BYTES);
        if (got < 0 && errno != EINTR)
            status = fail(err, SBPS_NO_FILE, "%s: %s", text_input_name(from),
                          strerrordesc_np(errno));
        else if (got > 0)
            status = write_all(from, block, (size_t)got, err);
        if (status == SBPS_OK) status = poll_watch(from, spec, err);
    }
    free(block);
    return status;
}

sbps_status spool_pipe(text_input *from, const rows_spec *spec, sbps_error *err)
{
    struct stat about;
    sbps_status status = SBPS_OK;
    int file = text_input_open(from);
    if (file < 0) return SBPS_OK; /* whoever reads it says why not */
    bool pipe = fstat(file, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
    if (pipe) {
        from->kept = open_spool();
        status = from->kept < 0 ? fail_kept(from, errno, err) : copy_all(from, file, spec, err);
    }
    close(file);
    return status;
}
