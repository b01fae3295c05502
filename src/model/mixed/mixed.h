/* Models with group effects (mixed models): groups take the place of rows.
 *
 * Given phi = (beta, log sds, correlations, auxiliaries) the effects of one group are
 * independent of those of all others, so that the log posterior of phi is a sum over groups of
 *
 *   log m_g(phi) = log int prod_(i in g) p(y_i | eta_i(v))^weight_i N(v; 0, 1) dv,
 *   eta_i(v) = x_i.beta + offset_i + z_i.L v,                                            (1)
 *
 * with L the factor of the effects' covariance (effect_spread.h). A group is to a sampler what
 * a row is in other models: it is drawn into mini-batches and has a control variate.
 *
 * With several grouping factors, rows are sorted by one of them, whose effects are integrated
 * over together with those of factors nested in it (nested.h). Effects of all other factors are
 * coordinates (crossed_effects.h). A joint model (joint.h) integrates over no factor.
 *
 * The files of this folder:
 *
 *   mixed                 opening; groups as rows; the table of groups
 *   mixed_coordinates     names, priors and starts of coordinates; what is reported for them
 *   effect_spread         covariance of the effects of a level, and its derivatives
 *   centring              columns of random slopes minus their means
 *   group_view            one group at one phi: mode of its effects, integral, gradient
 *   group_expand          its Hessian
 *   nested, nested_*      the same with nested factors: integrals within integrals
 *   crossed_*             factors whose effects are coordinates beside an integral
 *   joint, joint_*        models all of whose effects are coordinates
 *   hermites, group_polynomial, group_polynomial_fit   polynomials in place of rows
 *   compressed_rows       a few rows in place of those of a group, in linear models
 *   choose_nodes          quadrature points that are enough, and whether polynomials are
 *   conditional, group_effects   draws of effects given phi, after the run */
#ifndef MODEL_MIXED_H
#define MODEL_MIXED_H

#include "model/likelihood/model.h"
#include "model/mixed/effect_spread.h"
#include "table/row_groups.h"

/* ---- opening ---- */

/* The model of a table of groups, whose rows within groups are of row_model; joint: the one
 * that integrates over no factor. NULL: row_model is not a predictor's. Owned by the table. */
const model_kind *mixed_of(const rows *groups, const model_kind *row_model, bool joint);
/* Are the effects of this factor integrated over, unless the model is joint? */
bool mixed_integrates(const row_groups *g, size_t factor);
/* Number of effects of factors other than the one that rows are sorted by and those nested in
 * it. */
size_t mixed_explicit(const rows *groups);
/* At most this many of them can be coordinates beside an integral, since matrices are dense. */
#define EXPLICIT_MAX ((size_t)3000)
/* Makes *out, a table whose rows are the groups of `data` (data->groups is set), which it owns
 * from then on. On failure data remains the caller's. */
sbps_status grouped_rows(rows *data, rows **out, sbps_error *err);

/* ---- accuracy of the integrals; all before chains run: choose_nodes.c ---- */

/* The quadrature rule in use. */
typedef struct {
    size_t nodes; /* per effect */
    /* The largest change of a posterior mean, in posterior sds, that a finer rule (and rows in
     * place of polynomials) would make. */
    double error;
    bool by_polynomial; /* groups are represented by polynomials (group_polynomial.h) */
} quadrature;

/* Fits polynomials that replace the rows of groups, if groups are long enough: valid within
 * about 8 posterior sds of w, with `factor` the Cholesky factor of the Hessian there. Changes
 * the log-likelihood by little. */
sbps_status mixed_fit_polynomials(void *self, const rows *groups, const double *w,
                                  const double *factor, sbps_error *err);
/* Are groups long enough for that, and are no factors crossed? (group_polynomial_fit.c) */
bool mixed_can_fit_polynomials(const void *self);
/* Chooses the number of nodes that is enough around w, with `factor` as above, and whether
 * polynomials are accurate enough; *out describes the result. correct: with many groups, fewer
 * nodes and a correction at w may be chosen. */
