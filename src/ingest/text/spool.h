/* What a pipe gives, kept so that it can be read as often as a file. */
#ifndef INGEST_SPOOL_H
#define INGEST_SPOOL_H

#include "ingest/schema/rows_spec.h"
#include "ingest/text/text_file.h"

/* Whether `from` is a pipe or a device, of which nothing has been read yet: all that it gives goes to a
 * temporary file without a name, in $TMPDIR or /tmp, or into memory where none can be made, and from->kept is
 * that file. spec->watch is asked now and then. */
sbps_status spool_pipe(text_input *from, const rows_spec *spec, sbps_error *err);

#endif
