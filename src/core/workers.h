/* Threads for the length of one job: they come, share out its numbered tasks and go. */
#ifndef CORE_WORKERS_H
#define CORE_WORKERS_H

#include "core/status.h"

/* Calls task(self, worker, index) for every index < tasks, each once, and returns when all are done.
 * At most `threads` run at a time, the caller being one of them; `worker` < max(1, threads) says
 * which, so that each may have scratch of its own. Indices are handed out in their order. Fewer
 * threads than asked for, where the system has no more, are slower and no error. */
sbps_status workers_run(unsigned threads, size_t tasks,
                        void (*task)(void *self, unsigned worker, size_t index), void *self,
                        sbps_error *err);

#endif
