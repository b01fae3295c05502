/* The page about a run in progress, for a caller. */
#include "output/server/watch.h"
#include "api/arguments.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/threads.h"
#include "inference/run/collect.h"
#include "inference/run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

sbps_status sbps_watch_create(sbps_watch **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    return watch_open(out, err);
}

const char *sbps_watch_address(const sbps_watch *w)
{
    return w ? watch_address(w) : NULL;
}

void sbps_watch_notify(sbps_watch *w, const char *message)
{
    if (w && message) watch_notify(w, message);
}

typedef struct {
    char text[256];
    size_t used;
} line;

static void line_add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line_add(line *l, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int count = decimal_print_list(l->text + l->used, sizeof l->text - l->used, format, values);
    va_end(values);
    if (count > 0 && l->used + (size_t)count < sizeof l->text) l->used += (size_t)count;
}

/* The progress of a run in one line: "Running: 43 % done, 12 s so far, 16 s left; smallest ESS 180; largest R-hat 1.012; ..." */
static line where_it_is(const sbps_progress *p)
{
    line l = {0};
    if (p->warming_up)
        line_add(&l, "Warming up: %.0f s so far", p->seconds);
    else
        line_add(&l, "Running: %.0f %% done, %.0f s so far", floor(100.0 * p->share_done),
                 p->seconds);
    if (isfinite(p->seconds_left)) line_add(&l, ", %.0f s left", p->seconds_left);
    if (!p->warming_up && p->min_ess > 0.0) line_add(&l, "; smallest ESS %.0f", p->min_ess);
    if (isfinite(p->max_rhat)) line_add(&l, "; largest R-hat %.3f", p->max_rhat);
    if (isfinite(p->bias_estimate))
        line_add(&l, "; stated bias %.3f posterior sd", p->bias_estimate);
    return l;
}

/* Renews the page; a result that cannot be made leaves the page as it was. */
static void show(sbps_watch *w, const sbps_run *run, const char *command, const char *message,
                 bool over)
{
    double begin = clock_now();
    result *r = NULL;
    bool warming_up = run->state.phase == PHASE_WARMUP;
    if (!warming_up && run_collect_parameters(run, &r, NULL) != SBPS_OK) r = NULL;
    if (r) r->info.command = copy_text(command);
    if (r && !over) r->info.interrupted = false; /* the run goes on */
    watch_show(w, r, message, clock_now() - begin, over);
}

void sbps_watch_show(sbps_watch *w, const sbps_run *run, const char *command)
{
    sbps_progress state = {.struct_size = sizeof state};
    if (!w || !run || !watch_wants(w)) return;
    run_progress(run, &state);
    show(w, run, command, where_it_is(&state).text, false);
}

void sbps_watch_end(sbps_watch *w, const sbps_run *run, const char *command,
                    const char *message)
{
    if (!w) return;
    if (run && watch_is_seen(w))
        show(w, run, command, message, true);
    else
        watch_show(w, NULL, message, 0.0, true);
    watch_close(w);
}
