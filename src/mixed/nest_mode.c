/* Newton's method for the mode of a part's effects, which begins where the mode was last, moved as the effects above it
 * have. */
#include "base/cholesky.h"
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

#define NEAR       0.1 /* a step of so many sds is taken, and ends the search */
#define STEPS_MOST 40
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

/* h and its derivatives at s->v: dh/dv = L' pull - v */
static void look(nest *x, size_t l, size_t first, size_t n, stand *s)
{
    size_t q = x->m->level[l].shape.effects;
    const sayings *said = &x->level[l].said;
    double pull[LEVELS_MOST * Q], *own = pull + x->level[l].before;
    bool before = x->bending;
    x->bending = true;
    nest_say(x, l, first, n, 1, s->v, said);
    x->bending = before;
    s->height = said->height[0] - 0.5 * dot(q, s->v, s->v);
    nest_pull(x, l, first, n, said->mean, pull);
    for (size_t a = 0; a < q; a++) {
        s->gradient[a] = -s->v[a];
        for (size_t b = a; b < q; b++) s->gradient[a] += x->at[l]->factor[b][a] * own[b];
    }
    bend_down(x, l, said->bend, s->root);
}

/* Goes to the place that the step leads to, or as far on the way as it leads uphill. */
static void go(nest *x, size_t l, size_t first, size_t n, stand *s, const double *step)
{
    size_t q = x->m->level[l].shape.effects;
    stand next = *s;
    for (double length = 1.0; length > SHORTEST; length *= 0.5) {
        for (size_t a = 0; a < q; a++) next.v[a] = s->v[a] + length * step[a];
        look(x, l, first, n, &next);
        if (next.height >= s->height - GRAIN) break;
    }
    *s = next;
}

/* Where the mode was last, moved as the effects above it have; or where it is at the reference. */
static void predict(const nest *x, size_t l, size_t first, double *v)
{
    const level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects, before = room->before;
    const double *was = room->memory + first * room->each, *u = was + q, *moves = u + before;
    if (isnan(was[0])) {
        memcpy(v, x->m->level[l].centre + (x->v->first + first) * q, q * sizeof *v);
        return;
    }
    for (size_t a = 0; a < q; a++) {
        v[a] = was[a];
        for (size_t b = 0; b < before; b++) v[a] += moves[a * before + b] * (x->u[b] - u[b]);
    }
}

/* The mode satisfies L' pull = v, so that dv/du = (I - L'B L)^-1 L' B by the effects u above. */
static void remember(nest *x, size_t l, size_t first, const stand *s)
{
    level_room *room = &x->level[l];
    size_t q = x->m->level[l].shape.effects, before = room->before;
    double *is = room->memory + first * room->each, *u = is + q, *moves = u + before;
    memcpy(is, s->v, q * sizeof *is);
    memcpy(u, x->u, before * sizeof *u);
    for (size_t b = 0; b < before; b++) {
        double column[Q] = {0.0};
        for (size_t a = 0; a < q; a++)
            for (size_t c = a; c < q; c++)
                column[a] +=
                    x->at[l]->factor[c][a] * room->said.bend[(before + c) * x->all + b];
        cholesky_solve(q, s->root, column);
        for (size_t a = 0; a < q; a++) moves[a * before + b] = column[a];
    }
}

void nest_locate(nest *x, size_t l, size_t first, size_t n, stand *s)
{
    size_t q = x->m->level[l].shape.effects;
    double step[Q];
    predict(x, l, first, s->v);
    look(x, l, first, n, s);
    for (int i = 0; i < STEPS_MOST; i++) {
        memcpy(step, s->gradient, q * sizeof *step);
        cholesky_solve(q, s->root, step);
        if (!(dot(q, step, s->gradient) > NEAR * NEAR)) {
            for (size_t a = 0; a < q; a++) s->v[a] += step[a];
            break;
        }
        go(x, l, first, n, s, step);
    }
    remember(x, l, first, s);
}
