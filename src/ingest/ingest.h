/* Reads tables: from files, numbers, columns and Arrow streams to shuffled design matrices
 * (rows). */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "ingest/schema/rows_spec.h"
#include "ingest/text/file_list.h"
#include "table/rows.h"

/* All functions set *out to a table that the caller owns (rows_destroy), or to NULL after a
 * failure. */

/* Reads a file: a converted table, or text that is CSV (cells separated by commas, tabs,
 * semicolons, bars or blanks) or libsvm, plain or packed; the format is recognised by the
 * content. `path` may be a pattern, or several lines of paths and patterns: CSV files with the
 * same columns. */
sbps_status rows_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err);
/* Reads text files that are listed already. */
sbps_status rows_from_files(const file_list *files, const rows_spec *spec, rows **out,
                            sbps_error *err);
/* Copies numbers in memory: x has n * column_count elements, row-major, without the intercept.
 * weight and offset may be NULL; names may be NULL (x1, x2, ...). */
sbps_status rows_copy(size_t n, size_t column_count, const double *x, const char *const *names,
                      const double *y, const double *weight, const double *offset,
                      const rows_spec *spec, rows **out, sbps_error *err);
/* Reads columns in memory, preceded by a sparse matrix if there is one: see sbps_frame. */
sbps_status rows_from_columns(const sbps_frame *from, const rows_spec *spec, rows **out,
                              sbps_error *err);
/* Reads an Arrow stream, and releases it also after a failure. */
sbps_status rows_from_arrow(struct ArrowArrayStream *stream, const rows_spec *spec, rows **out,
                            sbps_error *err);

/* ---- tables that `sbps convert` wrote ---- */

/* Maps the table at `path` into *out, which the caller owns. Fails if an option of `spec`
 * contradicts those of the conversion. */
sbps_status converted_read(const char *path, const rows_spec *spec, rows **out,
                           sbps_error *err);
/* Copies a comma list without the blanks around its names; the caller frees it. NULL: no
 * memory. */
char *table_list(const char *list);

#endif
