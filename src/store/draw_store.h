/* Draws at equal times along the path. The buffer holds twice the requested number and an
 * eighth more. When it is full every second draw is dropped and the spacing doubles. Chains do
 * so at different times because their path times differ; draws_thin_to gives them a common
 * spacing, and the eighth is for chains with fewer draws. */
#ifndef STORE_DRAW_STORE_H
#define STORE_DRAW_STORE_H

#include "core/memory.h"
#include "path/path.h"

/* Counts of a draw, since the previous draw. */
typedef struct {
    double proposals, bounces, missing;
} draw_counts;

typedef struct {
    double spacing, time, next; /* path time now; of the next draw */
    uint64_t count;
    draw_counts since; /* since the last draw */
} draws_state;

typedef struct {
    size_t dim, capacity;
    draws_state *state;
    double *w;           /* capacity * dim, coordinates */
    draw_counts *counts; /* capacity */
} draws;

void draws_carve(draws *d, size_t dim, size_t requested, arena *memory);
void draws_start(draws *d, double spacing);
void draws_take(void *self, const segment *s);
/* Thins the draws to this spacing, a power of 2 times the present one. */
void draws_thin_to(draws *d, double spacing);
void draws_inspect(const draws *d, inspection *x);

#endif
