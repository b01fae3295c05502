/* New rows that lie in memory go the way of a table's: fields to rows as read, by a plan that the blueprint makes. */
#include "read/blueprint.h"

#include "read/field_reader.h"
#include <stdlib.h>

struct blueprint_frame {
    const blueprint *b;
    const char *name;
    blueprint_wants wants;
    rows_spec spec;
    row_taker to;
    field_source *source;
};

static sbps_status plan_frame(const void *self, const columns *c, plan **out, sbps_error *err)
{
    const blueprint_frame *f = self;
    return blueprint_plan(f->b, f->name, c, f->wants, out, err);
}

static sbps_status open_source(blueprint_frame *f, const sbps_frame *from, sbps_error *err)
{
    const field_purpose purpose = {.plan = plan_frame, .self = f, .to = &f->to};
    if (from->stream) return arrow_source(from->stream, &f->spec, &purpose, &f->source, err);
    return columns_source(from, &f->spec, &purpose, &f->source, err);
}

sbps_status blueprint_frame_open(const blueprint *b, const char *name, const sbps_frame *from,
                                 blueprint_wants wants, unsigned threads, const row_taker *to,
                                 blueprint_frame **out, sbps_error *err)
{
    blueprint_frame *f = *out = calloc(1, sizeof *f);
    if (!f) return fail_memory(err);
    *f = (blueprint_frame){.b = b,
                           .name = name,
                           .wants = wants,
                           .spec = {.na = b->na, .threads = threads},
                           .to = *to};
    return open_source(f, from, err);
}

const plan *blueprint_frame_plan(const blueprint_frame *f)
{
    return f->source->reader.plan;
}

sbps_status blueprint_frame_read(blueprint_frame *f, sbps_error *err)
{
    return f->source->read(f->source, err);
}

void blueprint_frame_close(blueprint_frame *f)
{
    if (!f) return;
    field_source_close(f->source);
    free(f);
}
