/* Coordinates of a model with group effects, in this order: weights of columns; log sds and
 * correlations of effects, term by term, first those of factors that are integrated over;
 * standardised effects of crossed factors; auxiliaries of the rows' model. Default priors: sds
 * half student_t(3, 0, 2.5 s / sd(z)), with s = sd(y) if weights have the scale of the target,
 * else 1; correlations lkj(2).
 *
 * Reported in place of coordinates: where a term has three effects or more, correlations
 *
 *   cor_ij = L_i.L_j / (|L_i| |L_j|),   L the factor of effect_spread.h,                  (1)
 *
 * in place of partial correlations, and effects of crossed factors in place of standardised
 * ones. Under an LKJ distribution all correlations of a term have the same distribution, which
 * is that of the coordinates that are correlations with the term's first effect. Where columns
 * are centred, sds, correlations and effects are reported at z = 0: (1) with the factor of
 * centring.h, and sd_i = |L_i|. */
#include "model/mixed/mixed_coordinates.h"
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/centring.h"
#include "model/mixed/crossed_effects.h"
#include "model/mixed/joint.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The effects that a coordinate belongs to. */
typedef struct {
    const spread_shape *shape; /* NULL: a weight or auxiliary */
    const double *unit;
    const effect_column *column;
    const spread_coordinate *of; /* NULL: the coordinate is an effect */
    const other_factor *other;   /* the crossed factor; NULL: one that is integrated over */
    size_t level, effect;        /* of an effect */
    size_t spread;               /* first coordinate of the shape */
} coordinate_place;

#define PRIOR_SD       "student_t(3,0,2.5)"
#define PRIOR_COR      "lkj(2)"
#define PRIOR_STANDARD "normal(0,1)" /* of eta: part of the model, not a choice */
#define START_SD       0.5           /* in its unit */

/* Finds the place of a coordinate of a crossed factor. */
static bool find_other(const mixed *m, size_t j, coordinate_place *out)
{
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        size_t q = o->shape.effects, count = m->groups->factor[o->factor].levels * q;
        *out = (coordinate_place){.shape = &o->shape,
                                  .unit = o->unit,
                                  .column = o->column,
                                  .other = o,
                                  .spread = o->spread};
        if (j >= o->spread && j < o->spread + o->shape.count) {
            out->of = &o->shape.of[j - o->spread];
            return true;
        }
        out->level = (j - o->first) / q;
        out->effect = (j - o->first) % q;
        if (j >= o->first && j < o->first + count) return true;
    }
    return false;
}

/* Finds the place of coordinate j. */
static coordinate_place mixed_place(const mixed *m, size_t j)
{
    coordinate_place out = {0};
    size_t d = m->data->d;
    if (j < d || j >= m->aux) return out;
    for (size_t l = 1; l < m->levels; l++) {
        const nested_level *of = &m->level[l];
        if (j < of->spread || j >= of->spread + of->shape.count) continue;
        return (coordinate_place){.shape = &of->shape,
                                  .unit = of->unit,
                                  .column = of->column,
                                  .of = &of->shape.of[j - of->spread],
                                  .spread = of->spread};
    }
    if (j < d + m->shape.count)
        return (coordinate_place){.shape = &m->shape,
                                  .unit = m->unit,
                                  .column = m->column,
                                  .of = &m->shape.of[j - d],
                                  .spread = d};
    find_other(m, j, &out);
    return out;
}

/* ---- names ---- */

/* The term of an effect. */
static const group_term *term_of(const mixed *m, const spread_shape *shape, size_t effect)
{
    size_t a = 0;
    while (shape->of[a].row != effect) a++;
    return &m->groups->term[shape->of[a].term];
}

static const char *effect_name(const mixed *m, const spread_shape *shape, size_t effect)
{
    return term_of(m, shape, effect)->names[effect - shape->begin[effect]];
}

void mixed_level_name(const mixed *m, const spread_shape *shape, size_t level, size_t a,
                      size_t size, char *text)
{
    const group_factor *f = &m->groups->factor[term_of(m, shape, a)->factor];
    snprintf(text, size, "%s[%s,%s]", f->name, f->level[level], effect_name(m, shape, a));
}

/* Writes `before` and "sd_GROUP__A" or "cor_GROUP__A__B". */
static void mixed_spread_name(const mixed *m, const coordinate_place *at, const char *before,
                              size_t size, char *text)
{
    const spread_coordinate *c = at->of;
    const char *group = m->groups->factor[m->groups->term[c->term].factor].name;
    const char *own = effect_name(m, at->shape, c->row);
    if (c->against == c->row)
        snprintf(text, size, "%ssd_%s__%s", before, group, own);
    else
        snprintf(text, size, "%scor_%s__%s__%s", before, group,
                 effect_name(m, at->shape, c->against), own);
}

