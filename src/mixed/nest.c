#include "base/cholesky.h"
#include "base/dense.h"
#include "mixed/nest_parts.h"

#include <math.h>
#include <string.h>

size_t nest_extra(const mixed *m)
{
    return m->spreads + m->rows_of->auxiliary_count;
}

/* `count` arrays one behind another; how much they take. */
static size_t lay(size_t count, double **const *parts, const size_t *sizes, double *base)
{
    size_t used = 0;
    for (size_t i = 0; i < count; used += sizes[i++]) *parts[i] = base ? base + used : NULL;
    return used;
}

static size_t lay_out(nest *x, const mixed *m, double *base)
{
    size_t used = 0, n = m->largest, extra = nest_extra(m), cells = 0;
    x->all = 0;
    for (size_t l = 0; l < m->levels; l++) x->all += m->level[l].shape.effects;
    for (size_t l = 0, before = 0; l < m->levels; l++) {
        level_room *r = &x->level[l];
        size_t points = m->level[l].points, q = m->level[l].shape.effects;
        if (points < DRAW_TRIES) points = DRAW_TRIES;
        const size_t sizes[] = {n,
                                points * q,
                                points,
                                points * n,
                                points * extra,
                                points * x->all * x->all,
                                n * (q + before + q * before)};
        double **const parts[] = {&r->eta,        &r->place,     &r->said.height, &r->said.mean,
                                  &r->said.extra, &r->said.bend, &r->memory};
        r->each = q + before + q * before;
        used += lay(7, parts, sizes, base ? base + used : NULL);
        r->before = before;
        before += q;
        cells = points * n;
    }
    const size_t sizes[] = {cells, cells, cells, cells, cells * m->rows_of->auxiliary_count};
    double **const parts[] = {&x->eta, &x->y, &x->out, &x->bent, &x->aux_out};
    return used + lay(5, parts, sizes, base ? base + used : NULL);
}

size_t nest_scratch(const mixed *m)
{
    nest unused;
    return m->levels > 1 ? lay_out(&unused, m, NULL) : 0;
}

size_t nest_run(const mixed *m, size_t level, size_t first, size_t end)
{
    const uint32_t *of = m->groups->factor[m->level[level].factor].of;
    size_t i = first + 1;
    while (i < end && of[i] == of[first]) i++;
    return i;
}

static double z_of(const nest *x, size_t l, size_t i, size_t a)
{
    return mixed_z(x->m, x->v->first + i, x->m->level[l].column[a]);
}

/* z of row i for the effects of levels 0 to l, one behind another; how many. */
static size_t z_of_all(const nest *x, size_t l, size_t i, double *z)
{
    size_t count = 0;
    for (size_t k = 0; k <= l; k++)
        for (size_t a = 0; a < x->m->level[k].shape.effects; a++) z[count++] = z_of(x, k, i, a);
    return count;
}

/* ---- parts at places of a level's effects ---- */

/* Rows first.. of the group with effects L v on top of what the level has. */
void nest_raise(nest *x, size_t l, size_t first, size_t n, const double *v, double *eta)
{
    size_t q = x->m->level[l].shape.effects;
    double *u = x->u + x->level[l].before;
    for (size_t a = 0; a < q; a++) u[a] = dot(a + 1, x->at[l]->factor[a], v);
    for (size_t i = 0; i < n; i++) {
        eta[i] = x->level[l].eta[first + i];
        for (size_t a = 0; a < q; a++) eta[i] += z_of(x, l, first + i, a) * u[a];
    }
}

static void weigh(const nest *x, size_t first, size_t n, size_t points, double *values)
{
    const double *weight = x->m->data->weight;
    if (!weight) return;
    weight += x->v->first + first;
    for (size_t k = 0; k < points; k++)
        for (size_t i = 0; i < n; i++) values[k * n + i] *= weight[i];
}

