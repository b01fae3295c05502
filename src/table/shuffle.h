/* Rows in random order, more of them than memory holds. */
#ifndef TABLE_SHUFFLE_H
#define TABLE_SHUFFLE_H

#include "core/status.h"
#include <stdint.h>

typedef struct shuffle shuffle;

/* Receives a row; false stops the shuffle, `err` then being the receiver's own business. */
typedef bool (*shuffle_sink)(void *self, const double *row);

/* Rows of about `width` doubles. `beside` is a path in whose folder a temporary file without a name is
 * made once the rows outgrow the memory; `memory` is what the shuffle may use, in bytes. */
sbps_status shuffle_create(const char *beside, size_t width, uint64_t seed, size_t memory,
                           shuffle **out, sbps_error *err);
/* The next row in the order of the source, of `count` doubles. */
sbps_status shuffle_add(shuffle *s, const double *row, size_t count, sbps_error *err);
/* Every row once, in the shuffled order; nothing is added afterwards. SBPS_OK with *all false when
 * the receiver stopped it. */
sbps_status shuffle_drain(shuffle *s, shuffle_sink sink, void *self, bool *all,
                          sbps_error *err);
size_t shuffle_rows_added(const shuffle *s);
void shuffle_destroy(shuffle *s);

#endif
