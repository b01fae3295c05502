/* The counter of the next task is all that workers share. */
#include "core/workers.h"

#include "core/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    void (*task)(void *self, unsigned worker, size_t index);
    void *self;
    size_t tasks;
    atomic_size_t next;
} job;

typedef struct {
    job *of;
    unsigned number;
    pthread_t thread;
} worker;

static void take_tasks(job *j, unsigned number)
{
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->tasks;) j->task(j->self, number, i);
}

static void *run_worker(void *self)
{
    const worker *me = self;
    take_tasks(me->of, me->number);
    return NULL;
}

static unsigned start_threads(worker *others, unsigned count, job *j)
{
    unsigned started = 0;
    for (; started < count; started++) {
        worker *w = &others[started];
        *w = (worker){.of = j, .number = started + 1};
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
        take_tasks(&j, 0);
        return SBPS_OK;
    }
    worker *others = calloc(threads - 1, sizeof *others);
    if (!others) return fail_memory(err);
    unsigned started = start_threads(others, threads - 1, &j);
    take_tasks(&j, 0);
    for (unsigned i = 0; i < started; i++) pthread_join(others[i].thread, NULL);
    free(others);
    return SBPS_OK;
}
