/* One lock for the whole process around all calls of the NetCDF library. */
#ifndef STORE_NETCDF_LOCK_H
#define STORE_NETCDF_LOCK_H

/* NetCDF-C and HDF5 are not thread-safe, even for different files: every call of an nc_ function is made between these
 * two. Not recursive. The thread cannot be cancelled in between, and HDF5 does not print its errors. Returns what
 * netcdf_unlock wants. */
int netcdf_lock(void);
void netcdf_unlock(int cancel_state);

#endif
