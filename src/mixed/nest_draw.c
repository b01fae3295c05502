/* Draws of effects, from the outermost inwards. */
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

/* Of the only part of a level: steps of independence Metropolis from a t with the moments that the nodes say. */
static void draw_place(nest *x, size_t l, rng *r, double *at)
{
    const nest_level *of = &x->m->level[l];
    level_room *room = &x->level[l];
    const part whole = room->parts.part[0];
    size_t q = of->shape.effects, kept = 0;
    double mean[Q], factor[Q * Q], t[Q], ratio[DRAW_TRIES];
    nest_integrate_places(x, l, (wish){.bend = false});
    if (!node_moments(q, of->points, room->places.height, room->place, mean, factor))
        memset(factor, 0, sizeof factor); /* rounding: there is one place */
    list_clear(&room->places);
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        ratio[i] = draw_t(r, q, t);
        for (size_t a = 0; a < q; a++)
            room->place[i * q + a] = mean[a] + dot(a + 1, factor + a * q, t);
        list_add(&room->places, whole.first, whole.n, 0);
    }
    nest_say(x, l, (wish){.bend = false});
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        const double *place = room->place + i * q;
        ratio[i] += room->places.height[i] - 0.5 * dot(q, place, place);
        if (i > 0 && log(rng_uniform(r)) < ratio[i] - ratio[kept]) kept = i;
    }
    memcpy(at, room->place + kept * q, q * sizeof *at);
}

/* Effects of the only part of a level given those above it, then of its parts given these; where the next go to. */
static double *draw(nest *x, size_t l, rng *r, double *out)
{
    const part whole = x->level[l].parts.part[0];
    size_t q = x->m->level[l].shape.effects, base = x->v->first, end = whole.first + whole.n;
    double at[Q];
    draw_place(x, l, r, at);
    for (size_t a = 0; a < q; a++) *out++ = dot(a + 1, x->at[l]->factor[a], at);
    if (nest_innermost(x, l)) return out;
    nest_stay(x, l, at);
    for (size_t first = whole.first, next; first < end; first = next) {
        next = nest_run(x->m, l + 1, base + first, base + end) - base;
        nest_descend(x, l, first, next - first);
        out = draw(x, l + 1, r, out);
    }
    return out;
}

void nest_draw(group_view *v, rng *r, double *out)
{
    nest x;
    nest_begin(&x, v);
    draw(&x, 0, r, out);
}
