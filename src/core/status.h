/* Errors: a status code and a sentence for the user. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include "sbps.h"

/* Returns the description of a code as a static string. */
const char *status_text(sbps_status status);
/* Stores the code and the formatted sentence in `err` (which may be NULL) and returns `status`.
 * Numbers are printed with a decimal point in any locale. */
sbps_status fail(sbps_error *err, sbps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that memory ran out; returns SBPS_NO_MEM. */
sbps_status fail_memory(sbps_error *err);

#endif
