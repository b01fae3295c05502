/* The innermost integrals of nested intercepts: what nested_find_modes and nested_integrate do,
 * at a third of the cost. A part's effect is a number here, and nodes are stored one after
 * another, the first node of all parts, then the second of all parts, so that loops over rows
 * and parts are loops over plain vectors. */
#include "linalg/dense_matrix.h"
#include "model/mixed/nested_parts.h"

#include <math.h>
#include <string.h>

/* The parts at hand, consecutive in the list. */
typedef struct {
    nested_integral *x;
    size_t l, from, count, points;
    const nested_part *part;  /* the first of them */
    size_t cell, cells;       /* of all of them */
    double sd;                /* L */
    newton_state *state;      /* v, height, gradient, root of the curvature */
    double *inverse_root;     /* 1/root */
    double *height;           /* points * count, as the next two */
    double *pull, *curvature; /* sums over rows of first and second derivatives */
    double *mean;             /* points * cells */
} innermost_parts;

/* The batch in the arrays of x, whose first `cells` are filled. */
static batch batch_of(const innermost_parts *f, size_t cells)
{
    const nested_integral *x = f->x;
    return (batch){
        .k = x->m->k, .n = cells, .eta = x->eta, .y = x->y, .aux = x->v->p.aux, .pitch = cells};
}

/* Puts eta (with effect v) and y of a part's rows into the batch from `cell` on. */
static void add_effects_to_eta(const innermost_parts *f, const nested_part *p, double v,
                               size_t cell)
{
    const nested_integral *x = f->x;
    const double *base = x->level[f->l].eta + p->cell,
                 *y = x->m->data->y + x->v->first + p->first;
    for (size_t i = 0; i < p->n; i++) {
        x->eta[cell + i] = base[i] + f->sd * v;
        x->y[cell + i] = y[i];
    }
}

/* Multiplies values of a part's rows by their weights, and returns the sum. */
static double add_up(const innermost_parts *f, const nested_part *p, double *values)
{
    const double *weight = f->x->m->data->weight;
    for (size_t i = 0; weight && i < p->n; i++)
        values[i] *= weight[f->x->v->first + p->first + i];
    return sum(p->n, values);
}

/* ---- modes ---- */

/* Where the search for the mode of part i begins. */
static double predict(const innermost_parts *f, size_t i)
{
    const level_scratch *level = &f->x->level[f->l];
    const double *was = level->memory + f->part[i].first * level->each,
                 *now = level->parts.u + (f->from + i) * f->x->all;
    double v = was[0];
    if (isnan(v)) {
        nested_search_start(f->x, f->l, f->part[i].first, &v);
        return v;
    }
    const double *u = was + 1, *moves = u + level->before;
    for (size_t b = 0; b < level->before; b++) v += moves[b] * (now[b] - u[b]);
    return v;
}

/* Stores the mode of part i, and its derivative by the effects above. */
static void store_single_mode(const innermost_parts *f, size_t i, double curvature)
{
    level_scratch *level = &f->x->level[f->l];
    const newton_state *s = &f->state[i];
    double *is = level->memory + f->part[i].first * level->each, *u = is + 1,
           *moves = u + level->before;
    is[0] = s->v[0];
    memcpy(u, level->parts.u + (f->from + i) * f->x->all, level->before * sizeof *u);
    for (size_t b = 0; b < level->before; b++)
        moves[b] = f->sd * curvature / (s->root[0] * s->root[0]);
}

