/* Draws at equal times along the path. */
#include "store/draw_store.h"

#include <float.h>
#include <math.h>
#include <string.h>

void draws_carve(draws *d, size_t dim, size_t requested, arena *memory)
{
    d->dim = dim;
    d->capacity = 2 * (requested + requested / 8);
    d->state = arena_take(memory, sizeof *d->state);
    d->w = arena_doubles(memory, d->capacity * dim);
    d->counts = arena_take(memory, d->capacity * sizeof *d->counts);
}

void draws_start(draws *d, double spacing)
{
    *d->state = (draws_state){.spacing = spacing, .next = spacing};
}

static draw_counts add(draw_counts a, draw_counts b)
{
    return (draw_counts){a.proposals + b.proposals, a.bounces + b.bounces,
                         a.missing + b.missing};
}

/* Drops every second draw and doubles the spacing. */
static void thin(draws *d)
{
    size_t count = d->state->count, kept = count / 2;
    for (size_t i = 0; i < kept; i++) {
        memcpy(d->w + i * d->dim, d->w + (2 * i + 1) * d->dim, d->dim * sizeof *d->w);
        d->counts[i] = add(d->counts[2 * i], d->counts[2 * i + 1]);
    }
    if (count % 2) d->state->since = add(d->counts[count - 1], d->state->since);
    d->state->count = kept;
    d->state->spacing *= 2.0;
}

/* After thinning the next draw must be at a multiple of the spacing: an odd one is skipped. */
void draws_thin_to(draws *d, double spacing)
{
    while (d->state->spacing < spacing) {
        if (d->state->count % 2 == 0) d->state->next += d->state->spacing;
        thin(d);
    }
}

/* Appends the point of the segment at time t as a draw. */
static void store_draw(draws *d, const segment *s, double t)
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
        store_draw(d, s, t < s->dt ? t : s->dt);
        d->state->next += d->state->spacing;
    }
    d->state->time = end;
    d->state->since.proposals += (double)s->end->proposals;
    d->state->since.bounces += s->end->kind == EVENT_BOUNCE;
    d->state->since.missing += s->end->missing;
}

/* True if draw i was taken at (i + 1) * spacing and the next one is less than a spacing away.
 */
static bool in_step(const draws_state *s)
{
    double taken = s->time / s->spacing, ahead = (s->next - s->time) / s->spacing;
    return fabs(taken - (double)s->count) <= 2.0 && ahead >= 0.0 && ahead <= 1.0 + 1e-6;
}

void draws_inspect(const draws *d, inspection *x)
{
    const draws_state *s = d->state;
    INSPECT_REAL(x, s->spacing, DBL_MIN, DBL_MAX);
    INSPECT_REAL(x, s->time, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->next, 0.0, DBL_MAX);
    inspect_count(x, "the number of draws", &s->count, d->capacity - 1);
    INSPECT_ANY(x, s->since);
    inspect_any(x, d->w, d->capacity * d->dim * sizeof *d->w);
    inspect_any(x, d->counts, d->capacity * sizeof *d->counts);
    INSPECT_WHOLE(x, *s);
    if (x->wrong[0]) return;
    inspect_that(x, "draws that are not at equal times", in_step(s));
    inspect_finite(x, "a draw", d->w, s->count * d->dim);
}
