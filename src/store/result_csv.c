/* Draws as CSV (RFC 4180 with plain line feeds): chain,draw,<names...>, both counted from 0 as
 * in the NetCDF file. */
#include "core/decimal.h"
#include "core/memory.h"
#include "core/text.h"
#include "store/atomic_file.h"
#include "store/result.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Creates the header line; *out is the caller's. */
static sbps_status make_header(const result *r, char **out, sbps_error *err)
{
    text header = {0};
    text_add(&header, "chain,draw");
    for (size_t j = 0; j < r->dim; j++) {
        text_add(&header, ",");
        text_csv_field(&header, r->names[j] ? r->names[j] : "");
    }
    text_add(&header, "\n");
    return text_give(&header, out, err);
}

static void put_csv_draw(const result *r, size_t chain, size_t draw, FILE *stream)
{
    const double *w = r->w + (chain * r->draws + draw) * r->dim;
    fprintf(stream, "%zu,%zu", chain, draw);
    for (size_t j = 0; j < r->dim; j++) {
        fputc(',', stream);
        put_number(stream, w[j]);
    }
    fputc('\n', stream);
}

sbps_status result_write_csv(const result *r, const char *path, sbps_error *err)
{
    char *header;
    number_locale locale;
    atomic_file file;
    sbps_status status = make_header(r, &header, err);
    if (status != SBPS_OK) return status;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto free_header;
    if ((status = file_begin(path, &file, err)) != SBPS_OK) goto done;
    fputs(header, file.stream);
    for (size_t chain = 0; chain < r->chains; chain++)
        for (size_t draw = 0; draw < r->draws && file_fine(&file); draw++)
            put_csv_draw(r, chain, draw, file.stream);
    status = file_commit(&file, err);
done:
    numbers_end(&locale);
free_header:
    free(header);
    return status;
}

/* ---- CmdStan's layout ----
 *
 * One file per chain, for ArviZ (from_cmdstan), cmdstanr and rstan.
 *
 * Columns: lp__ = -potential, with its standard error in the comments; NaN throughout if the
 * error is more than a tenth of the scatter (rstan needs the column). n_leapfrog__ counts the
 * proposals since the previous draw, which need one gradient each, like leapfrog steps.
 * Quantities without a counterpart (accept_stat__, stepsize__, treedepth__, divergent__,
 * energy__) have no column.
 *
 * Names: Stan allows letters, digits and _. Other characters become _, including the dot, since
 * readers take x.1 as an entry of an array x and fail for x.one. A name that is then not
 * unique, or ends in __ like the sampler's columns, gets _ and its number (from 1) appended.
 * Warm-up is not stored. Draws are declared unthinned. */

#define NOISE_FRACTION 0.1 /* of the scatter of lp__: above, lp__ is mostly noise */

static const char stan_columns[] = "lp__,n_leapfrog__";

/* Error and scatter of lp__ over all chains. */
typedef struct {
    double error, scatter; /* rms of the errors; standard deviation */
} density_quality;

/* Computes error and scatter of lp__. */
static density_quality measure_quality(const result *r)
{
    size_t rows = r->chains * r->draws;
    double mean = 0.0, square = 0.0, noise = 0.0, count = (double)rows;
    for (size_t i = 0; i < rows; i++) mean += r->potential[i] / count;
    for (size_t i = 0; i < rows; i++) {
        double off = r->potential[i] - mean, sd = r->potential_sd[i];
        square += off * off / count;
        noise += sd * sd / count;
    }
    return (density_quality){sqrt(noise), sqrt(square)};
}

