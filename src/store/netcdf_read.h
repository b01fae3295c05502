/* What writing a NetCDF file needs of reading one. */
#ifndef STORE_NETCDF_READ_H
#define STORE_NETCDF_READ_H

#include "store/result.h"

/* The result in the bytes of a file without its trailer; `path` is for messages. The bytes stay the
 * caller's and as they are. */
sbps_status netcdf_read_image(void *image, size_t size, const char *path, result **out,
                              sbps_error *err);

#endif
