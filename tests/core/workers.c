/* Workers run every task once, on any number of threads, and each worker has its own index. */
#include "check.h"
#include "core/failing_calls.h"
#include "core/threads.h"

#define TASKS   1000
#define WORKERS 8

/* Counts are per worker and without a lock: the thread sanitizer detects two workers with one
 * index. */
typedef struct {
    unsigned calls[TASKS];
    double result[TASKS];
    size_t done_by[WORKERS], last_of[WORKERS];
    bool in_order;
} job;

static void count_call(void *self, unsigned worker, size_t index)
{
    job *j = self;
    j->calls[index]++;
    j->result[index] = sqrt((double)index);
    if (j->done_by[worker]++ && j->last_of[worker] >= index) j->in_order = false;
    j->last_of[worker] = index;
}

static bool each_once(const job *j, size_t tasks)
{
    size_t done = 0;
    for (size_t w = 0; w < WORKERS; w++) done += j->done_by[w];
    for (size_t i = 0; i < TASKS; i++) {
        if (j->calls[i] != (i < tasks)) return false;
        if (i < tasks && j->result[i] != sqrt((double)i)) return false;
    }
    return done == tasks && j->in_order;
}

TEST(every_task_runs_once_on_any_number_of_threads)
{
    static const size_t tasks[] = {0, 1, 2, 7, TASKS};
    for (unsigned threads = 0; threads <= WORKERS; threads++)
        for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
            job j = {.in_order = true};
            REQUIRE(workers_run(threads, tasks[t], count_call, &j, NULL) == SBPS_OK);
            CHECK(each_once(&j, tasks[t])); /* read without a lock: the job is over */
        }
}

TEST(one_thread_needs_no_memory_and_no_other_thread)
{
    job j = {.in_order = true};
    calls = fail_from = 0;
    CHECK(workers_run(1, TASKS, count_call, &j, NULL) == SBPS_OK);
    CHECK(calls == 0);
    fail_from = SIZE_MAX;
    CHECK(each_once(&j, TASKS) && j.done_by[0] == TASKS);
}

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_arrived;
    unsigned waiting, expected, seen[WORKERS];
} meeting;

/* Returns when `expected` tasks are running at the same time. */
static void wait_for_all(void *self, unsigned worker, size_t index)
{
    meeting *m = self;
    (void)index;
    pthread_mutex_lock(&m->lock);
    m->seen[worker]++;
    if (++m->waiting == m->expected) pthread_cond_broadcast(&m->all_arrived);
    while (m->waiting < m->expected) pthread_cond_wait(&m->all_arrived, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

/* Hangs, and so times out, when fewer tasks run at a time than there are threads. */
TEST(tasks_that_run_at_once_have_workers_of_different_indices)
{
    meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER,
                 .all_arrived = PTHREAD_COND_INITIALIZER,
                 .expected = 4};
    REQUIRE(workers_run(m.expected, m.expected, wait_for_all, &m, NULL) == SBPS_OK);
    for (unsigned w = 0; w < WORKERS; w++) CHECK(m.seen[w] == (w < m.expected));
}

/* One block of memory, then three threads: without memory it fails; with fewer threads all
 * tasks are run. */
TEST(a_job_works_with_fewer_threads)
{
    for (size_t granted = 0; granted <= 4; granted++) {
        sbps_error err = {0};
        job j = {.in_order = true};
        calls = 0, fail_from = granted;
        sbps_status status = workers_run(4, 100, count_call, &j, &err);
        fail_from = SIZE_MAX;
        CHECK(status == (granted < 1 ? SBPS_NO_MEM : SBPS_OK));
        CHECK((err.status == SBPS_NO_MEM) == (granted < 1));
        CHECK(granted < 1 || each_once(&j, 100));
    }
}

CHECK_MAIN
