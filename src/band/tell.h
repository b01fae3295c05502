/* Looks told to whoever asked for them: the sink is never NULL. */
#ifndef BAND_TELL_H
#define BAND_TELL_H

#include "band/arrival.h"
#include "path/look.h"

/* A look that no band foresaw: the first of a flight, or one ahead of the particle. */
void tell_look(const look_sink *w, look_kind kind, double t, observation o);
/* One under a band that began at `from`; `o` NULL: nothing was seen, the flight ended. */
void tell_look_under(const look_sink *w, look_kind kind, const band *b, double from,
                     const arrival *a, const observation *o, bool bounced);

#endif