/* True if the error of lp__ is small relative to its scatter. */
static bool trusted(density_quality q)
{
    return q.error == 0.0 || q.error <= NOISE_FRACTION * q.scatter;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void keep_name(void *name)
{
    (void)name; /* names are borrowed */
}

static char plain_form(char c)
{
    bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return plain ? c : '_';
}

/* A name with other characters replaced by _; the caller's. */
static char *stan_name(const char *name)
{
    char *copy = copy_text(name && *name ? name : "_");
    for (char *c = copy; c && *c; c++) *c = plain_form(*c);
    return copy;
}

static bool ends_reserved(const char *name)
{
    size_t length = strlen(name);
    return length >= 2 && strcmp(name + length - 2, "__") == 0;
}

/* Appends the number until the name is unique. Takes ownership of name; NULL: no memory. */
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

/* Creates unique names for all parameters. */
static bool make_names(const result *r, char **names)
{
    void *taken = NULL;
    bool made = true;
    for (size_t j = 0; j < r->dim && made; j++) {
        names[j] = distinct_name(stan_name(r->names[j]), j + 1, &taken);
        made = names[j] && tsearch(names[j], &taken, compare_names);
    }
    tdestroy(taken, keep_name);
    return made;
}

/* Comment line about the error of lp__. */
static void put_quality(density_quality q, FILE *stream)
{
    if (q.error == 0.0)
        fputs("# lp__ is exact, up to a constant\n", stream);
    else if (trusted(q))
        fprintf(stream, "# lp__ standard error = %.3g\n", q.error);
    else
        fprintf(stream, "# lp__ left out: standard error %.3g of a scatter of %.3g\n", q.error,
                q.scatter);
}

/* Writes the comments and the header of a chain's file. */
static void put_head(const result *r, size_t chain, char *const *names, FILE *stream)
{
    fprintf(stream, "# stan_version_major = 2\n# stan_version_minor = 33\n"
                    "# stan_version_patch = 0\n");
    const char *name = r->info.model;
    fputs("# model = ", stream);
    for (const char *c = name && *name ? name : "_"; *c; c++) fputc(plain_form(*c), stream);
    fputc('\n', stream);
    fprintf(stream, "# start_datetime = %s\n", r->info.created_at ? r->info.created_at : "");
    fprintf(stream, "# method = sample (Default)\n#   sample\n");
    fprintf(stream, "#     num_samples = %zu\n#     num_warmup = 0\n#     save_warmup = 0\n",
            r->draws);
    fprintf(stream, "#     thin = 1 (Default)\n#     adapt\n#       engaged = 0\n");
    fprintf(stream, "#     algorithm = sbps\n");
    fprintf(stream, "# id = %zu\n", chain + 1);
    fprintf(stream, "# random\n#   seed = %.0f\n", r->info.seed);
    fprintf(stream, "# written_by = sbps %s\n", SBPS_VERSION);
    put_quality(measure_quality(r), stream);
    fputs(stan_columns, stream);
    for (size_t j = 0; j < r->dim; j++) fprintf(stream, ",%s", names[j]);
    fputc('\n', stream);
}

/* Writes a draw; density: with lp__, else NaN. */
static void put_stan_draw(const result *r, size_t row, bool density, FILE *stream)
{
    put_number(stream, density ? -r->potential[row] : NAN);
    fputc(',', stream);
    put_number(stream, r->proposals[row]);
    for (size_t j = 0; j < r->dim; j++) {
        fputc(',', stream);
        put_number(stream, r->w[row * r->dim + j]);
    }
    fputc('\n', stream);
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

/* Writes the file of a chain up to, but not including, its renaming. */
static sbps_status write_chain(const result *r, const char *path, size_t chain,
                               char *const *names, atomic_file *file, sbps_error *err)
{
    char *own_path = chain_path(path, chain);
    if (!own_path) return fail_memory(err);
    sbps_status status = file_begin(own_path, file, err);
    free(own_path);
    if (status != SBPS_OK) return status;
    bool density = trusted(measure_quality(r));
    put_head(r, chain, names, file->stream);
    for (size_t draw = 0; draw < r->draws && file_fine(file); draw++)
        put_stan_draw(r, chain * r->draws + draw, density, file->stream);
    /* As CmdStan does; unknown times are 0. */
    double warmup = r->info.seconds_warmup >= 0.0 ? r->info.seconds_warmup : 0.0;
    double sampling = r->info.seconds_sampling >= 0.0 ? r->info.seconds_sampling : 0.0;
    fprintf(file->stream, "# \n#  Elapsed Time: %.6f seconds (Warm-up)\n", warmup);
    fprintf(file->stream, "#                %.6f seconds (Sampling)\n", sampling);
    fprintf(file->stream, "#                %.6f seconds (Total)\n# \n", warmup + sampling);
    return file_seal(file, err);
}

/* Writes all files before the first is renamed. */
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
