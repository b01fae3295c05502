#include "store/prediction_file.h"

#include "store/atomic_file.h"
#include "store/netcdf_lock.h"

#include <netcdf.h>
#include <stdlib.h>
#include <string.h>

struct prediction_file {
    atomic_file file; /* its stream is unused: NetCDF opens the temporary file by name */
    int id, row, prediction;
    size_t rows, classes, draws;
};

bool prediction_file_matches(const char *path)
{
    size_t length = path ? strlen(path) : 0;
    return length > 3 && strcmp(path + length - 3, ".nc") == 0;
}

/* SBPS_NO_FILE with NetCDF's reason. */
static sbps_status report_nc_error(const prediction_file *f, int rc, sbps_error *err)
{
    if (rc == NC_NOERR) return SBPS_OK;
    if (rc == NC_ENOMEM) return fail_memory(err);
    if (rc > 0) return fail_file(err, f->file.path, "written", rc);
    return fail(err, SBPS_NO_FILE, "%s: cannot be written: %s", f->file.path, nc_strerror(rc));
}

static size_t longest(const prediction_shape *s)
{
    size_t max_length = 1;
    for (size_t k = 0; k < s->classes; k++)
        if (strlen(s->class[k]) > max_length) max_length = strlen(s->class[k]);
    return max_length;
}

static int put_text(const prediction_file *f, const char *name, const char *text)
{
    return nc_put_att_text(f->id, NC_GLOBAL, name, strlen(text), text);
}

/* Defines dimensions, variables and attributes. */
static int define(prediction_file *f, const prediction_shape *s, int *class)
{
    int dims[3], letters = 0, count = 0, rc;
    if ((rc = nc_def_dim(f->id, "row", NC_UNLIMITED, &dims[count++]))) return rc;
    if (s->classes) {
        if ((rc = nc_def_dim(f->id, "class", s->classes, &dims[count++]))) return rc;
        if ((rc = nc_def_dim(f->id, "letters", longest(s), &letters))) return rc;
        const int of_class[] = {dims[1], letters};
        if ((rc = nc_def_var(f->id, "class", NC_CHAR, 2, of_class, class))) return rc;
    }
    if ((rc = nc_def_dim(f->id, "draw", s->draws, &dims[count++]))) return rc;
    if ((rc = nc_def_var(f->id, "row", NC_INT, 1, dims, &f->row))) return rc;
    rc = nc_def_var(f->id, "prediction", NC_DOUBLE, count, dims, &f->prediction);
    if (!rc) rc = put_text(f, "kind", s->kind);
    if (!rc) rc = put_text(f, "run", s->run);
    if (!rc) rc = put_text(f, "made_by", "sbps predict");
    return rc ? rc : nc_enddef(f->id);
}

static int put_classes(const prediction_file *f, const prediction_shape *s, int class)
{
    int rc = NC_NOERR;
    for (size_t k = 0; k < s->classes && !rc; k++) {
        const size_t start[] = {k, 0}, count[] = {1, strlen(s->class[k])};
        rc = nc_put_vara_text(f->id, class, start, count, s->class[k]);
    }
    return rc;
}

static sbps_status create_netcdf(prediction_file *f, const char *path,
                                 const prediction_shape *s, sbps_error *err)
{
    sbps_status status = file_begin(path, &f->file, err);
    if (status != SBPS_OK) return status;
    int class = 0;
    if (!f->file.temp)
        status = fail(err, SBPS_NO_FILE, "%s: NetCDF can only be written to a file", path);
    int rc = status == SBPS_OK ? nc_create(f->file.temp, NC_CLOBBER | NC_64BIT_OFFSET, &f->id)
                               : NC_NOERR;
    if (status != SBPS_OK || rc) {
        if (rc) status = report_nc_error(f, rc, err);
        file_abandon(&f->file);
        return status;
    }
    rc = define(f, s, &class);
    if (!rc) rc = put_classes(f, s, class);
    if (!rc) return SBPS_OK;
    status = report_nc_error(f, rc, err);
    nc_abort(f->id);
    file_abandon(&f->file);
    return status;
}

sbps_status prediction_file_open(const char *path, const prediction_shape *shape,
                                 prediction_file **out, sbps_error *err)
{
    prediction_file *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return fail_memory(err);
    f->classes = shape->classes;
    f->draws = shape->draws;
    int cancel_state = netcdf_lock();
    sbps_status status = create_netcdf(f, path, shape, err);
    netcdf_unlock(cancel_state);
    if (status == SBPS_OK)
        *out = f;
    else
        free(f);
    return status;
}

sbps_status prediction_file_put(prediction_file *f, size_t row, const double *value,
                                sbps_error *err)
{
    long long number = (long long)row;
    const size_t by_class[] = {1, f->classes, f->draws}, plain[] = {1, f->draws};
    const size_t start[] = {f->rows++, 0, 0};
    int cancel_state = netcdf_lock(), rc = nc_put_var1_longlong(f->id, f->row, start, &number);
    if (!rc)
        rc = nc_put_vara_double(f->id, f->prediction, start, f->classes ? by_class : plain,
                                value);
    netcdf_unlock(cancel_state);
    return report_nc_error(f, rc, err);
}

sbps_status prediction_file_commit(prediction_file *f, sbps_error *err)
{
    int cancel_state = netcdf_lock(), rc = nc_close(f->id);
    netcdf_unlock(cancel_state);
    sbps_status status = report_nc_error(f, rc, err);
    if (status == SBPS_OK)
        status = file_commit(&f->file, err);
    else
        file_abandon(&f->file);
    free(f);
    return status;
}

void prediction_file_abandon(prediction_file *f)
{
    int cancel_state = netcdf_lock();
    nc_close(f->id); /* nc_abort would delete the file */
    netcdf_unlock(cancel_state);
    file_abandon(&f->file);
    free(f);
}