/* bend += sum_i c_i z_i z_i' */
static void bend_rows(const nest *x, size_t l, size_t first, size_t n, const double *c,
                      double *bend)
{
    double z[LEVELS_MOST * Q];
    for (size_t i = 0; i < n; i++) {
        size_t count = z_of_all(x, l, first + i, z);
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b <= a; b++) bend[a * x->all + b] += c[i] * z[a] * z[b];
    }
}

static void rows_say(nest *x, size_t l, size_t first, size_t n, size_t points,
                     const double *place, const sayings *to)
{
    const mixed *m = x->m;
    const predictor *p = m->rows_of->predictor;
    size_t count = m->rows_of->auxiliary_count, cells = points * n;
    for (size_t k = 0; k < points; k++) {
        nest_raise(x, l, first, n, place + k * m->level[l].shape.effects, x->eta + k * n);
        memcpy(x->y + k * n, m->data->y + x->v->first + first, n * sizeof *x->y);
    }
    const batch b = {
        .k = m->k, .n = cells, .eta = x->eta, .y = x->y, .aux = x->v->p.aux, .pitch = cells};
    p->loglik(&b, x->out);
    p->gradient(&b, to->mean, count ? x->aux_out : NULL);
    if (x->bending) p->curvature(&b, x->bent, NULL, NULL);
    weigh(x, first, n, points, x->out);
    weigh(x, first, n, points, to->mean);
    if (x->bending) weigh(x, first, n, points, x->bent);
    for (size_t a = 0; a < count; a++) weigh(x, first, n, points, x->aux_out + a * cells);
    for (size_t k = 0; k < points; k++) {
        to->height[k] += sum(n, x->out + k * n);
        if (x->bending)
            bend_rows(x, l, first, n, x->bent + k * n, to->bend + k * x->all * x->all);
        for (size_t a = 0; a < count; a++)
            to->extra[k * nest_extra(m) + m->spreads + a] +=
                sum(n, x->aux_out + a * cells + k * n);
    }
}

/* All that parts of a level say at `points` places. */
void nest_say(nest *x, size_t l, size_t first, size_t n, size_t points, const double *place,
              const sayings *to)
{
    size_t extra = nest_extra(x->m), square = x->all * x->all;
    memset(to->height, 0, points * sizeof *to->height);
    memset(to->extra, 0, points * extra * sizeof *to->extra);
    memset(to->bend, 0, points * square * sizeof *to->bend);
    if (nest_innermost(x, l)) {
        rows_say(x, l, first, n, points, place, to);
        return;
    }
    for (size_t k = 0; k < points; k++) {
        nest_raise(x, l, first, n, place + k * x->m->level[l].shape.effects,
                   x->level[l + 1].eta + first);
        for (size_t i = first, end; i < first + n; i = end) {
            end = nest_run(x->m, l + 1, x->v->first + i, x->v->first + first + n) - x->v->first;
            nest_integrate(x, l + 1, i, end - i,
                           &(sayings){to->height + k, to->mean + k * n + (i - first),
                                      to->extra + k * extra, to->bend + k * square});
        }
    }
}

/* sum_i mean_i z_i, by effects of levels 0 to l */
void nest_pull(const nest *x, size_t l, size_t first, size_t n, const double *mean,
               double *pull)
{
    double z[LEVELS_MOST * Q];
    memset(pull, 0, LEVELS_MOST * Q * sizeof *pull);
    for (size_t i = 0; i < n; i++) {
        size_t count = z_of_all(x, l, first + i, z);
        add_scaled(count, mean[i], z, pull);
    }
}

/* ---- the integral ---- */

/* Nodes around the mode; log of how wide they lie. */
static double place_nodes(nest *x, size_t l, const stand *s)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    double log_size = 0.0;
    for (size_t a = 0; a < q; a++) log_size -= log(s->root[a * q + a]);
    for (size_t k = 0; k < of->points; k++) {
        double *place = x->level[l].place + k * q;
        memcpy(place, of->node + k * q, q * sizeof *place);
        cholesky_back(q, s->root, place);
        for (size_t a = 0; a < q; a++) place[a] += s->v[a];
    }
    return log_size;
}

