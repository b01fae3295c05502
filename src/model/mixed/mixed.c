/* Models with group effects: opening, members of model_kind for groups as rows, the list of
 * such models, and the table of groups. */
#include "model/mixed/mixed.h"
#include "core/memory.h"
#include "core/printable.h"
#include "linalg/dense_matrix.h"
#include "linalg/special_functions.h"
#include "model/likelihood/model_kinds.h"
#include "model/mixed/centring.h"
#include "model/mixed/compressed_rows.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/group_expand.h"
#include "model/mixed/group_polynomial.h"
#include "model/mixed/group_view.h"
#include "model/mixed/joint.h"
#include "model/mixed/mixed_coordinates.h"
#include "model/mixed/nested.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes per effect until enough are known, by effects of a level. */
static const size_t nodes_first[LEVEL_EFFECTS_MAX + 1] = {1, 7, 5, 3, 3, 3};
#define NODES_NESTED ((size_t)9) /* with fewer, sds of groups of one or two rows diverge */

#define VALUE_ERROR 1e-3 /* log units: accuracy of the integrals */

/* ---- opening ---- */

/* A tensor grid, the first axis running fastest. */
double *mixed_grid(size_t nodes, size_t effects, size_t *points)
{
    double node[HERMITE_MAX], weight[HERMITE_MAX];
    hermite_rule(nodes, node, weight);
    *points = 1;
    for (size_t a = 0; a < effects; a++) *points *= nodes;
    double *out = new_doubles(*points * (effects + 1));
    if (!out) return NULL;
    double *log_count = out + *points * effects;
    for (size_t k = 0; k < *points; k++) {
        size_t rest = k;
        for (size_t a = 0; a < effects; a++, rest /= nodes) {
            double t = node[rest % nodes];
            out[k * effects + a] = t;
            log_count[k] += log(weight[rest % nodes]) + 0.5 * t * t;
        }
    }
    return out;
}

sbps_status mixed_set_nodes(mixed *m, size_t nodes, sbps_error *err)
{
    free(m->node);
    m->nodes = nodes;
    m->node = mixed_grid(nodes, m->shape.effects, &m->points);
    if (!m->node) return fail_memory(err);
    m->log_count = m->node + m->points * m->shape.effects;
    return nested_set_nodes(m, nodes, err);
}

/* Appends a coordinate to the shape: row = against is a log sd, else a correlation. */
static void add_coordinate(spread_shape *shape, size_t term, size_t row, size_t against)
{
    shape->of[shape->count++] = (spread_coordinate){term, row, against};
}

/* Adds the effects of term t to a shape, and their coordinates: sds first, then
 * correlations. */
static void add_shape_term(spread_shape *shape, effect_column *column, const group_term *term,
                           size_t t)
{
    size_t begin = shape->effects;
    for (size_t a = 0; a < term->count; a++) {
        size_t row = begin + a;
        column[row] = (effect_column){term->column[a], 0.0};
        shape->begin[row] = begin;
        add_coordinate(shape, t, row, row);
    }
    for (size_t a = 0; a < term->count && term->correlated; a++)
        for (size_t b = 0; b < a; b++) add_coordinate(shape, t, begin + a, begin + b);
    shape->effects += term->count;
}

/* The crossed factor of this index, added if it is new; NULL: there are too many. */
static other_factor *other_of(mixed *m, size_t factor)
{
    size_t k = 0;
    while (k < m->others && m->other[k].factor != factor) k++;
    if (k == OTHERS_MAX) return NULL;
    if (k == m->others) m->other[m->others++].factor = factor;
    return &m->other[k];
}

/* The level of a factor that is integrated over; m->levels: it is not one. */
static size_t level_of(const mixed *m, size_t factor)
{
    size_t l = 0;
    while (l < m->levels && m->level[l].factor != factor) l++;
    return l;
}

/* Adds the effects of term t to the shape of its factor. */
static sbps_status shape_term(mixed *m, size_t t, sbps_error *err)
{
    const row_groups *g = m->groups;
    const group_term *term = &g->term[t];
    size_t level = level_of(m, term->factor);
    other_factor *other = level < m->levels ? NULL : other_of(m, term->factor);
    if (level == m->levels && !other)
        return fail(err, SBPS_BAD_ARG, "%zu grouping factors: at most %zu are possible",
                    g->factors, OTHERS_MAX + 1);
    spread_shape *shape = other ? &other->shape : &m->level[level].shape;
    if (shape->effects + term->count > LEVEL_EFFECTS_MAX)
        return fail(err, SBPS_BAD_ARG, "'%s': more than %zu effects per level",
                    show_name(g->factor[term->factor].name).text, LEVEL_EFFECTS_MAX);
    add_shape_term(shape, other ? other->column : m->level[level].column, term, t);
    return SBPS_OK;
}

