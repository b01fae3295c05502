/* See event_counts.h. */
#include "estimate/event_counts.h"

#include <float.h>

void event_counts_take(void *self, const segment *s)
{
    event_counts *c = self;
    const event *e = s->end;
    c->time += s->dt;
    c->missing += e->missing;
    c->expected += e->expected;
    c->near += e->near;
    c->nears += (double)e->nears;
    c->proposals += e->proposals;
    c->violations += e->violations;
    c->rows += e->rows;
    c->bounces += e->kind == EVENT_BOUNCE;
    c->refreshments += e->kind == EVENT_REFRESH;
}

/* Reported, and nothing more. */
void event_counts_inspect(const event_counts *c, inspection *x)
{
    INSPECT_REAL(x, c->time, 0.0, DBL_MAX);
    inspect_any(x, c, sizeof *c);
}
