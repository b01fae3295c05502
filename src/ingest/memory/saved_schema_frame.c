/* New rows in memory: fields are read with a column schema made from the saved schema. */
#include "ingest/design/saved_schema.h"

#include "ingest/memory/field_reader.h"
#include <stdlib.h>

struct saved_schema_frame {
    const saved_schema *b;
    const char *name;
    new_row_request request;
    rows_spec spec;
    row_taker to;
    field_source *source;
};

static sbps_status match_frame_columns(const void *self, const columns *c, column_schema **out,
                                       sbps_error *err)
{
    const saved_schema_frame *f = self;
    return saved_schema_match(f->b, f->name, c, f->request, out, err);
}

static sbps_status open_source(saved_schema_frame *f, const sbps_frame *from, sbps_error *err)
{
    const field_purpose purpose = {.make_schema = match_frame_columns, .self = f, .to = &f->to};
    if (from->stream) return arrow_source(from->stream, &f->spec, &purpose, &f->source, err);
    return columns_source(from, &f->spec, &purpose, &f->source, err);
}

sbps_status saved_schema_frame_open(const saved_schema *b, const char *name,
                                    const sbps_frame *from, new_row_request request,
                                    unsigned threads, const row_taker *to,
                                    saved_schema_frame **out, sbps_error *err)
{
    saved_schema_frame *f = *out = calloc(1, sizeof *f);
    if (!f) return fail_memory(err);
    *f = (saved_schema_frame){.b = b,
                              .name = name,
                              .request = request,
                              .spec = {.na = b->na, .threads = threads},
                              .to = *to};
    return open_source(f, from, err);
}

const column_schema *saved_schema_frame_columns(const saved_schema_frame *f)
{
    return f->source->reader.schema;
}

sbps_status saved_schema_frame_read(saved_schema_frame *f, sbps_error *err)
{
    return f->source->read(f->source, err);
}

void saved_schema_frame_close(saved_schema_frame *f)
{
    if (!f) return;
    field_source_close(f->source);
    free(f);
}
