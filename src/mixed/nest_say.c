/* What parts say at places of their effects: rows, or parts of theirs. */
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <string.h>

void list_clear(list *of)
{
    of->count = of->cells = 0;
}

bool list_full(const list *of, size_t n)
{
    return of->count == of->count_most || of->cells + n > of->cells_most;
}

part *list_add(list *of, size_t first, size_t n, size_t from)
{
    part *p = &of->part[of->count++];
    *p = (part){first, n, of->cells, from};
    of->cells += n;
    return p;
}

/* u of a place: of levels above, and of its own. */
static void find_effects(nest *x, size_t l, size_t place)
{
    level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    double *u = room->places.u + place * x->all;
    memcpy(u, room->parts.u + room->places.part[place].of * x->all, room->before * sizeof *u);
    for (size_t a = 0; a < q; a++)
        u[room->before + a] = dot(a + 1, x->at[l]->factor[a], room->place + place * q);
}

/* Its rows first.. with its effects on top of what the part has. */
static void raise(const nest *x, size_t l, size_t place, size_t first, size_t n, double *eta)
{
    const level_room *room = &x->level[l];
    const part *p = &room->places.part[place], *whole = &room->parts.part[p->of];
    const double *base = room->eta + whole->cell + (first - whole->first);
    const double *u = room->places.u + place * x->all + room->before;
    size_t q = x->m->level[l].shape.effects;
    for (size_t i = 0; i < n; i++)
        eta[i] =
            base[i] + (x->plain ? u[0] : dot(q, u, x->z + (first + i) * x->all + room->before));
}

/* ---- rows ---- */

static void weigh(const nest *x, const part *p, double *values)
{
    const double *weight = x->m->data->weight;
    if (!weight) return;
    weight += x->v->first + p->first;
    for (size_t i = 0; i < p->n; i++) values[i] *= weight[i];
}

/* bend += sum_i c_i z_i z_i' */
static void bend_rows(const nest *x, size_t l, const part *p, const double *c, double *bend)
{
    size_t count = x->level[l].before + x->m->level[l].shape.effects;
    double whole = x->plain ? sum(p->n, c) : 0.0;
    for (size_t a = 0; x->plain && a < count; a++)
        for (size_t b = 0; b <= a; b++) bend[a * x->all + b] += whole;
    for (size_t i = 0; !x->plain && i < p->n; i++) {
        const double *z = x->z + (p->first + i) * x->all;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b <= a; b++) bend[a * x->all + b] += c[i] * z[a] * z[b];
    }
}

/* What rows of one place said, at cell.. of the batch. */
static void add_rows(nest *x, size_t l, size_t place, size_t cell, size_t pitch, wish w)
{
    const mixed *m = x->m;
    list *to = &x->level[l].places;
    const part *p = &to->part[place];
    weigh(x, p, x->out + cell);
    weigh(x, p, to->mean + p->cell);
    to->height[place] = sum(p->n, x->out + cell);
    if (w.bend) {
        weigh(x, p, x->bent + cell);
        bend_rows(x, l, p, x->bent + cell, to->bend + place * x->all * x->all);
    }
    for (size_t a = 0; w.extra && a < m->rows_of->auxiliary_count; a++) {
        weigh(x, p, x->aux_out + a * pitch + cell);
        to->extra[place * nest_extra(m) + m->spreads + a] +=
            sum(p->n, x->aux_out + a * pitch + cell);
    }
}

/* Places from.., as many as go into a batch; where the next begin. */
static size_t ask_rows(nest *x, size_t l, size_t from, wish w)
{
    const mixed *m = x->m;
    const predictor *asked = m->rows_of->predictor;
    const list *of = &x->level[l].places;
    size_t cells = 0, end = from;
    for (; end < of->count && cells + of->part[end].n <= x->cells; end++) {
        const part *p = &of->part[end];
        raise(x, l, end, p->first, p->n, x->eta + cells);
        memcpy(x->y + cells, m->data->y + x->v->first + p->first, p->n * sizeof *x->y);
        cells += p->n;
    }
    const batch b = {
        .k = m->k, .n = cells, .eta = x->eta, .y = x->y, .aux = x->v->p.aux, .pitch = cells};
    asked->loglik(&b, x->out);
    asked->gradient(&b, of->mean + of->part[from].cell,
                    m->rows_of->auxiliary_count ? x->aux_out : NULL);
    if (w.bend) asked->curvature(&b, x->bent, NULL, NULL);
    for (size_t place = from, cell = 0; place < end; cell += of->part[place++].n)
        add_rows(x, l, place, cell, cells, w);
    return end;
}

