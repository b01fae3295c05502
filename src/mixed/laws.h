/* The laws of a group's effects at many points phi, by the group's polynomial: (1) of sketch.h and the normal of the
 * effects with its precision S^-1 make, in the t of the sketch,
 *
 *   log p(t | y, phi) = sum_a c_a He_a(t) + constant                                                (1)
 *
 * with c linear in r, its products and the entries of S^-1. Points lie side by side, LAW_LANES at a time, so that every
 * loop runs over them. For the files of this folder. */
#ifndef MIXED_LAWS_H
#define MIXED_LAWS_H

#include "base/rng.h"
#include "mixed/sketch_rows.h"

#define LAW_LANES ((size_t)64)

/* What is the same for all groups: of points phi. */
typedef struct {
    size_t count,
        pitch; /* points; and with those that pad the last lanes, which are as the last point */
    double *
        feature; /* (outer + packed triangle of outer) * pitch: r and products, halves of squares */
    double *precision; /* packed triangle of effects * pitch: S^-1 */
    double *largest;   /* of each feature, over all points */
    double *near;      /* pitch: 1 or 0: too far for polynomials */
} law_points;

/* Where terms are when the innermost axis comes first, so that a sum over several axes is one of sums. */
typedef struct {
    size_t at[HERMITES_MOST]; /* of the term of the hermites */
    size_t linear[EFFECTS_A_LEVEL], square[EFFECTS_A_LEVEL][EFFECTS_A_LEVEL];
} law_order;

/* One group, and some points side by side. */
typedef struct {
    const mixed *m;
    const sketches *s;
    const law_order *order;
    sketch of;
    double wide[EFFECTS_A_LEVEL * EFFECTS_A_LEVEL]; /* W */
    /* where proposals come from: around t0 + H^-1 g there, moved by `skew`, `stretch` times as wide as the curvature
     * says */
    double t0[EFFECTS_A_LEVEL], skew[EFFECTS_A_LEVEL], stretch;
    size_t tries;
    /* points at hand, [..][LAW_LANES] */
    double *c;         /* terms */
    double *mean;      /* effects: c - K r */
    double *centre;    /* effects */
    double *curvature; /* effects * effects: the factor of H */
    double *fine;      /* 1 or 0: rows must be asked */
    double *z, *t;     /* effects; tries * effects */
    double *height;    /* tries: (1) */
    double *chosen;    /* effects: t, and then u */
    double *ratio;     /* tries: height less the log of the density of proposals */
    double *uniform, *passing, *room;
} law;

sbps_status law_points_open(const mixed *m, const sketches *s, size_t count,
                            const double *const *phi, law_points *out, sbps_error *err);
void law_points_close(law_points *p);
void law_order_set(const hermites *h, law_order *out);

#define LAW_TRIES ((size_t)10) /* proposals at most */
/* Doubles that one takes, laid out over base unless that is NULL. */
size_t law_lay_out(law *l, const mixed *m, const sketches *s, double *base);
/* The group's proposals, by its law at `home`, the one point there; false: polynomials and such proposals will not do. */
bool law_settle(law *l, const sketch_grid *grid, const law_points *home);
/* Points from `first` on: proposals and their heights, n <= LAW_LANES points. */
void law_propose(law *l, const law_points *p, size_t first, size_t n, rng *r);
/* After that: l->chosen, by Metropolis steps through the proposals. */
void law_walk(law *l, size_t n, rng *r);
/* u of proposal `try` at a point of those at hand. */
void law_effects(const law *l, size_t try, size_t lane, double *u);

/* c and mean of LAW_LANES points; */
void law_gather(const law *l, const law_points *p, size_t first);
/* (1) there at places t, axis after axis; */
void law_heights(const law *l, const double *t, double *out);
/* one step of Newton from t0: centre, where the modes are about, curvature, the factor F of H, and fine; */
void law_step(const law *l, const double *t0, const double *near);
/* x <- F'^-1 x. */
void law_solve_back(const law *l, double *x);

static inline double *law_term(const law *l, size_t place)
{
    return l->c + place * LAW_LANES;
}
static inline double *law_factor(const law *l, size_t j, size_t k)
{
    return l->curvature + (j * l->s->h.axes + k) * LAW_LANES;
}

#endif
