#include "mixed/nest.h"
#include "base/cholesky.h"
#include "base/dense.h"

#include <math.h>
#include <string.h>

#define Q          EFFECTS_A_LEVEL
#define NEAR       0.1 /* a step of so many sds is taken, and ends the search */
#define STEPS_MOST 40
#define SHORTEST   1e-3
#define GRAIN      0.01 /* nats: integrals are known no further */
#define DRAW_TRIES ((size_t)10)

/* What parts say at one place of a level's effects. Second derivatives are those by effects of this level and of all
 * above it: (1) of expand.c. */
typedef struct {
    double *height; /* points: sum of log m */
    double *mean;   /* points * rows: d log m/d eta_i */
    double *extra;  /* points * nest_extra */
    double *bend;   /* points * all^2, lower triangle */
} sayings;

/* Room of one level: one integral at a time is made there. */
typedef struct {
    double *eta;   /* rows: without the effects of this level and deeper ones */
    double *place; /* points * effects */
    sayings said;
    size_t before; /* effects of the levels above */
    /* by the first row of each part: where its mode was last in this group, the effects above it then, and how the mode
     * moves with those */
    double *memory;
    size_t each; /* doubles of a memory */
} level_room;

typedef struct {
    group_view *v;
    const mixed *m;
    size_t all; /* effects of all levels */
    level_room level[LEVELS_MOST];
    const effect_spread *at[LEVELS_MOST];
    double *eta, *y, *out, *bent, *aux_out; /* rows times points, at last */
    bool bending;                           /* second derivatives are asked for */
    double u[LEVELS_MOST * Q];              /* effects of the levels above that at hand */
} nest;

/* A place of a level's effects: h there, its gradient, and the factor of -h'', q * q. */
typedef struct {
    double v[Q], height, gradient[Q], root[Q * Q];
} stand;

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
    const mixed *m = x->m;
    size_t column = m->level[l].column[a];
    return column == GROUP_CONSTANT
               ? 1.0
               : m->groups->z[(x->v->first + i) * m->groups->width + column];
}