/* Sets levels, crossed factors and the shapes of their effects. */
static sbps_status shape_effects(mixed *m, bool joint, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (!joint) m->level[m->levels++].factor = m->groups->by;
    for (size_t k = 0; !joint && k < m->groups->nested; k++)
        m->level[m->levels++].factor = m->groups->nested_factor[k];
    for (size_t t = 0; t < m->groups->terms && status == SBPS_OK; t++)
        status = shape_term(m, t, err);
    m->shape = m->level[0].shape;
    memcpy(m->column, m->level[0].column, sizeof m->column);
    return status;
}

/* Numbers the coordinates: weights, spreads of factors that are integrated over, spreads of
 * crossed factors, their effects, auxiliaries. */
static void place_spreads(mixed *m)
{
    size_t next = m->data->d;
    for (size_t l = 0; l < m->levels; l++) {
        m->level[l].spread = next;
        next += m->level[l].shape.count;
    }
    m->spreads = next - m->data->d;
    for (size_t f = 0; f < m->others; f++) {
        m->other[f].spread = next;
        next += m->other[f].shape.count;
    }
    for (size_t f = 0; f < m->others; f++) {
        other_factor *o = &m->other[f];
        size_t count = m->groups->factor[o->factor].levels * o->shape.effects;
        o->first = next;
        next += count;
    }
    m->aux = next;
    m->dim = m->aux + m->row_model->auxiliary_count;
}

/* Fails if there are too many crossed effects for dense matrices. */
static sbps_status check_explicit(const rows *data, sbps_error *err)
{
    const row_groups *g = data->member_rows->groups;
    if (mixed_explicit(data) <= EXPLICIT_MAX) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "effects by '%s' are integrated over; the other factors have %zu effects, and "
                "at most %zu can be sampled: use --crossed joint, which integrates over "
                "none",
                show_name(g->factor[g->by].name).text, mixed_explicit(data), EXPLICIT_MAX);
}

/* Sets the units of sds: the scale of eta over the sd of the column. */
static void find_units(mixed *m)
{
    double scale = predictor_scale(m->row_model_self);
    for (size_t l = 0; l < m->levels; l++)
        for (size_t a = 0; a < m->level[l].shape.effects; a++)
            m->level[l].unit[a] = scale / mixed_column_sd(m, m->level[l].column[a].of);
    memcpy(m->unit, m->level[0].unit, sizeof m->unit);
    for (size_t f = 0; f < m->others; f++)
        for (size_t a = 0; a < m->other[f].shape.effects; a++)
            m->other[f].unit[a] = scale / mixed_column_sd(m, m->other[f].column[a].of);
}

/* Sets everything that depends on the groups: shapes, coordinates, units, incidence, and the
 * first rule. */
static sbps_status prepare_model(mixed *m, const rows *groups, bool joint, bool at_zero,
                                 sbps_error *err)
{
    const row_groups *g = m->groups;
    sbps_status status = shape_effects(m, joint, err);
    if (status != SBPS_OK) return status;
    if (!at_zero) centre_effects(m);
    place_spreads(m);
    find_units(m);
    if (joint) return joint_open(m, err);
    status = crossed_open(m, err);
    if (status == SBPS_OK) status = nested_open(m, err);
    if (status != SBPS_OK) return status;
    if (m->levels == 1 && m->others == 0 && !strcmp(m->row_model->name, "linear"))
        status = rows_compress(m, groups, err);
    if (status != SBPS_OK) return status;
    for (size_t i = 0; i < g->count; i++) {
        size_t n = m->start[i + 1] - m->start[i];
        if (n > m->largest) m->largest = n;
    }
    m->centre = new_doubles(g->count * m->shape.effects);
    size_t nodes = m->levels > 1 ? NODES_NESTED : nodes_first[m->shape.effects];
    return m->centre ? mixed_set_nodes(m, nodes, err) : fail_memory(err);
}

/* NULL members are fine, since open calls this after a failure, too. */
static void close(void *self)
{
    mixed *m = self;
    if (!m) return;
    m->row_model->close(m->row_model_self);
    crossed_close(m);
    blocks_close(m);
    nested_close(m);
    free(m->centre);
    free(m->correction);
    compressed_rows_destroy(m->compressed);
    polynomials_destroy(m->polynomials);
    free(m->node);
    free(m);
}

/* Opens the model of the rows first, which checks targets and columns. A joint model is one
 * whose kind has a transformation. */
