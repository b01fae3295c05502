/* Results as NetCDF-4 files in ArviZ's layout. */
#ifndef STORE_NETCDF_FILE_H
#define STORE_NETCDF_FILE_H

#include "store/result.h"

/* Writes the file atomically. */
sbps_status result_write_netcdf(const result *r, const char *path, sbps_error *err);
/* Reads and checks a file of result_write_netcdf; *out is the caller's. */
sbps_status result_read_netcdf(const char *path, result **out, sbps_error *err);

#endif
