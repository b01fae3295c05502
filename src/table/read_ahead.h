/* Reading rows before they are used: from memory into the processor's cache, from disk into
 * memory, and, for mapped tables that do not fit in memory, in windows past the page cache,
 * where every page kept would displace another one. Only time depends on it, never a result. */
#ifndef TABLE_READ_AHEAD_H
#define TABLE_READ_AHEAD_H

#include "table/rows.h"

/* Rows in memory: prefetches n rows from `first` into the processor's cache. */
void rows_prefetch(const rows *data, size_t first, size_t n);
/* Mapped rows: returns whether row `first` is in memory now; true where the system cannot
 * know. */
bool rows_present(const rows *data, size_t first);
/* Mapped rows: asks the kernel to read n rows from `first` with their y, weights and offsets;
 * does not wait. */
void rows_will_need(const rows *data, size_t first, size_t n);
/* Mapped rows: the same for y, weights and offsets of all rows, without x. */
void targets_will_need(const rows *data);

/* ---- windows past the page cache ---- */

/* A reader of windows of n rows of a mapped table, used by one thread at a time. */
typedef struct row_reader row_reader;
struct reader_list; /* the readers of a table, kept by its table_file */

/* Returns an empty list; NULL: no memory. */
struct reader_list *readers_create(void);
/* Frees a list and its readers; NULL is fine. */
void readers_destroy(struct reader_list *l);

/* Returns how many windows of n rows to request before they are used, at least 1. */
size_t reader_depth(const rows *data, size_t n);
/* Returns a reader of windows of n rows, which stays the table's and ends with it. NULL where
 * such reads are not possible, and for sparse rows, which differ in length. */
row_reader *reader_take(const rows *data, size_t n);
/* Returns whether a reader was taken before: the table is known not to fit in memory. */
bool reader_known(const rows *data);
/* Returns a reader to the list, for other threads to take; NULL is fine. */
void reader_give(const rows *data, row_reader *r);

/* Requests the window that begins at row `first`; does not wait. At most reader_depth windows
 * may be requested and not yet used. */
void reader_request(row_reader *r, size_t first);
/* Waits for the window requested earliest and releases the one before it. */
void reader_next(row_reader *r);
/* Returns the table to read *range from: the current window, in which *range is then counted,
 * or `data` itself, with *range unchanged, where the window does not hold it. */
const rows *reader_rows(const row_reader *r, const rows *data, row_range *range);

#endif
