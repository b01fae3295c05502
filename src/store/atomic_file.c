/* Atomic files: they appear complete or not at all.
 *
 *   write NAME.tmp.PID.sbps-XXXXXX -> fflush -> fsync -> close -> rename -> fsync of the folder
 *
 * rename replaces the target in one step (POSIX). The first fsync makes the bytes durable
 * before the name, the second one makes the name durable. */
#include "store/atomic_file.h"

#include "core/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

sbps_status fail_file(sbps_error *err, const char *path, const char *verb, int error)
{
    char reason[128];
    const char *text = strerror_r(error ? error : EIO, reason, sizeof reason); /* GNU's form */
    return fail(err, SBPS_NO_FILE, "%s: cannot be %s: %s", path, verb, text);
}

int sync_descriptor(int descriptor)
{
    if (fsync(descriptor) == 0) return 0;
    return errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
}

static void release(atomic_file *file)
{
    free(file->temp);
    free(file->target);
    free(file->path);
    *file = (atomic_file){0};
}

/* ---- temporary files of killed processes ---- */

#define BEFORE_OWNER ".tmp."
#define AFTER_OWNER  ".sbps-"
#define RANDOM_HEX   8

/* The number in STEM.tmp.NUMBER.sbps-XXXXXXXX; 0 when the name is not of that form. */
static long owner_of(const char *name, const char *stem)
{
    size_t length = strlen(stem), before = strlen(BEFORE_OWNER), after = strlen(AFTER_OWNER);
    if (strncmp(name, stem, length) || strncmp(name + length, BEFORE_OWNER, before)) return 0;
    const char *digits = name + length + before;
    size_t count = strspn(digits, "0123456789");
    const char *tail = digits + count;
    if (!count || *digits == '0' || strncmp(tail, AFTER_OWNER, after)) return 0;
    if (strlen(tail + after) != RANDOM_HEX ||
        strspn(tail + after, "0123456789abcdef") != RANDOM_HEX)
        return 0;
    errno = 0;
    long owner = strtol(digits, NULL, 10);
    return errno || owner != (pid_t)owner ? 0 : owner;
}

/* True if the process that wrote the temporary file is gone, and no process on another machine
 * or in another container holds its lock. */
static bool is_stale(int folder, const char *name, long owner)
{
    struct stat status;
    if (owner == getpid() || kill((pid_t)owner, 0) == 0 || errno != ESRCH) return false;
    int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    bool free = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    close(descriptor);
    return free;
}

/* Removes temporary files of killed processes. Failures do not matter. */
static void remove_stale(const char *target)
{
    char *parent = copy_text(target), *own = copy_text(target);
    DIR *folder = parent && own ? opendir(dirname(parent)) : NULL;
    if (folder) {
        const char *stem = basename(own);
        for (const struct dirent *entry; (entry = readdir(folder));) {
            long owner = owner_of(entry->d_name, stem);
            if (owner && is_stale(dirfd(folder), entry->d_name, owner))
                unlinkat(dirfd(folder), entry->d_name, 0);
        }
        closedir(folder);
    }
    free(parent);
    free(own);
}

/* ---- writing ---- */

/* Opens the temporary file with the permissions of the file it replaces, never more. O_EXCL: an
 * existing file, or a link planted in a shared folder, is not touched. */
static int open_beside(const atomic_file *file, const struct stat *old)
{
    mode_t mode = old ? old->st_mode & 0777 : 0666;
    int descriptor = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) flock(descriptor, LOCK_EX | LOCK_NB); /* see is_stale */
    if (descriptor >= 0 && old && fchmod(descriptor, old->st_mode & 0777) != 0) {
        int error = errno;
        close(descriptor);
        unlink(file->temp);
        errno = error;
        return -1;
    }
    return descriptor;
}

/* Determines the file names. *old: the target exists, with *status. */
static sbps_status name_files(const char *path, atomic_file *file, struct stat *status,
                              bool *old, sbps_error *err)
{
    if (!*path) return fail(err, SBPS_NO_FILE, "an empty file name cannot be written to");
    *old = stat(path, status) == 0;
    file->path = copy_text(path);
    file->target = *old ? realpath(path, NULL) : copy_text(path);
    if (!file->path || !file->target) return fail_memory(err);
    if (*old && S_ISDIR(status->st_mode)) return fail_file(err, path, "written", EISDIR);
    if (*old && !S_ISREG(status->st_mode)) return SBPS_OK;
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = (uint32_t)(uintptr_t)file; /* less random, but still unlikely to clash */
    if (asprintf(&file->temp, "%s" BEFORE_OWNER "%ld" AFTER_OWNER "%0*x", file->target,
                 (long)getpid(), RANDOM_HEX, random) < 0) {
        file->temp = NULL;
        return fail_memory(err);
    }
    return SBPS_OK;
}

sbps_status file_begin(const char *path, atomic_file *file, sbps_error *err)
{
    struct stat status;
    bool old = false;
    *file = (atomic_file){0};
    sbps_status outcome = name_files(path, file, &status, &old, err);
    if (outcome != SBPS_OK) goto failed;

    if (file->temp) remove_stale(file->target);
    int descriptor = file->temp ? open_beside(file, old ? &status : NULL)
                                : open(file->target, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
        outcome = fail_file(err, path, "written", errno);
        goto failed;
    }
    file->stream = fdopen(descriptor, "w");
    if (file->stream) return SBPS_OK;
    close(descriptor);
    if (file->temp) unlink(file->temp);
    outcome = fail_memory(err);
failed:
    release(file);
    return outcome;
}

bool file_fine(atomic_file *file)
{
    if (!file->error && ferror(file->stream)) file->error = errno ? errno : EIO;
    return !file->error;
}

void file_write(atomic_file *file, const void *bytes, size_t size)
{
    if (file_fine(file) && fwrite(bytes, 1, size, file->stream) != size) file_fine(file);
}

sbps_status file_seal(atomic_file *file, sbps_error *err)
{
    if (!file->stream) return SBPS_OK;
    errno = 0;
    int error = file_fine(file) ? 0 : file->error;
    if (!error && fflush(file->stream) != 0) error = errno;
    if (!error) error = sync_descriptor(fileno(file->stream));
    if (fclose(file->stream) != 0 && !error) error = errno;
    file->stream = NULL;
    return error ? fail_file(err, file->path, "written", error) : SBPS_OK;
}

/* Makes the rename durable. Returns 0 or errno. */
static int sync_folder(const char *target)
{
    char *copy = copy_text(target);
    if (!copy) return ENOMEM;
    int descriptor = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
    if (descriptor < 0)
        error = errno == EACCES ? 0 : errno; /* a folder that may be written but not listed */
    else {
        error = sync_descriptor(descriptor);
        close(descriptor);
    }
    free(copy);
    return error;
}

sbps_status file_commit(atomic_file *file, sbps_error *err)
{
    sbps_status outcome = file_seal(file, err);
    if (outcome == SBPS_OK && file->temp) {
        if (rename(file->temp, file->target) != 0) {
            outcome = fail_file(err, file->path, "written", errno);
        } else {
            free(file->temp);
            file->temp = NULL;
            int error = sync_folder(file->target);
            if (error) outcome = fail_file(err, file->path, "synced to disk", error);
        }
    }
    file_abandon(file);
    return outcome;
}

void file_abandon(atomic_file *file)
{
    if (file->stream) fclose(file->stream);
    if (file->temp) unlink(file->temp);
    release(file);
}
