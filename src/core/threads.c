/* The pool has one mutex and two conditions; each batch of tasks is announced by a new
 * generation number. Workers of one job share an atomic counter of the next task. */
#include "core/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
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
    size_t started; /* threads other than the caller */
    pthread_t *threads;
};

/* Runs tasks until none is left. Called, and returns, with the lock held. */
static void take_pool_tasks(thread_pool *pool)
{
    while (pool->next < pool->tasks) {
        size_t index = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        pool->task(pool->self, index);
        pthread_mutex_lock(&pool->lock);
        if (++pool->finished == pool->tasks) pthread_cond_broadcast(&pool->done);
    }
}

/* A thread of the pool: waits for a new generation and runs its tasks. */
static void *run_pool_thread(void *argument)
{
    thread_pool *pool = argument;
    unsigned long last = 0; /* generation whose tasks were run */
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        if (pool->generation == last) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        last = pool->generation;
        take_pool_tasks(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int thread_start(pthread_t *out, void *(*work)(void *self), void *self)
{
    pthread_attr_t attributes;
    size_t size;
    if (pthread_attr_init(&attributes)) return pthread_create(out, NULL, work, self);
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < STACK_BYTES)
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int error = pthread_create(out, &attributes, work, self);
    pthread_attr_destroy(&attributes);
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
        if (thread_start(&pool->threads[pool->started], run_pool_thread, pool)) break;
        pool->started++; /* with fewer threads the pool is slower, not wrong */
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
    take_pool_tasks(pool);
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

/* ---- one job ---- */

typedef struct {
    void (*task)(void *self, unsigned worker, size_t index);
    void *self;
    size_t tasks;
    atomic_size_t next;
} job;

typedef struct {
    job *work;
    unsigned number; /* from 1; the caller is 0 */
    pthread_t thread;
} job_worker;

static void take_job_tasks(job *j, unsigned number)
{
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->tasks;) j->task(j->self, number, i);
}

static void *run_worker(void *self)
{
    const job_worker *me = self;
    take_job_tasks(me->work, me->number);
    return NULL;
}

/* Starts up to `count` threads; returns how many were started. */
static unsigned start_threads(job_worker *others, unsigned count, job *j)
{
    unsigned started = 0;
    for (; started < count; started++) {
        job_worker *w = &others[started];
        *w = (job_worker){.work = j, .number = started + 1};
        if (thread_start(&w->thread, run_worker, w)) break;
    }
    return started;
}

sbps_status workers_run(unsigned threads, size_t tasks,
                        void (*task)(void *self, unsigned worker, size_t index), void *self,
                        sbps_error *err)
{
    job j = {.task = task, .self = self, .tasks = tasks};
    if (threads > tasks) threads = (unsigned)tasks;
    if (threads <= 1) {
        take_job_tasks(&j, 0);
        return SBPS_OK;
    }
    job_worker *others = calloc(threads - 1, sizeof *others);
    if (!others) return fail_memory(err);
    unsigned started = start_threads(others, threads - 1, &j);
    take_job_tasks(&j, 0);
    for (unsigned i = 0; i < started; i++) pthread_join(others[i].thread, NULL);
    free(others);
    return SBPS_OK;
}
