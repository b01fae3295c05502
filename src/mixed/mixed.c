/* Models of groups: a regression's rows, joined. Coordinates are the weights of columns, log sds and correlations of
 * the effects, term by term, and the auxiliaries of the rows' model.
 *
 * Defaults: sds half student_t(3, 0, 2.5 s / sd(z)), s = sd(y) where weights have the scale of the target, else 1;
 * correlations lkj(2). */
#include "mixed/mixed.h"
#include "base/hermite.h"
#include "base/memory.h"
#include "mixed/expand.h"
#include "mixed/marginal.h"
#include "model/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Until it is known how many are enough: by effects a level. */
static const size_t nodes_first[EFFECTS_A_LEVEL + 1] = {1, 7, 5, 3, 3, 3};

#define PRIOR_SD  "student_t(3,0,2.5)"
#define PRIOR_COR "lkj(2)"
#define GRAIN     1e-3 /* nats */
#define START_SD  0.5  /* of its unit */

/* ---- what its coordinates are ---- */

static const spread_coordinate *spread_of(const mixed *m, size_t j)
{
    return j >= m->data->d && j < m->aux ? &m->shape.of[j - m->data->d] : NULL;
}

static void name_of(const void *self, size_t j, size_t size, char *text)
{
    const mixed *m = self;
    const spread_coordinate *c = spread_of(m, j);
    if (c)
        spread_name(m, c, spread_is_partial(m, c) ? "partial_" : "", size, text);
    else
        predictor_name(m->rows_self, j < m->data->d ? j : j - m->shape.count, size, text);
}

static double effect_sd(const mixed *m, size_t effect)
{
    size_t column = m->column[effect], n = m->data->n;
    double mean = 0.0, square = 0.0;
    if (column == GROUP_CONSTANT) return 1.0;
    for (size_t i = 0; i < n; i++) mean += group_effect_of(m, i, effect) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double z = group_effect_of(m, i, effect) - mean;
        square += z * z / (double)n;
    }
    return square > 0.0 ? sqrt(square) : 1.0;
}

static bool coordinate(const void *self, size_t j, model_coordinate *out)
{
    const mixed *m = self;
    const spread_coordinate *c = spread_of(m, j);
    if (j < m->data->d) return false;
    if (!c) {
        const model_auxiliary *of = &m->rows_of->auxiliaries[j - m->aux];
        *out = (model_coordinate){of->scale, of->option, of->prior,
                                  predictor_auxiliary_unit(m->rows_self, j - m->aux), 0.0};
    } else if (c->against == c->row)
        *out = (model_coordinate){SCALE_LOG, "prior-sd", PRIOR_SD, m->unit[c->row], 0.0};
    else {
        size_t begin = m->shape.begin[c->row], count = m->groups->term[c->term].count;
        double below = (double)(count - 2 - (c->against - begin));
        *out = (model_coordinate){SCALE_TANH, "prior-cor", PRIOR_COR, 1.0, 0.5 * below};
    }
    return true;
}

static double prior_sd(const void *self, size_t j)
{
    return predictor_prior_sd(((const mixed *)self)->rows_self, j);
}

static double prior_mean(const void *self, size_t j)
{
    return predictor_prior_mean(((const mixed *)self)->rows_self, j);
}

static bool intercept(const void *self, size_t j)
{
    return predictor_intercept(((const mixed *)self)->rows_self, j);
}

static size_t dim(const void *self)
{
    return ((const mixed *)self)->dim;
}

static void start(const void *self, double *w)
{
    const mixed *m = self;
    memset(w, 0, m->dim * sizeof *w);
    if (m->data->intercept && m->data->d > 0) w[0] = prior_mean(self, 0);
    for (size_t a = 0; a < m->shape.count; a++) {
        const spread_coordinate *c = &m->shape.of[a];
        if (c->against == c->row) w[m->data->d + a] = log(START_SD * m->unit[c->row]);
    }
    for (size_t a = 0; a < m->rows_of->auxiliary_count; a++) {
        const model_auxiliary *of = &m->rows_of->auxiliaries[a];
        double unit = predictor_auxiliary_unit(m->rows_self, a);
        w[m->aux + a] = scale_coordinate(of->scale, of->start * unit);
    }
}

