/* A shuffle of more rows than memory holds, with a temporary file. */
#ifndef TABLE_SHUFFLE_H
#define TABLE_SHUFFLE_H

#include "core/status.h"
#include <stdint.h>

typedef struct shuffle shuffle;

/* Receives a row; returns false to stop the shuffle, after setting its own error. */
typedef bool (*shuffle_sink)(void *self, const double *row);

/* Creates a shuffle of rows of about `width` doubles within `memory` bytes. Once they are more
 * than that, a temporary file without a name is created in the folder of `output_path`. */
sbps_status shuffle_create(const char *output_path, size_t width, uint64_t seed, size_t memory,
                           shuffle **out, sbps_error *err);
/* Adds the next row of the source, `count` doubles, which are copied. */
sbps_status shuffle_add(shuffle *s, const double *row, size_t count, sbps_error *err);
/* Passes every row to `sink` once, in the shuffled order; nothing may be added afterwards.
 * Returns SBPS_OK with *all false where the sink stopped it. */
sbps_status shuffle_drain(shuffle *s, shuffle_sink sink, void *self, bool *all,
                          sbps_error *err);
/* Returns the number of rows added. */
size_t shuffle_rows_added(const shuffle *s);
/* Frees the shuffle and closes its file; NULL is fine. */
void shuffle_destroy(shuffle *s);

#endif
