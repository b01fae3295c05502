/* Files that a command writes.
 *
 * Before anything is computed: the names are checked against each other and against the files
 * that are read, and a file is created in each folder. While a run lasts: an empty file
 * NAME.lock next to the output is locked. The kernel releases the lock however the process
 * ends, so a file left by a killed run blocks no other run. The lock belongs to this process
 * alone (fcntl, not flock): a child that still writes for a killed run must not hold it. Where
 * files cannot be locked, as on some network file systems, no run is refused. After the run:
 * draws that cannot be written to the output are saved in a temporary folder. */
#include "cli/output.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && !strcmp(text + length - tail, ending);
}

bool output_is_netcdf(const char *path)
{
    return ends_with(path, ".nc");
}

bool output_is_stan(const char *path)
{
    return ends_with(path, ".stan.csv");
}

void output_report(const char *path)
{
    size_t stem = strlen(path) - strlen(".csv");
    if (output_is_stan(path))
        print_message("the draws are in %.*s_1.csv, one file per chain", (int)stem, path);
    else
        print_message("the draws are in %s", path);
}

sbps_status output_check_ending(const char *path, sbps_error *err)
{
    if (output_is_netcdf(path) || ends_with(path, ".csv")) return SBPS_OK;
    return set_error(err, SBPS_BAD_ARG,
                     "--output: '%s' has an unknown ending: use .nc, .csv or .stan.csv", path);
}

void output_name_chain(const char *path, size_t chain, size_t size, char *name)
{
    size_t stem = strlen(path) - strlen(".csv");
    snprintf(name, size, "%.*s_%zu.csv", (int)stem, path, chain);
}

/* Whether two existing files are one, by device and inode. */
static bool is_same_file(const char *path, const char *other)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(other, &b) != 0) return false;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The folder of `path` ("." if it names none), at most PATH_MAX bytes. */
static void folder_of(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (!slash)
        strcpy(folder, ".");
    else if (length == 0)
        strcpy(folder, "/");
    else
        snprintf(folder, PATH_MAX, "%.*s", (int)length, path);
}

/* Creates and removes a file, which detects missing permissions, full disks and read-only
 * mounts. */
static bool can_create_in(const char *folder)
{
    char probe[PATH_MAX + 16];
    snprintf(probe, sizeof probe, "%s/.sbps-XXXXXX", folder);
    int fd = mkstemp(probe);
    if (fd < 0) return false;
    close(fd);
    unlink(probe);
    return true;
}

sbps_status output_check(const char *name, const char *path, sbps_error *err)
{
    char folder[PATH_MAX];
    struct stat about;
    if (strlen(path) >= PATH_MAX)
        return set_error(err, SBPS_NO_FILE, "%s: the path is too long", name);
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return set_error(err, SBPS_NO_FILE, "%s: %s is a directory", name, path);
        if (!S_ISREG(about.st_mode)) return SBPS_OK; /* a pipe or device */
    }
    folder_of(path, folder);
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        return set_error(err, SBPS_NO_FILE, "%s: cannot write %s: there is no directory %s",
                         name, path, folder);
    if (!can_create_in(folder))
        return set_error(err, SBPS_NO_FILE, "%s: cannot write %s: %s", name, path,
                         strerror(errno));
    return SBPS_OK;
}

/* The same for one file. */
static sbps_status check_earlier(const char *path, sbps_error *err)
{
    struct stat about;
    bool there = stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    if (!there || sbps_result_recognise(path)) return SBPS_OK;
    return set_error(
        err, SBPS_NO_FILE,
        "--output: %s exists and is not a run of sbps: choose another name, or remove it",
        path);
}

sbps_status output_check_earlier(const char *path, size_t chains, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (!output_is_stan(path)) return check_earlier(path, err);
    for (size_t c = 1; c <= chains && status == SBPS_OK; c++) {
        char name[PATH_MAX + 32];
        output_name_chain(path, c, sizeof name, name);
        status = check_earlier(name, err);
    }
    return status;
}

/* ---- conflicts between files ---- */

enum { FLAG_SIZE = 64, FIXED = 2 /* the data and the run file */ };

/* A file that a command reads or writes. */
typedef struct {
    char flag[FLAG_SIZE]; /* as in messages: --output; empty: an operand */
    const char *path;
    bool written, is_run; /* is_run: an operand that is a run file; other operands are data */
} named_file;

typedef struct {
    size_t count;
    named_file *file;
} file_list;

/* Whether it is a device or a pipe, which may be named twice. */
static bool is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

/* The name without its folder. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether two names are one file; files that do not exist yet are identified by folder and
 * name. */
static bool same_place(const char *path, const char *other)
{
    char folder[PATH_MAX], folder_other[PATH_MAX];
    struct stat about;
    if (is_special(path) || is_special(other)) return false;
    if (is_same_file(path, other)) return true;
    if (stat(path, &about) == 0 || stat(other, &about) == 0) return false;
    folder_of(path, folder);
    folder_of(other, folder_other);
    return !strcmp(last_part(path), last_part(other)) && is_same_file(folder, folder_other);
}

