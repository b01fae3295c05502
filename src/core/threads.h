/* Threads: a pool that lives as long as a chain, workers for the length of one job, and a
 * clock. */
#ifndef CORE_THREADS_H
#define CORE_THREADS_H

#include "core/status.h"

#include <pthread.h>
#include <time.h>

typedef struct thread_pool thread_pool;

/* Creates a pool of count >= 1 threads, of which the caller is one. */
sbps_status thread_pool_create(size_t count, thread_pool **out, sbps_error *err);
/* Calls task(self, i) once for every i < tasks, on any thread, and returns when all are
 * done. */
void thread_pool_run(thread_pool *pool, size_t tasks, void (*task)(void *self, size_t index),
                     void *self);
void thread_pool_destroy(thread_pool *pool); /* NULL is fine */

/* Calls task(self, worker, index) once for every index < tasks, in increasing order of start,
 * and returns when all are done. At most `threads` run at a time, the caller being one of them;
 * `worker` < max(1, threads) is the number of the calling thread, for scratch memory of its
 * own. If the system grants fewer threads the job is slower, which is not an error. */
sbps_status workers_run(unsigned threads, size_t tasks,
                        void (*task)(void *self, unsigned worker, size_t index), void *self,
                        sbps_error *err);

/* Starts a thread as pthread_create does, with a stack of at least 1 MiB: the default is the
 * limit of `ulimit -s`, which may be less. Returns 0 or an error number. */
int thread_start(pthread_t *out, void *(*work)(void *self), void *self);
/* The number of processors that this process may use. */
size_t processors(void);

/* Seconds on a monotonic clock, which changes of the system time do not affect. */
static inline double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
