/* The lock around NetCDF.
 *
 * The mutex is the only mutable global of the library; scripts/lint.sh accepts no other. It
 * protects the state of NetCDF-C and HDF5, which is global too: a lock per handle would not
 * exclude threads with other handles. fork() waits until no thread is inside NetCDF, so that a
 * child finds its state consistent and the mutex free. */
#include "store/netcdf_lock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static pthread_mutex_t netcdf_mutex = PTHREAD_MUTEX_INITIALIZER;

/* HDF5's H5E_DEFAULT as an hid_t, which has 64 bits since version 1.10. */
typedef int set_auto(int64_t stack, void *function, void *data);

/* Turns off the error messages of HDF5. In a thread-safe build each thread has its own setting,
 * initially on, and NetCDF-C turns off that of the first thread only. The symbol is looked up
 * in the HDF5 that NetCDF-C has loaded, which may differ from one linked here. Without HDF5
 * there is nothing to do. */
static void silence_hdf5(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "H5Eset_auto2");
    set_auto *call;
    if (!symbol) return;
    memcpy(&call, &symbol, sizeof call);
    call(0, NULL, NULL);
}

int netcdf_lock(void)
{
    int cancel_state = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&netcdf_mutex);
    silence_hdf5();
    return cancel_state;
}

void netcdf_unlock(int cancel_state)
{
    pthread_mutex_unlock(&netcdf_mutex);
    pthread_setcancelstate(cancel_state, NULL);
}

static void before_fork(void)
{
    pthread_mutex_lock(&netcdf_mutex);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&netcdf_mutex);
}

/* Runs when the library is loaded, before any thread can hold the lock. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}
