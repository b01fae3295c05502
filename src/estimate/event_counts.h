/* What happened along a path, counted: a sink. */
#ifndef ESTIMATE_EVENT_COUNTS_H
#define ESTIMATE_EVENT_COUNTS_H

#include "core/inspect.h"
#include "path/path.h"

/* All 0 at the start; pointer-free. */
typedef struct {
    double time;     /* flown */
    double missing;  /* bounces */
    double expected; /* violations, as the regression foresaw them */
    uint64_t proposals, bounces, refreshments, violations, rows;
    double near, nears; /* see event */
} event_counts;

void event_counts_take(void *self, const segment *s);
void event_counts_inspect(const event_counts *c, inspection *x);

#endif
