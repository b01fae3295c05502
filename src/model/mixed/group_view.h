/* One group at one point phi: its rows, the mode of its effects, and the integral (1) of
 * mixed.h by quadrature. For the files of this folder. */
#ifndef MODEL_GROUP_VIEW_H
#define MODEL_GROUP_VIEW_H

#include "core/rng.h"
#include "model/mixed/mixed.h"

/* Numbers of phi that are the same for all groups. */
typedef struct {
    const double *w;       /* dim: phi */
    const double *along;   /* dim: direction of slopes; NULL: none are requested */
    double *beta, *d_beta; /* weights and their rates, padded for products with rows */
    const double *aux, *d_aux;
    effect_spread *at;                      /* covariance of the group's effects */
    const effect_spread *other[OTHERS_MAX]; /* of crossed factors */
    const effect_spread *inner[LEVELS_MAX]; /* of nested factors, from level 1 on */
    double d_factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX]; /* rate of L */
    bool near;        /* within reach of the polynomials; then: */
    double *r;        /* weights and auxiliaries minus those of the reference */
    double *products; /* r_j r_l, halves of squares, as a packed triangle */
} group_point;

/* A group at that point. All arrays are in the scratch that group_begin is given. */
typedef struct {
    const mixed *m;
    group_point p;
    size_t group;
    size_t first, n; /* rows of the table */
    /* by row: x.beta + offset with crossed effects, and its rate */
    double *base, *d_base;
    double *mean;                         /* by row: d log m/d eta_i */
    double *z, *along;                    /* effects * n: z_i, and L'z_i */
    double *incident, *incident_rate;     /* crossed effects in the group, and their rates */
    double log_density, log_density_rate; /* sum of their levels' values, and its rate */
    double mode[LEVEL_EFFECTS_MAX];
    /* C: upper triangular, C C' the inverse of minus the Hessian of the log integrand at the
     * mode; when a group is drawn, a factor of the effects' covariance. */
    double root[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
    double *place;       /* points * effects: v at each node */
    double *node_weight; /* points: normalised to the sum 1 */
    double *pull;        /* points * effects: sum_i weight_i d log p_i/d eta z_i */
    double *aux_pull;    /* points * auxiliaries */
    double log_m;
    /* cells, a block of rows at several places: predictors, targets, and outputs */
    double *eta, *y, *out, *curvature, *aux_out;
    double *sum; /* by column, as beta */
    effect_spread *other_spread, *inner_spread;
    double *nested_scratch;
    double *extra; /* with nested factors: derivatives by spreads and auxiliaries */
    /* of a group that is represented by its polynomial */
    bool by_polynomial;
    double map[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX],
        shift[LEVEL_EFFECTS_MAX]; /* t = map v + shift */
    double *terms;                /* coefficients of the polynomial in t at this phi */
    double *slopes;               /* of its derivatives, axis after axis */
    double *t;                    /* places, axis after axis */
    double *bases;                /* Hermite polynomials there, term after term */
    double *outer;                /* gradient by r */
} group_view;

/* ---- the view ---- */

/* Doubles of scratch that a view needs. */
size_t group_scratch(const mixed *m);
/* Begins a view at phi = w, along u unless NULL; with_second: also second derivatives of
 * covariances. Arrays are placed in scratch. */
void group_begin(group_view *v, const mixed *m, const double *w, const double *u,
                 bool with_second, double *scratch);
/* Loads the rows of group g: base, z and along, with their rates. */
void group_load_rows(group_view *v, size_t g);
/* The number of auxiliaries of the rows' model. */
size_t group_auxiliaries(const mixed *m);
/* Multiplies values of these cells by the rows' weights. */
void group_weigh(const group_view *v, size_t first, size_t n, size_t points, double *values);
/* heights[k] += log of the integrand at the places, without the normal density's constant.
 * Needs group_locate or group_load_rows. */
void group_heights(group_view *v, size_t points, const double *place, double *heights);

/* ---- mode and integral ---- */

/* Finds v->mode and v->root of group g; returns log |C|. */
double group_locate(group_view *v, size_t g);
/* root = C, the transposed inverse of the Cholesky factor `factor`; returns log |C|. */
double group_widen(size_t q, const double *factor, double (*root)[LEVEL_EFFECTS_MAX]);
/* Returns log m_g; sets the nodes and their weights. */
double group_value(group_view *v, size_t g);
/* After group_value: the slope of log m along the view's direction. */
double group_slope(group_view *v);
/* After group_value: out += factor times the gradient of log m. */
void group_gradient(group_view *v, double factor, double *out);
/* Replaces logarithms x by the normalised weights of sum 1; returns the log of the sum
 * before. */
double normalise_log_weights(size_t n, double *x);

#endif
