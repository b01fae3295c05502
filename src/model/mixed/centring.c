/* Centring of columns, (1) and (2) of centring.h. */
#include "model/mixed/centring.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/mixed_coordinates.h"

#include <math.h>
#include <string.h>

#define NEGLIGIBLE 1e-8 /* in sds of a column: a mean below is 0 but for rounding */

/* Only then can the mean of another column be moved into the effects of the constant. */
static bool has_constant(const group_term *term)
{
    for (size_t a = 0; a < term->count; a++)
        if (term->column[a] == GROUP_CONSTANT) return true;
    return false;
}

/* The mean by which a column is centred; 0 for a constant column. */
static double column_mean(const mixed *m, size_t column)
{
    double mean = 0.0;
    if (column == GROUP_CONSTANT) return 0.0;
    double sd = mixed_column_moments(m, column, &mean);
    return sd > 0.0 && fabs(mean) > NEGLIGIBLE * sd ? mean : 0.0;
}

/* Centres the slopes of correlated terms with a constant. */
static void centre_shape(const mixed *m, const spread_shape *shape, effect_column *column)
{
    for (size_t k = 0; k < shape->count; k++) {
        const spread_coordinate *c = &shape->of[k];
        const group_term *term = &m->groups->term[c->term];
        if (c->row == c->against && term->correlated && has_constant(term))
            column[c->row].mean = column_mean(m, column[c->row].of);
    }
}

void centre_effects(mixed *m)
{
    for (size_t l = 0; l < m->levels; l++)
        centre_shape(m, &m->level[l].shape, m->level[l].column);
    memcpy(m->column, m->level[0].column, sizeof m->column);
    for (size_t f = 0; f < m->others; f++)
        centre_shape(m, &m->other[f].shape, m->other[f].column);
}

/* The mean of another column of the same term; 0 if it is in another term. */
static double mean_of_other_column(const spread_shape *shape, const effect_column *column,
                                   size_t effect, size_t other)
{
    return shape->begin[other] == shape->begin[effect] ? column[other].mean : 0.0;
}

bool centring_moves(const spread_shape *shape, const effect_column *column, size_t effect)
{
    bool moves = false;
    for (size_t b = 0; b < shape->effects && column[effect].of == GROUP_CONSTANT; b++)
        moves |= mean_of_other_column(shape, column, effect, b) != 0.0;
    return moves;
}

void factor_at_zero(const spread_shape *shape, const effect_column *column,
                    double (*factor)[LEVEL_EFFECTS_MAX])
{
    for (size_t a = 0; a < shape->effects; a++)
        for (size_t b = 0; b < shape->effects && column[a].of == GROUP_CONSTANT; b++)
            add_scaled(LEVEL_EFFECTS_MAX, -mean_of_other_column(shape, column, a, b), factor[b],
                       factor[a]);
}

void effects_at_zero(const spread_shape *shape, const effect_column *column, size_t count,
                     double *effects)
{
    for (size_t a = 0; a < shape->effects; a++) {
        if (!centring_moves(shape, column, a)) continue;
        for (size_t b = 0; b < shape->effects; b++)
            add_scaled(count, -mean_of_other_column(shape, column, a, b), effects + b * count,
                       effects + a * count);
    }
}

/* ---- slopes that are not centred ---- */

/* Replaces *farthest by a slope of this shape that is farther from centred. */
static void take_farther(const mixed *m, const spread_shape *shape, const effect_column *column,
                         uncentred_slope *farthest)
{
    for (size_t k = 0; k < shape->count; k++) {
        const spread_coordinate *c = &shape->of[k];
        const group_term *term = &m->groups->term[c->term];
        double mean = column[c->row].mean == 0.0 ? column_mean(m, column[c->row].of) : 0.0;
        if (c->row != c->against || !has_constant(term) || mean == 0.0) continue;
        double sds = fabs(mean) / mixed_column_sd(m, column[c->row].of);
        if (sds > farthest->sds)
            *farthest = (uncentred_slope){m->groups->factor[term->factor].name,
                                          term->names[c->row - shape->begin[c->row]], mean, sds,
                                          term->correlated};
    }
}

uncentred_slope mixed_farthest(const void *self)
{
    const mixed *m = self;
    uncentred_slope farthest = {0};
    for (size_t l = 0; l < m->levels; l++)
        take_farther(m, &m->level[l].shape, m->level[l].column, &farthest);
    for (size_t f = 0; f < m->others; f++)
        take_farther(m, &m->other[f].shape, m->other[f].column, &farthest);
    return farthest;
}
