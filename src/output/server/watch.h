/* A page that shows a run while it is running: see server.h. The run only copies a result now
 * and then; a thread of its own writes and serves the page, and only while somebody is viewing
 * it. The run never waits for that thread. */
#ifndef OUTPUT_WATCH_H
#define OUTPUT_WATCH_H

#include "store/result.h"

typedef struct sbps_watch watch;

/* Starts the server and its thread. */
sbps_status watch_open(watch **out, sbps_error *err);
/* Ends both. If the page was requested a moment ago it waits some seconds, so that the viewer
 * receives the last page. NULL is fine. */
void watch_close(watch *w);
/* Returns the address of the page, owned by the watch. */
const char *watch_address(const watch *w);

/* Shows a message without a new result. */
void watch_notify(watch *w, const char *message);
/* True if the page was requested in the last few seconds. */
bool watch_is_seen(const watch *w);
/* True if somebody is viewing the page and another result is due: copying and showing results
 * is limited to 2 % of the time of the run. */
bool watch_wants(const watch *w);
/* Shows a result, and owns it. `cost`: seconds that it took to copy; `over`: it is the last. */
void watch_show(watch *w, result *r, const char *message, double cost, bool over);

#endif
