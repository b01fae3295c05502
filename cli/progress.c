/* Progress of a run: on a terminal one line, redrawn at most five times a second; elsewhere a
 * line every ten seconds and one at the end.
 *
 * Reading a table, set-up and long rounds do not report how far they are. A thread shows what
 * is being done and for how long: on a terminal a line that is redrawn each second, elsewhere a
 * line every ten seconds. Steps that end sooner are not shown. */
#include "cli/progress.h"
#include "cli/cli.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_SECONDS         0.2
#define LINE_SECONDS        10.0
#define STATUS_BAR_SECONDS  1
#define STATUS_LINE_SECONDS 10
/* Width of the bar; bytes of a line and of a field. */
enum { BAR_CELLS = 20, LINE_SIZE = 256, FIELD_SIZE = 48, FIELDS = 7 };

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void format_count(double count, size_t size, char *out)
{
    static const char units[] = " kMGT";
    size_t unit = 0;
    if (!isfinite(count)) {
        snprintf(out, size, "?");
        return;
    }
    while (count >= 999.5 && units[unit + 1]) {
        count /= 1000;
        unit++;
    }
    if (unit == 0)
        snprintf(out, size, "%.0f", count);
    else
        snprintf(out, size, "%.*f%c", count < 9.95 ? 1 : 0, count, units[unit]);
}

void format_duration(double seconds, size_t size, char *out)
{
    if (!isfinite(seconds) || seconds < 0) {
        snprintf(out, size, "?");
        return;
    }
    unsigned long long s = seconds < 1e15 ? (unsigned long long)ceil(seconds) : 0;
    if (s < 60)
        snprintf(out, size, "%llus", s);
    else if (s < 3600)
        snprintf(out, size, "%llum%02llus", s / 60, s % 60);
    else if (s < 48 * 3600)
        snprintf(out, size, "%lluh%02llum", s / 3600, s / 60 % 60);
    else
        snprintf(out, size, "%llud%02lluh", s / 86400, s / 3600 % 24);
}

void format_bytes_done(double done, double all, double seconds, size_t size, char *out)
{
    char part[32], whole[32], speed[32], left[32];
    *out = '\0';
    if (!(done > 0) || !(all >= done) || !(seconds > 0)) return;
    format_count(done, sizeof part, part);
    format_count(all, sizeof whole, whole);
    format_count(done / seconds, sizeof speed, speed);
    format_duration((all - done) * seconds / done, sizeof left, left);
    snprintf(out, size, ", %sB of %sB, %sB/s, %s left", part, whole, speed, left);
}

/* "[####......]" */
static void draw_bar(double share, char out[BAR_CELLS + 3])
{
    size_t full = (size_t)(fmin(fmax(share, 0), 1) * BAR_CELLS);
    out[0] = '[';
    for (size_t i = 0; i < BAR_CELLS; i++) out[1 + i] = i < full ? '#' : '.';
    strcpy(out + 1 + BAR_CELLS, "]");
}

/* The fields of the line, the most important first; unknown ones stay empty. */
static void fill_fields(const sbps_progress *s, bool bar, char field[FIELDS][FIELD_SIZE])
{
    char text[32];
    double share = isfinite(s->share_done) ? s->share_done : 0;
    memset(field, 0, FIELDS * sizeof *field);
    if (bar) draw_bar(s->warming_up ? 0 : share, field[0]);
    if (s->warming_up)
        snprintf(field[1], FIELD_SIZE, "warming up");
    else
        snprintf(field[1], FIELD_SIZE, "%3.0f%%", floor(100 * fmin(fmax(share, 0), 1)));
    format_duration(s->seconds_left, sizeof text, text);
    if (*text != '?') snprintf(field[2], FIELD_SIZE, "%s left", text);
    if (!s->warming_up && s->min_ess > 0)
        snprintf(field[3], FIELD_SIZE, "ESS %.0f", s->min_ess);
    if (isfinite(s->max_rhat)) snprintf(field[4], FIELD_SIZE, "R-hat %.3f", s->max_rhat);
    if (isfinite(s->bias_estimate))
        snprintf(field[5], FIELD_SIZE, "bias %.3f", s->bias_estimate);
    format_count(s->proposals_per_second, sizeof text, text);
    if (*text != '?') snprintf(field[6], FIELD_SIZE, "%s proposals/s", text);
}

