/* Reads what netcdf_write.c wrote. The file is input like any other: it may be cut short, be
 * someone else's or lie about its sizes, so every size and shape is checked before it is used.
 * Any thread may call the functions that are declared in headers; the others run under netcdf_lock. */
#include "store/layout.h"

#include "core/memory.h"
#include "store/atomic_file.h"
#include "store/netcdf_lock.h"
#include "store/netcdf_read.h"
#include "store/trailer.h"

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Deflate cannot shrink more than 1032 times: larger arrays than this times the file's size are
 * a lie, and are not worth asking memory for. */
#define SHRINK_MAX 2000

typedef struct {
    int root;
    const char *path;
    size_t bytes; /* of the file */
    sbps_error *err;
} reader;

static sbps_status bad(const reader *f, const char *what, int rc)
{
    return fail(f->err, SBPS_BAD_FILE, "%s: not a run file of sbps, or cut short: %s%s%s",
                f->path, what, rc ? ": " : "", rc ? nc_strerror(rc) : "");
}

/* Sees to the file before NetCDF does: nothing but a whole local HDF5 file goes on. */
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

/* *out is NULL when there is no such attribute. */
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

/* One number; `fallback` when there is no such attribute, as in a file of an older version. */
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

static sbps_status get_option(const reader *f, const char *attribute, result *r)
{
    result_option *option = &r->options[r->option_count];
    char *value;
    sbps_status status = get_text(f, attribute, &value);
    if (status != SBPS_OK) return status;
    option->name = copy_text(attribute + strlen(LAYOUT_OPTION));
    option->value = value;
    r->option_count++; /* from here on the result frees both */
    if (!option->name || !option->value) return fail_memory(f->err);
    for (char *c = option->name; *c; c++)
        if (*c == '_') *c = '-';
    return SBPS_OK;
}

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

/* A variable of this type and these lengths, or an error. */
static sbps_status find_variable(const reader *f, int group, const char *name, nc_type want,
                                 int rank, const size_t *lengths, int *variable)
{
    nc_type type = NC_NAT;
    int actual_rank = 0, dimensions[NC_MAX_VAR_DIMS];
    int rc = nc_inq_varid(group, name, variable);
    if (!rc) rc = nc_inq_var(group, *variable, NULL, &type, &actual_rank, dimensions, NULL);
    if (!rc && type != want) rc = NC_EBADTYPE;
    if (!rc && actual_rank != rank) rc = NC_EBADDIM;
    for (int i = 0; !rc && i < rank; i++) {
        size_t length = 0;
        rc = nc_inq_dimlen(group, dimensions[i], &length);
        if (!rc && length != lengths[i]) rc = NC_EDIMSIZE;
    }
    return rc ? bad(f, name, rc) : SBPS_OK;
}

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

/* An array that a file of an earlier version may lack. */
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

/* A text for each parameter. */
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

/* What the parameters are; files of earlier versions do not say. */
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

static sbps_status find_group(const reader *f, const char *name, int *group)
{
    int rc = nc_inq_grp_ncid(f->root, name, group);
    return rc ? bad(f, name, rc) : SBPS_OK;
}

/* The sizes, believed only when a file of this length can hold them. */
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
        return bad(f, "it claims to hold more than it can", 0);
    return SBPS_OK;
}

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

    result *r = *out; /* the caller destroys it when this fails */
    const size_t lengths[3] = {chains, draws, dim};
    status = get_strings(f, posterior, "coef", dim, r->names);
    if (status == SBPS_OK) status = get_array(f, posterior, "w", 3, lengths, r->w);
    for (const array_field *a = layout_stats; a->name && status == SBPS_OK; a++)
        status = get_field(f, stats, a, 2, lengths, *array_slot(r, a));
    for (const array_field *a = layout_path; a->name && status == SBPS_OK; a++)
        status = get_field(f, path, a, 1, &dim, *array_slot(r, a));
    if (status == SBPS_OK) status = get_model(f, r);
    return status;
}

static sbps_status check_author(const reader *f)
{
    char *library;
    sbps_status status = get_text(f, "inference_library", &library);
    if (status == SBPS_OK && (!library || strcmp(library, "sbps") != 0))
        status = bad(f, "its inference_library is not sbps", 0);
    free(library);
    return status;
}

/* The result in the open file, which is closed. */
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

sbps_status result_read_netcdf(const char *path, result **out, sbps_error *err)
{
    reader f = {.path = path, .err = err};
    *out = NULL;
    sbps_status status = check_file(&f);
    if (status != SBPS_OK) return status;
    int cancel_state = netcdf_lock(), rc = nc_open(path, NC_NOWRITE, &f.root);
    status = rc ? report_open_error(&f, rc) : read_open(&f, out);
    netcdf_unlock(cancel_state);
    return status;
}

sbps_status netcdf_read_image(void *image, size_t size, const char *path, result **out,
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
