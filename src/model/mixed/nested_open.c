/* Levels of nests: their rules, and what is kept of their parts. */
#include "core/memory.h"
#include "model/mixed/nested.h"

#include <stdlib.h>

/* What many parts say together is nearer to normal than what each says, and looks at it are dearer. */
#define FEWER     ((size_t)2)
#define NODES_MIN ((size_t)3)

static sbps_status set_level(nested_level *l, size_t nodes, sbps_error *err)
{
    free(l->node);
    l->node = mixed_grid(nodes, l->shape.effects, &l->points);
    if (!l->node) return fail_memory(err);
    l->log_count = l->node + l->points * l->shape.effects;
    return SBPS_OK;
}

size_t nested_nodes(const mixed *m, size_t level, size_t nodes)
{
    size_t less = FEWER * (m->levels - 1 - level);
    return nodes > less + NODES_MIN ? nodes - less : nodes < NODES_MIN ? nodes : NODES_MIN;
}

sbps_status nested_set_nodes(mixed *m, size_t nodes, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t l = 0; m->levels > 1 && l < m->levels && status == SBPS_OK; l++)
        status = set_level(&m->level[l], nested_nodes(m, l, nodes), err);
    return status;
}

sbps_status nested_open(mixed *m, sbps_error *err)
{
    for (size_t l = 0; m->levels > 1 && l < m->levels; l++) {
        nested_level *level = &m->level[l];
        size_t q = level->shape.effects, n = m->data->n;
        level->centre = new_doubles(n * q);
        if (!level->centre) return fail_memory(err);
    }
    return SBPS_OK;
}

void nested_close(mixed *m)
{
    for (size_t l = 0; l < m->levels; l++) {
        free(m->level[l].node);
        free(m->level[l].centre);
    }
}
