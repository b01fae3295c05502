/* Nested integrals, (1) of nested.h: memory, the integral of a group, modes that are stored for
 * later searches, rules of levels, draws, and the Hessian. */
#include "core/memory.h"
#include "core/status.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/group_effects.h"
#include "model/mixed/nested_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS ((size_t)1024) /* cells of a batch, if no part has more rows */
/* Evaluations per row in searches for modes, times the nodes of the levels above. Two are
 * usual; far from the posterior, searches within searches might not end otherwise. */
#define EVALUATIONS_PER_ROW ((size_t)50)

size_t nested_extra_count(const mixed *m)
{
    return m->spreads + m->row_model->auxiliary_count;
}

size_t nested_run_end(const mixed *m, size_t level, size_t first, size_t end)
{
    const uint32_t *of = m->groups->factor[m->level[level].factor].of;
    size_t i = first + 1;
    while (i < end && of[i] == of[first]) i++;
    return i;
}

/* ---- memory ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Takes `size` doubles from base; base NULL: only counts them. */
static double *take(double *base, size_t *used, size_t size)
{
    double *at = base ? base + *used : NULL;
    *used += size;
    return at;
}

/* Places the arrays of a list. */
static void carve_list(part_list *of, size_t count, size_t cells, size_t all, size_t extra,
                       double *base, size_t *used)
{
    of->count_max = count;
    of->cells_max = cells;
    of->part = (nested_part *)take(base, used, count * sizeof(nested_part) / sizeof(double));
    of->height = take(base, used, count);
    of->mean = take(base, used, cells);
    of->extra = take(base, used, count * extra);
    of->hessian = take(base, used, count * all * all);
    of->u = take(base, used, count * all);
}

/* Places the arrays of level l. */
static void carve_level(nested_integral *x, const mixed *m, size_t l, double *base,
                        size_t *used)
{
    level_scratch *r = &x->level[l];
    size_t q = m->level[l].shape.effects, at_once = larger(m->level[l].points, DRAW_TRIES),
           extra = nested_extra_count(m), places = larger(CELLS, at_once);
    carve_list(&r->parts, CELLS, x->cells, x->all, extra, base, used);
    carve_list(&r->places, places, larger(CELLS, at_once * m->largest), x->all, extra, base,
               used);
    r->eta = take(base, used, x->cells);
    r->place = take(base, used, places * q);
    r->state = (newton_state *)take(base, used, CELLS * sizeof(newton_state) / sizeof(double));
    r->which = (size_t *)take(base, used, CELLS);
    r->each = q + r->before + q * r->before;
    r->memory = take(base, used, m->largest * r->each);
}

/* Places all arrays in base; returns their size in doubles. NULL base: size only. */
static size_t carve_nested(nested_integral *x, const mixed *m, double *base)
{
    size_t used = 0;
    x->all = 0;
    x->cells = larger(CELLS, m->largest);
    for (size_t l = 0; l < m->levels; l++) {
        x->level[l].before = x->all;
        x->all += m->level[l].shape.effects;
    }
    for (size_t l = 0; l < m->levels; l++) carve_level(x, m, l, base, &used);
    x->z = take(base, &used, m->largest * x->all);
    double **const parts[] = {&x->eta, &x->y, &x->out, &x->curvature};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = take(base, &used, x->cells);
    x->aux_out = take(base, &used, x->cells * m->row_model->auxiliary_count);
    return used;
}

size_t nested_scratch(const mixed *m)
{
    nested_integral unused;
    return m->levels > 1 ? carve_nested(&unused, m, NULL) : 0;
}

/* ---- groups ---- */

