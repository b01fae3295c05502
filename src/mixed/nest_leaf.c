/* The innermost integrals of nests of intercepts alone: everything that is said of a part is a number, and nodes lie one
 * after another, the first of all parts, the second of all parts, so that rows and parts are plain vectors. What
 * nest_locate and nest_integrate do, at a third of their price. */
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

/* Parts at work, one after another in the list. */
typedef struct {
    nest *x;
    size_t l, from, count, points;
    const part *part;    /* the first of them */
    size_t cell, cells;  /* of all of them */
    double sd;           /* L */
    stand *stand;        /* v, height, gradient, the curvature's root */
    double *wide;        /* 1 over it */
    double *height;      /* points * count, as these: */
    double *pull, *bend; /* sums over rows of what they say, first and second derivative */
    double *mean;        /* points * cells */
} leaves;

static batch batch_of(const leaves *f, size_t cells)
{
    const nest *x = f->x;
    return (batch){
        .k = x->m->k, .n = cells, .eta = x->eta, .y = x->y, .aux = x->v->p.aux, .pitch = cells};
}

/* Rows of a part with v on top, at `cell` of the batch. */
static void raise(const leaves *f, const part *p, double v, size_t cell)
{
    const nest *x = f->x;
    const double *base = x->level[f->l].eta + p->cell,
                 *y = x->m->data->y + x->v->first + p->first;
    for (size_t i = 0; i < p->n; i++) {
        x->eta[cell + i] = base[i] + f->sd * v;
        x->y[cell + i] = y[i];
    }
}

/* Weighs what rows of a part said at `cell`, and adds up. */
static double add_up(const leaves *f, const part *p, double *said)
{
    const double *weight = f->x->m->data->weight;
    for (size_t i = 0; weight && i < p->n; i++)
        said[i] *= weight[f->x->v->first + p->first + i];
    return sum(p->n, said);
}

/* ---- modes ---- */

static double predict(const leaves *f, size_t i)
{
    const level_room *room = &f->x->level[f->l];
    const double *was = room->memory + f->part[i].first * room->each,
                 *now = room->parts.u + (f->from + i) * f->x->all;
    double v = was[0];
    if (isnan(v)) {
        nest_centre(f->x, f->l, f->part[i].first, &v);
        return v;
    }
    const double *u = was + 1, *moves = u + room->before;
    for (size_t b = 0; b < room->before; b++) v += moves[b] * (now[b] - u[b]);
    return v;
}

static void remember(const leaves *f, size_t i, double bend)
{
    level_room *room = &f->x->level[f->l];
    const stand *s = &f->stand[i];
    double *is = room->memory + f->part[i].first * room->each, *u = is + 1,
           *moves = u + room->before;
    is[0] = s->v[0];
    memcpy(u, room->parts.u + (f->from + i) * f->x->all, room->before * sizeof *u);
    for (size_t b = 0; b < room->before; b++)
        moves[b] = f->sd * bend / (s->root[0] * s->root[0]);
}

/* A look at the parts listed, which have been raised into the batch. */
static void look(leaves *f, size_t active, const size_t *which, size_t cells, bool keep)
{
    nest *x = f->x;
    const predictor *asked = x->m->rows_of->predictor;
    const batch b = batch_of(f, cells);
    asked->loglik(&b, x->out);
    asked->gradient(&b, f->mean, x->m->rows_of->auxiliary_count ? x->aux_out : NULL);
    asked->curvature(&b, x->bent, NULL, NULL);
    for (size_t j = 0, cell = 0; j < active; cell += f->part[which[j++]].n) {
        size_t i = which[j];
        const part *p = &f->part[i];
        stand *s = &f->stand[i], next = {.v = {s->v[0] + s->length * s->step[0]}};
        double bend = add_up(f, p, x->bent + cell), curve = 1.0 - f->sd * f->sd * bend;
        next.height = add_up(f, p, x->out + cell) - 0.5 * next.v[0] * next.v[0];
        next.gradient[0] = f->sd * add_up(f, p, f->mean + cell) - next.v[0];
        next.root[0] = curve > 0.0 ? sqrt(curve) : 1.0;
        if (!nest_move(x, 1, s, &next)) continue;
        s->length = 0.0;
        if (keep) remember(f, i, bend);
    }
}

static void locate(leaves *f, bool keep)
{
    size_t *which = f->x->level[f->l].which, active = f->count;
    for (size_t i = 0; i < f->count; i++)
        f->stand[i] = (stand){.v = {predict(f, i)}, .length = 1.0};
    while (active > 0) {
        size_t cells = 0;
        active = 0;
        for (size_t i = 0; i < f->count; i++) {
            const stand *s = &f->stand[i];
            if (s->length <= 0.0) continue;
            raise(f, &f->part[i], s->v[0] + s->length * s->step[0], cells);
            cells += f->part[i].n;
            which[active++] = i;
        }
        if (active > 0) look(f, active, which, cells, keep);
    }
}

/* ---- nodes ---- */

static double place_of(const leaves *f, size_t k, size_t i)
{
    return f->stand[i].v[0] + f->x->m->level[f->l].node[k] * f->wide[i];
}

