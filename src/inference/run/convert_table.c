/* From text to a table on disk: written beside its name and renamed when it is whole. */
#include "inference/run/convert_table.h"
#include "core/memory.h"
#include "inference/options/target.h"
#include "ingest/convert_text.h"
#include "store/atomic_file.h"
#include "table/mapped_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the shuffle may use where nothing is said: the page cache wants the rest. */
#define SHUFFLE_FRACTION 0.25
#define MEMORY_MAX       0x1p30

static size_t usual_memory(void)
{
    double usable = SHUFFLE_FRACTION * machine_memory();
    return (size_t)(usable < MEMORY_MAX ? usable : MEMORY_MAX);
}

/* Of several names the last was perhaps not meant to be written. */
static sbps_status check_overwrite(const char *from, const char *to, sbps_error *err)
{
    struct stat about;
    bool there = stat(to, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    if (!strchr(from, '\n') || !there || table_recognise(to)) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "%s: is there, and no converted table: the last of several names is that of the "
        "file to write",
        to);
}

sbps_status convert_table(const char *from, const char *to, const sbps_options *options,
                          size_t memory, sbps_convert_watch watch, void *self, sbps_error *err)
{
    atomic_file file;
    rows_spec spec = table_spec(options);
    spec.dense = false; /* it may be for a larger machine */
    if (table_recognise(from))
        return fail(err, SBPS_BAD_FILE, "%s: is a converted table already", from);
    if (spec.in_order)
        return fail(
            err, SBPS_BAD_ARG,
            "--no-shuffle: rows of a converted table are shuffled; text may stay as it is");
    sbps_status status = check_overwrite(from, to, err);
    if (status == SBPS_OK) status = file_begin(to, &file, err);
    if (status != SBPS_OK) return status;
    table_job job = {.from = from,
                     .to = to,
                     .temp_near = file.temp,
                     .file = -1,
                     .memory = memory ? memory : usual_memory(),
                     .watch = watch,
                     .self = self};
    if (!file.temp)
        status =
            fail(err, SBPS_NO_FILE, "%s: a table must be a file, not a device or a pipe", to);
    else if ((job.file = open(file.temp, O_RDWR | O_CLOEXEC)) < 0) /* a map is read as well */
        status = fail_file(err, to, "written", errno);
    else
        status = table_write(&job, &spec, err);
    if (job.file >= 0) close(job.file);
    if (status == SBPS_OK) return file_commit(&file, err);
    file_abandon(&file);
    return status;
}
