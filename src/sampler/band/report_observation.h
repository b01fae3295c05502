/* Reports observations to the sink that was set (never NULL here). */
#ifndef SAMPLER_REPORT_OBSERVATION_H
#define SAMPLER_REPORT_OBSERVATION_H

#include "path/path.h"
#include "sampler/band/arrival.h"

/* An observation without a band: the first of a segment, or an auxiliary one ahead of the
 * particle. */
void report_observation(const observation_sink *w, observation_kind kind, double t,
                        observation o);
/* One under a band that began at time `from`; `o` NULL: the segment ended without an
 * observation. */
void report_under_band(const observation_sink *w, observation_kind kind, const band *b,
                       double from, const arrival *a, const observation *o, bool bounced);

#endif
