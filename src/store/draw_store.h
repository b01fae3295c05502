/* Draws at equal times along the path. The buffer holds twice the number asked for, and an eighth
 * more; when it is full every second draw is dropped and the spacing doubles. Chains do that at
 * different times, since they fly at different speeds; draws_thin_to brings them to one spacing,
 * and the eighth is for those that have fewer. */
#ifndef STORE_DRAW_STORE_H
#define STORE_DRAW_STORE_H

#include "core/memory.h"
#include "path/path.h"

/* Per draw, since the draw before. */
typedef struct {
    double proposals, bounces, missing;
} draw_counts;

typedef struct {
    double spacing, time, next; /* time flown; time of the next draw */
    uint64_t count;
    draw_counts since; /* the last draw */
} draws_state;

typedef struct {
    size_t dim, capacity;
    draws_state *state;
    double *w;           /* capacity*dim, in coordinates of w */
    draw_counts *counts; /* capacity */
} draws;

void draws_carve(draws *d, size_t dim, size_t requested, arena *memory);
void draws_start(draws *d, double spacing);
void draws_take(void *self, const segment *s);
/* Drops every second draw until the spacing is this one, which is its own times a power of 2. */
void draws_thin_to(draws *d, double spacing);
void draws_inspect(const draws *d, inspection *x);

#endif
