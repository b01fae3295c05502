/* A pool of threads runs every task once, on any number of threads, in any number of runs. */
#include "core/threads.h"
#include "check.h"
#include "core/failing_calls.h"

#include <sched.h>

#define TASKS 1000

int __real_sched_getaffinity(pid_t process, size_t size, cpu_set_t *out);
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *out);
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *out)
{
    return refused() ? -1 : __real_sched_getaffinity(process, size, out);
}

typedef struct {
    unsigned calls[TASKS];
    double result[TASKS];
} job;

static void count_call(void *self, size_t index)
{
    job *j = self;
    j->calls[index]++;
    j->result[index] = sqrt((double)index);
}

static const size_t thread_counts[] = {1, 2, 3, 8};

static bool each_once(const job *j, size_t tasks, unsigned times)
{
    for (size_t i = 0; i < TASKS; i++) {
        if (j->calls[i] != (i < tasks ? times : 0)) return false;
        if (i < tasks && j->result[i] != sqrt((double)i)) return false;
    }
    return true;
}

TEST(every_task_runs_once_on_any_number_of_threads)
{
    static const size_t tasks[] = {0, 1, 2, 7, TASKS};
    for (size_t c = 0; c < sizeof thread_counts / sizeof *thread_counts; c++)
        for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
            thread_pool *pool = NULL;
            job j = {0};
            REQUIRE(thread_pool_create(thread_counts[c], &pool, NULL) == SBPS_OK);
            thread_pool_run(pool, tasks[t], count_call, &j);
            CHECK(each_once(&j, tasks[t], 1)); /* read without a lock: the run is over */
            thread_pool_destroy(pool);
        }
}

TEST(a_pool_can_be_reused)
{
    for (size_t c = 0; c < sizeof thread_counts / sizeof *thread_counts; c++) {
        thread_pool *pool = NULL;
        REQUIRE(thread_pool_create(thread_counts[c], &pool, NULL) == SBPS_OK);
        for (size_t tasks = 0; tasks < 20; tasks++) { /* another job and size each time */
            job j = {0};
            for (unsigned times = 1; times <= 10; times++) {
                thread_pool_run(pool, tasks, count_call, &j);
                CHECK(each_once(&j, tasks, times));
            }
        }
        thread_pool_destroy(pool);
    }
}

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_arrived;
    size_t waiting, expected;
} meeting;

/* Returns when `expected` tasks are running at the same time. */
static void wait_for_all(void *self, size_t index)
{
    meeting *m = self;
    (void)index;
    pthread_mutex_lock(&m->lock);
    if (++m->waiting == m->expected) pthread_cond_broadcast(&m->all_arrived);
    while (m->waiting < m->expected) pthread_cond_wait(&m->all_arrived, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

/* Hangs, and so times out, when the pool runs fewer tasks at a time than it has threads. */
TEST(as_many_tasks_run_at_once_as_there_are_threads)
{
    thread_pool *pool = NULL;
    meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER,
                 .all_arrived = PTHREAD_COND_INITIALIZER,
                 .expected = 4};
    REQUIRE(thread_pool_create(m.expected, &pool, NULL) == SBPS_OK);
    thread_pool_run(pool, m.expected, wait_for_all, &m);
    CHECK(m.waiting == m.expected);
    thread_pool_destroy(pool);
}

TEST(a_pool_that_never_ran_can_be_destroyed)
{
    for (size_t i = 0; i < 50; i++) {
        thread_pool *pool = NULL;
        REQUIRE(thread_pool_create(4, &pool, NULL) == SBPS_OK);
        thread_pool_destroy(pool);
    }
    thread_pool_destroy(NULL);
}

TEST(there_is_at_least_one_processor)
{
    CHECK(processors() >= 1);
    calls = fail_from = 0;
    CHECK(processors() == 1); /* if the system call fails */
    fail_from = SIZE_MAX;
}

/* Two blocks of memory, then three threads: without memory there is no pool; with fewer threads
 * all tasks are run. */
TEST(a_pool_works_with_fewer_threads)
{
    for (size_t granted = 0; granted <= 5; granted++) {
        thread_pool *pool = NULL;
        job j = {0};
        calls = 0, fail_from = granted;
        sbps_status status = thread_pool_create(4, &pool, NULL);
        fail_from = SIZE_MAX;
        CHECK(status == (granted < 2 ? SBPS_NO_MEM : SBPS_OK));
        CHECK((pool != NULL) == (granted >= 2));
        if (!pool) continue;
        thread_pool_run(pool, 100, count_call, &j);
        CHECK(each_once(&j, 100, 1));
        thread_pool_destroy(pool);
    }
}

CHECK_MAIN
