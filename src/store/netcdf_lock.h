/* A process-wide lock around all calls of the NetCDF library. */
#ifndef STORE_NETCDF_LOCK_H
#define STORE_NETCDF_LOCK_H

/* NetCDF-C and HDF5 are not thread-safe, even for different files: every nc_ function is called
 * between these two. Not recursive. In between the thread cannot be cancelled, and HDF5 does
 * not print errors. netcdf_lock returns the argument for netcdf_unlock. */
int netcdf_lock(void);
void netcdf_unlock(int cancel_state);

#endif
