/* One mutex, two conditions: a batch of tasks is announced by its generation number. */
#include "core/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)1 << 20)

struct thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    void (*task)(void *self, size_t index);
    void *self;
    size_t next, tasks, finished;
    unsigned long generation;
    bool closing;
    size_t started; /* threads besides the caller */
    pthread_t *threads;
};

/* Takes tasks until none is left; called with the lock held. */
static void take_tasks(thread_pool *pool)
{
    while (pool->next < pool->tasks) {
        size_t index = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        pool->task(pool->self, index);
        pthread_mutex_lock(&pool->lock);
        if (++pool->finished == pool->tasks) pthread_cond_broadcast(&pool->done);
    }
}

static void *worker(void *argument)
{
    thread_pool *pool = argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        if (pool->generation == seen) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        seen = pool->generation;
        take_tasks(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int thread_start(pthread_t *out, void *(*work)(void *self), void *self)
{
    pthread_attr_t how;
    size_t usual;
    if (pthread_attr_init(&how)) return pthread_create(out, NULL, work, self);
    if (pthread_attr_getstacksize(&how, &usual) == 0 && usual < STACK_BYTES)
        pthread_attr_setstacksize(&how, STACK_BYTES);
    int error = pthread_create(out, &how, work, self);
    pthread_attr_destroy(&how);
    return error;
}

sbps_status thread_pool_create(size_t count, thread_pool **out, sbps_error *err)
{
    *out = NULL;
    thread_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return fail_memory(err);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->threads = calloc(count, sizeof *pool->threads);
    if (!pool->threads) {
        thread_pool_destroy(pool);
        return fail_memory(err);
    }
    for (size_t i = 1; i < count; i++) {
        if (thread_start(&pool->threads[pool->started], worker, pool)) break;
        pool->started++; /* fewer threads than asked for are slower, not wrong */
    }
    *out = pool;
    return SBPS_OK;
}

void thread_pool_run(thread_pool *pool, size_t tasks, void (*task)(void *self, size_t index),
                     void *self)
{
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->self = self;
    pool->tasks = tasks;
    pool->next = pool->finished = 0;
    pool->generation++;
    pthread_cond_broadcast(&pool->work);
    take_tasks(pool);
    while (pool->finished < pool->tasks) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void thread_pool_destroy(thread_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->started; i++) pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

size_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (size_t)count : 1;
}