static sbps_status open(const model_kind *kind, const rows *data, const model_shape *shape,
                        void **self, sbps_error *err)
{
    *self = NULL;
    sbps_status status = kind->transformation.apply ? SBPS_OK : check_explicit(data, err);
    if (status != SBPS_OK) return status;
    mixed *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    *m = (mixed){.row_model = kind->row_model,
                 .data = data->member_rows,
                 .table_rows = data->member_rows,
                 .k = kernels_best()};
    m->groups = m->data->groups;
    m->start = m->groups->start;
    status = m->row_model->open(m->row_model, m->data, shape, &m->row_model_self, err);
    if (status == SBPS_OK)
        status =
            prepare_model(m, data, kind->transformation.apply, shape->effects_at_zero, err);
    if (status == SBPS_OK)
        *self = m;
    else
        close(m);
    return status;
}

/* ---- groups as rows ---- */

/* Two parts: the view of a group, and behind it the sums of its Hessian. They do not depend on
 * n, since groups are evaluated one after another. */
static size_t scratch(const void *self, size_t n)
{
    (void)n;
    const mixed *m = self;
    return group_scratch(m) + expand_scratch(m);
}

/* The correction of a group's log m at w, (1) of choose_nodes.c. */
static double correction_at(const mixed *m, const double *w)
{
    double sum = 0.0;
    for (size_t j = 0; m->correction && j < m->dim; j++)
        sum += m->correction[j] * (w[j] - m->correction[m->dim + j]);
    return sum;
}

/* log m_g of (1), group by group: r is a range of groups. */
static void loglik(const void *self, row_range r, const double *w, double *buffer, double *out)
{
    group_view v;
    double correction = correction_at(self, w);
    group_begin(&v, self, w, NULL, false, buffer);
    for (size_t i = 0; i < r.n; i++) out[i] = group_value(&v, row_index(r, i)) + correction;
}

/* The rate of log m_g along u. */
static void slope(const void *self, row_range r, const double *w, const double *u,
                  double *buffer, double *out)
{
    const mixed *m = self;
    double correction = m->correction ? dot(m->dim, m->correction, u) : 0.0;
    group_view v;
    group_begin(&v, self, w, u, false, buffer);
    for (size_t i = 0; i < r.n; i++) {
        group_value(&v, row_index(r, i));
        out[i] = group_slope(&v) + correction;
    }
}

/* The gradients of log m_g, times their factors, added to out. */
static void gradient(const void *self, row_range r, const double *w, const double *factor,
                     double *buffer, double *out)
{
    const mixed *m = self;
    group_view v;
    group_begin(&v, m, w, NULL, false, buffer);
    for (size_t i = 0; i < r.n; i++) {
        group_value(&v, row_index(r, i));
        group_gradient(&v, factor[i], out);
        if (m->correction) add_scaled(m->dim, factor[i], m->correction, out);
    }
}

/* log m, gradient and Hessian of the groups, times their factors. */
static void expand(const void *self, row_range r, const double *w, const double *factor,
                   double *buffer, double *value, double *slopes, double *hessian)
{
    group_view v;
    const mixed *m = self;
    double correction = correction_at(m, w);
    group_begin(&v, m, w, NULL, true, buffer);
    for (size_t i = 0; i < r.n; i++) {
        *value += factor[i] * (group_value(&v, row_index(r, i)) + correction);
        group_expand(&v, factor[i], buffer + group_scratch(m), slopes, hessian);
        if (m->correction) add_scaled(m->dim, factor[i], m->correction, slopes);
    }
}

/* evaluations that the search for a mode takes besides the nodes */
#define MODE_EVALUATIONS 2.0

/* Cost of a group's slope, in multiplications. */
static double integration_cost(const void *self)
{
    const mixed *m = self;
    double rows_per_group = (double)m->data->local_rows / (double)m->groups->count,
           points = (double)m->points;
    for (size_t l = 1; l < m->levels; l++)
        points *= (double)m->level[l].points + MODE_EVALUATIONS;
    return rows_per_group * (points * 8.0 + rows_numbers(m->data));
}

/* ---- a kind for every regression ---- */

/* The members that both kinds of models have in common. */
static model_kind kind_of(const model_kind *row_model)
{
    return (model_kind){
        .row_model = row_model,
        .name = row_model->name,
        .summary = row_model->summary,
        .support = row_model->support,
        .facts.any_storage = true,
        .facts.weights_by_column = true,
        .facts.bounded_above = row_model->facts.bounded_above,
        .open = open,
        .close = close,
        .parameters.dim = mixed_dim,
        .parameters.name = mixed_name_of,
        .parameters.prior_sd = mixed_prior_sd,
        .parameters.prior_mean = mixed_prior_mean,
        .parameters.coordinate = mixed_coordinate,
        .reported.describe = mixed_derived,
        .reported.name = mixed_derived_name,
        .reported.values = mixed_derive,
        .parameters.intercept = mixed_intercept,
        .parameters.start = mixed_start,
    };
}