/* What rows of all parts say at nodes from.. to, which go into one batch. */
static void ask_nodes(leaves *f, size_t from, size_t to, wish w)
{
    nest *x = f->x;
    const predictor *asked = x->m->rows_of->predictor;
    size_t cells = (to - from) * f->cells, aux = x->m->rows_of->auxiliary_count,
           extra = nest_extra(x->m);
    for (size_t k = from; k < to; k++)
        for (size_t i = 0; i < f->count; i++)
            raise(f, &f->part[i], place_of(f, k, i),
                  (k - from) * f->cells + f->part[i].cell - f->cell);
    const batch b = batch_of(f, cells);
    asked->loglik(&b, x->out);
    asked->gradient(&b, f->mean + from * f->cells, aux ? x->aux_out : NULL);
    if (w.bend) asked->curvature(&b, x->bent, NULL, NULL);
    for (size_t k = from; k < to; k++)
        for (size_t i = 0; i < f->count; i++) {
            const part *p = &f->part[i];
            size_t at = k * f->count + i, cell = (k - from) * f->cells + p->cell - f->cell;
            f->height[at] = add_up(f, p, x->out + cell);
            f->pull[at] = add_up(f, p, f->mean + from * f->cells + cell);
            if (w.bend) f->bend[at] = add_up(f, p, x->bent + cell);
            for (size_t a = 0; w.extra && a < aux; a++)
                x->level[f->l].places.extra[at * extra + a] =
                    add_up(f, p, x->aux_out + a * cells + cell);
        }
}

/* Heights to shares of 1, and the logs of the integrals. */
static void share_nodes(leaves *f, double *log_m)
{
    const nest_level *rule = &f->x->m->level[f->l];
    size_t n = f->count;
    double *top = f->x->eta, *total = f->x->y; /* which are free by now */
    for (size_t i = 0; i < n; i++) top[i] = -INFINITY, total[i] = 0.0;
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < n; i++) {
            double v = place_of(f, k, i), *h = &f->height[k * n + i];
            *h += rule->log_count[k] - 0.5 * v * v;
            top[i] = *h > top[i] ? *h : top[i];
        }
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < n; i++) f->height[k * n + i] -= top[i];
    f->x->m->k->exp(f->points * n, f->height, f->height);
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < n; i++) total[i] += f->height[k * n + i];
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < n; i++) f->height[k * n + i] /= total[i];
    for (size_t i = 0; i < n; i++) log_m[i] = top[i] + log(total[i] * f->wide[i]);
}

/* By the effects above: all of them move all rows alike. */
static void gather_bend(const leaves *f, size_t i, double *bend)
{
    const nest *x = f->x;
    double total = 0.0, middle = 0.0;
    for (size_t k = 0; k < f->points; k++) {
        size_t at = k * f->count + i;
        total += f->height[at] * (f->bend[at] + f->pull[at] * f->pull[at]);
        middle += f->height[at] * f->pull[at];
    }
    for (size_t a = 0; a < x->level[f->l].before; a++)
        for (size_t b = 0; b <= a; b++) bend[a * x->all + b] = total - middle * middle;
}

static void gather_extra(const leaves *f, size_t i, double *out)
{
    const nest *x = f->x;
    const nest_level *of = &x->m->level[f->l];
    size_t aux = x->m->rows_of->auxiliary_count, extra = nest_extra(x->m),
           own = of->spread - x->m->data->d;
    memset(out, 0, extra * sizeof *out);
    for (size_t k = 0; k < f->points; k++) {
        size_t at = k * f->count + i;
        out[own] += f->height[at] * f->pull[at] * x->at[f->l]->first[0][0] * place_of(f, k, i);
        add_scaled(aux, f->height[at], x->level[f->l].places.extra + at * extra,
                   out + x->m->spreads);
    }
}

static void gather(const leaves *f, wish w)
{
    const nest *x = f->x;
    const list *to = &x->level[f->l].parts;
    memset(to->mean + f->cell, 0, f->cells * sizeof *to->mean);
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < f->count; i++) {
            const part *p = &f->part[i];
            add_scaled(p->n, f->height[k * f->count + i],
                       f->mean + k * f->cells + p->cell - f->cell, to->mean + p->cell);
        }
    for (size_t i = 0; i < f->count; i++) {
        size_t of = f->from + i;
        if (w.bend) gather_bend(f, i, to->bend + of * x->all * x->all);
        if (w.extra) gather_extra(f, i, to->extra + of * nest_extra(x->m));
    }
}

void leaves_integrate(nest *x, size_t l, size_t from, size_t count, wish w)
{
    level_room *room = &x->level[l];
    const part *first = &room->parts.part[from], *last = first + count - 1;
    leaves f = {.x = x,
                .l = l,
                .from = from,
                .count = count,
                .points = x->m->level[l].points,
                .part = first,
                .cell = first->cell,
                .cells = last->cell + last->n - first->cell,
                .sd = x->at[l]->factor[0][0],
                .stand = room->stand,
                .wide = room->place,
                .height = room->places.height,
                .pull = room->places.u,
                .bend = room->places.bend,
                .mean = room->places.mean};
    locate(&f, w.keep);
    for (size_t i = 0; i < count; i++) f.wide[i] = 1.0 / f.stand[i].root[0];
    size_t at_once = x->cells / f.cells;
    for (size_t k = 0, next; k < f.points; k = next) {
        next = k + at_once < f.points ? k + at_once : f.points;
        ask_nodes(&f, k, next, w);
    }
    share_nodes(&f, room->parts.height + from);
    gather(&f, w);
}
