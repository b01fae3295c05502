/* Looks told to whoever watches. */
#ifndef SAMPLER_WATCH_H
#define SAMPLER_WATCH_H

#include "sampler/arrival.h"
#include "sampler/sampler.h"

/* A look that no band foresaw: the first of a flight, or one ahead of the particle. */
void watch_tell(const watcher *w, look_kind kind, double t, observation o);
/* One under a band that began at `from`; `o` NULL: nothing was seen, the flight ended. */
void watch_tell_band(const watcher *w, look_kind kind, const band *b, double from,
                     const arrival *a, const observation *o, bool bounced);

#endif
