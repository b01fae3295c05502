/* A table of groups: as long as there are groups, with the columns' names and moments of its members. */
#include "core/memory.h"
#include "model/mixed/mixed.h"
#include "table/row_sums.h"

#include <stdlib.h>
#include <string.h>

static double *copy_doubles(const double *from, size_t count)
{
    double *to = new_doubles(count + 1);
    if (to && from) memcpy(to, from, count * sizeof *to);
    return to;
}

static bool copy_names(const rows *from, rows *to)
{
    to->names = calloc(to->d + 1, sizeof *to->names);
    bool whole = to->names;
    for (size_t j = 0; whole && j < to->d; j++)
        whole = (to->names[j] = copy_text(from->names[j]));
    return whole;
}

#define ROWS_A_NUMBER ((size_t)2) /* of a part, for each of the sum's */

/* Groups whose rows are together about as many as a part of a table has; of sums with many numbers so many that these
 * are not what time goes to. */
static size_t groups_a_part(const rows *groups)
{
    const rows *member_rows = groups->member_rows;
    size_t part_rows = PART_ROWS, effects = mixed_explicit(groups) + member_rows->groups->count;
    if (mixed_explicit(groups) > EXPLICIT_MAX && ROWS_A_NUMBER * effects > part_rows)
        part_rows = ROWS_A_NUMBER * effects;
    size_t part = part_rows * member_rows->groups->count / member_rows->n;
    return part > 0 ? part : 1;
}

sbps_status grouped_rows(rows *data, rows **out, sbps_error *err)
{
    rows *r = *out = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (rows){.storage = data->storage,
                .n = data->groups->count,
                .d = data->d,
                .stride = data->stride,
                .intercept = data->intercept,
                .dropped = data->dropped,
                .hash = data->hash,
                .seed = data->seed};
    r->mean = copy_doubles(data->mean, data->d);
    r->sd = copy_doubles(data->sd, data->d);
    r->y = new_doubles(r->n);
    r->target = copy_text(data->target);
    r->notes = copy_text(data->notes);
    r->design = copy_text(data->design);
    r->source = copy_text(data->source);
    r->kept = mixed_kinds();
    if (copy_names(data, r) && r->kept && r->mean && r->sd && r->y && r->target) {
        r->member_rows = data;
        r->part = groups_a_part(r);
        return SBPS_OK;
    }
    rows_destroy(r);
    *out = NULL;
    return fail_memory(err);
}