/* Is it a partial correlation, given effects that come before both? */
static bool mixed_is_partial(const coordinate_place *at)
{
    return at->of && at->of->against < at->of->row &&
           at->of->against > at->shape->begin[at->of->row];
}

/* Is it an sd or correlation that is sampled at the column means and reported at z = 0? */
static bool mixed_is_centred(const coordinate_place *at)
{
    return at->of && (centring_moves(at->shape, at->column, at->of->row) ||
                      centring_moves(at->shape, at->column, at->of->against));
}

/* Is its prior that of effects at the means? So for all correlations of a centred term. */
static bool mixed_at_means(const coordinate_place *at)
{
    bool correlation = at->of && at->of->row != at->of->against, any = mixed_is_centred(at);
    for (size_t a = 0; correlation && a < at->shape->effects; a++)
        any |= at->shape->begin[a] == at->shape->begin[at->of->row] &&
               centring_moves(at->shape, at->column, a);
    return any;
}

void mixed_name_of(const void *self, size_t j, size_t size, char *text)
{
    const mixed *m = self;
    coordinate_place at = mixed_place(m, j);
    if (!at.shape)
        predictor_name(m->row_model_self, j < m->data->d ? j : m->data->d + (j - m->aux), size,
                       text);
    else if (at.of)
        mixed_spread_name(m, &at,
                          mixed_is_partial(&at)   ? "partial_"
                          : mixed_is_centred(&at) ? "centred_"
                                                  : "",
                          size, text);
    else {
        snprintf(text, size, "standard_");
        size_t used = strlen(text);
        mixed_level_name(m, at.shape, at.level, at.effect, size - used, text + used);
    }
}

/* ---- priors ---- */

double mixed_column_moments(const mixed *m, size_t column, double *mean)
{
    size_t n = m->groups->start[m->groups->count], width = m->groups->width;
    double shift = 0.0, square = 0.0;
    const double *z = m->groups->z + column;
    for (size_t i = 0; i < n; i++) shift += (z[i * width] - z[0]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double off = z[i * width] - z[0] - shift; /* exactly 0 for a constant column */
        square += off * off / (double)n;
    }
    *mean = z[0] + shift;
    return sqrt(square);
}

double mixed_column_sd(const mixed *m, size_t column)
{
    double unused,
        sd = column == GROUP_CONSTANT ? 0.0 : mixed_column_moments(m, column, &unused);
    return sd > 0.0 ? sd : 1.0;
}

/* The a-th auxiliary of the rows' model. */
static model_coordinate auxiliary(const mixed *m, size_t a)
{
    const model_auxiliary *of = &m->row_model->auxiliaries[a];
    return (model_coordinate){of->scale, of->option, of->prior,
                              predictor_auxiliary_unit(m->row_model_self, a), 0.0};
}

/* A correlation, whose eta under an LKJ prior depends on its column: effect_spread.h. */
static model_coordinate correlation(const mixed *m, const coordinate_place *at)
{
    size_t begin = at->shape->begin[at->of->row], count = m->groups->term[at->of->term].count;
    double below = (double)(count - 2 - (at->of->against - begin));
    return (model_coordinate){SCALE_TANH, "prior-cor", PRIOR_COR, 1.0, 0.5 * below};
}

bool mixed_coordinate(const void *self, size_t j, model_coordinate *out)
{
    const mixed *m = self;
    coordinate_place at = mixed_place(m, j);
    if (j < m->data->d) return false;
    if (!at.shape)
        *out = auxiliary(m, j - m->aux);
    else if (!at.of)
        *out = (model_coordinate){SCALE_PLAIN, NULL, PRIOR_STANDARD, 1.0, 0.0};
    else if (at.of->against == at.of->row)
        *out = (model_coordinate){SCALE_LOG, "prior-sd", PRIOR_SD, at.unit[at.of->row], 0.0};
    else
        *out = correlation(m, &at);
    return true;
}

double mixed_prior_sd(const void *self, size_t j)
{
    return predictor_prior_sd(((const mixed *)self)->row_model_self, j);
}

double mixed_prior_mean(const void *self, size_t j)
{
    return predictor_prior_mean(((const mixed *)self)->row_model_self, j);
}

bool mixed_intercept(const void *self, size_t j)
{
    return predictor_intercept(((const mixed *)self)->row_model_self, j);
}

