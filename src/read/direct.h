/* Rows straight from the text to their places in the table, which are known once the lines are counted. */
#ifndef READ_DIRECT_H
#define READ_DIRECT_H

#include "read/source.h"

/* *done is false for a file that is not read this way: small or packed, with categories, with rows dropped, quotes over
 * lines, or something wrong; nothing has happened to the source then. What comes out is what comes out by any way. */
sbps_status direct_read(const row_source *s, const rows_spec *spec, rows **out, bool *done,
                        sbps_error *err);

/* Whether it can be evaluated only when all rows are there, or has groups; NULL: it cannot. */
bool formula_waits(const formula *f);

#endif
