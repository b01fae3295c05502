/* What parts say at places of their effects: rows, or parts of theirs. */
#include "linalg/dense_matrix.h"
#include "model/mixed/nested_parts.h"

#include <string.h>

void list_clear(list *of)
{
    of->count = of->cells = 0;
}

bool list_full(const list *of, size_t n)
{
    return of->count == of->count_max || of->cells + n > of->cells_max;
}

part *list_add(list *of, size_t first, size_t n, size_t from)
{
    part *p = &of->part[of->count++];
    *p = (part){first, n, of->cells, from};
    of->cells += n;
    return p;
}

/* u of a place: of levels above, and of its own. */
static void find_effects(nested_integral *x, size_t l, size_t place)
{
    level_scratch *level = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    double *u = level->places.u + place * x->all;
    memcpy(u, level->parts.u + level->places.part[place].of * x->all,
           level->before * sizeof *u);
    for (size_t a = 0; a < q; a++)
        u[level->before + a] = dot(a + 1, x->at[l]->factor[a], level->place + place * q);
}

/* Its rows first.. with its effects on top of what the part has. */
static void add_effects_to_eta(const nested_integral *x, size_t l, size_t place, size_t first,
                               size_t n, double *eta)
{
    const level_scratch *level = &x->level[l];
    const part *p = &level->places.part[place], *whole = &level->parts.part[p->of];
    const double *base = level->eta + whole->cell + (first - whole->first);
    const double *u = level->places.u + place * x->all + level->before;
    size_t q = x->m->level[l].shape.effects;
    for (size_t i = 0; i < n; i++)
        eta[i] = base[i] +
                 (x->plain ? u[0] : dot(q, u, x->z + (first + i) * x->all + level->before));
}

/* ---- rows ---- */

static void weigh(const nested_integral *x, const part *p, double *values)
{
    const double *weight = x->m->data->weight;
    if (!weight) return;
    weight += x->v->first + p->first;
    for (size_t i = 0; i < p->n; i++) values[i] *= weight[i];
}

/* bend += sum_i c_i z_i z_i' */
static void add_row_curvatures(const nested_integral *x, size_t l, const part *p,
                               const double *c, double *hessian)
{
    size_t count = x->level[l].before + x->m->level[l].shape.effects;
    double whole = x->plain ? sum(p->n, c) : 0.0;
    for (size_t a = 0; x->plain && a < count; a++)
        for (size_t b = 0; b <= a; b++) hessian[a * x->all + b] += whole;
    for (size_t i = 0; !x->plain && i < p->n; i++) {
        const double *z = x->z + (p->first + i) * x->all;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b <= a; b++) hessian[a * x->all + b] += c[i] * z[a] * z[b];
    }
}

/* What rows of one place said, at cell.. of the batch. */
static void add_place_sums(nested_integral *x, size_t l, size_t place, size_t cell,
                           size_t pitch, derivatives_wanted w)
{
    const mixed *m = x->m;
    list *to = &x->level[l].places;
    const part *p = &to->part[place];
    weigh(x, p, x->out + cell);
    weigh(x, p, to->mean + p->cell);
    to->height[place] = sum(p->n, x->out + cell);
    if (w.hessian) {
        weigh(x, p, x->curvature + cell);
        add_row_curvatures(x, l, p, x->curvature + cell, to->hessian + place * x->all * x->all);
    }
    for (size_t a = 0; w.extra && a < m->row_model->auxiliary_count; a++) {
        weigh(x, p, x->aux_out + a * pitch + cell);
        to->extra[place * nested_extra_count(m) + m->spreads + a] +=
            sum(p->n, x->aux_out + a * pitch + cell);
    }
}

