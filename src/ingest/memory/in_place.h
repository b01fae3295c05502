/* Tables whose numbers stay where the caller has them: --storage given. */
#ifndef INGEST_IN_PLACE_H
#define INGEST_IN_PLACE_H

#include "ingest/memory/field_reader.h"

/* Is it asked for? */
bool in_place_requested(const rows_spec *spec);
/* n rows of the columns that the reader has planned; what the fields point to is borrowed until the rows are destroyed. */
sbps_status in_place_create(const field_reader *r, const field *fields, size_t n, rows **out,
                            sbps_error *err);

#endif
