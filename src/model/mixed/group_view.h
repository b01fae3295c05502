/* One group at one phi. For the files of this folder. */
#ifndef MODEL_GROUP_VIEW_H
#define MODEL_GROUP_VIEW_H

#include "core/rng.h"
#include "model/mixed/mixed.h"

/* phi as groups want it. */
typedef struct {
    const double *w, *along; /* dim; along: NULL where no slope is asked */
    double *beta, *d_beta;   /* padded for the rows' products */
    const double *aux, *d_aux;
    effect_spread *at;
    const effect_spread *other[OTHERS_MAX];                /* of other factors */
    const effect_spread *inner[LEVELS_MAX];                /* of nested ones */
    double d_factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX]; /* of L along the flight */
    bool near;                                             /* enough for sketches; then */
    double *r,
        *products; /* weights and auxiliaries less those of the reference; r_j r_l, and half of squares */
} group_point;

/* A group at a point: its nodes and how much each counts, and what rows say of them on average. */
typedef struct {
    const mixed *m;
    group_point p;
    size_t group;
    size_t first, n; /* rows */
    double *base, *d_base,
        *mean; /* a row each: x.beta + offset; its rate; what weighs x_i in the gradient */
    double *z, *along; /* effects times rows: z_i and L'z_i, effect after effect */
    double *incident, *incident_rate; /* effects of other factors, and their rates */
    double log_density,
        log_density_rate; /* what those levels say themselves: (2) of crossed.h */
    double mode[LEVEL_EFFECTS_MAX], wide[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
    double *place;       /* points * effects: v of each node */
    double *node_weight; /* points: how much it counts, of 1 */
    double *pull;        /* points * effects: sum_i weight_i d log p_i/d eta z_i there */
    double *aux_pull;    /* points * auxiliaries */
    double log_m;
    /* blocks of rows at all nodes */
    double *eta, *y, *out, *curvature, *aux_out;
    double *sum; /* as beta */
    effect_spread *other_spread, *inner_spread;
    double *nested_scratch, *extra; /* of nests: see nest.h */
    /* the same by its sketch */
    bool by_polynomial;
    double map[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX],
        shift[LEVEL_EFFECTS_MAX]; /* t = turn v + shift */
    double *terms,
        *slopes; /* the polynomial in t at this phi, and its derivatives, axis after axis */
    double *t, *bases; /* places, axis after axis; polynomials there, one after another */
    double *outer;     /* gradient by r */
} group_view;

size_t group_scratch(const mixed *m);
/* Lays a view out over scratch, for phi = w, along u unless that is NULL. */
void group_begin(group_view *v, const mixed *m, const double *w, const double *u,
                 bool with_second, double *scratch);
/* The mode of the group's effects and their spread there, v->mode and v->wide; log |wide|. */
double group_locate(group_view *v, size_t g);
/* wide = C, the inverse of the factor of the curvature, turned over; log |C|. */
double group_widen(size_t q, const double *factor, double (*wide)[LEVEL_EFFECTS_MAX]);
/* After that: heights[k] += log of the integrand at the places, less the normal's constant. */
void group_heights(group_view *v, size_t points, const double *place, double *heights);
size_t group_auxiliaries(const mixed *m); /* of its rows' model */

/* From logarithms to shares of 1; the log of their sum. */
double normalise_log_weights(size_t n, double *x);

/* view.c: looks at the rows of group g. */
void group_load_rows(group_view *v, size_t g);
/* Rows of a block at all nodes, and cells that a block has at most. */
size_t group_block_rows(const mixed *m);
size_t group_cell_count(const mixed *m);
/* Rows first.. of the group, n of them, at `points` places: eta and y, place after place. */
batch group_cells(group_view *v, size_t first, size_t n, size_t points, const double *place);
/* What they said, times their weights; and its sums, one number a place, `pitch` apart. */
void group_weigh(const group_view *v, size_t first, size_t n, size_t points, double *values);
void group_add_sums(size_t n, size_t points, const double *values, size_t pitch, double *sums);

/* effects.c: a draw of the effects of group g by its rows; v was begun. */
void effects_by_rows(group_view *v, size_t g, rng *r, double *out);

#endif
