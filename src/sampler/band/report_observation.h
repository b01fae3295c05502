/* Looks told to whoever asked for them: the sink is never NULL. */
#ifndef SAMPLER_REPORT_OBSERVATION_H
#define SAMPLER_REPORT_OBSERVATION_H

#include "path/path.h"
#include "sampler/band/arrival.h"

/* A look that no band foresaw: the first of a flight, or one ahead of the particle. */
void report_observation(const observation_sink *w, observation_kind kind, double t,
                        observation o);
/* One under a band that began at `from`; `o` NULL: nothing was seen, the flight ended. */
void report_under_band(const observation_sink *w, observation_kind kind, const band *b,
                       double from, const arrival *a, const observation *o, bool bounced);

#endif