/* ---- parts ---- */

/* The integrals gathered at level l are made, and added to the places that they are seen from. */
static void hand_up(nest *x, size_t l, wish w)
{
    list *from = &x->level[l].parts, *to = &x->level[l - 1].places;
    size_t extra = nest_extra(x->m), square = x->all * x->all;
    if (from->count == 0) return;
    nest_integrate(x, l, w);
    for (size_t i = 0; i < from->count; i++) {
        const part *p = &from->part[i], *place = &to->part[p->of];
        to->height[p->of] += from->height[i];
        memcpy(to->mean + place->cell + (p->first - place->first), from->mean + p->cell,
               p->n * sizeof *to->mean);
        if (w.extra) add_scaled(extra, 1.0, from->extra + i * extra, to->extra + p->of * extra);
        if (w.bend) add_scaled(square, 1.0, from->bend + i * square, to->bend + p->of * square);
    }
    list_clear(from);
}

/* One more part to be integrated at the level below, as seen from a place of level l. */
static void see_part(nest *x, size_t l, size_t place, size_t first, size_t n)
{
    level_room *below = &x->level[l + 1];
    double *u = below->parts.u + below->parts.count * x->all;
    const part *p = list_add(&below->parts, first, n, place);
    raise(x, l, place, first, n, below->eta + p->cell);
    memcpy(u, x->level[l].places.u + place * x->all, below->before * sizeof *u);
}

static void ask_parts(nest *x, size_t l, wish w)
{
    const list *of = &x->level[l].places;
    list *below = &x->level[l + 1].parts;
    size_t base = x->v->first;
    list_clear(below);
    for (size_t place = 0; place < of->count; place++) {
        size_t first = of->part[place].first, end = first + of->part[place].n;
        for (size_t next; first < end; first = next) {
            next = nest_run(x->m, l + 1, base + first, base + end) - base;
            if (list_full(below, next - first)) hand_up(x, l + 1, w);
            see_part(x, l, place, first, next - first);
        }
    }
    hand_up(x, l + 1, w);
}

void nest_say(nest *x, size_t l, wish w)
{
    list *of = &x->level[l].places;
    memset(of->height, 0, of->count * sizeof *of->height);
    if (w.extra) memset(of->extra, 0, of->count * nest_extra(x->m) * sizeof *of->extra);
    if (w.bend) memset(of->bend, 0, of->count * x->all * x->all * sizeof *of->bend);
    for (size_t place = 0; place < of->count; place++) find_effects(x, l, place);
    if (!nest_innermost(x, l)) {
        ask_parts(x, l, w);
        return;
    }
    for (size_t place = 0; place < of->count;) place = ask_rows(x, l, place, w);
}

void nest_stay(nest *x, size_t l, const double *v)
{
    level_room *room = &x->level[l];
    const part *whole = &room->parts.part[0];
    list_clear(&room->places);
    list_add(&room->places, whole->first, whole->n, 0);
    memcpy(room->place, v, x->m->level[l].shape.effects * sizeof *v);
    find_effects(x, l, 0);
}

void nest_descend(nest *x, size_t l, size_t first, size_t n)
{
    list_clear(&x->level[l + 1].parts);
    see_part(x, l, 0, first, n);
}

void nest_pull(const nest *x, size_t l, size_t place, double *pull)
{
    const list *of = &x->level[l].places;
    const part *p = &of->part[place];
    const double *mean = of->mean + p->cell;
    size_t count = x->level[l].before + x->m->level[l].shape.effects;
    double whole = x->plain ? sum(p->n, mean) : 0.0;
    for (size_t a = 0; a < count; a++) pull[a] = whole;
    for (size_t i = 0; !x->plain && i < p->n; i++)
        add_scaled(count, mean[i], x->z + (p->first + i) * x->all, pull);
}
