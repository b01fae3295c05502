/* Groups in place of rows. Given phi = (beta, log sds, correlations, auxiliaries) the effects of one group are
 * independent of all others', so that the posterior of phi is a sum over groups of
 *
 *   log m_g(phi) = log int prod_(i in g) p(y_i | eta_i(v))^weight_i N(v; 0, 1) dv,
 *   eta_i(v) = x_i.beta + offset_i + z_i.L v,                                                       (1)
 *
 * and a group is what a row is elsewhere: it is drawn into batches, has its control variate, its influence. */
#ifndef MODEL_MIXED_H
#define MODEL_MIXED_H

#include "model/likelihood/model.h"
#include "model/mixed/effect_spread.h"
#include "table/row_groups.h"

/* The model of a table of groups whose rows are those of a regression; NULL: its rows are no predictor's. joint: one that
 * integrates over no factor, see joint.h. */
const model_kind *mixed_of(const rows *groups, const model_kind *row_model, bool joint);
/* Effects of factors that rows do not lie by, and are not nested in that one. */
size_t mixed_explicit(const rows *groups);
/* So many of them can be coordinates beside an integral: matrices are dense. */
#define EXPLICIT_MAX ((size_t)3000)
/* Such models for the regressions listed, to be freed; the last has no name; NULL: no memory. */
model_kind *mixed_kinds(void);
/* A table whose rows are the groups of `data`, which it takes; data->groups must be there. On failure data is the
 * caller's still. */
sbps_status grouped_rows(rows *data, rows **out, sbps_error *err);

/* The rule that integrals are made with: nodes an effect, and what more of them, and rows in place of sketches, would move
 * a mean by, in posterior sds. */
typedef struct {
    size_t nodes;
    double error;
    bool by_polynomial;
} quadrature;

/* Polynomials in place of rows, where groups have many, around w: good for about 8 posterior sds, by the Cholesky factor
 * of the Hessian there. Changes what the model says by little; before chains run. */
sbps_status mixed_fit_polynomials(void *self, const rows *groups, const double *w,
                                  const double *factor, sbps_error *err);
/* Are groups long enough for that, and is nothing crossed? */
bool mixed_can_fit_polynomials(const void *self);
/* As many nodes as are enough around w, with the Cholesky factor of the Hessian there, for a model of groups that was
 * opened on these; and whether sketches will do. Changes what it says by as little as the error is; before chains run. */
sbps_status mixed_choose_nodes(void *self, const rows *groups, const double *w,
                               const double *factor, quadrature *out, sbps_error *err);

/* A model that was opened has effects of other factors among its coordinates. */
bool mixed_crossed(const void *self);
/* The standards of those effects set by the Hessian at w, which moves so that it stands for the same effects as before.
 * SBPS_NO_MODE: the Hessian is not positive definite, and nothing is changed. Before chains run. */
sbps_status mixed_recentre(void *self, const double *hessian, double *w, sbps_error *err);
/* The largest move of a log sd or correlation of other factors between two points, in sds of theirs given all else. */
double mixed_moved(const void *self, const double *hessian, const double *from,
                   const double *to);

/* A slope whose term has a constant and whose column is not centred: see centring.h. */
typedef struct {
    const char *factor, *column;
    double mean, sds; /* of the column; the distance of its mean from 0 */
    bool correlated;
} uncentred_slope;

/* The one farthest from 0; sds is 0 where there is none. Reads all rows. */
uncentred_slope mixed_farthest(const void *self);

/* The same for a model that integrates over nothing: by what rows say at w, without a matrix. */
sbps_status mixed_joint_recentre(void *self, const rows *groups, double *w, sbps_error *err);
/* The standards of a model that has just been opened: u = L eta. */
void mixed_joint_reset(void *self);

/* ---- for the files of this folder ---- */

#define OTHERS_MAX ((size_t)8)

/* What multiplies an effect in a row: a column of the groups' z less `mean`, see centring.h. */
typedef struct {
    size_t of; /* GROUP_CONSTANT: 1 in every row */
    double mean;
} effect_column;