/* ---- opening ---- */

/* Points of the grid, and what each counts. */
sbps_status mixed_set_nodes(mixed *m, size_t nodes, sbps_error *err)
{
    size_t q = m->shape.effects, points = 1;
    double node[HERMITE_MOST], weight[HERMITE_MOST];
    hermite_rule(nodes, node, weight);
    for (size_t a = 0; a < q; a++) points *= nodes;
    free(m->node);
    m->node = new_doubles(points * (q + 1));
    if (!m->node) return fail_memory(err);
    m->log_count = m->node + points * q;
    m->nodes = nodes;
    m->points = points;
    for (size_t k = 0; k < points; k++) {
        size_t rest = k;
        for (size_t a = 0; a < q; a++, rest /= nodes) {
            double t = node[rest % nodes];
            m->node[k * q + a] = t;
            m->log_count[k] += log(weight[rest % nodes]) + 0.5 * t * t;
        }
    }
    return SBPS_OK;
}

static void add_coordinate(spread_shape *shape, size_t term, size_t row, size_t against)
{
    shape->of[shape->count++] = (spread_coordinate){term, row, against};
}

/* Sds of a term first, then its correlations. */
static void add_term(mixed *m, size_t t)
{
    const group_term *term = &m->groups->term[t];
    size_t begin = m->shape.effects;
    for (size_t a = 0; a < term->count; a++) {
        size_t row = begin + a;
        m->column[row] = term->column[a];
        m->shape.begin[row] = begin;
        add_coordinate(&m->shape, t, row, row);
    }
    for (size_t a = 0; a < term->count && term->correlated; a++)
        for (size_t b = 0; b < a; b++) add_coordinate(&m->shape, t, begin + a, begin + b);
    m->shape.effects += term->count;
}

static sbps_status shape_effects(mixed *m, sbps_error *err)
{
    const row_groups *g = m->groups;
    size_t effects = 0;
    for (size_t t = 0; t < g->terms; t++) {
        if (g->term[t].factor != g->by)
            return fail(
                err, SBPS_BAD_ARG,
                "groups by '%.80s' and by '%.80s': one factor is what can be sampled so far",
                g->factor[g->by].name, g->factor[g->term[t].factor].name);
        effects += g->term[t].count;
    }
    if (effects > EFFECTS_A_LEVEL)
        return fail(err, SBPS_BAD_ARG,
                    "'%.80s': %zu effects a level; at most %zu can be integrated over",
                    g->factor[g->by].name, effects, EFFECTS_A_LEVEL);
    for (size_t t = 0; t < g->terms; t++) add_term(m, t);
    return SBPS_OK;
}

static sbps_status fill(mixed *m, sbps_error *err)
{
    const row_groups *g = m->groups;
    sbps_status status = shape_effects(m, err);
    if (status != SBPS_OK) return status;
    m->aux = m->data->d + m->shape.count;
    m->dim = m->aux + m->rows_of->auxiliary_count;
    for (size_t i = 0; i < g->count; i++) {
        size_t n = g->start[i + 1] - g->start[i];
        if (n > m->largest) m->largest = n;
    }
    double scale =
        m->rows_of->scales_with_target ? predictor_prior_sd(m->rows_self, 0) / 10.0 : 1.0;
    for (size_t a = 0; a < m->shape.effects; a++) m->unit[a] = scale / effect_sd(m, a);
    m->centre = new_doubles(g->count * m->shape.effects);
    return m->centre ? mixed_set_nodes(m, nodes_first[m->shape.effects], err)
                     : fail_memory(err);
}

static void close(void *self)
{
    mixed *m = self;
    if (!m) return;
    m->rows_of->close(m->rows_self);
    free(m->centre);
    free(m->node);
    free(m);
}

