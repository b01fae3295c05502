/* Files of other kinds than ours, by their first bytes. */
#ifndef INGEST_FOREIGN_H
#define INGEST_FOREIGN_H

#include "core/status.h"

#include <stddef.h>

/* Fails with the name of the format and what to do with it; SBPS_OK for bytes of no format that is
 * known here. */
sbps_status foreign_refuse(const char *path, const char *bytes, size_t size, sbps_error *err);

#endif
