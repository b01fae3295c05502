/* Posterior summaries of functions of the parameters. */
#ifndef OUTPUT_CONTRAST_H
#define OUTPUT_CONTRAST_H

#include "store/result.h"

/* Evaluates each expression at every stored draw of r and writes the summaries in a format.
 * *out is malloced (free). SBPS_BAD_ARG: an expression cannot be parsed; SBPS_BAD_DATA: it is
 * not finite at some draw. */
sbps_status contrast_report(const result *r, const char *const *expressions, size_t count,
                            sbps_format format, char **out, sbps_error *err);

#endif
