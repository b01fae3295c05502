/* What belongs to groups, given back. */
#include "table/row_groups.h"

#include "core/memory.h"

#include <stdlib.h>

void row_groups_destroy(row_groups *g)
{
    if (!g) return;
    for (size_t f = 0; g->factor && f < g->factors; f++) {
        free(g->factor[f].name);
        free_texts(g->factor[f].level, g->factor[f].levels);
        free(g->factor[f].of);
    }
    for (size_t t = 0; g->term && t < g->terms; t++) {
        free_texts(g->term[t].names, g->term[t].count);
        free(g->term[t].column);
    }
    free(g->factor);
    free(g->term);
    free(g->z);
    free(g->start);
    free(g);
}