/* bend += share (b + p p') by the effects above level l */
static void add_bend(const nest *x, size_t l, double share, const double *b, const double *p,
                     double *bend)
{
    for (size_t i = 0; i < x->level[l].before; i++)
        for (size_t j = 0; j <= i; j++)
            bend[i * x->all + j] += share * ((b ? b[i * x->all + j] : 0.0) + p[i] * p[j]);
}

/* What node k says, in its share. */
static void add_node(const nest *x, size_t l, size_t first, size_t n, size_t k, double *middle,
                     const sayings *to)
{
    const nest_level *of = &x->m->level[l];
    const level_room *room = &x->level[l];
    size_t q = of->shape.effects, own = of->spread - x->m->data->d, count = nest_extra(x->m);
    const double *said = room->said.mean + k * n, *place = room->place + k * q;
    double share = room->said.height[k], pull[LEVELS_MOST * Q];
    add_scaled(n, share, said, to->mean);
    add_scaled(count, share, room->said.extra + k * count, to->extra);
    nest_pull(x, l, first, n, said, pull);
    for (size_t a = 0; a < of->shape.count; a++)
        to->extra[own + a] += share * pull[room->before + of->shape.of[a].row] *
                              dot(q, x->at[l]->first[a], place);
    add_scaled(room->before, share, pull, middle);
    if (x->bending)
        add_bend(x, l, share, room->said.bend + k * x->all * x->all, pull, to->bend);
}

/* Adds to what parts of the level above say, but for the mean, which is set. */
void nest_integrate(nest *x, size_t l, size_t first, size_t n, const sayings *to)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    level_room *room = &x->level[l];
    double middle[LEVELS_MOST * Q] = {0.0};
    stand s;
    nest_locate(x, l, first, n, &s);
    double log_size = place_nodes(x, l, &s);
    nest_say(x, l, first, n, of->points, room->place, &room->said);
    for (size_t k = 0; k < of->points; k++) {
        const double *place = room->place + k * q;
        room->said.height[k] += of->log_count[k] - 0.5 * dot(q, place, place);
    }
    *to->height += log_size + share_out(of->points, room->said.height);
    memset(to->mean, 0, n * sizeof *to->mean);
    for (size_t k = 0; k < of->points; k++) add_node(x, l, first, n, k, middle, to);
    if (x->bending) add_bend(x, l, -1.0, NULL, middle, to->bend);
}

/* ---- groups ---- */

void nest_begin(nest *x, group_view *v)
{
    *x = (nest){.v = v, .m = v->m};
    lay_out(x, v->m, v->nest);
    for (size_t l = 0; l < v->m->levels; l++) x->at[l] = l ? v->p.inner[l] : v->p.at;
    memcpy(x->level[0].eta, v->base, v->n * sizeof *v->base);
    for (size_t l = 0; l < v->m->levels; l++)
        for (size_t i = 0; i < v->n; i++) x->level[l].memory[i * x->level[l].each] = NAN;
}

double nest_value(group_view *v)
{
    nest x;
    double value = 0.0, unused[1] = {0.0};
    nest_begin(&x, v);
    memset(v->extra, 0, nest_extra(v->m) * sizeof *v->extra);
    nest_integrate(&x, 0, 0, v->n, &(sayings){&value, v->mean, v->extra, unused});
    return value;
}

static void keep(nest *x, size_t l, size_t first, size_t n)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    stand s;
    nest_locate(x, l, first, n, &s);
    memcpy(of->centre + (x->v->first + first) * q, s.v, q * sizeof *s.v);
    if (nest_innermost(x, l)) return;
    nest_raise(x, l, first, n, s.v, x->level[l + 1].eta + first);
    for (size_t i = first, end; i < first + n; i = end) {
        end = nest_run(x->m, l + 1, x->v->first + i, x->v->first + first + n) - x->v->first;
        keep(x, l + 1, i, end - i);
    }
}

void nest_keep(group_view *v)
{
    nest x;
    nest_begin(&x, v);
    keep(&x, 0, 0, v->n);
}
