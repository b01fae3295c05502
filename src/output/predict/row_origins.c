/* Which rows of a text the rows of a converted table were. */
#include "output/predict/row_stream.h"

#include "table/mapped_table.h"
#include "table/row_origin.h"
#include <stdlib.h>
#include <string.h>

bool stream_is_table(const row_stream *s)
{
    return !s->frame && strcmp(s->data, "-") != 0 && table_recognise(s->data);
}

static sbps_status find_origins(const rows *r, size_t count, const size_t *place, size_t **out,
                                sbps_error *err)
{
    if (!place) count = r->n;
    size_t *origin = malloc((count + 1) * sizeof *origin);
    if (!origin) return fail_memory(err);
    for (size_t i = 0; i < count; i++) origin[i] = place ? place[i] : i;
    sbps_status status = rows_origins(r, count, origin, err);
    if (status == SBPS_OK)
        *out = origin;
    else
        free(origin);
    return status;
}

sbps_status stream_origins(const row_stream *s, size_t count, const size_t *place, size_t **out,
                           sbps_error *err)
{
    rows *r;
    *out = NULL;
    if (!stream_is_table(s)) return SBPS_OK;
    sbps_status status = saved_schema_map_table(s->f->b, s->data, &r, err);
    if (status == SBPS_OK && !r->groups) status = find_origins(r, count, place, out, err);
    rows_destroy(r);
    return status;
}
