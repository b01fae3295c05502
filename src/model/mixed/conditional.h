/* The laws of a group's effects at many points phi, by the group's polynomial: (1) of sketch.h and the normal of the
 * effects with its precision S^-1 make, in the t of the sketch,
 *
 *   log p(t | y, phi) = sum_a c_a He_a(t) + constant                                                (1)
 *
 * with c linear in r, its products and the entries of S^-1. Points lie side by side, POINT_LANES at a time, so that every
 * loop runs over them. For the files of this folder. */
#ifndef MODEL_CONDITIONAL_H
#define MODEL_CONDITIONAL_H

#include "core/rng.h"
#include "model/mixed/group_polynomial_rows.h"

#define POINT_LANES ((size_t)64)

/* What is the same for all groups: of points phi. */
typedef struct {
    size_t count,
        pitch; /* points; and with those that pad the last lanes, which are as the last point */
    double *
        feature; /* (outer + packed triangle of outer) * pitch: r and products, halves of squares */
    double *precision; /* packed triangle of effects * pitch: S^-1 */
    double *largest;   /* of each feature, over all points */
    double *near;      /* pitch: 1 or 0: too far for polynomials */
} conditional_points;

/* Where terms are when the innermost axis comes first, so that a sum over several axes is one of sums. */
typedef struct {
    size_t at[HERMITES_MAX]; /* of the term of the hermites */
    size_t linear[LEVEL_EFFECTS_MAX], square[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
} term_order;

/* One group, and some points side by side. */
typedef struct {
    const mixed *m;
    const group_polynomials *s;
    const term_order *order;
    group_polynomial of;
    double wide[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX]; /* W */
    /* where proposals come from: around t0 + H^-1 g there, moved by `skew`, `stretch` times as wide as the curvature
     * says */
    double t0[LEVEL_EFFECTS_MAX], skew[LEVEL_EFFECTS_MAX], stretch;
    size_t tries;
    /* points at hand, [..][POINT_LANES] */
    double *c;         /* terms */
    double *mean;      /* effects: c - K r */
    double *centre;    /* effects */
    double *curvature; /* effects * effects: the factor of H */
    double *fine;      /* 1 or 0: rows must be asked */
    double *z, *t;     /* effects; tries * effects */
    double *height;    /* tries: (1) */
    double *draw;      /* effects: t, and then u */
    double *ratio;     /* tries: height less the log of the density of proposals */
    double *uniform, *passing, *scratch;
} conditional;

sbps_status conditional_points_open(const mixed *m, const group_polynomials *s, size_t count,
                                    const double *const *phi, conditional_points *out,
                                    sbps_error *err);
void conditional_points_close(conditional_points *p);
void term_order_set(const hermites *h, term_order *out);

#define PROPOSALS_MAX ((size_t)10) /* proposals at most */
/* Doubles that one takes, laid out over base unless that is NULL. */
size_t conditional_carve(conditional *l, const mixed *m, const group_polynomials *s,
                         double *base);
/* The group's proposals, by its law at `home`, the one point there; false: polynomials and such proposals will not do. */
bool conditional_tune(conditional *l, const polynomial_grid *grid,
                      const conditional_points *home);
/* Points from `first` on: proposals and their heights, n <= POINT_LANES points. */
void conditional_propose(conditional *l, const conditional_points *p, size_t first, size_t n,
                         rng *r);
/* After that: l->chosen, by Metropolis steps through the proposals. */
void conditional_walk(conditional *l, size_t n, rng *r);
/* u of proposal `try` at a point of those at hand. */
void conditional_effects(const conditional *l, size_t try, size_t lane, double *u);

/* c and mean of POINT_LANES points; */
void conditional_gather(const conditional *l, const conditional_points *p, size_t first);
/* (1) there at places t, axis after axis; */
void conditional_heights(const conditional *l, const double *t, double *out);
/* one step of Newton from t0: centre, where the modes are about, curvature, the factor F of H, and fine; */
void conditional_step(const conditional *l, const double *t0, const double *near);
/* x <- F'^-1 x. */
void conditional_solve_back(const conditional *l, double *x);

static inline double *conditional_term(const conditional *l, size_t place)
{
    return l->c + place * POINT_LANES;
}
static inline double *conditional_factor(const conditional *l, size_t j, size_t k)
{
    return l->curvature + (j * l->s->h.axes + k) * POINT_LANES;
}

#endif