/* ---- dimension and start ---- */

size_t mixed_dim(const void *self)
{
    return ((const mixed *)self)->dim;
}

void mixed_start(const void *self, double *w)
{
    const mixed *m = self;
    memset(w, 0, m->dim * sizeof *w);
    if (m->data->intercept && m->data->d > 0) w[0] = mixed_prior_mean(self, 0);
    for (size_t j = m->data->d; j < m->aux; j++) {
        coordinate_place at = mixed_place(m, j);
        if (at.of && at.of->against == at.of->row) w[j] = log(START_SD * at.unit[at.of->row]);
    }
    for (size_t a = 0; a < m->row_model->auxiliary_count; a++) {
        const model_auxiliary *of = &m->row_model->auxiliaries[a];
        double unit = predictor_auxiliary_unit(m->row_model_self, a);
        w[m->aux + a] = scale_coordinate(of->scale, of->start * unit);
    }
}

/* ---- derived quantities ---- */

/* The coordinate of the correlation of the same row with the first effect of the term. */
static size_t with_first(const coordinate_place *at)
{
    const spread_coordinate *first = at->shape->of, *c = at->of;
    while (c->row == at->of->row && c->against > at->shape->begin[c->row]) c--;
    return at->spread + (size_t)(c - first);
}

bool mixed_derived(const void *self, size_t j, model_derived *out)
{
    coordinate_place at = mixed_place(self, j);
    bool effect = at.shape && !at.of, partial = mixed_is_partial(&at),
         centred = mixed_is_centred(&at);
    if (!effect && !partial && !centred) return false;
    *out = (model_derived){.effect = effect,
                           .alike = effect    ? SIZE_MAX
                                    : partial ? with_first(&at)
                                              : j,
                           .at_means = mixed_at_means(&at)};
    return true;
}

void mixed_derived_name(const void *self, size_t j, size_t size, char *text)
{
    const mixed *m = self;
    coordinate_place at = mixed_place(m, j);
    if (at.of) {
        mixed_spread_name(m, &at, "", size, text);
        return;
    }
    snprintf(text, size, "r_");
    mixed_level_name(m, at.shape, at.level, at.effect, size - 2, text + 2);
}

/* The sd or correlation, by the factor at z = 0. */
static double spread_value(double (*factor)[LEVEL_EFFECTS_MAX], const spread_coordinate *c)
{
    const double *a = factor[c->row], *b = factor[c->against];
    if (c->row == c->against) return sqrt(dot(LEVEL_EFFECTS_MAX, a, a));
    return dot(LEVEL_EFFECTS_MAX, a, b) /
           sqrt(dot(LEVEL_EFFECTS_MAX, a, a) * dot(LEVEL_EFFECTS_MAX, b, b));
}

/* The effect at z = 0. `all` has the effects of the whole model where some are standardised
 * together; NULL: it is computed here. */
static double effect_value(const coordinate_place *at, const effect_spread *spread,
                           const double *w, const double *all)
{
    level_point p;
    size_t q = at->shape->effects, first = at->other->first + at->level * q;
    if (all)
        memcpy(p.effect, all + first, q * sizeof *all);
    else
        level_at(at->other, spread, at->level, w + first, false, &p);
    effects_at_zero(at->shape, at->column, 1, p.effect);
    return p.effect[at->effect];
}

/* Derived quantities of coordinates first .. first + count - 1, see mixed_derive. */
static void derive(const mixed *m, const double *w, const double *all, size_t first,
                   size_t count, double *out)
{
    effect_spread spread;
    double factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
    const spread_shape *known = NULL;
    for (size_t i = 0; i < count; i++) {
        coordinate_place at = mixed_place(m, first + i);
        model_derived unused;
        if (!mixed_derived(m, first + i, &unused)) continue;
        if (at.shape != known) {
            spread_at(at.shape, w + at.spread, false, &spread);
            memcpy(factor, spread.factor, sizeof factor);
            factor_at_zero(at.shape, at.column, factor);
        }
        known = at.shape;
        out[i] = at.of ? spread_value(factor, at.of) : effect_value(&at, &spread, w, all);
    }
}

void mixed_derive(const void *self, const double *w, size_t first, size_t count, double *out)
{
    const mixed *m = self;
    double *all = m->blocks ? unset_doubles(m->dim + joint_transform_scratch(m)) : NULL;
    if (!m->blocks || (all && joint_effects(m, w, first, count, all)))
        derive(m, w, all, first, count, out);
    else
        for (size_t i = 0; i < count; i++) out[i] = NAN; /* no memory */
    free(all);
}