sbps_status mixed_choose_nodes(void *self, const rows *groups, const double *w,
                               const double *factor, bool correct, quadrature *out,
                               sbps_error *err);

/* ---- standardisation of effects that are coordinates; before chains run: crossed_effects.c,
 * and joint.c for joint models ---- */

/* Does an opened model have effects among its coordinates? */
bool mixed_crossed(const void *self);
/* Recentres these effects by the Hessian at w, and changes w so that it stands for the same
 * effects as before. SBPS_NO_MODE: the Hessian is not positive definite; nothing is changed. */
sbps_status mixed_recentre(void *self, const double *hessian, double *w, sbps_error *err);
/* The largest distance between two points in a log sd or correlation of crossed factors, in
 * posterior sds given all other coordinates. */
double mixed_moved(const void *self, const double *hessian, const double *from,
                   const double *to);
/* As mixed_recentre for a joint model, by the curvature of the rows at w, without a matrix over
 * all coordinates. */
sbps_status mixed_joint_recentre(void *self, const rows *groups, double *w, sbps_error *err);
/* Sets the standardisation of a joint model back to that of a newly opened one: u = L eta. */
void mixed_joint_reset(void *self);

/* From now on the standardised effects of a joint model are L^-1 u: without P, b and blocks. */
void mixed_joint_plain(void *self);

/* A slope in a term with a constant whose column is not centred (centring.h). */
typedef struct {
    const char *factor, *column;
    double mean; /* of the column */
    double sds;  /* |mean| in sds of the column; 0: there is no such slope */
    bool correlated;
} uncentred_slope;

/* The slope whose column's mean is farthest from 0 (centring.c). Reads all rows. */
uncentred_slope mixed_farthest(const void *self);

/* ---- for the files of this folder ---- */

#define OTHERS_MAX ((size_t)8)            /* factors whose effects are coordinates */
#define LEVELS_MAX (GROUP_NESTED_MAX + 1) /* nested factors, the outermost included */

/* The factor of an effect in eta: a column of the groups' z minus `mean` (centring.h). */
typedef struct {
    size_t of; /* index of the column; GROUP_CONSTANT: 1 in every row */
    double mean;
} effect_column;

/* The factor that rows are sorted by, or one nested in it (nested.h). */
typedef struct {
    size_t factor; /* index among the factors of the groups */
    spread_shape shape;
    effect_column column[LEVEL_EFFECTS_MAX];
    double unit[LEVEL_EFFECTS_MAX]; /* of the sd of each effect */
    size_t spread;                  /* first coordinate of its sds and correlations */
    size_t points;                  /* of its quadrature rule */
    double *node, *log_count;       /* the rule, as in `mixed`; unused if nothing is nested */
    /* rows * effects: where the search for the mode of each part begins, at the part's first
     * row; and the diagonal of L for which that was found, 0: unknown. */
    double *centre;
    double stored_sd[LEVEL_EFFECTS_MAX];
} nested_level;

/* A factor whose effects are coordinates (crossed_effects.h). */
typedef struct {
    size_t factor; /* index among the factors of the groups */
    spread_shape shape;
    effect_column column[LEVEL_EFFECTS_MAX];
    double unit[LEVEL_EFFECTS_MAX]; /* of the sd of each effect */
    size_t spread;                  /* first coordinate of its sds and correlations */
    size_t first;                   /* first coordinate of its effects, level after level */
    double *precision, *pull;       /* by level: P and b */
    /* Levels that occur in the rows of a group (their incidence); not for joint models:
     * incident[incident_start[g] ..] are those of group g, incident_fraction the fraction of
     * the level's rows that are in the group. slot: by row, its index in the group's list. */
    size_t *incident_start;
    uint32_t *incident, *slot;
    double *incident_fraction;
} other_factor;

/* The effects of one level within a block. */
typedef struct {
    size_t factor, level; /* m->other[factor] */
    size_t first;         /* index of its first effect in the block */
} block_level;