/* Whether it is one of the files that match a pattern. */
static bool is_matched(const char *path, const char *pattern)
{
    glob_t matches;
    bool same = false;
    if (glob(pattern, 0, NULL, &matches) != 0) return false;
    for (size_t i = 0; i < matches.gl_pathc; i++)
        same = same || same_place(path, matches.gl_pathv[i]);
    globfree(&matches);
    return same;
}

bool is_data(const char *path, const char *data)
{
    char *all = strdup(data), *rest = all;
    bool same = false;
    for (char *name; (name = strsep(&rest, "\n"));)
        same = same || same_place(path, strcmp(name, "-") ? name : "/dev/stdin") ||
               is_matched(path, name);
    free(all);
    return same;
}

/* File a is written; b is another file of the command. */
static sbps_status check_pair(const named_file *a, const named_file *b, sbps_error *err)
{
    /* A resumed run may continue to write the same checkpoint. */
    if (!strcmp(a->flag, "--checkpoint") && !strcmp(b->flag, "--resume")) return SBPS_OK;
    if (*b->flag && same_place(a->path, b->path))
        return set_error(err, SBPS_BAD_ARG,
                         "%s: %s is also the file of %s: choose another name", a->flag, a->path,
                         b->flag);
    if (*b->flag || !is_data(a->path, b->path)) return SBPS_OK;
    return set_error(err, SBPS_BAD_ARG, "%s: %s is %s: choose another name", a->flag, a->path,
                     b->is_run               ? "the run file that this command reads"
                     : strchr(b->path, '\n') ? "one of the data files"
                                             : "the data file");
}

/* Checks the files of all chains in Stan's format. */
static sbps_status check_stan(const file_list *list, const named_file *output, size_t chains,
                              sbps_error *err)
{
    sbps_status status = SBPS_OK;
    char name[PATH_MAX + 32];
    named_file own = *output;
    own.path = name;
    for (size_t c = 1; c <= chains; c++) {
        output_name_chain(output->path, c, sizeof name, name);
        for (size_t i = 0; status == SBPS_OK && i < list->count; i++)
            if (&list->file[i] != output) status = check_pair(&own, &list->file[i], err);
    }
    return status;
}

/* Checks all pairs with a written file; two written files are compared once. */
static sbps_status check_list(const file_list *list, size_t chains, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t i = 0; status == SBPS_OK && i < list->count; i++) {
        const named_file *f = &list->file[i];
        if (!f->written) continue;
        for (size_t j = 0; status == SBPS_OK && j < list->count; j++)
            if (j != i && (j < i || !list->file[j].written))
                status = check_pair(f, &list->file[j], err);
        if (status == SBPS_OK && chains > 0 && !strcmp(f->flag, "--output") &&
            output_is_stan(f->path))
            status = check_stan(list, f, chains, err);
        if (status == SBPS_OK) status = output_check(f->flag, f->path, err);
    }
    return status;
}

/* Whether the value is one of the words of an argument such as none|all|FILE. */
static bool is_keyword(const char *argument, const char *value)
{
    size_t length = strlen(value);
    for (const char *keyword = argument; keyword;
         keyword = strchr(keyword, '|') ? strchr(keyword, '|') + 1 : NULL)
        if (strcspn(keyword, "|") == length && !strncmp(keyword, value, length)) return true;
    return false;
}

/* Whether the subcommand writes the file of this flag. */
static bool is_own_output(const command *c, const char *name)
{
    for (size_t i = 0; c->outputs && c->outputs[i]; i++)
        if (!strcmp(c->outputs[i], name)) return true;
    return false;
}

/* Appends the file that a flag names, if it names one. */
static void add_file(file_list *list, sbps_option_info flag, const char *value, bool written)
{
    bool has_keywords = flag.argument && strchr(flag.argument, '|');
    if (!value || !*value || (written && !strcmp(value, "-"))) return;
    if (has_keywords && is_keyword(flag.argument, value)) return;
    if (!strcmp(flag.name, "model") && !strchr(value, '/'))
        return; /* the name of a built-in model */
    named_file *f = &list->file[list->count++];
    *f = (named_file){.path = value, .written = written};
    snprintf(f->flag, sizeof f->flag, "--%s", flag.name);
}

/* Files of the subcommand's own flags. */
static void add_own(file_list *list, const arguments *args)
{
    const command *c = args->command;
    for (size_t i = 0; i < c->flag_count; i++)
        if (is_own_output(c, c->flags[i].name))
            add_file(list, c->flags[i], flag_value(args, c->flags[i].name, NULL), true);
}

