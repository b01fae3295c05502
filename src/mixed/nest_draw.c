/* Draws of effects, from the outermost inwards. */
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

/* Steps of independence Metropolis from a t with the moments that the nodes say. */
static void draw_place(nest *x, size_t l, size_t first, size_t n, rng *r, double *at)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects, kept = 0;
    double mean[Q], factor[Q * Q], t[Q], ratio[DRAW_TRIES],
        value = 0.0, unused[LEVELS_MOST * Q * LEVELS_MOST * Q] = {0.0};
    level_room *room = &x->level[l];
    nest_integrate(x, l, first, n, &(sayings){&value, x->v->mean + first, x->v->extra, unused});
    if (!node_moments(q, of->points, room->said.height, room->place, mean, factor))
        memset(factor, 0, sizeof factor); /* rounding: there is one place */
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        ratio[i] = draw_t(r, q, t);
        for (size_t a = 0; a < q; a++)
            room->place[i * q + a] = mean[a] + dot(a + 1, factor + a * q, t);
    }
    nest_say(x, l, first, n, DRAW_TRIES, room->place, &room->said);
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        const double *place = room->place + i * q;
        ratio[i] += room->said.height[i] - 0.5 * dot(q, place, place);
        if (i > 0 && log(rng_uniform(r)) < ratio[i] - ratio[kept]) kept = i;
    }
    memcpy(at, room->place + kept * q, q * sizeof *at);
}

/* Effects of a part given those above it, then of its parts given these; where the next go to. */
static double *draw(nest *x, size_t l, size_t first, size_t n, rng *r, double *out)
{
    size_t q = x->m->level[l].shape.effects;
    double at[Q];
    draw_place(x, l, first, n, r, at);
    for (size_t a = 0; a < q; a++) *out++ = dot(a + 1, x->at[l]->factor[a], at);
    if (nest_innermost(x, l)) return out;
    nest_raise(x, l, first, n, at, x->level[l + 1].eta + first);
    for (size_t i = first, end; i < first + n; i = end) {
        end = nest_run(x->m, l + 1, x->v->first + i, x->v->first + first + n) - x->v->first;
        out = draw(x, l + 1, i, end - i, r, out);
    }
    return out;
}

void nest_draw(group_view *v, rng *r, double *out)
{
    nest x;
    nest_begin(&x, v);
    draw(&x, 0, 0, v->n, r, out);
}
