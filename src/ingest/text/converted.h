/* A table that was converted before, and the options it was converted with. */
#ifndef INGEST_CONVERTED_H
#define INGEST_CONVERTED_H

#include "ingest/schema/rows_spec.h"

/* Maps the file; options of `spec` that contradict those it was made with get a sentence. */
sbps_status converted_read(const char *path, const rows_spec *spec, rows **out,
                           sbps_error *err);
/* A comma list without the blanks around its names; NULL: no memory. */
char *table_list(const char *list);

#endif
