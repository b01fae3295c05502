/* When draws were made. A draw is at a time of its path, which the clock of a machine knows nothing of, and chains fly side
 * by side; so the clock is noted at the end of rounds, with the time that chains have flown on average, and what lies
 * between two notes is taken to have gone evenly. Of many rounds every second, fourth, ... is kept. Nothing of this is read
 * while chains fly, so that paths do not depend on it. */
#include "inference/run/run.h"

#include <math.h>

static double mean_path_time(const sbps_run *run)
{
    double sum = 0.0;
    for (size_t c = 0; c < run->chain_count; c++) sum += run->chains[c].d.state->time;
    return sum / (double)run->chain_count;
}

static void thin(run_timestamps *m)
{
    for (size_t i = 0; i < TIMESTAMPS_MAX / 2; i++) m->at[i] = m->at[2 * i + 1];
    m->count = TIMESTAMPS_MAX / 2;
    m->every *= 2;
}

void timestamps_after_round(sbps_run *run)
{
    run_timestamps *m = &run->timestamps;
    if (m->every == 0) m->every = 1;
    if (++m->skipped < m->every) return;
    m->skipped = 0;
    m->at[m->count].time = mean_path_time(run);
    m->at[m->count++].seconds = run->state.seconds_sampling;
    if (m->count == TIMESTAMPS_MAX) thin(m);
}

/* Along the line from mark i - 1, or from nothing, to mark i; of those past the last, to now. */
static double between(const sbps_run *run, size_t i, double time)
{
    const run_timestamps *m = &run->timestamps;
    bool past = i == m->count;
    double end = past ? mean_path_time(run) : m->at[i].time,
           seconds = run->state.seconds_sampling;
    double from = i > 0 ? m->at[i - 1].time : 0.0, since = i > 0 ? m->at[i - 1].seconds : 0.0;
    if (!past) seconds = m->at[i].seconds;
    double fraction = end > from ? fmin((time - from) / (end - from), 1.0) : 1.0;
    return since + fraction * (seconds - since);
}

void timestamps_fill(const sbps_run *run, result *r)
{
    for (size_t c = 0; c < r->chains; c++)
        for (size_t k = 0, i = 0; k < r->draws; k++) {
            double time = (double)(k + 1) * run->chains[c].d.state->spacing;
            while (i < run->timestamps.count && run->timestamps.at[i].time < time) i++;
            r->seconds[c * r->draws + k] = between(run, i, time);
        }
}