/* Evaluates the listed parts, whose rows are in the batch, and updates their Newton states. */
static void evaluate_batch(innermost_parts *f, size_t active, const size_t *which, size_t cells,
                           bool keep)
{
    nested_integral *x = f->x;
    const predictor *likelihood = x->m->row_model->predictor;
    const batch b = batch_of(f, cells);
    likelihood->loglik(&b, x->out);
    likelihood->gradient(&b, f->mean, x->m->row_model->auxiliary_count ? x->aux_out : NULL);
    likelihood->curvature(&b, x->curvature, NULL, NULL);
    for (size_t j = 0, cell = 0; j < active; cell += f->part[which[j++]].n) {
        size_t i = which[j];
        const nested_part *p = &f->part[i];
        newton_state *s = &f->state[i], next = {.v = {s->v[0] + s->length * s->step[0]}};
        double curvature = add_up(f, p, x->curvature + cell),
               curve = 1.0 - f->sd * f->sd * curvature;
        next.height = add_up(f, p, x->out + cell) - 0.5 * next.v[0] * next.v[0];
        next.gradient[0] = f->sd * add_up(f, p, f->mean + cell) - next.v[0];
        next.root[0] = curve > 0.0 ? sqrt(curve) : 1.0;
        if (!nested_accept_step(x, 1, s, &next)) continue;
        s->length = 0.0;
        if (keep) store_single_mode(f, i, curvature);
    }
}

/* Finds the modes of all parts. */
static void locate(innermost_parts *f, bool keep)
{
    size_t *which = f->x->level[f->l].which, active = f->count;
    for (size_t i = 0; i < f->count; i++)
        f->state[i] = (newton_state){.v = {predict(f, i)}, .length = 1.0};
    while (active > 0) {
        size_t cells = 0;
        active = 0;
        for (size_t i = 0; i < f->count; i++) {
            const newton_state *s = &f->state[i];
            if (s->length <= 0.0) continue;
            add_effects_to_eta(f, &f->part[i], s->v[0] + s->length * s->step[0], cells);
            cells += f->part[i].n;
            which[active++] = i;
        }
        if (active > 0) evaluate_batch(f, active, which, cells, keep);
    }
}

/* ---- nodes ---- */

/* v of part i at node k. */
static double node_effect(const innermost_parts *f, size_t k, size_t i)
{
    return f->state[i].v[0] + f->x->m->level[f->l].node[k] * f->inverse_root[i];
}

/* Evaluates the rows of all parts at nodes from .. to - 1, which fit into one batch. */
static void evaluate_nodes(innermost_parts *f, size_t from, size_t to, derivatives_wanted w)
{
    nested_integral *x = f->x;
    const predictor *likelihood = x->m->row_model->predictor;
    size_t cells = (to - from) * f->cells, aux = x->m->row_model->auxiliary_count,
           extra = nested_extra_count(x->m);
    for (size_t k = from; k < to; k++)
        for (size_t i = 0; i < f->count; i++)
            add_effects_to_eta(f, &f->part[i], node_effect(f, k, i),
                               (k - from) * f->cells + f->part[i].cell - f->cell);
    const batch b = batch_of(f, cells);
    likelihood->loglik(&b, x->out);
    likelihood->gradient(&b, f->mean + from * f->cells, aux ? x->aux_out : NULL);
    if (w.hessian) likelihood->curvature(&b, x->curvature, NULL, NULL);
    for (size_t k = from; k < to; k++)
        for (size_t i = 0; i < f->count; i++) {
            const nested_part *p = &f->part[i];
            size_t at = k * f->count + i, cell = (k - from) * f->cells + p->cell - f->cell;
            f->height[at] = add_up(f, p, x->out + cell);
            f->pull[at] = add_up(f, p, f->mean + from * f->cells + cell);
            if (w.hessian) f->curvature[at] = add_up(f, p, x->curvature + cell);
            for (size_t a = 0; w.extra && a < aux; a++)
                x->level[f->l].places.extra[at * extra + a] =
                    add_up(f, p, x->aux_out + a * cells + cell);
        }
}

