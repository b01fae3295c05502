/* The second look at the text: rows go, as they are read, to the ranks that keep them. */
#ifndef READ_SHARE_DEAL_H
#define READ_SHARE_DEAL_H

#include "data/deal.h"
#include "read/share_cursor.h"
#include "read/storage.h"

/* Rows of this rank's table come in any order, `to` being their places, by several threads at a time. */
typedef void (*share_sink)(void *self, unsigned worker, const double *row, size_t to);

/* All rows of this rank's stretch, of which `cursor` is at the first, go out in rounds, and those of its table come in.
 * Fails where the text is not what it was when it was counted. */
sbps_status share_deal_rows(share_cursor *cursor, row_deal *deal, unsigned threads,
                            share_sink sink, void *self, sbps_error *err);

#endif