static bool innermost(const nest *x, size_t l)
{
    return l + 1 == LEVELS_MOST || l + 1 >= x->m->levels;
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
static void raise(nest *x, size_t l, size_t first, size_t n, const double *v, double *eta)
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
        raise(x, l, first, n, place + k * m->level[l].shape.effects, x->eta + k * n);
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

static void integrate(nest *x, size_t l, size_t first, size_t n, const sayings *to);

/* All that parts of a level say at `points` places. */
static void parts_say(nest *x, size_t l, size_t first, size_t n, size_t points,
                      const double *place, const sayings *to)
{
    size_t extra = nest_extra(x->m), square = x->all * x->all;
    memset(to->height, 0, points * sizeof *to->height);
    memset(to->extra, 0, points * extra * sizeof *to->extra);
    memset(to->bend, 0, points * square * sizeof *to->bend);
    if (innermost(x, l)) {
        rows_say(x, l, first, n, points, place, to);
        return;
    }
    for (size_t k = 0; k < points; k++) {
        raise(x, l, first, n, place + k * x->m->level[l].shape.effects,
              x->level[l + 1].eta + first);
        for (size_t i = first, end; i < first + n; i = end) {
            end = nest_run(x->m, l + 1, x->v->first + i, x->v->first + first + n) - x->v->first;
            integrate(x, l + 1, i, end - i,
                      &(sayings){to->height + k, to->mean + k * n + (i - first),
                                 to->extra + k * extra, to->bend + k * square});
        }
    }
}

/* ---- the mode ---- */

/* sum_i mean_i z_i, by effects of levels 0 to l */
static void pull_of(const nest *x, size_t l, size_t first, size_t n, const double *mean,
                    double *pull)
{
    double z[LEVELS_MOST * Q];
    memset(pull, 0, LEVELS_MOST * Q * sizeof *pull);
    for (size_t i = 0; i < n; i++) {
        size_t count = z_of_all(x, l, first + i, z);
        add_scaled(count, mean[i], z, pull);
    }
}

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
    parts_say(x, l, first, n, 1, s->v, said);
    x->bending = before;
    s->height = said->height[0] - 0.5 * dot(q, s->v, s->v);
    pull_of(x, l, first, n, said->mean, pull);
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

static void locate(nest *x, size_t l, size_t first, size_t n, stand *s)
{
    size_t q = x->m->level[l].shape.effects;
    double step[Q];
    predict(x, l, first, s->v);
    look(x, l, first, n, s);
    for (int i = 0; i < STEPS_MOST; i++) {
        memcpy(step, s->gradient, q * sizeof *step);
        cholesky_solve(q, s->root, step);
        if (!(dot(q, step, s->gradient) > NEAR * NEAR)) break;
        go(x, l, first, n, s, step);
    }
    for (size_t a = 0; a < q; a++) s->v[a] += step[a];
    remember(x, l, first, s);
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

/* From logarithms to shares of 1; the log of their sum. */
static double share_out(size_t n, double *x)
{
    double top = -INFINITY, total = 0.0;
    for (size_t k = 0; k < n; k++) top = fmax(top, x[k]);
    for (size_t k = 0; k < n; k++) total += x[k] = exp(x[k] - top);
    for (size_t k = 0; k < n; k++) x[k] /= total;
    return top + log(total);
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
    pull_of(x, l, first, n, said, pull);
    for (size_t a = 0; a < of->shape.count; a++)
        to->extra[own + a] += share * pull[room->before + of->shape.of[a].row] *
                              dot(q, x->at[l]->first[a], place);
    add_scaled(room->before, share, pull, middle);
    if (x->bending)
        add_bend(x, l, share, room->said.bend + k * x->all * x->all, pull, to->bend);
}

/* Adds to what parts of the level above say, but for the mean, which is set. */
static void integrate(nest *x, size_t l, size_t first, size_t n, const sayings *to)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    level_room *room = &x->level[l];
    double middle[LEVELS_MOST * Q] = {0.0};
    stand s;
    locate(x, l, first, n, &s);
    double log_size = place_nodes(x, l, &s);
    parts_say(x, l, first, n, of->points, room->place, &room->said);
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

static void begin(nest *x, group_view *v)
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
    begin(&x, v);
    memset(v->extra, 0, nest_extra(v->m) * sizeof *v->extra);
    integrate(&x, 0, 0, v->n, &(sayings){&value, v->mean, v->extra, unused});
    return value;
}

static void keep(nest *x, size_t l, size_t first, size_t n)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    stand s;
    locate(x, l, first, n, &s);
    memcpy(of->centre + (x->v->first + first) * q, s.v, q * sizeof *s.v);
    if (innermost(x, l)) return;
    raise(x, l, first, n, s.v, x->level[l + 1].eta + first);
    for (size_t i = first, end; i < first + n; i = end) {
        end = nest_run(x->m, l + 1, x->v->first + i, x->v->first + first + n) - x->v->first;
        keep(x, l + 1, i, end - i);
    }
}

void nest_keep(group_view *v)
{
    nest x;
    begin(&x, v);
    keep(&x, 0, 0, v->n);
}

/* ---- draws ---- */

/* Steps of independence Metropolis from a t with the moments that the nodes say. */
static void draw_place(nest *x, size_t l, size_t first, size_t n, rng *r, double *at)
{
    const nest_level *of = &x->m->level[l];
    size_t q = of->shape.effects, kept = 0;
    double mean[Q], factor[Q * Q], t[Q], ratio[DRAW_TRIES],
        value = 0.0, unused[LEVELS_MOST * Q * LEVELS_MOST * Q] = {0.0};
    level_room *room = &x->level[l];
    integrate(x, l, first, n, &(sayings){&value, x->v->mean + first, x->v->extra, unused});
    if (!node_moments(q, of->points, room->said.height, room->place, mean, factor))
        memset(factor, 0, sizeof factor); /* rounding: there is one place */
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        ratio[i] = draw_t(r, q, t);
        for (size_t a = 0; a < q; a++)
            room->place[i * q + a] = mean[a] + dot(a + 1, factor + a * q, t);
    }
    parts_say(x, l, first, n, DRAW_TRIES, room->place, &room->said);
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
    if (innermost(x, l)) return out;
    raise(x, l, first, n, at, x->level[l + 1].eta + first);
    for (size_t i = first, end; i < first + n; i = end) {
        end = nest_run(x->m, l + 1, x->v->first + i, x->v->first + first + n) - x->v->first;
        out = draw(x, l + 1, i, end - i, r, out);
    }
    return out;
}

void nest_draw(group_view *v, rng *r, double *out)
{
    nest x;
    begin(&x, v);
    draw(&x, 0, 0, v->n, r, out);
}
