/* Errors are a code and a sentence. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "sbps.h"

/* Fills `err` (when not NULL) and returns `status`. */
sbps_status fail(sbps_error *err, sbps_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
sbps_status fail_memory(sbps_error *err);

/* The name in `names` nearest to `word` by edit distance, or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
