/* Integrals of a level: nodes around the modes, and what they say in their shares. */
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/nested_parts.h"

#include <math.h>
#include <string.h>

/* Nodes around the mode. */
static void place_nodes(nested_integral *x, size_t l, size_t of, const newton_state *s)
{
    const nested_level *rule = &x->m->level[l];
    level_scratch *level = &x->level[l];
    const part *p = &level->parts.part[of];
    size_t q = rule->shape.effects;
    for (size_t k = 0; k < rule->points; k++) {
        double *place = level->place + level->places.count * q;
        memcpy(place, rule->node + k * q, q * sizeof *place);
        cholesky_back(q, s->root, place);
        for (size_t a = 0; a < q; a++) place[a] += s->v[a];
        list_add(&level->places, p->first, p->n, of);
    }
}

/* bend += share (b + p p') by the effects above level l */
static void add_hessian(const nested_integral *x, size_t l, double weight, const double *b,
                        const double *p, double *hessian)
{
    for (size_t i = 0; i < x->level[l].before; i++)
        for (size_t j = 0; j <= i; j++)
            hessian[i * x->all + j] += weight * ((b ? b[i * x->all + j] : 0.0) + p[i] * p[j]);
}

/* Derivatives by spreads and auxiliaries that a node says, in its share. */
static void add_extra(const nested_integral *x, size_t l, size_t node, const double *pull,
                      double *to)
{
    const nested_level *of = &x->m->level[l];
    const level_scratch *level = &x->level[l];
    size_t q = of->shape.effects, own = of->spread - x->m->data->d,
           count = nested_extra_count(x->m);
    double weight = level->places.height[node];
    add_scaled(count, weight, level->places.extra + node * count, to);
    for (size_t a = 0; a < of->shape.count; a++)
        to[own + a] += weight * pull[level->before + of->shape.of[a].row] *
                       dot(q, x->at[l]->first[a], level->place + node * q);
}

/* What the nodes of a part say, the first of them given, in their shares. */
static void gather_nodes(nested_integral *x, size_t l, size_t of, size_t node,
                         derivatives_wanted w)
{
    level_scratch *level = &x->level[l];
    list *to = &level->parts, *from = &level->places;
    const part *p = &to->part[of];
    size_t square = x->all * x->all, points = x->m->level[l].points;
    double *hessian = to->hessian + of * square,
           *extra = to->extra + of * nested_extra_count(x->m);
    double pull[LEVELS_MAX * Q], middle[LEVELS_MAX * Q] = {0.0};
    memset(to->mean + p->cell, 0, p->n * sizeof *to->mean);
    if (w.hessian) memset(hessian, 0, square * sizeof *hessian);
    if (w.extra) memset(extra, 0, nested_extra_count(x->m) * sizeof *extra);
    for (size_t k = node; k < node + points; k++) {
        double weight = from->height[k];
        add_scaled(p->n, weight, from->mean + from->part[k].cell, to->mean + p->cell);
        if (w.hessian || w.extra) nested_pull(x, l, k, pull);
        if (w.extra) add_extra(x, l, k, pull, extra);
        if (!w.hessian) continue;
        add_scaled(level->before, weight, pull, middle);
        add_hessian(x, l, weight, from->hessian + k * square, pull, hessian);
    }
    if (w.hessian) add_hessian(x, l, -1.0, NULL, middle, hessian);
}

/* From heights of a part's nodes to their shares, and the log of the integral. */
static double normalise_heights(const nested_integral *x, size_t l, size_t node,
                                const newton_state *s)
{
    const nested_level *rule = &x->m->level[l];
    const level_scratch *level = &x->level[l];
    size_t q = rule->shape.effects;
    double *height = level->places.height + node, log_size = 0.0;
    for (size_t a = 0; a < q; a++) log_size -= log(s->root[a * q + a]);
    for (size_t k = 0; k < rule->points; k++) {
        const double *place = level->place + (node + k) * q;
        height[k] += rule->log_count[k] - 0.5 * dot(q, place, place);
    }
    return log_size + normalise_log_weights(rule->points, height);
}

/* So many parts that their nodes have room together. */
static size_t count_block_parts(const nested_integral *x, size_t l, size_t from)
{
    const level_scratch *level = &x->level[l];
    size_t points = x->m->level[l].points, cells = 0, end = from;
    for (; end < level->parts.count; end++) {
        cells += points * level->parts.part[end].n;
        bool fits = cells <= level->places.cells_max &&
                    (end + 1 - from) * points <= level->places.count_max;
        if (!fits && end > from) break;
    }
    return end - from;
}

static void integrate_block(nested_integral *x, size_t l, size_t from, size_t count,
                            derivatives_wanted w)
{
    level_scratch *level = &x->level[l];
    size_t points = x->m->level[l].points;
    nested_find_modes(x, l, from, count, w.keep);
    list_clear(&level->places);
    for (size_t i = 0; i < count; i++) place_nodes(x, l, from + i, &level->state[i]);
    nested_loglik(x, l, (derivatives_wanted){.hessian = w.hessian, .extra = w.extra});
    for (size_t i = 0; i < count; i++) {
        level->parts.height[from + i] = normalise_heights(x, l, i * points, &level->state[i]);
        gather_nodes(x, l, from + i, i * points, w);
    }
}

static void in_blocks(nested_integral *x, size_t l, derivatives_wanted w,
                      void (*integrate)(nested_integral *x, size_t l, size_t from, size_t count,
                                        derivatives_wanted w))
{
    for (size_t from = 0, count; from < x->level[l].parts.count; from += count) {
        count = count_block_parts(x, l, from);
        integrate(x, l, from, count, w);
    }
}

void nested_integrate_places(nested_integral *x, size_t l, derivatives_wanted w)
{
    in_blocks(x, l, w, integrate_block);
}

void nested_integrate(nested_integral *x, size_t l, derivatives_wanted w)
{
    in_blocks(x, l, w,
              x->plain && nested_is_innermost(x, l) ? innermost_integrate : integrate_block);
}
