/* Expressions of parameters, each a quantity with a posterior of its own. */
#ifndef OUTPUT_CONTRAST_H
#define OUTPUT_CONTRAST_H

#include "store/result.h"

/* `*out` is malloced. */
sbps_status contrast_report(const result *r, const char *const *expressions, size_t count,
                            sbps_format format, char **out, sbps_error *err);

#endif