/* Effects that a joint model standardises together (joint_blocks.c). */
typedef struct {
    size_t count, levels;
    block_level *level;
    double *k, *c, *b; /* K, C and b_0 */
    size_t sums;       /* index of K, and C behind it, among the sums over rows */
    size_t offset;     /* index of its numbers among those behind x */
} joint_block;

/* Where the effects of a level are: in which block, and from which index on. */
typedef struct {
    uint32_t block, first;
} block_place;

typedef struct {
    size_t count;
    joint_block *block;
    block_level *levels;            /* storage of all blocks' levels */
    block_place *place[OTHERS_MAX]; /* of each level; NULL: the factor is in no block */
    size_t width;                   /* sums over rows */
    size_t scratch;                 /* numbers behind x at a point */
    size_t square;                  /* numbers of the largest block's matrix */
    size_t effects;                 /* of all blocks */
    double work;                    /* cost of a gradient, in multiplications */
    double *memory;                 /* storage of all K, C, b_0 and beta_0 */
    double *beta;                   /* beta_0 */
} joint_blocks;

typedef struct group_polynomials group_polynomials; /* group_polynomial.h */
typedef struct compressed_rows compressed_rows;     /* compressed_rows.h */

/* Instance of a model with group effects. */
typedef struct {
    const model_kind *row_model; /* model of one row */
    void *row_model_self;
    const rows *data; /* the rows, sorted by group, or a few that replace them (`compressed`) */
    const rows *table_rows;      /* the rows of the table, sorted by group */
    const row_groups *groups;    /* of these */
    const size_t *start;         /* groups + 1: group g is the rows start[g] .. of `data` */
    const double *z;             /* effects numbers per row of `data`; NULL: use mixed_z */
    compressed_rows *compressed; /* NULL: `data` are the rows of the table */
    const kernels *k;
    /* The factor that rows are sorted by: shape, columns and units of its effects. */
    spread_shape shape;
    effect_column column[LEVEL_EFFECTS_MAX];
    double unit[LEVEL_EFFECTS_MAX];
    /* Factors that are integrated over, outermost first; the first repeats the above. 0 levels:
     * a joint model. */
    nested_level level[LEVELS_MAX];
    size_t levels;
    size_t spreads; /* coordinates of the shapes of all levels */
    other_factor other[OTHERS_MAX];
    size_t others;
    joint_blocks *blocks; /* NULL: not a joint model */
    double strength_at;   /* joint.h: sum_a p_a w_a where P and b were set */
    size_t incident_max;  /* crossed effects that occur in one group, at most */
    size_t aux;           /* first coordinate of the auxiliaries, the last coordinates */
    size_t dim;
    size_t largest; /* rows of a group, at most */
    /* The quadrature rule: nodes per effect, and points of their grid; each point's coordinates
     * and the logarithm of its weight, log w + t^2/2 (up to a constant). */
    size_t nodes, points;
    double *node;                   /* points * effects */
    double *log_count;              /* points */
    double *centre;                 /* groups * effects: start of the search for a mode */
    group_polynomials *polynomials; /* NULL: rows are evaluated */
    bool by_rows;                   /* rows are evaluated although there are polynomials */
    /* (1) of choose_nodes.c: c over the number of groups (dim), and w_0 (dim); NULL: none */
    double *correction;
} mixed;

/* Sets the rule of all levels; with nested factors, `nodes` is that of the innermost. */
sbps_status mixed_set_nodes(mixed *m, size_t nodes, sbps_error *err);
/* The points of a grid of nodes, `effects` numbers each, and behind them their log weights. To
 * be freed; NULL: no memory. */
double *mixed_grid(size_t nodes, size_t effects, size_t *points);

/* The factor of an effect in a row of the table. */
static inline double mixed_z(const mixed *m, size_t row, effect_column of)
{
    if (of.of == GROUP_CONSTANT) return 1.0;
    return m->groups->z[row * m->groups->width + of.of] - of.mean;
}

#endif
