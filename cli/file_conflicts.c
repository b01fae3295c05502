/* See apart.h. A file that does not exist yet is identified by its folder and its name. */
#include "cli/file_conflicts.h"
#include "cli/cli.h"
#include "cli/output.h"
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FLAG_SIZE = 64, FIXED = 2 /* the data and the run file */ };

typedef struct {
    char flag[FLAG_SIZE]; /* as in messages: --output; empty: an operand */
    const char *path;
    bool written, is_run; /* is_run: an operand that is a run file; other operands are data */
} named_file;

typedef struct {
    size_t count;
    named_file *file;
} file_list;

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

/* A run continues in its checkpoint. */
static bool may_be_one(const named_file *a, const named_file *b)
{
    return !strcmp(a->flag, "--checkpoint") && !strcmp(b->flag, "--resume");
}

/* Is it one of the files that a pattern names? */
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

static sbps_status check_pair(const named_file *a, const named_file *b, sbps_error *err)
{
    if (may_be_one(a, b)) return SBPS_OK;
    if (*b->flag && same_place(a->path, b->path))
        return refuse(err, SBPS_BAD_ARG, "%s: %s is the file of %s: want another name", a->flag,
                      a->path, b->flag);
    if (*b->flag || !is_data(a->path, b->path)) return SBPS_OK;
    return refuse(err, SBPS_BAD_ARG, "%s: %s is %s: want another name", a->flag, a->path,
                  b->is_run               ? "the run file that this command reads"
                  : strchr(b->path, '\n') ? "one of the data files"
                                          : "the data file");
}

/* run.stan.csv stands for run.stan_1.csv and so on, one a chain. */
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

/* Two files that are both written are compared once, from the later one. */
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

/* ---- which files a command names ---- */

/* One of the words that stand beside FILE in the option's argument: none|all|FILE. */
static bool is_keyword(const char *argument, const char *value)
{
    size_t length = strlen(value);
    for (const char *keyword = argument; keyword;
         keyword = strchr(keyword, '|') ? strchr(keyword, '|') + 1 : NULL)
        if (strcspn(keyword, "|") == length && !strncmp(keyword, value, length)) return true;
    return false;
}

static bool is_own_output(const command *c, const char *name)
{
    for (size_t i = 0; c->outputs && c->outputs[i]; i++)
        if (!strcmp(c->outputs[i], name)) return true;
    return false;
}

static void add_file(file_list *list, sbps_option_info flag, const char *value, bool written)
{
    bool has_keywords = flag.argument && strchr(flag.argument, '|');
    if (!value || !*value || (written && !strcmp(value, "-"))) return;
    if (has_keywords && is_keyword(flag.argument, value)) return;
    if (!strcmp(flag.name, "model") && !strchr(value, '/')) return; /* a name, no file */
    named_file *f = &list->file[list->count++];
    *f = (named_file){.path = value, .written = written};
    snprintf(f->flag, sizeof f->flag, "--%s", flag.name);
}

static void add_own(file_list *list, const arguments *args)
{
    const command *c = args->command;
    for (size_t i = 0; i < c->flag_count; i++)
        if (is_own_output(c, c->flags[i].name))
            add_file(list, c->flags[i], flag_value(args, c->flags[i].name, NULL), true);
}

static void add_library(file_list *list, const command *c, const sbps_options *options)
{
    for (size_t i = 0; options && i < sbps_option_count(); i++) {
        sbps_file_use use = sbps_option_file(i);
        sbps_option_info flag = sbps_option_at(i);
        if (use == SBPS_FILE_NONE || !sbps_option_serves(i, c->name)) continue;
        add_file(list, flag, sbps_options_get(options, flag.name), use == SBPS_FILE_WRITTEN);
    }
}

static size_t chain_count(const command *c, const sbps_options *options)
{
    bool stan = options && !strcmp(c->name, "sample");
    return stan ? strtoul(sbps_options_get(options, "chains"), NULL, 10) : 0;
}

/* Read more than once, or mapped, or loaded: a pipe would wait for bytes that never come. */
static sbps_status check_regular(const file_list *list, sbps_error *err)
{
    static const char *const names[] = {"--resume", "--covariance", "--model"};
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(list->file[i].flag, names[k]) && is_special(list->file[i].path))
                return refuse(err, SBPS_BAD_ARG,
                              "%s: %s is a directory, a device or a pipe: want a file",
                              names[k], list->file[i].path);
    return SBPS_OK;
}

sbps_status files_check(const arguments *args, const sbps_options *options, const char *data,
                        sbps_error *err)
{
    const command *c = args->command;
    size_t capacity = c->flag_count + sbps_option_count() + FIXED;
    file_list list = {.file = calloc(capacity, sizeof *list.file)};
    if (!list.file) return refuse(err, SBPS_NO_MEM, "out of memory");
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
