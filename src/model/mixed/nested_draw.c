/* Draws of effects, from the outermost inwards. */
#include "linalg/dense_matrix.h"
#include "model/mixed/nested_parts.h"

#include <math.h>
#include <string.h>

/* Of the only part of a level: steps of independence Metropolis from a t with the moments that the nodes say. */
static void draw_place(nested_integral *x, size_t l, rng *r, double *at)
{
    const nested_level *of = &x->m->level[l];
    level_scratch *level = &x->level[l];
    const part whole = level->parts.part[0];
    size_t q = of->shape.effects, kept = 0;
    double mean[Q], factor[Q * Q], t[Q], ratio[DRAW_TRIES];
    nested_integrate_places(x, l, (derivatives_wanted){.hessian = false});
    if (!node_moments(q, of->points, level->places.height, level->place, mean, factor))
        memset(factor, 0, sizeof factor); /* rounding: there is one place */
    list_clear(&level->places);
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        ratio[i] = draw_t(r, q, t);
        for (size_t a = 0; a < q; a++)
            level->place[i * q + a] = mean[a] + dot(a + 1, factor + a * q, t);
        list_add(&level->places, whole.first, whole.n, 0);
    }
    nested_loglik(x, l, (derivatives_wanted){.hessian = false});
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        const double *place = level->place + i * q;
        ratio[i] += level->places.height[i] - 0.5 * dot(q, place, place);
        if (i > 0 && log(rng_uniform(r)) < ratio[i] - ratio[kept]) kept = i;
    }
    memcpy(at, level->place + kept * q, q * sizeof *at);
}

/* Effects of the only part of a level given those above it, then of its parts given these; where the next go to. */
static double *draw(nested_integral *x, size_t l, rng *r, double *out)
{
    const part whole = x->level[l].parts.part[0];
    size_t q = x->m->level[l].shape.effects, base = x->v->first, end = whole.first + whole.n;
    double at[Q];
    draw_place(x, l, r, at);
    for (size_t a = 0; a < q; a++) *out++ = dot(a + 1, x->at[l]->factor[a], at);
    if (nested_is_innermost(x, l)) return out;
    nested_fix_effects(x, l, at);
    for (size_t first = whole.first, next; first < end; first = next) {
        next = nested_run_end(x->m, l + 1, base + first, base + end) - base;
        nested_descend(x, l, first, next - first);
        out = draw(x, l + 1, r, out);
    }
    return out;
}

void nested_draw(group_view *v, rng *r, double *out)
{
    nested_integral x;
    nested_begin(&x, v);
    draw(&x, 0, r, out);
}
