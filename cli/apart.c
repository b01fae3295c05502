/* See apart.h. A file that is not there yet is told by its folder and its name. */
#include "cli/apart.h"
#include "cli/cli.h"
#include "cli/output.h"
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A device or a pipe: whoever names it twice means it. */
static bool is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

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

static bool given(const named_file *f)
{
    return f->path && *f->path;
}

/* A run goes on in its checkpoint. */
static bool may_be_one(const named_file *a, const named_file *b)
{
    return a->flag && b->flag && !strcmp(a->flag, "--checkpoint") &&
           !strcmp(b->flag, "--resume");
}

/* Is it one of the files that a pattern names? */
static bool is_matched(const char *path, const char *pattern)
{
    glob_t found;
    bool same = false;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    for (size_t i = 0; i < found.gl_pathc; i++)
        same = same || same_place(path, found.gl_pathv[i]);
    globfree(&found);
    return same;
}

bool is_data(const char *path, const char *data)
{
    char *all = strdup(data), *rest = all;
    bool same = false;
    for (char *name; (name = strsep(&rest, "\n"));)
        same = same || same_place(path, name) || is_matched(path, name);
    free(all);
    return same;
}

static sbps_status check_pair(const named_file *a, const named_file *b, sbps_error *err)
{
    if (!given(b) || may_be_one(a, b)) return SBPS_OK;
    if (!b->flag)
        return is_data(a->path, b->path)
                   ? refuse(err, SBPS_BAD_ARG, "%s: %s is %s", a->flag, a->path,
                            strchr(b->path, '\n') ? "one of the data files" : "the data file")
                   : SBPS_OK;
    if (!same_place(a->path, b->path)) return SBPS_OK;
    return refuse(err, SBPS_BAD_ARG, "%s: %s is the file of %s: want another name", a->flag,
                  a->path, b->flag);
}

sbps_status apart_check(const named_file *files, size_t count, sbps_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!files[i].written || !given(&files[i])) continue;
        for (size_t j = 0; j < count; j++) {
            if (j == i || (files[j].written && j > i)) continue; /* it will meet this one */
            sbps_status status = check_pair(&files[i], &files[j], err);
            if (status != SBPS_OK) return status;
        }
    }
    return SBPS_OK;
}

/* run.stan.csv stands for run.stan_1.csv and so on, one a chain. */
static sbps_status check_stan(const named_file *files, size_t count, const char *path,
                              size_t chains, sbps_error *err)
{
    for (size_t c = 1; c <= chains; c++) {
        char name[PATH_MAX + 32];
        output_name_chain(path, c, sizeof name, name);
        const named_file own = {"--output", name, true};
        for (size_t i = 0; i < count; i++) {
            sbps_status status = check_pair(&own, &files[i], err);
            if (status != SBPS_OK) return status;
        }
    }
    return SBPS_OK;
}

sbps_status apart_check_sample(const sbps_options *options, const char *data, sbps_error *err)
{
    const char *model = sbps_options_get(options, "model");
    const char *output = sbps_options_get(options, "output");
    const named_file files[] = {
        {"--output", output, true},
        {"--checkpoint", sbps_options_get(options, "checkpoint"), true},
        {"--skeleton", sbps_options_get(options, "skeleton"), true},
        {"--trace", sbps_options_get(options, "trace"), true},
        {"--resume", sbps_options_get(options, "resume"), false},
        {"--start", sbps_options_get(options, "start"), false},
        {"--covariance", sbps_options_get(options, "covariance"), false},
        {"--config", sbps_options_get(options, "config"), false},
        {"--model", strchr(model, '/') ? model : NULL, false},
        {NULL, data, false},
    };
    size_t count = sizeof files / sizeof *files;
    sbps_status status = apart_check(files, count, err);
    if (status != SBPS_OK || !output_is_stan(output)) return status;
    return check_stan(files, count, output,
                      strtoul(sbps_options_get(options, "chains"), NULL, 10), err);
}