/* The factor that rows lie by, or one nested in it; see nest.h. */
typedef struct {
    size_t factor; /* of the groups */
    spread_shape shape;
    effect_column column[LEVEL_EFFECTS_MAX];
    double unit[LEVEL_EFFECTS_MAX];
    size_t spread; /* first coordinate of its sds and correlations */
    size_t points;
    double *node, *log_count; /* as those of a model without nests */
    double *centre; /* by the first row of each part: where the search for its mode begins, */
    double kept[LEVEL_EFFECTS_MAX]; /* where the diagonal of L is this; 0: not known */
} nested_level;

#define LEVELS_MAX (GROUP_NESTED_MAX + 1)

/* A factor that rows do not lie by; see crossed.h. */
typedef struct {
    size_t factor; /* of the groups */
    spread_shape shape;
    effect_column column[LEVEL_EFFECTS_MAX];
    double unit[LEVEL_EFFECTS_MAX];
    size_t spread;            /* first coordinate of its sds and correlations, */
    size_t first;             /* and of its effects: those of one level after another */
    double *precision, *pull; /* P and b, by levels */
    /* by groups: the levels met, and the group's part of all the rows that each has; by rows: which of them */
    size_t *incident_start;
    uint32_t *incident, *slot;
    double *incident_fraction;
} other_factor;
/* Effects that are standardised together where all are sampled: see joint_blocks.c. */
typedef struct {
    size_t factor, level, first; /* m->other[factor]; its first effect in the block */
} block_level;

typedef struct {
    size_t count, levels; /* effects, levels */
    block_level *level;
    double *k, *c, *b; /* K, C and b_0 */
    size_t sums,
        offset; /* where K and C lie among the sums over rows; its numbers at a point */
} joint_block;

typedef struct {
    uint32_t block, first;
} block_place;

typedef struct {
    size_t count;
    joint_block *block;
    block_level *levels;            /* of all blocks */
    block_place *place[OTHERS_MAX]; /* of each level; NULL: the factor is in no block */
    size_t width, scratch, square,
        effects; /* sums over rows; numbers of a point; of the largest
                                            block's matrix; effects */
    double work;
    double *memory, *beta; /* all numbers; beta there */
} joint_blocks;

typedef struct group_polynomials group_polynomials; /* see sketch.h */

typedef struct {
    const model_kind *row_model; /* what one row says */
    void *row_model_self;
    const rows *data; /* one row each */
    const row_groups *groups;
    const kernels *k;
    spread_shape shape; /* of the effects of a group */
    effect_column column[LEVEL_EFFECTS_MAX];
    double unit[LEVEL_EFFECTS_MAX]; /* of its sd */
    nested_level level
        [LEVELS_MAX]; /* outermost first; where nothing is nested the first alone, as above */
    size_t levels;    /* 0: nothing is integrated over, all factors are others */
    size_t spreads;   /* coordinates of the shapes of all levels */
    other_factor other[OTHERS_MAX];
    size_t others;
    joint_blocks *blocks; /* NULL: of a model that integrates */
    double strength_at;   /* of joint.h: sum_a p_a w_a where P and b were set */
    size_t incident_max;  /* effects of other factors that a group meets */
    size_t
        aux; /* first coordinate of auxiliaries; before them those of the shape and of other factors */
    size_t dim;
    size_t largest; /* rows of a group */
    /* the rule: so many nodes an effect, points of the grid, and what each counts: log w + t^2/2 */
    size_t nodes, points;
    double *node;      /* points * effects */
    double *log_count; /* points */
    double *centre;    /* groups * effects: where the search for a group's mode begins */
    group_polynomials *polynomials; /* NULL: rows are asked, */
    bool by_rows;                   /* as they are nevertheless for so long */
} mixed;

sbps_status mixed_set_nodes(mixed *m, size_t nodes, sbps_error *err);
/* Points of a grid, `effects` numbers each, and behind them what each counts: log w + t^2/2. To be freed; NULL: no
 * memory. */
double *mixed_grid(size_t nodes, size_t effects, size_t *points);

/* What multiplies an effect in a row. */
static inline double mixed_z(const mixed *m, size_t row, effect_column of)
{
    if (of.of == GROUP_CONSTANT) return 1.0;
    return m->groups->z[row * m->groups->width + of.of] - of.mean;
}

#endif
