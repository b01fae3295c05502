/* A file NAME.lock beside the output, locked as long as the run lasts: the kernel frees the lock however
 * the process ends, so a file left by a killed run blocks no other run. The lock is of this process alone
 * (fcntl, not flock): a child that still writes for a killed run must not hold it. Where files cannot be
 * locked, as on some network file systems, no run is refused. */
#include "cli/output_lock.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 };

/* NAME.lock, by the file that NAME leads to; NULL: a device or pipe, or no memory. */
static char *lock_name(const char *path)
{
    struct stat about;
    bool there = stat(path, &about) == 0;
    if (there && !S_ISREG(about.st_mode)) return NULL;
    char *target = there ? realpath(path, NULL) : NULL, *name;
    if (asprintf(&name, "%s.lock", target ? target : path) < 0) name = NULL;
    free(target);
    return name;
}

/* The lock file of the run before may have been removed since it was opened. */
static bool is_still_there(int file, const char *name)
{
    struct stat a, b;
    return fstat(file, &a) == 0 && lstat(name, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A file that is locked, -1 when that is not possible, -2 when another process has it. */
static int open_locked(const char *name)
{
    for (int i = 0; i < TRIES; i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat about;
        int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (file < 0) return -1;
        bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
        bool locked = regular && fcntl(file, F_SETLK, &whole) == 0;
        bool busy = regular && !locked && (errno == EAGAIN || errno == EACCES);
        if (locked && is_still_there(file, name)) return file;
        close(file);
        if (busy) return -2;
        if (!locked) return -1;
    }
    return -1;
}

sbps_status output_lock_take(const char *path, output_lock *out, sbps_error *err)
{
    *out = (output_lock){.file = -1, .name = lock_name(path)};
    if (!out->name) return SBPS_OK;
    out->file = open_locked(out->name);
    if (out->file == -2)
        return refuse(err, SBPS_NO_FILE,
                      "--output: another run is about to write %s: want another name, or wait "
                      "for its end",
                      path);
    if (out->file >= 0) interrupt_remove(out->name);
    return SBPS_OK;
}

/* Ours is empty; a user's file of that name is left alone. */
void output_lock_release(output_lock *lock)
{
    struct stat about;
    interrupt_remove(NULL);
    if (lock->file >= 0) {
        if (fstat(lock->file, &about) == 0 && about.st_size == 0) unlink(lock->name);
        close(lock->file);
    }
    free(lock->name);
    *lock = (output_lock){.file = -1};
}