/* Files of the library's options. */
static void add_library(file_list *list, const command *c, const sbps_options *options)
{
    for (size_t i = 0; options && i < sbps_option_count(); i++) {
        sbps_file_use use = sbps_option_file(i);
        sbps_option_info flag = sbps_option_at(i);
        if (use == SBPS_FILE_NONE || !sbps_option_serves(i, c->name)) continue;
        add_file(list, flag, sbps_options_get(options, flag.name), use == SBPS_FILE_WRITTEN);
    }
}

/* Chains of `sample`; 0 for other subcommands. */
static size_t chain_count(const command *c, const sbps_options *options)
{
    bool stan = options && !strcmp(c->name, "sample");
    return stan ? strtoul(sbps_options_get(options, "chains"), NULL, 10) : 0;
}

/* These files are read more than once, mapped or loaded, which is not possible with a pipe. */
static sbps_status check_regular(const file_list *list, sbps_error *err)
{
    static const char *const names[] = {"--resume", "--covariance", "--model"};
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(list->file[i].flag, names[k]) && is_special(list->file[i].path))
                return set_error(
                    err, SBPS_BAD_ARG,
                    "%s: %s is a directory, a device or a pipe: name a regular file", names[k],
                    list->file[i].path);
    return SBPS_OK;
}

sbps_status files_check(const arguments *args, const sbps_options *options, const char *data,
                        sbps_error *err)
{
    const command *c = args->command;
    size_t capacity = c->flag_count + sbps_option_count() + FIXED;
    file_list list = {.file = calloc(capacity, sizeof *list.file)};
    if (!list.file) return set_error(err, SBPS_NO_MEM, "out of memory");
    add_own(&list, args);
    add_library(&list, c, options);
    if (c->reads_run && args->operand_count > 0)
        list.file[list.count++] = (named_file){.path = args->operands[0], .is_run = true};
    if (data && *data) list.file[list.count++] = (named_file){.path = data};
    sbps_status status = check_regular(&list, err);
    if (status == SBPS_OK) status = check_list(&list, chain_count(c, options), err);
    free(list.file);
    return status;
}

/* ---- the lock ---- */

enum { TRIES = 100 };

/* NAME.lock, with symbolic links resolved, malloced; NULL: a device or pipe, or out of
 * memory. */
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

/* Whether the open file still has this name: an earlier run may have removed it since. */
static bool is_still_there(int file, const char *name)
{
    struct stat a, b;
    return fstat(file, &a) == 0 && lstat(name, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A locked file; -1 when locking is not possible, -2 when another process has the lock. */
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
        return set_error(
            err, SBPS_NO_FILE,
            "--output: another run is writing %s: choose another name, or wait until it ends",
            path);
    if (out->file >= 0) interrupt_remove(out->name);
    return SBPS_OK;
}

/* Removes the lock file if it is empty: a user's file of that name is kept. */
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

/* ---- writing a run ---- */

typedef struct {
    const sbps_result *result;
    const char *path;
} writing;

/* Writes a run in this process, for guard(). */
static sbps_status write_here(const void *self, sbps_error *err)
{
    const writing *w = self;
    return sbps_result_write(w->result, w->path, err);
}

/* Writes a run; NetCDF in a child process. */
static sbps_status write_result(const sbps_result *result, const char *path, sbps_error *err)
{
    writing w = {result, path};
    return output_is_netcdf(path) ? guard(path, write_here, &w, err) : write_here(&w, err);
}

/* Creates a private temporary folder with a random name. */
static bool make_temporary_folder(size_t size, char *folder)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, size, "%s/sbps-XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(folder);
}

/* Saves a run to a temporary folder; as CSV, which needs little memory, if NetCDF fails. */
static bool save_elsewhere(const sbps_result *result, const char *path, size_t size,
                           char *where, sbps_error *err)
{
    char folder[PATH_MAX - 32];
    const char *const endings[] = {output_is_netcdf(path) ? "nc" : "csv", "csv"};
    if (!make_temporary_folder(sizeof folder, folder)) {
        snprintf(where, size, "%s", folder);
        set_error(err, SBPS_NO_FILE, "%s", strerror(errno));
        return false;
    }
    for (size_t i = err->status == SBPS_NO_MEM; i < 2; i++) {
        snprintf(where, size, "%s/run.%s", folder, endings[i]);
        if (write_result(result, where, err) == SBPS_OK) return true;
    }
    rmdir(folder);
    return false;
}

sbps_status output_write(const sbps_result *result, const char *path, size_t size, char *where,
                         sbps_error *err)
{
    snprintf(where, size, "%s", path);
    sbps_status status = write_result(result, path, err);
    if (status == SBPS_OK) return SBPS_OK;
    sbps_error again = *err;
    if (save_elsewhere(result, path, size, where, &again)) {
        print_message("%s could not be written; the draws were saved to %s", path, where);
    } else {
        print_message("the draws could not be saved to %s either: %s", where, again.text);
        *where = '\0';
    }
    return status;
}
