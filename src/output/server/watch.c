/* The watch of a run: a thread that writes and serves its page. */
#include "output/server/watch.h"

#include "core/memory.h"
#include "core/threads.h"
#include "output/page/page.h"
#include "output/server/server.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MIN_SECONDS    0.5  /* from one result to the next */
#define COST_FRACTION  0.02 /* limit of the fraction of time spent on results and pages */
#define VIEWER_SECONDS 5.0  /* after a request in which the page counts as viewed */
#define LAST_SECONDS   2.5  /* that the last page is served, at least */
#define WAIT_SECONDS   10.0 /* limit of that time while it was not requested or is being sent */
#define STEP_MS        200
#define FEWEST_DRAWS   8 /* for a page with results */

struct sbps_watch {
    server *page_server;
    pthread_t thread;
    pthread_mutex_t lock;
    /* under the lock: what the next page shows */
    result *next;
    char *message; /* NULL: nothing new */
    bool over, ended;
    /* written by one thread, read by the other */
    _Atomic double last_served; /* time of the last request */
    _Atomic double ready_at;    /* time at which the next result is due */
};

const char *watch_address(const watch *w)
{
    return server_address(w->page_server);
}

bool watch_is_seen(const watch *w)
{
    return clock_now() - atomic_load(&w->last_served) < VIEWER_SECONDS;
}

/* ---- the thread ---- */

typedef struct {
    result *r;
    char *message;
    bool over, ended;
} update;

/* Takes what the next page shows from under the lock. */
static update take_update(watch *w)
{
    pthread_mutex_lock(&w->lock);
    update m = {w->next, w->message, w->over, w->ended};
    w->next = NULL;
    w->message = NULL;
    pthread_mutex_unlock(&w->lock);
    return m;
}

/* Writes and serves a new page; the old one stays if memory ran out. */
static void write_page(watch *w, const update *m)
{
    double begin = clock_now();
    char *page = NULL;
    page_news news = {m->message, m->over};
    bool drawn = m->r && m->r->draws >= FEWEST_DRAWS;
    sbps_status status = drawn ? page_write(m->r, (page_extras){.news = &news}, &page, NULL)
                               : page_wait(&news, &page, NULL);
    if (status == SBPS_OK) server_put(w->page_server, page);
    double end = clock_now();
    atomic_store(&w->ready_at,
                 fmax(atomic_load(&w->ready_at), end + (end - begin) / COST_FRACTION));
}

/* One step of the server. */
static void step(watch *w)
{
    size_t before = server_served(w->page_server);
    server_step(w->page_server, STEP_MS);
    if (server_served(w->page_server) > before) atomic_store(&w->last_served, clock_now());
}

/* After the end of the run: serves the last page until the viewer has received it. */
static void serve_last(watch *w)
{
    double begin = clock_now(), passed = 0.0;
    size_t before = server_served(w->page_server);
    if (!watch_is_seen(w)) return;
    while (passed < LAST_SECONDS ||
           (passed < WAIT_SECONDS &&
            (server_served(w->page_server) == before || server_busy(w->page_server)))) {
        step(w);
        passed = clock_now() - begin;
    }
}

/* The thread: writes a page for each update, and serves it. */
static void *run_watch(void *self)
{
    watch *w = self;
    for (bool ended = false; !ended;) {
        update m = take_update(w);
        if (m.message) write_page(w, &m);
        result_destroy(m.r);
        free(m.message);
        ended = m.ended;
        if (!ended) step(w);
    }
    serve_last(w);
    return NULL;
}

/* Starts the thread with all signals blocked, so that they reach the threads of the run. */
static bool start_thread(watch *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = thread_start(&w->thread, run_watch, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* ---- functions for the run ---- */

/* Sets what the next page shows; owns `r`. */
static void post_update(watch *w, result *r, const char *message, bool over)
{
    char *copy = copy_text(message);
    pthread_mutex_lock(&w->lock);
    result_destroy(w->next);
    free(w->message);
    w->next = r;
    w->message = copy;
    w->over = over;
    pthread_mutex_unlock(&w->lock);
    server_wake(w->page_server);
}

static void destroy(watch *w)
{
    pthread_mutex_destroy(&w->lock);
    result_destroy(w->next);
    free(w->message);
    server_close(w->page_server);
    free(w);
}

sbps_status watch_open(watch **out, sbps_error *err)
{
    watch *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w) return fail_memory(err);
    atomic_init(&w->last_served, -INFINITY);
    atomic_init(&w->ready_at, -INFINITY);
    sbps_status status = server_open(&w->page_server, err);
    if (status != SBPS_OK) {
        free(w);
        return status;
    }
    pthread_mutex_init(&w->lock, NULL);
    post_update(w, NULL, "The run is starting.", false);
    if (start_thread(w)) {
        *out = w;
        return SBPS_OK;
    }
    destroy(w);
    return fail(err, SBPS_NO_MEM, "cannot start a thread to serve a page");
}

void watch_close(watch *w)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_mutex_unlock(&w->lock);
    server_wake(w->page_server);
    pthread_join(w->thread, NULL);
    destroy(w);
}

void watch_notify(watch *w, const char *message)
{
    post_update(w, NULL, message, false);
}

bool watch_wants(const watch *w)
{
    return watch_is_seen(w) && clock_now() >= atomic_load(&w->ready_at);
}

void watch_show(watch *w, result *r, const char *message, double cost, bool over)
{
    atomic_store(&w->ready_at, clock_now() + fmax(MIN_SECONDS, cost / COST_FRACTION));
    post_update(w, r, message, over);
}
