/* Names of files, one by one or by pattern. */
#include "ingest/text/file_list.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/text/spool.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sbps_status add_path(file_list *l, const char *path, sbps_error *err)
{
    char **all = realloc(l->path, (l->count + 1) * sizeof *all);
    if (!all) return fail_memory(err);
    l->path = all;
    if (!(all[l->count] = copy_text(path))) return fail_memory(err);
    l->count++;
    return SBPS_OK;
}

/* Those that match, in the order of their names. */
static sbps_status add_matches(file_list *l, const char *pattern, sbps_error *err)
{
    glob_t found;
    int code = glob(pattern, 0, NULL, &found);
    sbps_status status = SBPS_OK;
    if (code == GLOB_NOSPACE)
        status = fail_memory(err);
    else if (code != 0)
        status = fail(err, SBPS_NO_FILE, "%s: no file has such a name", pattern);
    for (size_t i = 0; status == SBPS_OK && i < found.gl_pathc; i++)
        status = add_path(l, found.gl_pathv[i], err);
    if (code == 0) globfree(&found);
    return status;
}

static sbps_status add_name(file_list *l, const char *name, sbps_error *err)
{
    bool pattern = strpbrk(name, "*?[") && access(name, F_OK) != 0;
    return pattern ? add_matches(l, name, err) : add_path(l, name, err);
}

static sbps_status name_files(const char *names, file_list *out, sbps_error *err)
{
    *out = (file_list){0};
    char *all = copy_text(names), *rest = all;
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && access(names, F_OK) == 0) {
        status = add_path(out, names, err);
        rest = NULL;
    }
    for (char *name; status == SBPS_OK && (name = strsep(&rest, "\n"));)
        status = add_name(out, name, err);
    free(all);
    return status;
}

/* ---- one file named twice ---- */

typedef struct {
    dev_t device;
    ino_t inode;
    size_t number; /* in the list */
} identity;

static int by_identity(const void *a, const void *b)
{
    const identity *p = a, *q = b;
    if (p->device != q->device) return p->device < q->device ? -1 : 1;
    if (p->inode != q->inode) return p->inode < q->inode ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

/* Pipes and what cannot be opened have none: no rows of theirs are read twice. */
static bool identify(const char *path, size_t number, identity *out)
{
    struct stat s;
    int code = strcmp(path, "-") ? stat(path, &s) : fstat(STDIN_FILENO, &s);
    if (code != 0 || !S_ISREG(s.st_mode)) return false;
    *out = (identity){s.st_dev, s.st_ino, number};
    return true;
}

/* Rows of a file that is named twice would count twice. Symbolic and hard links are names like others. */
static sbps_status refuse_twice(const file_list *l, sbps_error *err)
{
    size_t count = 0;
    identity *all = malloc((l->count + 1) * sizeof *all);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    for (size_t k = 0; all && k < l->count; k++)
        if (identify(l->path[k], k, &all[count])) count++;
    if (all) qsort(all, count, sizeof *all, by_identity);
    for (size_t k = 1; status == SBPS_OK && k < count; k++)
        if (all[k].device == all[k - 1].device && all[k].inode == all[k - 1].inode)
            status =
                fail(err, SBPS_BAD_ARG,
                     "%s and %s are the same file, whose rows would count twice: name it once",
                     l->path[all[k - 1].number], l->path[all[k].number]);
    free(all);
    return status;
}

static sbps_status keep_pipes(const rows_spec *spec, file_list *l, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    l->input = calloc(l->count + 1, sizeof *l->input);
    if (!l->input) return fail_memory(err);
    for (size_t k = 0; k < l->count; k++) l->input[k] = (text_input){l->path[k], -1};
    for (size_t k = 0; status == SBPS_OK && k < l->count; k++)
        status = spool_pipe(&l->input[k], spec, err);
    return status;
}

sbps_status file_list_create(const char *names, const rows_spec *spec, file_list *out,
                             sbps_error *err)
{
    sbps_status status = name_files(names, out, err);
    if (status == SBPS_OK && out->count > 1) status = refuse_twice(out, err);
    return status == SBPS_OK ? keep_pipes(spec, out, err) : status;
}

void file_list_clear(file_list *l)
{
    for (size_t k = 0; l->input && k < l->count; k++)
        if (l->input[k].kept >= 0) close(l->input[k].kept);
    free(l->input);
    free_texts(l->path, l->count);
    *l = (file_list){0};
}
