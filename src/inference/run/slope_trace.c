/* What one chain looked at and foresaw, kept in memory for the length of a round. Only a run that
 * asks for it pays: its chain's observation_sink is set, and its buffer grows to the longest round. */
#include "inference/run/run.h"

#include <string.h>

static void take(void *self, const slope_observation *seen)
{
    chain *c = self;
    tracer *t = &c->trace;
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 1024;
        trace_record *more = realloc(t->records, capacity * sizeof *more);
        if (!more) {
            t->lost = true;
            return;
        }
        t->records = more;
        t->capacity = capacity;
    }
    t->records[t->count++] = (trace_record){.time = c->counts->time, .seen = *seen};
}

void trace_switch(chain *c, bool on)
{
    c->trace.count = 0;
    c->trace.watch = (observation_sink){c, take};
    c->s.observer = on && c->trace.enabled ? &c->trace.watch : NULL;
}

sbps_status trace_begin(sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    if (!o->trace || !*o->trace) return SBPS_OK;
    if (!run->plan->sampler->curve)
        return fail(err, SBPS_BAD_ARG,
                    "--trace: %s has no band that could be traced; --sampler sbps, psbps and "
                    "boomerang have one",
                    run->plan->sampler->name);
    if (o->trace_chain > run->chain_count)
        return fail(err, SBPS_BAD_ARG, "--trace-chain: there is no chain %zu of %zu",
                    o->trace_chain, run->chain_count);
    run->chains[o->trace_chain - 1].trace.enabled = true;
    return trace_open(o->trace, run->state.trace_bytes, &run->trace, err);
}

sbps_status trace_after_round(sbps_run *run, sbps_error *err)
{
    if (!run->trace.stream) return SBPS_OK;
    tracer *t = &run->chains[run->options->trace_chain - 1].trace;
    if (t->lost) return fail_memory(err);
    sbps_status status = trace_append(&run->trace, t->count, t->records, err);
    t->count = 0;
    return status;
}
