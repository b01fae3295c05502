/* A few threads that share out numbered tasks. */
#ifndef CORE_THREADS_H
#define CORE_THREADS_H

#include "core/status.h"

#include <pthread.h>

typedef struct thread_pool thread_pool;

/* count >= 1, the caller being one of them. */
sbps_status thread_pool_create(size_t count, thread_pool **out, sbps_error *err);
/* Calls task(self, i) for every i < tasks, each once, and returns when all are done. */
void thread_pool_run(thread_pool *pool, size_t tasks, void (*task)(void *self, size_t index),
                     void *self);
void thread_pool_destroy(thread_pool *pool);
/* Starts a thread as pthread_create does, with a stack of at least 1 MiB: the default is the limit of
 * `ulimit -s`, which may be less. 0, or an error number. */
int thread_start(pthread_t *out, void *(*work)(void *self), void *self);
/* Processors this process may use. */
size_t processors(void);

#endif
