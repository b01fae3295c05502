/* Windows of a mapped table read past the page cache, many at a time: for tables that do not fit in
 * memory, where every page kept is another one dropped. */
#ifndef TABLE_WINDOW_READER_H
#define TABLE_WINDOW_READER_H

#include "table/rows.h"

typedef struct row_reader row_reader;

/* How many windows of n rows to ask for before they are used. */
size_t reader_depth(const rows *data, size_t n);
/* Windows of n rows; NULL where such reads cannot be had, and for sparse rows, which have no
 * common length. Belongs to the table and ends with it. */
row_reader *reader_take(const rows *data, size_t n);
/* Whether somebody has taken one already: the table is known not to fit in memory. */
bool reader_known(const rows *data);
/* Gives it back for others to take; NULL is fine. */
void reader_give(const rows *data, row_reader *r);

/* Asks for the window at `first`; at most reader_depth may be asked for and not taken. */
void reader_request(row_reader *r, size_t first);
/* Waits for the window asked for first, and lets go of the one before. */
void reader_next(row_reader *r);
/* The table to read rows of the window from, and in *range where they are there; `data` itself and
 * the range as it is when they are not in the window. */
const rows *reader_rows(const row_reader *r, const rows *data, row_range *range);

#endif
