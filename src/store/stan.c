/* Draws in CmdStan's CSV layout, one file a chain, for ArviZ (from_cmdstan), cmdstanr, rstan.
 *
 * Columns: lp__ = -potential, an estimate from the rows of one mini-batch; n_leapfrog__ counts
 * the proposals since the draw before, which like leapfrog steps ask for one gradient each.
 * What a bouncy particle has no notion of is constant and flags nothing: accept_stat__ 1,
 * stepsize__ 1, treedepth__ 0, divergent__ 0; energy__ = potential, the speed being constant.
 *
 * Names: Stan knows letters, digits and _; anything else becomes _, the dot too, since readers
 * take x.1 for an entry of an array x and fail on x.one. A name that then meets another, or
 * ends in __ as only the sampler's columns may, gets _ and its number (from 1) behind it.
 * Warm-up is not stored. Draws are declared unthinned. */
#include "store/result.h"

#include "base/memory.h"
#include "store/atomic.h"
#include "store/text.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static const char stan_columns[] =
    "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__";

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void keep(void *name)
{
    (void)name; /* the tree borrows its names */
}

static bool plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static char *stan_name(const char *name)
{
    char *copy = copy_text(name && *name ? name : "_");
    for (char *c = copy; c && *c; c++)
        if (!plain(*c)) *c = '_';
    return copy;
}

static bool ends_reserved(const char *name)
{
    size_t length = strlen(name);
    return length >= 2 && strcmp(name + length - 2, "__") == 0;
}

/* Adds the number until nobody else has the name. NULL: out of memory. */
static char *distinct_name(char *name, size_t number, void *const *taken)
{
    while (name && (ends_reserved(name) || tfind(name, taken, compare_names))) {
        char *longer;
        if (asprintf(&longer, "%s_%zu", name, number) < 0) longer = NULL;
        free(name);
        name = longer;
    }
    return name;
}

static bool make_names(const result *r, char **names)
{
    void *taken = NULL;
    bool made = true;
    for (size_t j = 0; j < r->dim && made; j++) {
        names[j] = distinct_name(stan_name(r->names[j]), j + 1, &taken);
        made = names[j] && tsearch(names[j], &taken, compare_names);
    }
    tdestroy(taken, keep);
    return made;
}

static void put_head(const result *r, size_t chain, char *const *names, FILE *stream)
{
    char *model = stan_name(r->info.model);
    fprintf(stream, "# stan_version_major = 2\n# stan_version_minor = 33\n"
                    "# stan_version_patch = 0\n");
    fprintf(stream, "# model = %s\n", model ? model : "_");
    fprintf(stream, "# start_datetime = %s\n", r->info.created_at ? r->info.created_at : "");
    fprintf(stream, "# method = sample (Default)\n#   sample\n");
    fprintf(stream, "#     num_samples = %zu\n#     num_warmup = 0\n#     save_warmup = 0\n",
            r->draws);
    fprintf(stream, "#     thin = 1 (Default)\n#     adapt\n#       engaged = 0\n");
    fprintf(stream, "#     algorithm = sbps\n");
    fprintf(stream, "# id = %zu\n", chain + 1);
    fprintf(stream, "# random\n#   seed = %.0f\n", r->info.seed);
    fprintf(stream, "# written_by = sbps %s\n", SBPS_VERSION);
    fputs(stan_columns, stream);
    for (size_t j = 0; j < r->dim; j++) fprintf(stream, ",%s", names[j]);
    fputc('\n', stream);
    free(model);
}

static void put_draw(const result *r, size_t chain, size_t draw, FILE *stream)
{
    size_t row = chain * r->draws + draw;
    put_number(stream, -r->potential[row]);
    fputs(",1,1,0,", stream);
    put_number(stream, r->proposals[row]);
    fputs(",0,", stream);
    put_number(stream, r->potential[row]);
    for (size_t j = 0; j < r->dim; j++) {
        fputc(',', stream);
        put_number(stream, r->w[row * r->dim + j]);
    }
    fputc('\n', stream);
}

/* In CmdStan's words; an unknown time counts as none. */
static void put_times(const result_info *info, FILE *stream)
{
    double warmup = info->seconds_warmup >= 0.0 ? info->seconds_warmup : 0.0;
    double sampling = info->seconds_sampling >= 0.0 ? info->seconds_sampling : 0.0;
    fprintf(stream, "# \n#  Elapsed Time: %.6f seconds (Warm-up)\n", warmup);
    fprintf(stream, "#                %.6f seconds (Sampling)\n", sampling);
    fprintf(stream, "#                %.6f seconds (Total)\n# \n", warmup + sampling);
}

/* run.stan.csv -> run.stan_1.csv */
static char *chain_path(const char *path, size_t chain)
{
    static const char ending[] = ".csv";
    size_t stem = strlen(path);
    if (stem >= strlen(ending) && strcmp(path + stem - strlen(ending), ending) == 0)
        stem -= strlen(ending);
    char *out;
    if (asprintf(&out, "%.*s_%zu%s", (int)stem, path, chain + 1, ending) < 0) return NULL;
    return out;
}

static sbps_status write_chain(const result *r, const char *path, size_t chain,
                               char *const *names, atomic_file *file, sbps_error *err)
{
    char *own_path = chain_path(path, chain);
    if (!own_path) return fail_memory(err);
    sbps_status status = file_begin(own_path, file, err);
    free(own_path);
    if (status != SBPS_OK) return status;
    put_head(r, chain, names, file->stream);
    for (size_t draw = 0; draw < r->draws && file_fine(file); draw++)
        put_draw(r, chain, draw, file->stream);
    put_times(&r->info, file->stream);
    return file_seal(file, err);
}

/* All files are written before the first is renamed. */
static sbps_status write_chains(const result *r, const char *path, char *const *names,
                                atomic_file *files, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t c = 0; c < r->chains && status == SBPS_OK; c++)
        status = write_chain(r, path, c, names, &files[c], err);
    for (size_t c = 0; c < r->chains && status == SBPS_OK; c++)
        status = file_commit(&files[c], err);
    for (size_t c = 0; c < r->chains; c++) file_abandon(&files[c]);
    return status;
}

sbps_status result_write_stan(const result *r, const char *path, sbps_error *err)
{
    number_locale locale;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    char **names = calloc(r->dim + 1, sizeof *names);
    atomic_file *files = calloc(r->chains + 1, sizeof *files);
    if (!names || !files || !make_names(r, names))
        status = fail_memory(err);
    else
        status = write_chains(r, path, names, files, err);
    for (size_t j = 0; names && j < r->dim; j++) free(names[j]);
    free(names);
    free(files);
    numbers_end(&locale);
    return status;
}
