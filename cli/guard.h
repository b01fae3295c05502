/* Calls that may crash run in a child process. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "sbps.h"

/* Calls work(self, err) in a child process and returns its status and message. If the child
 * dies the status is SBPS_NO_MEM, with `path` in the message. Output to standard output is
 * flushed; other changes to memory are lost. If no child can be created, `work` is called in
 * this process. */
sbps_status guard(const char *path, sbps_status (*work)(const void *self, sbps_error *err),
                  const void *self, sbps_error *err);

#endif
