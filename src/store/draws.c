/* See draws.h. */
#include "store/draws.h"

#include <string.h>

void draws_carve(draws *d, size_t dim, size_t wanted, arena *memory)
{
    d->dim = dim;
    d->capacity = 2 * wanted;
    d->state = arena_take(memory, sizeof *d->state);
    d->w = arena_doubles(memory, d->capacity * dim);
    d->counts = arena_take(memory, d->capacity * sizeof *d->counts);
}

void draws_start(draws *d, double spacing)
{
    *d->state = (draws_state){.spacing = spacing, .next = spacing};
}

/* Keeps the draws at even multiples of the spacing. */
static void thin(draws *d)
{
    size_t kept = d->capacity / 2;
    for (size_t i = 0; i < kept; i++) {
        memcpy(d->w + i * d->dim, d->w + (2 * i + 1) * d->dim, d->dim * sizeof *d->w);
        draw_counts a = d->counts[2 * i], b = d->counts[2 * i + 1];
        d->counts[i] = (draw_counts){a.proposals + b.proposals, a.bounces + b.bounces,
                                     a.missing + b.missing};
    }
    d->state->count = kept;
    d->state->spacing *= 2.0;
}

static void keep(draws *d, const segment *s, double t)
{
    double a, b, *w = d->w + d->state->count * d->dim;
    s->flow->at(t, &a, &b);
    for (size_t j = 0; j < d->dim; j++) w[j] = s->centre[j] + a * s->p[j] + b * s->q[j];
    d->counts[d->state->count++] = d->state->since;
    d->state->since = (draw_counts){0};
    if (d->state->count == d->capacity) thin(d);
}

void draws_take(void *self, const segment *s)
{
    draws *d = self;
    double end = d->state->time + s->dt;
    while (d->state->next <= end) {
        double t = d->state->next - d->state->time;
        keep(d, s, t < s->dt ? t : s->dt);
        d->state->next += d->state->spacing;
    }
    d->state->time = end;
    d->state->since.proposals += (double)s->end->proposals;
    d->state->since.bounces += s->end->kind == EVENT_BOUNCE;
    d->state->since.missing += s->end->missing;
}