/* Replaces heights by the nodes' weights, and sets the logs of the integrals. */
static void normalise_all_heights(innermost_parts *f, double *log_m)
{
    const nested_level *rule = &f->x->m->level[f->l];
    size_t n = f->count;
    double *top = f->x->eta, *total = f->x->y; /* which are free by now */
    for (size_t i = 0; i < n; i++) top[i] = -INFINITY, total[i] = 0.0;
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < n; i++) {
            double v = node_effect(f, k, i), *h = &f->height[k * n + i];
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
    for (size_t i = 0; i < n; i++) log_m[i] = top[i] + log(total[i] * f->inverse_root[i]);
}

/* The Hessian by the effects above, all of which move all rows alike. */
static void gather_hessian(const innermost_parts *f, size_t i, double *hessian)
{
    const nested_integral *x = f->x;
    double total = 0.0, middle = 0.0;
    for (size_t k = 0; k < f->points; k++) {
        size_t at = k * f->count + i;
        total += f->height[at] * (f->curvature[at] + f->pull[at] * f->pull[at]);
        middle += f->height[at] * f->pull[at];
    }
    for (size_t a = 0; a < x->level[f->l].before; a++)
        for (size_t b = 0; b <= a; b++) hessian[a * x->all + b] = total - middle * middle;
}

/* Derivatives by the spread and the auxiliaries. */
static void gather_extra(const innermost_parts *f, size_t i, double *out)
{
    const nested_integral *x = f->x;
    const nested_level *of = &x->m->level[f->l];
    size_t aux = x->m->row_model->auxiliary_count, extra = nested_extra_count(x->m),
           own = of->spread - x->m->data->d;
    memset(out, 0, extra * sizeof *out);
    for (size_t k = 0; k < f->points; k++) {
        size_t at = k * f->count + i;
        out[own] +=
            f->height[at] * f->pull[at] * x->at[f->l]->first[0][0] * node_effect(f, k, i);
        add_scaled(aux, f->height[at], x->level[f->l].places.extra + at * extra,
                   out + x->m->spreads);
    }
}

/* Averages derivatives over nodes, into the list of parts. */
static void gather_all_nodes(const innermost_parts *f, derivatives_wanted w)
{
    const nested_integral *x = f->x;
    const part_list *to = &x->level[f->l].parts;
    memset(to->mean + f->cell, 0, f->cells * sizeof *to->mean);
    for (size_t k = 0; k < f->points; k++)
        for (size_t i = 0; i < f->count; i++) {
            const nested_part *p = &f->part[i];
            add_scaled(p->n, f->height[k * f->count + i],
                       f->mean + k * f->cells + p->cell - f->cell, to->mean + p->cell);
        }
    for (size_t i = 0; i < f->count; i++) {
        size_t of = f->from + i;
        if (w.hessian) gather_hessian(f, i, to->hessian + of * x->all * x->all);
        if (w.extra) gather_extra(f, i, to->extra + of * nested_extra_count(x->m));
    }
}

void innermost_integrate(nested_integral *x, size_t l, size_t from, size_t count,
                         derivatives_wanted w)
{
    level_scratch *level = &x->level[l];
    const nested_part *first = &level->parts.part[from], *last = first + count - 1;
    innermost_parts f = {.x = x,
                         .l = l,
                         .from = from,
                         .count = count,
                         .points = x->m->level[l].points,
                         .part = first,
                         .cell = first->cell,
                         .cells = last->cell + last->n - first->cell,
                         .sd = x->at[l]->factor[0][0],
                         .state = level->state,
                         .inverse_root = level->place,
                         .height = level->places.height,
                         .pull = level->places.u,
                         .curvature = level->places.hessian,
                         .mean = level->places.mean};
    locate(&f, w.keep);
    for (size_t i = 0; i < count; i++) f.inverse_root[i] = 1.0 / f.state[i].root[0];
    size_t at_once = x->cells / f.cells;
    for (size_t k = 0, next; k < f.points; k = next) {
        next = k + at_once < f.points ? k + at_once : f.points;
        evaluate_nodes(&f, k, next, w);
    }
    normalise_all_heights(&f, level->parts.height + from);
    gather_all_nodes(&f, w);
}
