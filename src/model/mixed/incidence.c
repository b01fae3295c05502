/* Which levels of other factors groups meet, found once. */
#include "core/memory.h"
#include "model/mixed/crossed_effects.h"

#include <stdlib.h>
#include <string.h>

/* Levels of a group's rows, in the order of their first rows; at[level]: which of them it is, if seen[level] is the
 * group. */
typedef struct {
    size_t *seen; /* levels: group + 1 */
    uint32_t *at;
    double *rows; /* levels: of all groups */
} tally;

static void list_group_levels(const mixed *m, other_factor *o, const tally *t, size_t g,
                              size_t *used)
{
    const uint32_t *of = m->groups->factor[o->factor].of;
    size_t first = o->incident_start[g] = *used;
    for (size_t i = m->groups->start[g]; i < m->groups->start[g + 1]; i++) {
        size_t level = of[i];
        if (t->seen[level] != g + 1) {
            t->seen[level] = g + 1;
            t->at[level] = (uint32_t)(*used - first);
            o->incident[*used] = (uint32_t)level;
            o->incident_fraction[(*used)++] = 0.0;
        }
        o->slot[i] = t->at[level];
        o->incident_fraction[first + o->slot[i]] += 1.0 / t->rows[level];
    }
}

static bool shrink(other_factor *o, size_t used)
{
    uint32_t *incident = realloc(o->incident, (used + 1) * sizeof *incident);
    if (incident) o->incident = incident;
    double *fraction = realloc(o->incident_fraction, (used + 1) * sizeof *fraction);
    if (fraction) o->incident_fraction = fraction;
    return incident && fraction;
}

static bool list_incidence(const mixed *m, other_factor *o, const tally *t)
{
    const group_factor *factor = &m->groups->factor[o->factor];
    size_t n = m->data->n, count = m->groups->count, used = 0;
    o->incident_start = calloc(count + 1, sizeof *o->incident_start);
    o->incident = malloc((n + 1) * sizeof *o->incident);
    o->slot = malloc((n + 1) * sizeof *o->slot);
    o->incident_fraction = malloc((n + 1) * sizeof *o->incident_fraction);
    if (!o->incident_start || !o->incident || !o->slot || !o->incident_fraction) return false;
    for (size_t i = 0; i < n; i++) t->rows[factor->of[i]] += 1.0;
    for (size_t g = 0; g < count; g++) list_group_levels(m, o, t, g, &used);
    o->incident_start[count] = used;
    return shrink(o, used);
}

static sbps_status open_factor(const mixed *m, other_factor *o, sbps_error *err)
{
    size_t levels = m->groups->factor[o->factor].levels, q = o->shape.effects;
    const tally t = {calloc(levels, sizeof *t.seen), calloc(levels, sizeof *t.at),
                     new_doubles(levels)};
    o->precision = new_doubles(levels * q * q);
    o->pull = new_doubles(levels * q);
    bool fine = t.seen && t.at && t.rows && o->precision && o->pull && list_incidence(m, o, &t);
    free(t.seen);
    free(t.at);
    free(t.rows);
    return fine ? SBPS_OK : fail_memory(err);
}

static void find_incident_max(mixed *m)
{
    for (size_t g = 0; g < m->groups->count; g++) {
        size_t count = 0;
        for (size_t f = 0; f < m->others; f++) {
            const other_factor *o = &m->other[f];
            count += (o->incident_start[g + 1] - o->incident_start[g]) * o->shape.effects;
        }
        if (count > m->incident_max) m->incident_max = count;
    }
}

sbps_status crossed_open(mixed *m, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t f = 0; f < m->others && status == SBPS_OK; f++)
        status = open_factor(m, &m->other[f], err);
    if (status == SBPS_OK) find_incident_max(m);
    return status;
}

void crossed_close(mixed *m)
{
    for (size_t f = 0; f < m->others; f++) {
        other_factor *o = &m->other[f];
        free(o->precision);
        free(o->pull);
        free(o->incident_start);
        free(o->incident);
        free(o->slot);
        free(o->incident_fraction);
    }
}
