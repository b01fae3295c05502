/* Integrals of a level: nodes around the modes, and what they say in their shares. */
#include "base/cholesky.h"
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

/* Nodes around the mode. */
static void place_nodes(nest *x, size_t l, size_t of, const stand *s)
{
    const nest_level *rule = &x->m->level[l];
    level_room *room = &x->level[l];
    const part *p = &room->parts.part[of];
    size_t q = rule->shape.effects;
    for (size_t k = 0; k < rule->points; k++) {
        double *place = room->place + room->places.count * q;
        memcpy(place, rule->node + k * q, q * sizeof *place);
        cholesky_back(q, s->root, place);
        for (size_t a = 0; a < q; a++) place[a] += s->v[a];
        list_add(&room->places, p->first, p->n, of);
    }
}

/* bend += share (b + p p') by the effects above level l */
static void add_bend(const nest *x, size_t l, double share, const double *b, const double *p,
                     double *bend)
{
    for (size_t i = 0; i < x->level[l].before; i++)
        for (size_t j = 0; j <= i; j++)
            bend[i * x->all + j] += share * ((b ? b[i * x->all + j] : 0.0) + p[i] * p[j]);
}

/* Derivatives by spreads and auxiliaries that a node says, in its share. */
static void add_extra(const nest *x, size_t l, size_t node, const double *pull, double *to)
{
    const nest_level *of = &x->m->level[l];
    const level_room *room = &x->level[l];
    size_t q = of->shape.effects, own = of->spread - x->m->data->d, count = nest_extra(x->m);
    double share = room->places.height[node];
    add_scaled(count, share, room->places.extra + node * count, to);
    for (size_t a = 0; a < of->shape.count; a++)
        to[own + a] += share * pull[room->before + of->shape.of[a].row] *
                       dot(q, x->at[l]->first[a], room->place + node * q);
}

/* What the nodes of a part say, the first of them given, in their shares. */
static void gather(nest *x, size_t l, size_t of, size_t node, wish w)
{
    level_room *room = &x->level[l];
    list *to = &room->parts, *from = &room->places;
    const part *p = &to->part[of];
    size_t square = x->all * x->all, points = x->m->level[l].points;
    double *bend = to->bend + of * square, *extra = to->extra + of * nest_extra(x->m);
    double pull[LEVELS_MOST * Q], middle[LEVELS_MOST * Q] = {0.0};
    memset(to->mean + p->cell, 0, p->n * sizeof *to->mean);
    if (w.bend) memset(bend, 0, square * sizeof *bend);
    if (w.extra) memset(extra, 0, nest_extra(x->m) * sizeof *extra);
    for (size_t k = node; k < node + points; k++) {
        double share = from->height[k];
        add_scaled(p->n, share, from->mean + from->part[k].cell, to->mean + p->cell);
        if (w.bend || w.extra) nest_pull(x, l, k, pull);
        if (w.extra) add_extra(x, l, k, pull, extra);
        if (!w.bend) continue;
        add_scaled(room->before, share, pull, middle);
        add_bend(x, l, share, from->bend + k * square, pull, bend);
    }
    if (w.bend) add_bend(x, l, -1.0, NULL, middle, bend);
}

/* From heights of a part's nodes to their shares, and the log of the integral. */
static double share_nodes(const nest *x, size_t l, size_t node, const stand *s)
{
    const nest_level *rule = &x->m->level[l];
    const level_room *room = &x->level[l];
    size_t q = rule->shape.effects;
    double *height = room->places.height + node, log_size = 0.0;
    for (size_t a = 0; a < q; a++) log_size -= log(s->root[a * q + a]);
    for (size_t k = 0; k < rule->points; k++) {
        const double *place = room->place + (node + k) * q;
        height[k] += rule->log_count[k] - 0.5 * dot(q, place, place);
    }
    return log_size + share_out(rule->points, height);
}

/* So many parts that their nodes have room together. */
static size_t block_of(const nest *x, size_t l, size_t from)
{
    const level_room *room = &x->level[l];
    size_t points = x->m->level[l].points, cells = 0, end = from;
    for (; end < room->parts.count; end++) {
        cells += points * room->parts.part[end].n;
        bool fits = cells <= room->places.cells_most &&
                    (end + 1 - from) * points <= room->places.count_most;
        if (!fits && end > from) break;
    }
    return end - from;
}

static void integrate_block(nest *x, size_t l, size_t from, size_t count, wish w)
{
    level_room *room = &x->level[l];
    size_t points = x->m->level[l].points;
    nest_locate(x, l, from, count, w.keep);
    list_clear(&room->places);
    for (size_t i = 0; i < count; i++) place_nodes(x, l, from + i, &room->stand[i]);
    nest_say(x, l, (wish){.bend = w.bend, .extra = w.extra});
    for (size_t i = 0; i < count; i++) {
        room->parts.height[from + i] = share_nodes(x, l, i * points, &room->stand[i]);
        gather(x, l, from + i, i * points, w);
    }
}

static void in_blocks(nest *x, size_t l, wish w,
                      void (*integrate)(nest *x, size_t l, size_t from, size_t count, wish w))
{
    for (size_t from = 0, count; from < x->level[l].parts.count; from += count) {
        count = block_of(x, l, from);
        integrate(x, l, from, count, w);
    }
}

void nest_integrate_places(nest *x, size_t l, wish w)
{
    in_blocks(x, l, w, integrate_block);
}

void nest_integrate(nest *x, size_t l, wish w)
{
    in_blocks(x, l, w, x->plain && nest_innermost(x, l) ? leaves_integrate : integrate_block);
}
