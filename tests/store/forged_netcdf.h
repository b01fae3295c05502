/* A NetCDF file made by the test, with a good checksum but other shapes, types and names. */
#ifndef TESTS_STORE_FORGED_NETCDF_H
#define TESTS_STORE_FORGED_NETCDF_H

#include "store/sample.h"
#include "store/trailer.h"

#include <netcdf.h>

typedef struct {
    const char *author;
    size_t chains, draws, dim, stats_draws; /* stats_draws: draws in sample_stats */
    nc_type type;                           /* type of w in the group posterior */
    void (*change)(int root);               /* called before the file is closed; NULL: none */
} foreign;

static void put_doubles(int group, const char *name, int rank, const int *dimensions,
                        nc_type type)
{
    int variable;
    nc_def_var(group, name, type, rank, dimensions, &variable);
}

static void seal(const char *path)
{
    size_t size;
    unsigned char trailer[TRAILER_SIZE];
    char *bytes = sample_bytes(path, &size);
    trailer_make(bytes, size, trailer);
    bytes = realloc(bytes, size + sizeof trailer);
    memcpy(bytes + size, trailer, sizeof trailer);
    sample_store(path, bytes, size + sizeof trailer);
    free(bytes);
}

UNUSED static void make_foreign(const char *path, const foreign *f)
{
    int root, group, d[3], variable;
    REQUIRE(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &root) == NC_NOERR);
    if (f->author)
        nc_put_att_text(root, NC_GLOBAL, "inference_library", strlen(f->author), f->author);
    nc_def_grp(root, "posterior", &group);
    nc_def_dim(group, "chain", f->chains, &d[0]);
    nc_def_dim(group, "draw", f->draws, &d[1]);
    nc_def_dim(group, "coef", f->dim, &d[2]);
    nc_def_var(group, "coef", NC_STRING, 1, &d[2], &variable);
    put_doubles(group, "w", 3, d, f->type);
    nc_def_grp(root, "sample_stats", &group);
    nc_def_dim(group, "chain", f->chains, &d[0]);
    nc_def_dim(group, "draw", f->stats_draws, &d[1]);
    for (const array_field *a = layout_stats; a->name; a++)
        put_doubles(group, a->name, 2, d, NC_DOUBLE);
    nc_def_grp(root, "path", &group);
    nc_def_dim(group, "coef", f->dim, &d[0]);
    for (const array_field *a = layout_path; a->name; a++)
        put_doubles(group, a->name, 1, d, NC_DOUBLE);
    if (f->change) f->change(root);
    nc_close(root);
    seal(path);
}

#endif
