/* Work that may crash is done by a child. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "sbps.h"

/* Calls work(self, err) in a child process and hands on its status and sentence; a child that dies is
 * SBPS_NO_MEM, with `path` in the sentence. What it prints to standard output is flushed; what else it
 * changes in memory is lost. Where no child can be made the work is done here. */
sbps_status guard(const char *path, sbps_status (*work)(const void *self, sbps_error *err),
                  const void *self, sbps_error *err);

#endif
