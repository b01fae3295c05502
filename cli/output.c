/* Files a run writes. */
#include "cli/output.h"
#include "cli/cli.h"
#include "cli/guard.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Stan's format has one file a chain: run.stan_1.csv, ... */
void output_report(const char *path)
{
    size_t stem = strlen(path) - strlen(".csv");
    if (output_is_stan(path))
        complain("the draws are in %.*s_1.csv, one file a chain", (int)stem, path);
    else
        complain("the draws are in %s", path);
}

sbps_status output_check_ending(const char *path, sbps_error *err)
{
    if (output_is_netcdf(path) || ends_with(path, ".csv")) return SBPS_OK;
    return refuse(err, SBPS_BAD_ARG,
                  "--output: '%s' has an unknown ending: want .nc, .csv or .stan.csv", path);
}

void output_name_chain(const char *path, size_t chain, size_t size, char *name)
{
    size_t stem = strlen(path) - strlen(".csv");
    snprintf(name, size, "%.*s_%zu.csv", (int)stem, path, chain);
}

bool is_same_file(const char *path, const char *other)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(other, &b) != 0) return false;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void folder_of(const char *path, char *folder)
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

/* Makes a file and removes it: permissions, full disks and read-only mounts all show. */
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
        return refuse(err, SBPS_NO_FILE, "%s: the path is too long", name);
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return refuse(err, SBPS_NO_FILE, "%s: %s is a directory", name, path);
        if (!S_ISREG(about.st_mode)) return SBPS_OK; /* a pipe or device: as the user wishes */
    }
    folder_of(path, folder);
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        return refuse(err, SBPS_NO_FILE, "%s: cannot write %s: there is no directory %s", name,
                      path, folder);
    if (!can_create_in(folder))
        return refuse(err, SBPS_NO_FILE, "%s: cannot write %s: %s", name, path,
                      strerror(errno));
    return SBPS_OK;
}

static sbps_status check_earlier(const char *path, sbps_error *err)
{
    struct stat about;
    bool there = stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    if (!there || sbps_result_recognise(path)) return SBPS_OK;
    return refuse(
        err, SBPS_NO_FILE,
        "--output: %s is there and is no run of sbps: want another name, or remove it", path);
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

typedef struct {
    const sbps_result *result;
    const char *path;
} writing;

static sbps_status write_here(const void *self, sbps_error *err)
{
    const writing *w = self;
    return sbps_result_write(w->result, w->path, err);
}

static sbps_status write_result(const sbps_result *result, const char *path, sbps_error *err)
{
    writing w = {result, path};
    return output_is_netcdf(path) ? guard(path, write_here, &w, err) : write_here(&w, err);
}

/* A folder that only this user can look into, and of a name that nobody could know before. */
static bool make_refuge(size_t size, char *folder)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, size, "%s/sbps-XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(folder);
}

/* Text takes no memory to speak of: what is left when NetCDF fails too. */
static bool save_elsewhere(const sbps_result *result, const char *path, size_t size,
                           char *where, sbps_error *err)
{
    char folder[PATH_MAX - 32];
    const char *const endings[] = {output_is_netcdf(path) ? "nc" : "csv", "csv"};
    if (!make_refuge(sizeof folder, folder)) {
        snprintf(where, size, "%s", folder);
        refuse(err, SBPS_NO_FILE, "%s", strerror(errno));
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
        complain("%s could not be written; the draws were saved to %s", path, where);
    } else {
        complain("the draws could not be saved to %s either: %s", where, again.text);
        *where = '\0';
    }
    return status;
}
