/* A page of a run under way, for who wants to look: see server.h. All but the copying of a result is done by a thread of
 * its own, and only when somebody looks; the run never waits for it. */
#ifndef OUTPUT_WATCH_H
#define OUTPUT_WATCH_H

#include "store/result.h"

typedef struct sbps_watch watch;

sbps_status watch_open(watch **out, sbps_error *err);
/* Stays for a moment where somebody has just looked, so that they see the last page. NULL is fine. */
void watch_close(watch *w);
const char *watch_address(const watch *w);

/* Words alone. */
void watch_notify(watch *w, const char *message);
/* Whether somebody has looked in the last few seconds. */
bool watch_is_seen(const watch *w);
/* Whether somebody looks and it is time for another result: what it costs to make and to draw one is held to a small part
 * of the run. */
bool watch_wants(const watch *w);
/* `r` is taken; `cost`: seconds that it took to make; over: it is the last. */
void watch_show(watch *w, result *r, const char *message, double cost, bool over);

#endif
