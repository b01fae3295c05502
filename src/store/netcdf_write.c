/* NetCDF-4 in ArviZ's layout.
 *
 *   /             attributes: the run, its options, the design
 *   /posterior    w(chain, draw, coef); the attributes again, where ArviZ looks for them
 *   /sample_stats proposals, bounces, missing, k, potential, potential_sd, log_prior,
 *                 log_likelihood (chain, draw)
 *   /path         mean, sd, mcse, bias, bias_se, sd_bias, sd_bias_se, ess_mean, ess_square (coef):
 *                 integrals along the path
 *   /model        what the parameters are and the priors in force (coef): layout_model, layout_labels
 *
 * each group with its own dimensions and their coordinates. A length of 0 is what NetCDF calls
 * an unlimited dimension, and such a dimension without entries is just what a run without draws
 * needs. Arrays carry a checksum (fletcher32), so a flipped byte in them does not pass for
 * data.
 *
 * The file is built in memory and its image goes through atomic.h: HDF5 does not say why a
 * write to a full disk failed, and cannot close such a file cleanly. Nor does it always say that
 * memory was short while it made the file, so the image is read back and compared before any of it
 * is written; no matter then what kind of file it goes to. It costs memory for two more copies of
 * the draws. Threads make their images one after another (netcdf_lock.h). */
#include "store/layout.h"

#include "store/atomic_file.h"
#include "store/netcdf_lock.h"
#include "store/netcdf_read.h"
#include "store/trailer.h"

#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>

#define DEFLATE_LEVEL 1
#define IMAGE_START   65536 /* bytes; the image grows as needed */
#define TEXT_MAX      32768 /* HDF5 holds no plain attribute above 64 KiB */

typedef struct {
    int root;
    int rc; /* the first failure; every call below does nothing after it */
    const result *r;
} writer;

/* A group's identity and those of its dimensions. */
typedef struct {
    int id, chain, draw, coef;
} group;

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

/* A dimension with the coordinate 0, 1, ... */
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

/* A text for each parameter; NULL: "". Returns the variable. */
static int put_strings(writer *w, int id, const char *name, int coef, char *const *texts)
{
    int variable = 0;
    size_t dim = w->r->dim;
    const char **whole = calloc(dim ? dim : 1, sizeof *whole);
    if (!whole && !w->rc) w->rc = NC_ENOMEM;
    for (size_t i = 0; whole && i < dim; i++) whole[i] = texts[i] ? texts[i] : "";
    if (!w->rc) w->rc = nc_def_var(id, name, NC_STRING, 1, &coef, &variable);
    if (!w->rc && dim) w->rc = nc_put_var_string(id, variable, whole);
    free(whole);
    return variable;
}

/* The dimension of the parameters with their names. */
static int put_names(writer *w, int id)
{
    int dimension = 0;
    if (!w->rc) w->rc = nc_def_dim(id, "coef", w->r->dim, &dimension);
    put_strings(w, id, "coef", dimension, w->r->names);
    return dimension;
}

static void put_array(writer *w, int id, const array_field *field, int rank,
                      const int *dimensions, const double *values, size_t count)
{
    int variable = 0;
    if (!w->rc) w->rc = nc_def_var(id, field->name, NC_DOUBLE, rank, dimensions, &variable);
    if (!w->rc) w->rc = nc_def_var_deflate(id, variable, 1, 1, DEFLATE_LEVEL);
    if (!w->rc) w->rc = nc_def_var_fletcher32(id, variable, NC_FLETCHER32);
    put_text(w, id, variable, "long_name", field->long_name);
    put_text(w, id, variable, "units", field->units);
    if (!w->rc && count) w->rc = nc_put_var_double(id, variable, values);
}

static group put_group(writer *w, const char *name, bool draws, bool coef)
{
    group g = {0};
    if (!w->rc) w->rc = nc_def_grp(w->root, name, &g.id);
    if (draws) g.chain = put_count(w, g.id, "chain", w->r->chains);
    if (draws) g.draw = put_count(w, g.id, "draw", w->r->draws);
    if (coef) g.coef = put_names(w, g.id);
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
        int variable = put_strings(w, g.id, f->name, g.coef, label_of(w->r, f));
        put_text(w, g.id, variable, "long_name", f->long_name);
    }
    for (const array_field *f = layout_model; f->name; f++)
        put_array(w, g.id, f, 1, &g.coef, array_of(w->r, f), w->r->dim);
}

/* The whole file as bytes; give back with free(). */
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
    int rc = nc_close_memio(w.root, image);
    if (!w.rc) w.rc = rc;
    if (w.rc) free(image->memory);
    return w.rc;
}

/* The image is grown in steps: what lies behind the end HDF5 knows of is left out. */
static void cut_image(NC_memio *image)
{
    uint64_t end = image->size >= HDF5_HEAD ? hdf5_end(image->memory) : 0;
    if (end && end < image->size) image->size = (size_t)end;
}

static sbps_status check_image(const NC_memio *image, const result *r, const char *path,
                               sbps_error *err)
{
    result *reread;
    sbps_status status = netcdf_read_image(image->memory, image->size, path, &reread, NULL);
    bool same = status == SBPS_OK && result_same(r, reread);
    result_destroy(reread);
    if (same) return SBPS_OK;
    if (status == SBPS_NO_MEM) return fail_memory(err);
    return fail(
        err, SBPS_NO_MEM,
        "%s: cannot be written: what NetCDF made of it does not read back: is memory short?",
        path);
}

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
    if (rc) /* into memory: what else could there be too little of? */
        return fail(err, SBPS_NO_MEM, "%s: cannot be written: %s: is memory short?", path,
                    nc_strerror(rc));
    cut_image(&image);
    sbps_status status = check_image(&image, r, path, err);
    if (status == SBPS_OK) status = put_image(&image, path, err);
    free(image.memory);
    return status;
}
