/* Results as NetCDF-4 files in ArviZ's layout.
 *
 *   /             attributes: the run, its options, the design
 *   /posterior    w(chain, draw, coef); the attributes again, where ArviZ expects them
 *   /sample_stats proposals, bounces, missing, k, potential, potential_sd, log_prior,
 *                 log_likelihood (chain, draw)
 *   /path         mean, sd, mcse, bias, bias_se, sd_bias, sd_bias_se, ess_mean, ess_square
 *                 (coef): integrals along the path
 *   /model        parameters and priors (coef): layout_model, layout_labels
 *   /effects      mean, sd (effect): effects of groups whose draws are not kept; else absent
 *
 * Each group has its own dimensions and their coordinates. NetCDF treats a length of 0 as an
 * unlimited dimension; without entries this is what a run without draws needs. Arrays have a
 * checksum (fletcher32) that detects damage.
 *
 * The file is built in memory and written with store/atomic_file.h: HDF5 does not report why a
 * write to a full disk failed, and cannot close such a file. It also does not always report
 * that memory ran out, so the image is read back and compared before it is written. This needs
 * memory for two more copies of the draws. Threads build their images one at a time
 * (store/netcdf_lock.h). */
#include "core/memory.h"
#include "store/atomic_file.h"
#include "store/layout.h"
#include "store/netcdf_lock.h"
#include "store/result.h"
#include "store/trailer.h"

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading ----
 *
 * The file is untrusted input: it may be truncated, from another program, or contain false
 * sizes. Every size and shape is checked before it is used. Static functions run under
 * netcdf_lock unless noted. */

/* Deflate cannot compress more than 1032 times: arrays larger than this multiple of the file
 * are false, and no memory is allocated for them. */
#define SHRINK_MAX 2000

typedef struct {
    int root;
    const char *path;
    size_t bytes; /* of the file */
    sbps_error *err;
} reader;

/* SBPS_BAD_FILE: not a run file, or damaged; rc: error of NetCDF, or 0. */
static sbps_status bad(const reader *f, const char *what, int rc)
{
    return fail(f->err, SBPS_BAD_FILE, "%s: not a run file of sbps, or cut short: %s%s%s",
                f->path, what, rc ? ": " : "", rc ? nc_strerror(rc) : "");
}

/* Checks the file before NetCDF opens it: only a complete local HDF5 file with our trailer is
 * accepted. */
static sbps_status check_file(reader *f)
{
    struct stat status;
    if (stat(f->path, &status) != 0) return fail_file(f->err, f->path, "read", errno);
    if (!S_ISREG(status.st_mode))
        return fail_file(f->err, f->path, "read", S_ISDIR(status.st_mode) ? EISDIR : ESPIPE);
    f->bytes = (size_t)status.st_size;
    FILE *stream = fopen(f->path, "rbe");
    if (!stream) return fail_file(f->err, f->path, "read", errno);
    const char *wrong = trailer_check(stream, f->bytes);
    fclose(stream);
    return wrong ? bad(f, wrong, 0) : SBPS_OK;
}

static int copy_string_attribute(const reader *f, const char *name, char **out)
{
    char *text = NULL;
    int rc = nc_get_att_string(f->root, NC_GLOBAL, name, &text);
    if (rc) return rc;
    *out = copy_text(text ? text : "");
    nc_free_string(1, &text);
    return *out ? NC_NOERR : NC_ENOMEM;
}

static int copy_char_attribute(const reader *f, const char *name, size_t length, char **out)
{
    if (length > f->bytes) return NC_EBADTYPE;
    *out = calloc(length + 1, 1);
    if (!*out) return NC_ENOMEM;
    int rc = length ? nc_get_att_text(f->root, NC_GLOBAL, name, *out) : NC_NOERR;
    if (rc) {
        free(*out);
        *out = NULL;
    }
    return rc;
}

