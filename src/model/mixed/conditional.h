/* Conditional distributions of a group's effects given phi, at many points phi at once.
 *
 * The group's polynomial ((1) of group_polynomial.h) and the normal density of the effects,
 * with precision S^-1, give in the polynomial's coordinates t
 *
 *   log p(t | y, phi) = sum_a c_a He_a(t) + constant                                    (1)
 *
 * with c linear in r, its products and the entries of S^-1. Points are stored side by side,
 * POINT_LANES at a time, and every inner loop runs over them. Effects are drawn by independence
 * Metropolis: proposals are drawn all at once, the first one is where the chain begins, and
 * with every other the chain's distribution comes nearer to (1). For the files of this
 * folder. */
#ifndef MODEL_CONDITIONAL_H
#define MODEL_CONDITIONAL_H

#include "core/rng.h"
#include "model/mixed/group_polynomial_fit.h"

#define POINT_LANES   ((size_t)64) /* points side by side */
#define PROPOSALS_MAX ((size_t)10) /* of a draw */

/* Numbers of the points phi that are the same for all groups; owns its arrays. */
typedef struct {
    size_t count; /* points */
    size_t pitch; /* count rounded up to lanes; the added points repeat the last one */
    /* (outer + packed triangle of outer) * pitch: r, and its products, halves of squares */
    double *feature;
    double *precision; /* packed triangle of effects * pitch: S^-1 */
    double *largest;   /* the largest |feature| over all points */
    double *near;      /* pitch: 1, or 0: too far from the reference for polynomials */
} conditional_points;

/* The order of terms in which the innermost axis comes first, so that a sum over several axes
 * is a sum of sums. */
typedef struct {
    size_t at[HERMITES_MAX]; /* by term of the hermites: its index in this order */
    /* The indices of the terms t_j and t_j t_k. */
    size_t linear[LEVEL_EFFECTS_MAX], square[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
} term_order;

/* One group at POINT_LANES points. */
typedef struct {
    const mixed *m;
    const group_polynomials *s;
    const term_order *order;
    group_polynomial of;
    double scale[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX]; /* W: u = mean + W t */
    /* Proposals are normal around t0 + H^-1 g + skew, g the gradient and -H the Hessian at t0,
     * with `stretch` times the sds of precision H. */
    double t0[LEVEL_EFFECTS_MAX], skew[LEVEL_EFFECTS_MAX], stretch;
    size_t tries; /* number of proposals */
    /* the points: arrays of [..][POINT_LANES] */
    double *c;                           /* terms */
    double *mean;                        /* effects: centre - K r */
    double *centre;                      /* effects: t0 + H^-1 g */
    double *curvature;                   /* effects * effects: the factor F of H */
    double *fine;                        /* 1, or 0: effects must be drawn by rows */
    double *z, *t;                       /* effects; tries * effects: proposals */
    double *height;                      /* tries: (1) */
    double *draw;                        /* effects: t, and then u */
    double *ratio;                       /* tries: height minus log density of proposals */
    double *uniform, *passing, *scratch; /* lanes, lanes, scratch */
} conditional;

/* Computes the numbers of `count` points phi. Closed by the caller, also on failure. */
sbps_status conditional_points_open(const mixed *m, const group_polynomials *s, size_t count,
                                    const double *const *phi, conditional_points *out,
                                    sbps_error *err);
/* Frees the arrays, which may be NULL. */
void conditional_points_close(conditional_points *p);
/* Fills *out for these terms. */
void term_order_set(const hermites *h, term_order *out);

/* Places the arrays in base; returns their size in doubles. NULL base: size only. */
size_t conditional_carve(conditional *l, const mixed *m, const group_polynomials *s,
                         double *base);
/* Sets the proposals of the group by (1) at the point `home`. False: the polynomial or such
 * proposals are not good enough, and effects must be drawn by rows. */
bool conditional_tune(conditional *l, const polynomial_grid *grid,
                      const conditional_points *home);
/* Draws proposals and their heights for n <= POINT_LANES points from `first` on. */
void conditional_propose(conditional *l, const conditional_points *p, size_t first, size_t n,
                         rng *r);
/* After that: l->draw, the effects u, by Metropolis steps through the proposals. */
void conditional_walk(conditional *l, size_t n, rng *r);
/* The effects u of proposal `try` at one of the points. */
void conditional_effects(const conditional *l, size_t try, size_t lane, double *u);

#endif
