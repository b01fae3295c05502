/* Newton's method for the modes of parts' effects, all at once: each begins where the mode was last, moved as the effects
 * above it have. */
#include "base/cholesky.h"
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

#define NEAR       0.1 /* a step of so many sds is taken, and ends the search */
#define STEPS_MOST ((size_t)40)
#define SHORTEST   1e-3
#define GRAIN      0.01 /* nats: integrals are known no further */

/* I - L' B L, factored; where it is no covariance's inverse, the normal's. */
static void bend_down(const nest *x, size_t l, const double *bend, double *root)
{
    size_t q = x->m->level[l].shape.effects, from = x->level[l].before;
    const double(*factor)[Q] = x->at[l]->factor;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b <= a; b++) {
            double total = a == b ? 1.0 : 0.0;
            for (size_t c = a; c < q; c++)
                for (size_t d = b; d < q; d++) {
                    size_t high = c > d ? c : d, low = c > d ? d : c;
                    total -=
                        factor[c][a] * factor[d][b] * bend[(from + high) * x->all + from + low];
                }
            root[a * q + b] = total;
        }
    if (cholesky(q, root)) return;
    memset(root, 0, q * q * sizeof *root);
    for (size_t a = 0; a < q; a++) root[a * q + a] = 1.0;
}

/* Where data say much, u = L v stays as sds grow; as they shrink, v shrinks with them. */
void nest_centre(const nest *x, size_t l, size_t first, double *v)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    for (size_t a = 0; a < q; a++) {
        double ratio = of->kept[a] > 0.0 ? x->at[l]->factor[a][a] / of->kept[a] : 1.0;
        v[a] = of->centre[(x->v->first + first) * q + a] * (ratio > 1.0 ? 1.0 / ratio : ratio);
    }
}

/* Where the mode was last, moved as the effects above it have; or where it is at the reference. */
static void predict(const nest *x, size_t l, size_t of, double *v)
{
    const level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects, before = room->before,
           first = room->parts.part[of].first;
    const double *was = room->memory + first * room->each, *u = was + q, *moves = u + before,
                 *now = room->parts.u + of * x->all;
    if (isnan(was[0])) {
        nest_centre(x, l, first, v);
        return;
    }
    for (size_t a = 0; a < q; a++) {
        v[a] = was[a];
        for (size_t b = 0; b < before; b++) v[a] += moves[a * before + b] * (now[b] - u[b]);
    }
}

/* The mode satisfies L' pull = v, so that dv/du = (I - L'B L)^-1 L' B by the effects u above. */
static void remember(nest *x, size_t l, size_t of, const stand *s, const double *bend)
{
    level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects, before = room->before;
    double *is = room->memory + room->parts.part[of].first * room->each, *u = is + q,
           *moves = u + before;
    memcpy(is, s->v, q * sizeof *is);
    memcpy(u, room->parts.u + of * x->all, before * sizeof *u);
    for (size_t b = 0; b < before; b++) {
        double column[Q] = {0.0};
        for (size_t a = 0; a < q; a++)
            for (size_t c = a; c < q; c++)
                column[a] += x->at[l]->factor[c][a] * bend[(before + c) * x->all + b];
        cholesky_solve(q, s->root, column);
        for (size_t a = 0; a < q; a++) moves[a * before + b] = column[a];
    }
}

/* h and its derivatives as a place says them: dh/dv = L' pull - v */
static void read_off(const nest *x, size_t l, size_t place, stand *s)
{
    const level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    double pull[LEVELS_MOST * Q], *own = pull + room->before;
    memcpy(s->v, room->place + place * q, q * sizeof *s->v);
    s->height = room->places.height[place] - 0.5 * dot(q, s->v, s->v);
    nest_pull(x, l, place, pull);
    for (size_t a = 0; a < q; a++) {
        s->gradient[a] = -s->v[a];
        for (size_t b = a; b < q; b++) s->gradient[a] += x->at[l]->factor[b][a] * own[b];
    }
    bend_down(x, l, room->places.bend + place * x->all * x->all, s->root);
}

bool nest_move(nest *x, size_t q, stand *s, const stand *next)
{
    size_t steps = s->steps;
    bool patient = x->looks < x->looks_most;
    x->looks++;
    s->length *= 0.5;
    if (patient && steps > 0 && !(next->height >= s->height - GRAIN) && s->length > SHORTEST)
        return false;
    *s = *next;
    s->steps = steps + 1;
    s->length = 1.0;
    memcpy(s->step, s->gradient, q * sizeof *s->step);
    cholesky_solve(q, s->root, s->step);
    if (dot(q, s->step, s->gradient) > NEAR * NEAR) return !patient || s->steps > STEPS_MOST;
    add_scaled(q, 1.0, s->step, s->v);
    return true;
}

/* A look at all that search still; those of `length` 0 do not. */
static void look(nest *x, size_t l, size_t from, size_t count)
{
    level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    list_clear(&room->places);
    for (size_t i = 0; i < count; i++) {
        const stand *s = &room->stand[i];
        const part *p = &room->parts.part[from + i];
        double *place = room->place + room->places.count * q;
        if (s->length <= 0.0) continue;
        for (size_t a = 0; a < q; a++) place[a] = s->v[a] + s->length * s->step[a];
        list_add(&room->places, p->first, p->n, from + i);
    }
    if (room->places.count > 0) nest_say(x, l, (wish){.bend = true, .keep = true});
}

void nest_locate(nest *x, size_t l, size_t from, size_t count, bool keep)
{
    level_room *room = &x->level[l];
    for (size_t i = 0; i < count; i++) {
        room->stand[i] = (stand){.length = 1.0};
        predict(x, l, from + i, room->stand[i].v);
    }
    for (look(x, l, from, count); room->places.count > 0; look(x, l, from, count))
        for (size_t place = 0; place < room->places.count; place++) {
            size_t of = room->places.part[place].of;
            stand *s = &room->stand[of - from], next;
            read_off(x, l, place, &next);
            if (!nest_move(x, x->m->level[l].shape.effects, s, &next)) continue;
            s->length = 0.0;
            if (keep) remember(x, l, of, s, room->places.bend + place * x->all * x->all);
        }
}