/* Adds the members of models that integrate, or of joint ones. */
static model_kind integrated(model_kind kind)
{
    kind.facts.value_error = VALUE_ERROR;
    kind.rows.scratch = scratch;
    kind.rows.loglik = loglik;
    kind.rows.slope = slope;
    kind.rows.gradient = gradient;
    kind.rows.expand = expand;
    kind.rows.cost = integration_cost;
    return kind;
}

/* The members of a model that integrates over no factor: rows are evaluated at transformed
 * points (joint.h). */
static model_kind joint(model_kind kind)
{
    kind.transformation.apply = joint_transform;
    kind.transformation.pullback = joint_pullback;
    kind.transformation.scratch = joint_transform_scratch;
    kind.rows.scratch = joint_scratch;
    kind.rows.loglik = joint_loglik;
    kind.rows.gradient = joint_gradient;
    kind.rows.cost = joint_cost;
    return kind;
}

/* Models of groups for all listed regressions, to be freed; the last has no name. NULL: no
 * memory. */
static model_kind *mixed_kinds(void)
{
    size_t count = 0;
    model_kind *kinds = calloc(2 * KINDS_MAX + 1, sizeof *kinds); /* the last has no name */
    for (size_t i = 0; kinds && model_kinds[i]; i++) {
        if (!model_kinds[i]->predictor) continue;
        kinds[count++] = integrated(kind_of(model_kinds[i]));
        kinds[count++] = joint(kind_of(model_kinds[i]));
    }
    return kinds;
}

const model_kind *mixed_of(const rows *groups, const model_kind *row_model, bool joint)
{
    for (const model_kind *kind = groups->storage.owner; kind->name; kind++)
        if (kind->row_model == row_model && joint == (kind->transformation.apply != NULL))
            return kind;
    return NULL;
}

bool mixed_integrates(const row_groups *g, size_t factor)
{
    for (size_t k = 0; k < g->nested; k++)
        if (g->nested_factor[k] == factor) return true;
    return g->by == factor;
}

size_t mixed_explicit(const rows *groups)
{
    const row_groups *g = groups->member_rows->groups;
    size_t count = 0;
    for (size_t t = 0; t < g->terms; t++)
        if (!mixed_integrates(g, g->term[t].factor))
            count += g->term[t].count * g->factor[g->term[t].factor].levels;
    return count;
}

/* ---- the table of groups ---- */

static double *copy_doubles(const double *from, size_t count)
{
    double *to = new_doubles(count + 1);
    if (to && from) memcpy(to, from, count * sizeof *to);
    return to;
}

/* The names of the columns, which become those of the table of groups. False: no memory. */
static bool copy_names(const rows *from, rows *to)
{
    to->table.names = calloc(to->d + 1, sizeof *to->table.names);
    bool whole = to->table.names;
    for (size_t j = 0; whole && j < to->d; j++)
        whole = (to->table.names[j] = copy_text(from->table.names[j]));
    return whole;
}

#define ROWS_PER_NUMBER ((size_t)2) /* rows of a part, per number of the sum */

/* Groups per part of the table: about as many rows as a part usually has, or more if a sum over
 * rows has so many numbers that adding up parts would take most of the time. */
static size_t groups_per_part(const rows *groups)
{
    const rows *member_rows = groups->member_rows;
    size_t part_rows = PART_ROWS, effects = mixed_explicit(groups) + member_rows->groups->count;
    if (mixed_explicit(groups) > EXPLICIT_MAX && ROWS_PER_NUMBER * effects > part_rows)
        part_rows = ROWS_PER_NUMBER * effects;
    size_t part = part_rows * member_rows->groups->count / member_rows->local_rows;
    return part > 0 ? part : 1;
}

sbps_status grouped_rows(rows *data, rows **out, sbps_error *err)
{
    rows *r = *out = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (rows){.storage.kind = data->storage.kind,
                .local_rows = data->groups->count,
                .d = data->d,
                .stride = data->stride,
                .intercept = data->intercept,
                .table.dropped = data->table.dropped,
                .table.hash = data->table.hash,
                .table.seed = data->table.seed};
    r->table.mean = copy_doubles(data->table.mean, data->d);
    r->table.sd = copy_doubles(data->table.sd, data->d);
    r->y = new_doubles(r->local_rows);
    r->table.target = copy_text(data->table.target);
    r->table.notes = copy_text(data->table.notes);
    r->table.design = copy_text(data->table.design);
    r->table.source = copy_text(data->table.source);
    r->storage.owner = mixed_kinds();
    if (copy_names(data, r) && r->storage.owner && r->table.mean && r->table.sd && r->y &&
        r->table.target) {
        r->member_rows = data;
        r->sum_part_rows = groups_per_part(r);
        return SBPS_OK;
    }
    rows_destroy(r);
    *out = NULL;
    return fail_memory(err);
}
