/* A look at a run under way, for a caller. */
#include "watch/watch.h"

#include "base/clock.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

sbps_status sbps_watch_create(sbps_watch **out, sbps_error *err)
{
    return watch_open(out, err);
}

const char *sbps_watch_address(const sbps_watch *w)
{
    return watch_address(w);
}

void sbps_watch_tell(sbps_watch *w, const char *words)
{
    watch_tell(w, words);
}

typedef struct {
    char text[256];
    size_t used;
} line;

static void say(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(line *l, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int count = decimal_print_list(l->text + l->used, sizeof l->text - l->used, format, values);
    va_end(values);
    if (count > 0 && l->used + (size_t)count < sizeof l->text) l->used += (size_t)count;
}

/* "Running: 43 % done, 12 s so far, 16 s left; smallest ESS 180; largest R-hat 1.012; ..." */
static line where_it_is(const sbps_progress *p)
{
    line l = {0};
    if (p->warming_up)
        say(&l, "Warming up: %.0f s so far", p->seconds);
    else
        say(&l, "Running: %.0f %% done, %.0f s so far", floor(100.0 * p->share_done),
            p->seconds);
    if (isfinite(p->seconds_left)) say(&l, ", %.0f s left", p->seconds_left);
    if (!p->warming_up && p->min_ess > 0.0) say(&l, "; smallest ESS %.0f", p->min_ess);
    if (isfinite(p->max_rhat)) say(&l, "; largest R-hat %.3f", p->max_rhat);
    if (isfinite(p->bias_estimate))
        say(&l, "; stated bias %.3f posterior sd", p->bias_estimate);
    return l;
}

/* A failure costs a look, no more. */
static void show(sbps_watch *w, const sbps_run *run, const char *command, const char *words,
                 bool over)
{
    double begin = clock_now();
    result *r = NULL;
    bool warming_up = run->state.phase == PHASE_WARMUP;
    if (!warming_up && run_collect(run, &r, NULL) != SBPS_OK) r = NULL;
    if (r) r->info.command = copy_text(command);
    if (r && !over) r->info.interrupted = false; /* that it goes on is no finding */
    watch_show(w, r, words, clock_now() - begin, over);
}

void sbps_watch_show(sbps_watch *w, const sbps_run *run, const char *command)
{
    sbps_progress state = {.struct_size = sizeof state};
    if (!watch_wants(w)) return;
    run_progress(run, &state);
    show(w, run, command, where_it_is(&state).text, false);
}

void sbps_watch_end(sbps_watch *w, const sbps_run *run, const char *command, const char *words)
{
    if (!w) return;
    if (run && watch_is_seen(w))
        show(w, run, command, words, true);
    else
        watch_show(w, NULL, words, 0.0, true);
    watch_close(w);
}