/* Reads a text attribute; *out is the caller's, NULL: no such attribute. */
static sbps_status get_text(const reader *f, const char *name, char **out)
{
    nc_type type;
    size_t length;
    *out = NULL;
    int rc = nc_inq_att(f->root, NC_GLOBAL, name, &type, &length);
    if (rc == NC_ENOTATT) return SBPS_OK;
    if (!rc && type == NC_STRING && length == 1)
        rc = copy_string_attribute(f, name, out);
    else if (!rc)
        rc = type == NC_CHAR ? copy_char_attribute(f, name, length, out) : NC_EBADTYPE;
    if (rc == NC_ENOMEM) return fail_memory(f->err);
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* Reads a number; `fallback` if there is no such attribute, as in files of earlier versions. */
static sbps_status get_number(const reader *f, const char *name, double fallback, double *out)
{
    nc_type type;
    size_t length;
    *out = fallback;
    int rc = nc_inq_att(f->root, NC_GLOBAL, name, &type, &length);
    if (rc == NC_ENOTATT) return SBPS_OK;
    if (!rc && (length != 1 || (type != NC_DOUBLE && type != NC_INT))) rc = NC_EBADTYPE;
    if (!rc) rc = nc_get_att_double(f->root, NC_GLOBAL, name, out);
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* Reads the attributes of the run. */
static sbps_status get_info(const reader *f, result_info *info)
{
    sbps_status status = SBPS_OK;
    for (const info_field *field = layout_texts; field->name && status == SBPS_OK; field++)
        status = get_text(f, field->name, info_text(info, field));
    for (const info_field *field = layout_numbers; field->name && status == SBPS_OK; field++)
        status = get_number(f, field->name, NAN, info_number(info, field));
    for (const info_field *field = layout_switches; field->name && status == SBPS_OK; field++) {
        double value;
        status = get_number(f, field->name, 0.0, &value);
        *info_switch(info, field) = value != 0.0;
    }
    return status;
}

/* Reads attribute `index` if it is an option. */
static sbps_status get_option(const reader *f, const char *attribute, result *r)
{
    result_option *option = &r->options[r->option_count];
    char *value;
    sbps_status status = get_text(f, attribute, &value);
    if (status != SBPS_OK) return status;
    option->name = copy_text(attribute + strlen(LAYOUT_OPTION));
    option->value = value;
    r->option_count++; /* now owned by the result */
    if (!option->name || !option->value) return fail_memory(f->err);
    for (char *c = option->name; *c; c++)
        if (*c == '_') *c = '-';
    return SBPS_OK;
}

/* Reads the options. */
static sbps_status get_options(const reader *f, result *r)
{
    int count, rc = nc_inq_natts(f->root, &count);
    if (rc) return bad(f, "options", rc);
    r->options = calloc(count > 0 ? (size_t)count : 1, sizeof *r->options);
    if (!r->options) return fail_memory(f->err);
    for (int i = 0; i < count; i++) {
        char name[NC_MAX_NAME + 1] = "";
        if ((rc = nc_inq_attname(f->root, NC_GLOBAL, i, name))) return bad(f, "options", rc);
        if (strncmp(name, LAYOUT_OPTION, strlen(LAYOUT_OPTION)) != 0) continue;
        sbps_status status = get_option(f, name, r);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

static sbps_status get_length(const reader *f, int group, const char *name, size_t *out)
{
    int dimension, rc = nc_inq_dimid(group, name, &dimension);
    if (!rc) rc = nc_inq_dimlen(group, dimension, out);
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* Finds a variable and checks its type and lengths. */
static sbps_status find_variable(const reader *f, int group, const char *name, nc_type expected,
                                 int rank, const size_t *lengths, int *variable)
{
    nc_type type = NC_NAT;
    int actual_rank = 0, dimensions[NC_MAX_VAR_DIMS];
    int rc = nc_inq_varid(group, name, variable);
    if (!rc) rc = nc_inq_var(group, *variable, NULL, &type, &actual_rank, dimensions, NULL);
    if (!rc && type != expected) rc = NC_EBADTYPE;
    if (!rc && actual_rank != rank) rc = NC_EBADDIM;
    for (int i = 0; !rc && i < rank; i++) {
        size_t length = 0;
        rc = nc_inq_dimlen(group, dimensions[i], &length);
        if (!rc && length != lengths[i]) rc = NC_EDIMSIZE;
    }
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* Reads an array of doubles. */
static sbps_status get_array(const reader *f, int group, const char *name, int rank,
                             const size_t *lengths, double *out)
{
    int variable;
    size_t count = 1;
    sbps_status status = find_variable(f, group, name, NC_DOUBLE, rank, lengths, &variable);
    for (int i = 0; i < rank; i++) count *= lengths[i];
    if (status != SBPS_OK || count == 0) return status;
    int rc = nc_get_var_double(group, variable, out);
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* Reads an array that may be missing in files of earlier versions. */
static sbps_status get_field(const reader *f, int group, const array_field *a, int rank,
                             const size_t *lengths, double *out)
{
    int variable;
    if (!a->later || nc_inq_varid(group, a->name, &variable) != NC_ENOTVAR)
        return get_array(f, group, a->name, rank, lengths, out);
    size_t count = 1;
    for (int i = 0; i < rank; i++) count *= lengths[i];
    for (size_t i = 0; i < count; i++) out[i] = NAN;
    return SBPS_OK;
}

/* Reads a text for each parameter. */
static sbps_status get_strings(const reader *f, int group, const char *name, size_t dim,
                               char **out)
{
    int variable;
    sbps_status status = find_variable(f, group, name, NC_STRING, 1, &dim, &variable);
    if (status != SBPS_OK || dim == 0) return status;
    char **texts = calloc(dim, sizeof *texts);
    if (!texts) return fail_memory(f->err);
    int rc = nc_get_var_string(group, variable, texts);
    if (rc) status = bad(f, name, rc);
    for (size_t i = 0; i < dim && status == SBPS_OK; i++) {
        if (!texts[i])
            status = bad(f, name, NC_ECHAR);
        else if (!(out[i] = copy_text(texts[i])))
            status = fail_memory(f->err);
    }
    nc_free_string(dim, texts);
    free(texts);
    return status;
}

/* Reads the group `model`, missing in files of earlier versions. */
static sbps_status get_model(const reader *f, result *r)
{
    int group, rc = nc_inq_grp_ncid(f->root, "model", &group);
    bool there = rc != NC_ENOGRP;
    sbps_status status = rc && there ? bad(f, "model", rc) : SBPS_OK;
    for (const label_field *l = layout_labels; there && l->name && status == SBPS_OK; l++)
        status = get_strings(f, group, l->name, r->dim, label_of(r, l));
    for (const array_field *a = layout_model; a->name && status == SBPS_OK; a++) {
        for (size_t j = 0; !there && j < r->dim; j++) (*array_slot(r, a))[j] = NAN;
        if (there) status = get_field(f, group, a, 1, &r->dim, *array_slot(r, a));
    }
    return status;
}

/* Reads the group `effects`, which a run without such effects does not have. */
static sbps_status get_effects(const reader *f, result *r)
{
    int group, rc = nc_inq_grp_ncid(f->root, "effects", &group);
    size_t count;
    if (rc == NC_ENOGRP) return SBPS_OK;
    if (rc) return bad(f, "effects", rc);
    sbps_status status = get_length(f, group, "effect", &count);
    if (status == SBPS_OK && count > f->bytes)
        status = bad(f, "its dimensions are larger than the file allows", 0);
    if (status != SBPS_OK) return status;
    r->effect_names = calloc(count + 1, sizeof *r->effect_names);
    r->effect_mean = calloc(count + 1, sizeof *r->effect_mean);
    r->effect_sd = calloc(count + 1, sizeof *r->effect_sd);
    if (!r->effect_names || !r->effect_mean || !r->effect_sd) return fail_memory(f->err);
    r->effects = r->effect_capacity = count;
    status = get_strings(f, group, "effect", count, r->effect_names);
    if (status == SBPS_OK) status = get_array(f, group, "mean", 1, &count, r->effect_mean);
    return status == SBPS_OK ? get_array(f, group, "sd", 1, &count, r->effect_sd) : status;
}

static sbps_status find_group(const reader *f, const char *name, int *group)
{
    int rc = nc_inq_grp_ncid(f->root, name, group);
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* Reads the dimensions and checks that a file of this length can contain them. */
static sbps_status get_sizes(const reader *f, int group, size_t *chains, size_t *draws,
                             size_t *dim)
{
    sbps_status status = get_length(f, group, "chain", chains);
    if (status == SBPS_OK) status = get_length(f, group, "draw", draws);
    if (status == SBPS_OK) status = get_length(f, group, "coef", dim);
    if (status != SBPS_OK) return status;
    double bytes =
        8.0 * ((double)*chains * (double)*draws * ((double)*dim + 6.0) + 6.0 * (double)*dim);
    if (bytes > SHRINK_MAX * (double)f->bytes || *dim > f->bytes)
        return bad(f, "its dimensions are larger than the file allows", 0);
    return SBPS_OK;
}

/* Reads the arrays of all groups. */
static sbps_status get_groups(const reader *f, result **out)
{
    int posterior, stats, path;
    size_t chains, draws, dim;
    sbps_status status;
    if ((status = find_group(f, "posterior", &posterior)) != SBPS_OK) return status;
    if ((status = find_group(f, "sample_stats", &stats)) != SBPS_OK) return status;
    if ((status = find_group(f, "path", &path)) != SBPS_OK) return status;
    if ((status = get_sizes(f, posterior, &chains, &draws, &dim)) != SBPS_OK) return status;
    if ((status = result_create(chains, draws, dim, out, f->err)) != SBPS_OK) return status;

    result *r = *out; /* the caller destroys it on failure */
    const size_t lengths[3] = {chains, draws, dim};
    status = get_strings(f, posterior, "coef", dim, r->names);
    if (status == SBPS_OK) status = get_array(f, posterior, "w", 3, lengths, r->w);
    for (const array_field *a = layout_stats; a->name && status == SBPS_OK; a++)
        status = get_field(f, stats, a, 2, lengths, *array_slot(r, a));
    for (const array_field *a = layout_path; a->name && status == SBPS_OK; a++)
        status = get_field(f, path, a, 1, &dim, *array_slot(r, a));
    if (status == SBPS_OK) status = get_model(f, r);
    return status == SBPS_OK ? get_effects(f, r) : status;
}

/* Refuses files of other programs. */
static sbps_status check_author(const reader *f)
{
    char *library;
    sbps_status status = get_text(f, "inference_library", &library);
    if (status == SBPS_OK && (!library || strcmp(library, "sbps") != 0))
        status = bad(f, "its inference_library is not sbps", 0);
    free(library);
    return status;
}

/* Reads the result of the open file and closes it. */
static sbps_status read_open(const reader *f, result **out)
{
    sbps_status status;
    if ((status = check_author(f)) != SBPS_OK) goto done;
    if ((status = get_groups(f, out)) != SBPS_OK) goto done;
    if ((status = get_info(f, &(*out)->info)) != SBPS_OK) goto done;
    if ((status = get_text(f, LAYOUT_DESIGN, &(*out)->design)) != SBPS_OK) goto done;
    status = get_options(f, *out);
done:
    nc_close(f->root);
    if (status != SBPS_OK) {
        result_destroy(*out);
        *out = NULL;
    }
    return status;
}

static sbps_status report_open_error(const reader *f, int rc)
{
    return rc == NC_ENOMEM ? fail_memory(f->err) : bad(f, "it cannot be opened", rc);
}

/* Reads a result from the bytes of a file without its trailer, which are borrowed. path: for
 * messages. Takes the lock itself. */
static sbps_status netcdf_read_image(void *image, size_t size, const char *path, result **out,
                                     sbps_error *err)
{
    reader f = {.path = path, .bytes = size, .err = err};
    *out = NULL;
    int cancel_state = netcdf_lock();
    int rc = nc_open_mem("sbps.nc", NC_NOWRITE, size, image, &f.root);
    sbps_status status = rc ? report_open_error(&f, rc) : read_open(&f, out);
    netcdf_unlock(cancel_state);
    return status;
}

/* Whether a file has a name that HDF5 can resolve: one in memory, /proc/self/fd/N, has none. */
static bool has_name(const char *path)
{
    char *resolved = realpath(path, NULL);
    bool found = resolved != NULL;
    free(resolved);
    return found;
}

static sbps_status read_nameless(const char *path, size_t bytes, result **out, sbps_error *err)
{
    FILE *stream = fopen(path, "rbe");
    if (!stream) return fail_file(err, path, "read", errno);
    void *image = malloc(bytes + 1);
    bool whole = image && fread(image, 1, bytes, stream) == bytes;
    fclose(stream);
    sbps_status status;
    if (!image)
        status = fail_memory(err);
    else if (!whole)
        status = fail_file(err, path, "read", EIO);
    else
        status = netcdf_read_image(image, bytes, path, out, err);
    free(image);
    return status;
}

sbps_status result_read_netcdf(const char *path, result **out, sbps_error *err)
{
    reader f = {.path = path, .err = err};
    *out = NULL;
    sbps_status status = check_file(&f);
    if (status != SBPS_OK) return status;
    if (!has_name(path)) return read_nameless(path, f.bytes, out, err);
    int cancel_state = netcdf_lock(), rc = nc_open(path, NC_NOWRITE, &f.root);
    status = rc ? report_open_error(&f, rc) : read_open(&f, out);
    netcdf_unlock(cancel_state);
    return status;
}

#define DEFLATE_LEVEL 1
/* Numbers of an array up to which it is compressed. Draws shrink by a seventh only, and those of
 * many effects of groups would take longer to compress than to make. */
#define DEFLATE_MAX ((size_t)1000000)
#define IMAGE_START 65536 /* bytes; the image grows if needed */
#define TEXT_MAX    32768 /* HDF5 limits attributes to 64 KiB */

typedef struct {
    int root;
    int rc; /* first error; later calls do nothing */
    const result *r;
} writer;

/* Ids of a group and its dimensions. */
typedef struct {
    int id, chain, draw, coef;
} group;

/* Writes a text attribute; longer texts as a string attribute. */
static void put_text(writer *w, int id, int variable, const char *name, const char *text)
{
    if (w->rc) return;
    if (strlen(text) <= TEXT_MAX)
        w->rc = nc_put_att_text(id, variable, name, strlen(text), text);
    else
        w->rc = nc_put_att_string(id, variable, name, 1, &text);
}

static void put_option(writer *w, int id, const result_option *option)
{
    char name[NC_MAX_NAME + 1];
    int length = snprintf(name, sizeof name, LAYOUT_OPTION "%s", option->name);
    if (length < 0 || (size_t)length >= sizeof name) {
        if (!w->rc) w->rc = NC_EMAXNAME;
        return;
    }
    for (char *c = name; *c; c++)
        if (*c == '-') *c = '_';
    put_text(w, id, NC_GLOBAL, name, option->value ? option->value : "");
}

/* Writes the attributes of the run. */
static void put_info(writer *w, int id)
{
    result_info info = w->r->info;
    for (const info_field *f = layout_texts; f->name; f++)
        if (*info_text(&info, f)) put_text(w, id, NC_GLOBAL, f->name, *info_text(&info, f));
    for (const info_field *f = layout_numbers; f->name && !w->rc; f++)
        w->rc = nc_put_att_double(id, NC_GLOBAL, f->name, NC_DOUBLE, 1, info_number(&info, f));
    for (const info_field *f = layout_switches; f->name && !w->rc; f++) {
        int value = *info_switch(&info, f);
        w->rc = nc_put_att_int(id, NC_GLOBAL, f->name, NC_INT, 1, &value);
    }
}

static void put_attributes(writer *w, int id)
{
    put_text(w, id, NC_GLOBAL, "inference_library", "sbps");
    put_text(w, id, NC_GLOBAL, "inference_library_version", SBPS_VERSION);
    put_info(w, id);
    for (size_t i = 0; i < w->r->option_count; i++) put_option(w, id, &w->r->options[i]);
}

/* Adds a dimension with the coordinates 0, 1, ... */
static int put_count(writer *w, int id, const char *name, size_t length)
{
    int dimension = 0, variable;
    long long *count = calloc(length ? length : 1, sizeof *count);
    if (!count && !w->rc) w->rc = NC_ENOMEM;
    for (size_t i = 0; count && i < length; i++) count[i] = (long long)i;
    if (!w->rc) w->rc = nc_def_dim(id, name, length, &dimension);
    if (!w->rc) w->rc = nc_def_var(id, name, NC_INT64, 1, &dimension, &variable);
    if (!w->rc && length) w->rc = nc_put_var_longlong(id, variable, count);
    free(count);
    return dimension;
}

/* Adds a text for each of `dim` entries, "" for NULL. Returns the variable. */
static int put_strings(writer *w, int id, const char *name, int coef, size_t dim,
                       char *const *texts)
{
    int variable = 0;
    const char **whole = calloc(dim ? dim : 1, sizeof *whole);
    if (!whole && !w->rc) w->rc = NC_ENOMEM;
    for (size_t i = 0; whole && i < dim; i++) whole[i] = texts[i] ? texts[i] : "";
    if (!w->rc) w->rc = nc_def_var(id, name, NC_STRING, 1, &coef, &variable);
    if (!w->rc && dim) w->rc = nc_put_var_string(id, variable, whole);
    free(whole);
    return variable;
}

/* Writes an array of doubles with checksum; compressed unless it is long. */
static void put_array(writer *w, int id, const array_field *field, int rank,
                      const int *dimensions, const double *values, size_t count)
{
    int variable = 0;
    if (!w->rc) w->rc = nc_def_var(id, field->name, NC_DOUBLE, rank, dimensions, &variable);
    if (!w->rc && count <= DEFLATE_MAX)
        w->rc = nc_def_var_deflate(id, variable, 1, 1, DEFLATE_LEVEL);
    if (!w->rc) w->rc = nc_def_var_fletcher32(id, variable, NC_FLETCHER32);
    put_text(w, id, variable, "long_name", field->long_name);
    put_text(w, id, variable, "units", field->units);
    if (!w->rc && count) w->rc = nc_put_var_double(id, variable, values);
}

/* Adds a group with its dimensions. */
static group put_group(writer *w, const char *name, bool draws, bool coef)
{
    group g = {0};
    if (!w->rc) w->rc = nc_def_grp(w->root, name, &g.id);
    if (draws) g.chain = put_count(w, g.id, "chain", w->r->chains);
    if (draws) g.draw = put_count(w, g.id, "draw", w->r->draws);
    if (coef) {
        int dimension = 0;
        if (!w->rc) w->rc = nc_def_dim(g.id, "coef", w->r->dim, &dimension);
        put_strings(w, g.id, "coef", dimension, w->r->dim, w->r->names);
        g.coef = dimension;
    }
    return g;
}

static void put_posterior(writer *w)
{
    static const array_field draws = {"w", 0, "draws from the posterior", "as w", false};
    const result *r = w->r;
    group g = put_group(w, "posterior", true, true);
    put_attributes(w, g.id);
    put_array(w, g.id, &draws, 3, (int[]){g.chain, g.draw, g.coef}, r->w,
              r->chains * r->draws * r->dim);
}

static void put_stats(writer *w)
{
    const result *r = w->r;
    group g = put_group(w, "sample_stats", true, false);
    for (const array_field *f = layout_stats; f->name; f++)
        put_array(w, g.id, f, 2, (int[]){g.chain, g.draw}, array_of(r, f),
                  r->chains * r->draws);
}

static void put_path(writer *w)
{
    group g = put_group(w, "path", false, true);
    for (const array_field *f = layout_path; f->name; f++)
        put_array(w, g.id, f, 1, &g.coef, array_of(w->r, f), w->r->dim);
}

static void put_model(writer *w)
{
    group g = put_group(w, "model", false, true);
    for (const label_field *f = layout_labels; f->name; f++) {
        int variable = put_strings(w, g.id, f->name, g.coef, w->r->dim, label_of(w->r, f));
        put_text(w, g.id, variable, "long_name", f->long_name);
    }
    for (const array_field *f = layout_model; f->name; f++)
        put_array(w, g.id, f, 1, &g.coef, array_of(w->r, f), w->r->dim);
}

static void put_effects(writer *w)
{
    static const array_field mean = {"mean", 0, "posterior mean of the effect", "as w", false},
                             sd = {"sd", 0, "posterior standard deviation", "as w", false};
    const result *r = w->r;
    int dimension = 0;
    if (r->effects == 0) return;
    group g = put_group(w, "effects", false, false);
    if (!w->rc) w->rc = nc_def_dim(g.id, "effect", r->effects, &dimension);
    put_strings(w, g.id, "effect", dimension, r->effects, r->effect_names);
    put_array(w, g.id, &mean, 1, &dimension, r->effect_mean, r->effects);
    put_array(w, g.id, &sd, 1, &dimension, r->effect_sd, r->effects);
}

/* Builds the file in memory; the caller frees its bytes. */
static int make_image(const result *r, NC_memio *image)
{
    writer w = {.r = r};
    w.rc = nc_create_mem("sbps.nc", NC_NETCDF4, IMAGE_START, &w.root);
    if (w.rc) return w.rc;
    put_attributes(&w, w.root);
    if (r->design) put_text(&w, w.root, NC_GLOBAL, LAYOUT_DESIGN, r->design);
    put_posterior(&w);
    put_stats(&w);
    put_path(&w);
    put_model(&w);
    put_effects(&w);
    int rc = nc_close_memio(w.root, image);
    if (!w.rc) w.rc = rc;
    if (w.rc) free(image->memory);
    return w.rc;
}

/* Reads the image back and compares it with the result. */
static sbps_status check_image(const NC_memio *image, const result *r, const char *path,
                               sbps_error *err)
{
    result *reread;
    sbps_status status = netcdf_read_image(image->memory, image->size, path, &reread, NULL);
    bool same = status == SBPS_OK && result_same(r, reread);
    result_destroy(reread);
    if (same) return SBPS_OK;
    if (status == SBPS_NO_MEM) return fail_memory(err);
    return fail(err, SBPS_NO_MEM,
                "%s: cannot be written: the file made by NetCDF cannot be read back; memory "
                "may have run out",
                path);
}

/* Writes the image with its trailer, atomically. */
static sbps_status put_image(const NC_memio *image, const char *path, sbps_error *err)
{
    atomic_file file;
    unsigned char trailer[TRAILER_SIZE];
    sbps_status status = file_begin(path, &file, err);
    if (status != SBPS_OK) return status;
    trailer_make(image->memory, image->size, trailer);
    file_write(&file, image->memory, image->size);
    file_write(&file, trailer, sizeof trailer);
    return file_commit(&file, err);
}

sbps_status result_write_netcdf(const result *r, const char *path, sbps_error *err)
{
    NC_memio image = {0};
    int cancel_state = netcdf_lock(), rc = make_image(r, &image);
    netcdf_unlock(cancel_state);
    if (rc == NC_ENOMEM) return fail_memory(err);
    if (rc) /* the image is in memory, so memory is the likely cause */
        return fail(err, SBPS_NO_MEM, "%s: cannot be written: %s; memory may have run out",
                    path, nc_strerror(rc));
    /* The image grows in steps: its unused end is cut. */
    uint64_t end = image.size >= HDF5_HEAD ? hdf5_end(image.memory) : 0;
    if (end && end < image.size) image.size = (size_t)end;
    sbps_status status = check_image(&image, r, path, err);
    if (status == SBPS_OK) status = put_image(&image, path, err);
    free(image.memory);
    return status;
}