/* Places from.., as many as go into a batch; where the next begin. */
static size_t evaluate_rows(nested_integral *x, size_t l, size_t from, derivatives_wanted w)
{
    const mixed *m = x->m;
    const predictor *likelihood = m->row_model->predictor;
    const list *of = &x->level[l].places;
    size_t cells = 0, end = from;
    for (; end < of->count && cells + of->part[end].n <= x->cells; end++) {
        const part *p = &of->part[end];
        add_effects_to_eta(x, l, end, p->first, p->n, x->eta + cells);
        memcpy(x->y + cells, m->data->y + x->v->first + p->first, p->n * sizeof *x->y);
        cells += p->n;
    }
    const batch b = {
        .k = m->k, .n = cells, .eta = x->eta, .y = x->y, .aux = x->v->p.aux, .pitch = cells};
    likelihood->loglik(&b, x->out);
    likelihood->gradient(&b, of->mean + of->part[from].cell,
                         m->row_model->auxiliary_count ? x->aux_out : NULL);
    if (w.hessian) likelihood->curvature(&b, x->curvature, NULL, NULL);
    for (size_t place = from, cell = 0; place < end; cell += of->part[place++].n)
        add_place_sums(x, l, place, cell, cells, w);
    return end;
}

/* ---- parts ---- */

/* The integrals gathered at level l are made, and added to the places that they are seen from. */
static void add_to_level_above(nested_integral *x, size_t l, derivatives_wanted w)
{
    list *from = &x->level[l].parts, *to = &x->level[l - 1].places;
    size_t extra = nested_extra_count(x->m), square = x->all * x->all;
    if (from->count == 0) return;
    nested_integrate(x, l, w);
    for (size_t i = 0; i < from->count; i++) {
        const part *p = &from->part[i], *place = &to->part[p->of];
        to->height[p->of] += from->height[i];
        memcpy(to->mean + place->cell + (p->first - place->first), from->mean + p->cell,
               p->n * sizeof *to->mean);
        if (w.extra) add_scaled(extra, 1.0, from->extra + i * extra, to->extra + p->of * extra);
        if (w.hessian)
            add_scaled(square, 1.0, from->hessian + i * square, to->hessian + p->of * square);
    }
    list_clear(from);
}

/* One more part to be integrated at the level below, as seen from a place of level l. */
static void add_part(nested_integral *x, size_t l, size_t place, size_t first, size_t n)
{
    level_scratch *below = &x->level[l + 1];
    double *u = below->parts.u + below->parts.count * x->all;
    const part *p = list_add(&below->parts, first, n, place);
    add_effects_to_eta(x, l, place, first, n, below->eta + p->cell);
    memcpy(u, x->level[l].places.u + place * x->all, below->before * sizeof *u);
}

static void evaluate_parts(nested_integral *x, size_t l, derivatives_wanted w)
{
    const list *of = &x->level[l].places;
    list *below = &x->level[l + 1].parts;
    size_t base = x->v->first;
    list_clear(below);
    for (size_t place = 0; place < of->count; place++) {
        size_t first = of->part[place].first, end = first + of->part[place].n;
        for (size_t next; first < end; first = next) {
            next = nested_run_end(x->m, l + 1, base + first, base + end) - base;
            if (list_full(below, next - first)) add_to_level_above(x, l + 1, w);
            add_part(x, l, place, first, next - first);
        }
    }
    add_to_level_above(x, l + 1, w);
}

void nested_loglik(nested_integral *x, size_t l, derivatives_wanted w)
{
    list *of = &x->level[l].places;
    memset(of->height, 0, of->count * sizeof *of->height);
    if (w.extra) memset(of->extra, 0, of->count * nested_extra_count(x->m) * sizeof *of->extra);
    if (w.hessian) memset(of->hessian, 0, of->count * x->all * x->all * sizeof *of->hessian);
    for (size_t place = 0; place < of->count; place++) find_effects(x, l, place);
    if (!nested_is_innermost(x, l)) {
        evaluate_parts(x, l, w);
        return;
    }
    for (size_t place = 0; place < of->count;) place = evaluate_rows(x, l, place, w);
}

void nested_fix_effects(nested_integral *x, size_t l, const double *v)
{
    level_scratch *level = &x->level[l];
    const part *whole = &level->parts.part[0];
    list_clear(&level->places);
    list_add(&level->places, whole->first, whole->n, 0);
    memcpy(level->place, v, x->m->level[l].shape.effects * sizeof *v);
    find_effects(x, l, 0);
}

void nested_descend(nested_integral *x, size_t l, size_t first, size_t n)
{
    list_clear(&x->level[l + 1].parts);
    add_part(x, l, 0, first, n);
}

void nested_pull(const nested_integral *x, size_t l, size_t place, double *pull)
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
