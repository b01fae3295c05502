/* Reading a table, setting up and rounds of long flights give no sign of themselves. A thread beside
 * them tells what goes on and for how long: on a terminal a line redrawn each second, elsewhere a line
 * every ten seconds. What is over sooner is never mentioned. */
#include "cli/cli.h"
#include "cli/progress.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_SECONDS  1
#define LINE_SECONDS 10

struct waiting {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    const char *what; /* NULL: to be ended */
    struct timespec since, next;
    double done, all;        /* bytes */
    const sbps_table *table; /* whose rows are gone through; NULL: none's */
    bool bar, drawn;
};

static void set_clock(waiting *w)
{
    clock_gettime(CLOCK_MONOTONIC, &w->since);
    w->next = w->since;
    w->next.tv_sec += w->bar ? BAR_SECONDS : LINE_SECONDS;
}

static void clear_line(waiting *w)
{
    if (w->drawn) fputs("\r\033[K", stderr);
    w->drawn = false;
}

/* Passes that are made, of which nobody knows how many there will be. */
static void format_passes(const sbps_table *table, double seconds, size_t size, char *out)
{
    char speed[32];
    double passes = sbps_table_passes(table);
    format_count(passes * (double)sbps_table_rows(table) / seconds, sizeof speed, speed);
    snprintf(out, size, ", %.1f passes through the rows, %s rows/s", passes, speed);
}

static void print_status(waiting *w)
{
    char time[32], far[128];
    double seconds = (double)(w->next.tv_sec - w->since.tv_sec);
    format_duration(seconds, sizeof time, time);
    if (w->table)
        format_passes(w->table, seconds, sizeof far, far);
    else
        format_bytes_done(w->done, w->all, seconds, sizeof far, far);
    if (w->bar)
        fprintf(stderr, "\r%s, %s%s\033[K", w->what, time, far);
    else
        complain("%s, %s%s", w->what, time, far);
    w->drawn = w->bar;
    w->next.tv_sec += w->bar ? BAR_SECONDS : LINE_SECONDS;
}

static void *watch(void *self)
{
    waiting *w = self;
    pthread_mutex_lock(&w->lock);
    while (w->what) {
        struct timespec until = w->next;
        int code = pthread_cond_timedwait(&w->change, &w->lock, &until);
        if (code && w->what) print_status(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool start_thread(waiting *w)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return pthread_create(&w->thread, NULL, watch, w) == 0;
}

waiting *waiting_begin(const char *mode, const char *what)
{
    waiting *w = strcmp(mode, "off") ? calloc(1, sizeof *w) : NULL;
    if (!w) return NULL;
    w->what = what;
    w->done = w->all = NAN;
    w->bar = isatty(STDERR_FILENO);
    set_clock(w);
    if (start_thread(w)) return w;
    free(w);
    return NULL;
}

void waiting_for(waiting *w, const char *what, const sbps_table *table)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    clear_line(w);
    w->what = what;
    w->table = table;
    w->done = w->all = NAN;
    set_clock(w);
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

void waiting_bytes(waiting *w, double done, double all)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->done = done;
    w->all = all;
    pthread_mutex_unlock(&w->lock);
}

void waiting_end(waiting *w)
{
    if (!w) return;
    waiting_for(w, NULL, NULL);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