static sbps_status open(const model_kind *kind, const rows *data, const model_shape *shape,
                        void **self, sbps_error *err)
{
    *self = NULL;
    mixed *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err);
    *m = (mixed){.rows_of = kind->rows_of, .data = data->members, .k = kernels_best()};
    m->groups = m->data->groups;
    sbps_status status = m->rows_of->open(m->rows_of, m->data, shape, &m->rows_self, err);
    if (status == SBPS_OK) status = fill(m, err);
    if (status == SBPS_OK)
        *self = m;
    else
        close(m);
    return status;
}

/* ---- what groups say ---- */

static size_t scratch(const void *self, size_t n)
{
    (void)n;
    const mixed *m = self;
    return group_scratch(m) + expand_scratch(m);
}

static void loglik(const void *self, row_range r, const double *w, double *room, double *out)
{
    group_view v;
    group_begin(&v, self, w, NULL, false, room);
    for (size_t i = 0; i < r.n; i++) out[i] = group_value(&v, row_index(r, i));
}

static void slope(const void *self, row_range r, const double *w, const double *u, double *room,
                  double *out)
{
    group_view v;
    group_begin(&v, self, w, u, false, room);
    for (size_t i = 0; i < r.n; i++) {
        group_value(&v, row_index(r, i));
        out[i] = group_slope(&v);
    }
}

static void gradient(const void *self, row_range r, const double *w, const double *factor,
                     double *room, double *out)
{
    group_view v;
    group_begin(&v, self, w, NULL, false, room);
    for (size_t i = 0; i < r.n; i++) {
        group_value(&v, row_index(r, i));
        group_gradient(&v, factor[i], out);
    }
}

static void expand(const void *self, row_range r, const double *w, const double *factor,
                   double *room, double *value, double *slopes, double *hessian)
{
    group_view v;
    const mixed *m = self;
    group_begin(&v, m, w, NULL, true, room);
    for (size_t i = 0; i < r.n; i++) {
        *value += factor[i] * group_value(&v, row_index(r, i));
        group_expand(&v, factor[i], room + group_scratch(m), slopes, hessian);
    }
}

static double work(const void *self)
{
    const mixed *m = self;
    double rows_a_group = (double)m->data->n / (double)m->groups->count;
    return rows_a_group * ((double)m->points * 8.0 + rows_numbers(m->data));
}

/* ---- a kind for every regression ---- */

static model_kind kind_of(const model_kind *rows_of)
{
    return (model_kind){
        .rows_of = rows_of,
        .name = rows_of->name,
        .summary = rows_of->summary,
        .support = rows_of->support,
        .any_storage = true,
        .weights_by_column = true,
        .bounded_above = rows_of->bounded_above,
        .grain = GRAIN,
        .open = open,
        .close = close,
        .dim = dim,
        .name_of = name_of,
        .prior_sd = prior_sd,
        .prior_mean = prior_mean,
        .coordinate = coordinate,
        .derived = mixed_derived,
        .derived_name = mixed_derived_name,
        .derive = mixed_derive,
        .intercept = intercept,
        .start = start,
        .scratch = scratch,
        .loglik = loglik,
        .slope = slope,
        .gradient = gradient,
        .expand = expand,
        .work = work,
    };
}

model_kind *mixed_kinds(void)
{
    size_t count = 0;
    model_kind *kinds =
        calloc(KINDS_MOST + 1, sizeof *kinds); /* one without a name ends them */
    for (size_t i = 0; kinds && model_kinds[i]; i++)
        if (model_kinds[i]->predictor) kinds[count++] = kind_of(model_kinds[i]);
    return kinds;
}

const model_kind *mixed_of(const rows *groups, const model_kind *rows_of)
{
    for (const model_kind *kind = groups->kept; kind->name; kind++)
        if (kind->rows_of == rows_of) return kind;
    return NULL;
}