/* Writes the line with as many fields as fit into width - 1 columns; width 0: all. */
static void progress_line(const sbps_progress *state, bool bar, size_t width, size_t size,
                          char *out)
{
    char field[FIELDS][FIELD_SIZE];
    size_t used = 0, limit = width && width < size ? width - 1 : size - 1;
    fill_fields(state, bar, field);
    *out = '\0';
    for (size_t i = 0; i < FIELDS; i++) {
        size_t gap = used ? 2 : 0, length = strlen(field[i]);
        if (!length || used + gap + length > limit) continue;
        used += (size_t)snprintf(out + used, size - used, "%*s%s", (int)gap, "", field[i]);
    }
}

progress progress_open(const char *mode)
{
    bool bar = isatty(STDERR_FILENO);
    return (progress){.silent = !strcmp(mode, "off"),
                      .bar = bar,
                      .next = clock_seconds() + (bar ? BAR_SECONDS : LINE_SECONDS)};
}

/* Prints or redraws the line. */
static void show(progress *p, const sbps_run *run)
{
    sbps_progress state = {.struct_size = sizeof state};
    char line[LINE_SIZE];
    sbps_run_progress(run, &state);
    progress_line(&state, p->bar, p->bar ? terminal_width(stderr) : 0, sizeof line, line);
    if (p->bar)
        fprintf(stderr, "\r%s\033[K", line);
    else
        print_message("%s", line);
    fflush(stderr);
    p->drawn = p->bar;
}

void progress_tick(progress *p, const sbps_run *run)
{
    double time = p->silent ? 0 : clock_seconds();
    if (p->silent || time < p->next) return;
    show(p, run);
    p->next = time + (p->bar ? BAR_SECONDS : LINE_SECONDS);
}

void progress_close(progress *p, const sbps_run *run)
{
    if (p->silent) return;
    if (p->drawn) fputs("\r\033[K", stderr);
    if (!p->bar) show(p, run);
    p->drawn = false;
}

/* ---- status line ---- */

struct status_line {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    const char *what; /* the step; NULL ends the thread */
    struct timespec since, next;
    double done, all;        /* bytes */
    const sbps_table *table; /* whose passes are shown; NULL: none */
    bool bar, drawn;
};

/* Starts the clock of a step. */
static void set_clock(status_line *w)
{
    clock_gettime(CLOCK_MONOTONIC, &w->since);
    w->next = w->since;
    w->next.tv_sec += w->bar ? STATUS_BAR_SECONDS : STATUS_LINE_SECONDS;
}

/* Prints or redraws the line, and schedules the next one. */
static void print_status(status_line *w)
{
    char time[32], far[192];
    double seconds = (double)(w->next.tv_sec - w->since.tv_sec);
    format_duration(seconds, sizeof time, time);
    if (w->table) {
        /* Passes through the rows so far; their total is not known. */
        char speed[32];
        double passes = sbps_table_passes(w->table);
        format_count(passes * (double)sbps_table_rows(w->table) / seconds, sizeof speed, speed);
        snprintf(far, sizeof far, ", %.1f passes through the rows, %s rows/s", passes, speed);
    } else
        format_bytes_done(w->done, w->all, seconds, sizeof far, far);
    if (w->bar)
        fprintf(stderr, "\r%s, %s%s\033[K", w->what, time, far);
    else
        print_message("%s, %s%s", w->what, time, far);
    w->drawn = w->bar;
    w->next.tv_sec += w->bar ? STATUS_BAR_SECONDS : STATUS_LINE_SECONDS;
}

/* The thread: wakes up when a line is due or the step changes. */
static void *show_status(void *self)
{
    status_line *w = self;
    pthread_mutex_lock(&w->lock);
    while (w->what) {
        struct timespec until = w->next;
        int code = pthread_cond_timedwait(&w->change, &w->lock, &until);
        if (code && w->what) print_status(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Starts the thread with a monotonic clock; false if that fails. */
static bool start_thread(status_line *w)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return pthread_create(&w->thread, NULL, show_status, w) == 0;
}

status_line *status_line_begin(const char *mode, const char *what)
{
    status_line *w = strcmp(mode, "off") ? calloc(1, sizeof *w) : NULL;
    if (!w) return NULL;
    w->what = what;
    w->done = w->all = NAN;
    w->bar = isatty(STDERR_FILENO);
    set_clock(w);
    if (start_thread(w)) return w;
    free(w);
    return NULL;
}

void status_line_set(status_line *w, const char *what, const sbps_table *table)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    if (w->drawn) fputs("\r\033[K", stderr);
    w->drawn = false;
    w->what = what;
    w->table = table;
    w->done = w->all = NAN;
    set_clock(w);
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

void status_line_bytes(status_line *w, double done, double all)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->done = done;
    w->all = all;
    pthread_mutex_unlock(&w->lock);
}

void status_line_end(status_line *w)
{
    if (!w) return;
    status_line_set(w, NULL, NULL);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
