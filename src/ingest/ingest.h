/* From files, and from numbers in memory, to a table. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "ingest/schema/rows_spec.h"
#include "table/rows.h"

/* CSV (quotes, CRLF, packed; commas, tabs, semicolons, bars or blanks between cells) or libsvm text, told
 * apart by the first line. `path` may be a pattern, or several lines of either: CSV with the same names. */
sbps_status rows_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err);
/* From numbers in memory: x is n * columns, row-major, without the intercept. weight and offset
 * may be NULL; names may be NULL (x1, x2, ...). */
sbps_status rows_copy(size_t n, size_t columns, const double *x, const char *const *names,
                      const double *y, const double *weight, const double *offset,
                      const rows_spec *spec, rows **out, sbps_error *err);
/* From columns in memory, a sparse matrix before them where there is one: see sbps_frame. */
sbps_status rows_from_columns(const sbps_frame *from, const rows_spec *spec, rows **out,
                              sbps_error *err);
/* From an Arrow stream, which is released whatever comes of it. */
sbps_status rows_from_arrow(struct ArrowArrayStream *stream, const rows_spec *spec, rows **out,
                            sbps_error *err);

#endif