/* Sets z of all rows for the effects of all levels. */
static void load_effect_columns(nested_integral *x)
{
    const mixed *m = x->m;
    x->plain = true;
    for (size_t l = 0; l < m->levels; l++)
        for (size_t a = 0; a < m->level[l].shape.effects; a++) {
            effect_column column = m->level[l].column[a];
            double *z = x->z + x->level[l].before + a;
            x->plain &= column.of == GROUP_CONSTANT && m->level[l].shape.effects == 1;
            for (size_t i = 0; i < x->v->n; i++)
                z[i * x->all] = mixed_z(m, x->v->first + i, column);
        }
}

/* Begins the integral of the group that v has loaded; arrays are in v->nested_scratch. Level 0
 * has one part, the group. */
static void nested_begin(nested_integral *x, group_view *v)
{
    *x = (nested_integral){.v = v, .m = v->m};
    carve_nested(x, v->m, v->nested_scratch);
    for (size_t l = 0; l < v->m->levels; l++) x->at[l] = l ? v->p.inner[l] : v->p.at;
    load_effect_columns(x);
    for (size_t l = 0; l < v->m->levels; l++)
        for (size_t i = 0; i < v->n; i++) x->level[l].memory[i * x->level[l].each] = NAN;
    x->evaluations_max = EVALUATIONS_PER_ROW * v->n;
    for (size_t l = 0; l + 1 < v->m->levels; l++) x->evaluations_max *= v->m->level[l].points;
    parts_clear(&x->level[0].parts);
    parts_add(&x->level[0].parts, 0, v->n, 0);
    memcpy(x->level[0].eta, v->base, v->n * sizeof *v->base);
}

double nested_value(group_view *v)
{
    nested_integral x;
    nested_begin(&x, v);
    nested_integrate(&x, 0, (derivatives_wanted){.extra = true});
    const part_list *whole = &x.level[0].parts;
    memcpy(v->mean, whole->mean, v->n * sizeof *v->mean);
    memcpy(v->extra, whole->extra, nested_extra_count(v->m) * sizeof *v->extra);
    return whole->height[0];
}

/* Stores the mode of the only part of level l, and of its parts given that mode. */
static void store_modes(nested_integral *x, size_t l)
{
    const nested_level *of = &x->m->level[l];
    const nested_part whole = x->level[l].parts.part[0];
    size_t q = of->shape.effects, base = x->v->first, end = whole.first + whole.n;
    nested_find_modes(x, l, 0, 1, false);
    memcpy(of->centre + (base + whole.first) * q, x->level[l].state[0].v, q * sizeof(double));
    if (nested_is_innermost(x, l)) return;
    nested_fix_effects(x, l, x->level[l].state[0].v);
    for (size_t first = whole.first, next; first < end; first = next) {
        next = nested_run_end(x->m, l + 1, base + first, base + end) - base;
        nested_descend(x, l, first, next - first);
        store_modes(x, l + 1);
    }
}

void nested_store_modes(group_view *v)
{
    nested_integral x;
    nested_begin(&x, v);
    store_modes(&x, 0);
}

void nested_store_sds(mixed *m, const double *w)
{
    for (size_t l = 0; l < m->levels; l++) {
        nested_level *of = &m->level[l];
        effect_spread at;
        spread_at(&of->shape, w + of->spread, false, &at);
        for (size_t a = 0; a < of->shape.effects; a++) of->stored_sd[a] = at.factor[a][a];
    }
}

/* ---- rules and storage ---- */

/* Fewer nodes for an outer level: its integrand, a product over parts, is nearer to normal than
 * those of the parts, and costs more. */
#define FEWER_NODES ((size_t)2)
#define NODES_MIN   ((size_t)3)

size_t nested_nodes(const mixed *m, size_t level, size_t nodes)
{
    size_t less = FEWER_NODES * (m->levels - 1 - level);
    return nodes > less + NODES_MIN ? nodes - less : nodes < NODES_MIN ? nodes : NODES_MIN;
}

