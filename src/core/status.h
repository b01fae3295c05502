/* Errors are a code and a sentence. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include "sbps.h"

/* The code in words. */
const char *status_text(sbps_status status);
/* Fills `err` (when not NULL) and returns `status`. */
sbps_status fail(sbps_error *err, sbps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
sbps_status fail_memory(sbps_error *err);

#endif
