/* Hessian of a group's log m with nested factors, by central differences of its gradient in
 * beta, spreads, auxiliaries and incident effects of crossed factors. */
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/nested.h"

#include <string.h>

/* relative to the predictor's scale over the sd of a column; absolute for log sds */
#define STEP 0.02

typedef struct {
    group_view *v;
    size_t dim;                      /* number of coordinates */
    double *base, *sum, *low, *high; /* by row; by column; dim */
    double *mean, *hessian;
    double *column, *aux, *moves;
} differences;

/* The number of coordinates before incident effects. */
static size_t core_count(const mixed *m)
{
    return m->data->d + nested_extra_count(m);
}

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
static size_t carve_differences(const mixed *m, double *base, differences *x)
{
    size_t used = 0, dim = core_count(m) + m->incident_max;
    const struct {
        double **part;
        size_t size;
    } parts[] = {{&x->base, m->largest},
                 {&x->sum, m->data->stride},
                 {&x->low, dim},
                 {&x->high, dim},
                 {&x->mean, dim},
                 {&x->hessian, dim * dim},
                 {&x->column, m->largest},
                 {&x->aux, m->row_model->auxiliary_count},
                 {&x->moves, crossed_scratch(m)}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].part = base ? base + used : NULL;
        used += (parts[i].size + 7) / 8 * 8;
    }
    return used;
}

size_t nested_expand_scratch(const mixed *m)
{
    differences unused;
    return m->levels > 1 ? carve_differences(m, NULL, &unused) : 0;
}

/* Assembles the gradient from v->mean and v->extra. */
static void assemble_gradient(differences *x, double *out)
{
    group_view *v = x->v;
    const mixed *m = v->m;
    memset(out, 0, x->dim * sizeof *out);
    memset(x->sum, 0, m->data->stride * sizeof *x->sum);
    rows_combine(m->data, m->k, rows_from(v->first, v->n), v->mean, x->sum);
    memcpy(out, x->sum, m->data->d * sizeof *out);
    memcpy(out + m->data->d, v->extra, nested_extra_count(m) * sizeof *out);
    crossed_pull(v, 0, v->n, v->mean, out + core_count(m), 1);
}

/* Sets x->column to the derivative of v->base by coordinate c: a column of the table, or z in
 * the rows of a level. */
static void find_column(differences *x, size_t c)
{
    group_view *v = x->v;
    const mixed *m = v->m;
    memset(x->column, 0, v->n * sizeof *x->column);
    if (c < m->data->d) {
        memset(x->sum, 0, m->data->stride * sizeof *x->sum);
        x->sum[c] = 1.0;
        rows_products(m->data, m->k, rows_from(v->first, v->n), x->sum, NULL, x->column, NULL);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        incident_effect incident[OTHERS_MAX * LEVEL_EFFECTS_MAX];
        size_t count = crossed_of_row(v, i, incident);
        for (size_t e = 0; e < count; e++)
            if (incident[e].place == c - core_count(m)) x->column[i] = incident[e].z;
    }
}

/* The step in coordinate c. */
static double step_of(const mixed *m, size_t c)
{
    bool weight = c < m->data->d && m->data->table.sd && m->data->table.sd[c] > 0.0;
    double scale =
        c < m->data->d || c >= core_count(m) ? predictor_scale(m->row_model_self) : 1.0;
    return STEP * (weight ? scale / m->data->table.sd[c] : scale);
}

/* out = the gradient with coordinate c moved by a step. */
static void gradient_at_step(differences *x, size_t c, double step, double *out)
{
    group_view *v = x->v;
    const mixed *m = v->m;
    size_t d = m->data->d, spread = c - d, inner = 0;
    group_point here = v->p;
    effect_spread moved;
    double at[SPREAD_MAX];
    if (c < d || c >= core_count(m)) {
        for (size_t i = 0; i < v->n; i++) v->base[i] = x->base[i] + step * x->column[i];
    } else if (spread < m->spreads) {
        while (inner + 1 < m->levels && c >= m->level[inner + 1].spread) inner++;
        const nested_level *l = &m->level[inner];
        memcpy(at, v->p.w + l->spread, l->shape.count * sizeof *at);
        at[c - l->spread] += step;
        spread_at(&l->shape, at, false, &moved);
        if (inner == 0)
            v->p.at = &moved;
        else
            v->p.inner[inner] = &moved;
    } else {
        memcpy(x->aux, v->p.aux, m->row_model->auxiliary_count * sizeof *x->aux);
        x->aux[spread - m->spreads] += step;
        v->p.aux = x->aux;
    }
    nested_value(v);
    assemble_gradient(x, out);
    v->p = here;
    memcpy(v->base, x->base, v->n * sizeof *v->base);
}

void nested_expand(group_view *v, double factor, double *scratch, double *gradient,
                   double *hessian)
{
    const mixed *m = v->m;
    differences x = {.v = v};
    carve_differences(m, scratch, &x);
    x.v = v;
    x.dim = core_count(m) + crossed_effects(v);
    assemble_gradient(&x, x.mean);
    memcpy(x.base, v->base, v->n * sizeof *x.base);
    for (size_t c = 0; c < x.dim; c++) {
        double step = step_of(m, c);
        if (c < m->data->d || c >= core_count(m)) find_column(&x, c);
        gradient_at_step(&x, c, -step, x.low);
        gradient_at_step(&x, c, step, x.high);
        for (size_t b = 0; b <= c; b++)
            x.hessian[c * x.dim + b] = (x.high[b] - x.low[b]) / (2.0 * step);
    }
    crossed_expand(v, factor, x.dim, x.mean, x.hessian, x.moves, gradient, hessian);
}