sbps_status nested_set_nodes(mixed *m, size_t nodes, sbps_error *err)
{
    for (size_t l = 0; m->levels > 1 && l < m->levels; l++) {
        nested_level *of = &m->level[l];
        free(of->node);
        of->node = mixed_grid(nested_nodes(m, l, nodes), of->shape.effects, &of->points);
        if (!of->node) return fail_memory(err);
        of->log_count = of->node + of->points * of->shape.effects;
    }
    return SBPS_OK;
}

sbps_status nested_open(mixed *m, sbps_error *err)
{
    for (size_t l = 0; m->levels > 1 && l < m->levels; l++) {
        nested_level *level = &m->level[l];
        size_t q = level->shape.effects, n = m->data->local_rows;
        level->centre = new_doubles(n * q);
        if (!level->centre) return fail_memory(err);
    }
    return SBPS_OK;
}

void nested_close(mixed *m)
{
    for (size_t l = 0; l < m->levels; l++) {
        free(m->level[l].node);
        free(m->level[l].centre);
    }
}

/* ---- draws ---- */

/* Draws v of the only part of level l: independence Metropolis with a t that has the moments of
 * the nodes. */
static void draw_place(nested_integral *x, size_t l, rng *r, double *at)
{
    const nested_level *of = &x->m->level[l];
    level_scratch *level = &x->level[l];
    const nested_part whole = level->parts.part[0];
    size_t q = of->shape.effects, kept = 0;
    double mean[Q], factor[Q * Q], t[Q], ratio[DRAW_TRIES];
    nested_integrate_places(x, l, (derivatives_wanted){.hessian = false});
    if (!node_moments(q, of->points, level->places.height, level->place, mean, factor))
        memset(factor, 0, sizeof factor); /* singular by rounding: a single place */
    parts_clear(&level->places);
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        ratio[i] = draw_t(r, q, t);
        for (size_t a = 0; a < q; a++)
            level->place[i * q + a] = mean[a] + dot(a + 1, factor + a * q, t);
        parts_add(&level->places, whole.first, whole.n, 0);
    }
    nested_loglik(x, l, (derivatives_wanted){.hessian = false});
    for (size_t i = 0; i < DRAW_TRIES; i++) {
        const double *place = level->place + i * q;
        ratio[i] += level->places.height[i] - 0.5 * dot(q, place, place);
        if (i > 0 && log(rng_uniform(r)) < ratio[i] - ratio[kept]) kept = i;
    }
    memcpy(at, level->place + kept * q, q * sizeof *at);
}

/* Draws the effects of the only part of a level given those above, then of its parts given
 * these; returns where the next effects go. */
static double *draw_part(nested_integral *x, size_t l, rng *r, double *out)
{
    const nested_part whole = x->level[l].parts.part[0];
    size_t q = x->m->level[l].shape.effects, base = x->v->first, end = whole.first + whole.n;
    double at[Q];
    draw_place(x, l, r, at);
    for (size_t a = 0; a < q; a++) *out++ = dot(a + 1, x->at[l]->factor[a], at);
    if (nested_is_innermost(x, l)) return out;
    nested_fix_effects(x, l, at);
    for (size_t first = whole.first, next; first < end; first = next) {
        next = nested_run_end(x->m, l + 1, base + first, base + end) - base;
        nested_descend(x, l, first, next - first);
        out = draw_part(x, l + 1, r, out);
    }
    return out;
}

void nested_draw(group_view *v, rng *r, double *out)
{
    nested_integral x;
    nested_begin(&x, v);
    draw_part(&x, 0, r, out);
}

/* ---- gradient and Hessian ---- */

/* The Hessian of log m is taken by central differences of its gradient in beta, spreads,
 * auxiliaries and incident effects of crossed factors. Their steps: relative to the predictor's
 * scale over the sd of a column; absolute for log sds. */
#define HESSIAN_STEP 0.02

/* The arrays of a Hessian by differences. */
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
    return HESSIAN_STEP * (weight ? scale / m->data->table.sd[c] : scale);
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
