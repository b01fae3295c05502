/* The potential U = -log prior - sum log p, observed through mini-batch noise. Three calls
 * are central: set a line once per velocity, observe the slope at a time with a fresh
 * mini-batch, and compute the gradient on that batch. Samplers do not depend on model, prior
 * or data; the properties they may use are in potential_facts. */
#ifndef POSTERIOR_POTENTIAL_H
#define POSTERIOR_POTENTIAL_H

#include "core/rng.h"
#include "path/path.h"

#include <stdbool.h>
#include <stddef.h>

/* Properties of U that do not depend on the batch. */
typedef struct {
    size_t dim;
    size_t rows;        /* of the table */
    const char *model;  /* its name, for messages */
    bool convex;        /* U is convex along every line */
    bool quadratic;     /* log p of every row is quadratic, see bounds_curvature */
    bool bounded;       /* slope and curvature of every row are bounded, see bounds.h */
    bool third_bounded; /* third derivatives are bounded near the reference */
    /* name of the first prior with unbounded slope; NULL: none */
    const char *unbounded_prior;
    bool effects;         /* group effects of all factors are coordinates */
    size_t sweep_numbers; /* of the state of sweeps, see potential.sweep; 0: there are none */
} potential_facts;

typedef struct potential potential;

/* The implementation, see minibatch.c; the functions below call it. */
typedef struct {
    void (*set_line)(potential *u, const double *p, const double *q);
    void (*reverse_line)(potential *u, const double *p, const double *q);
    double (*speed2)(const potential *u);
    double (*next_kink)(const potential *u, double t, double *jump);
    observation (*observe)(potential *u, double t);
    observation (*observe_again)(potential *u, double t);
    void (*gradient)(potential *u, double *gradient);
    void (*value)(potential *u, const double *w, double *value, double *sd);
    void (*fresh_gradient)(potential *u, const double *w, double *gradient);
    double (*fresh_both)(potential *u, const double *w, double *gradient);
    double (*line_value)(potential *u, double t);
    void (*draw_prior)(const potential *u, rng *random, double *w);
} potential_calls;

/* The first member of the struct that implements it. */
struct potential {
    const potential_calls *call;
    potential_facts facts;
    size_t batch; /* rows per observation; may change between segments */
    /* sd of Gaussian noise added to every component of the gradient; 0: none */
    double noise;
    const double *reference;   /* dim: reference of the control variate; NULL: none */
    bool had_nan;              /* a sum over rows was NaN since this was last cleared */
    const struct sweep *sweep; /* conditional updates (posterior/sweep/sweep.h); NULL: none */
};

/* Sets the line w(t) = p + t q (dim entries each, copied). */
static inline void potential_set_line(potential *u, const double *p, const double *q)
{
    u->call->set_line(u, p, q);
}
/* The same directly after an observation, with p the point at which it was made: then
 * potential_observe_again at time 0 evaluates the same batch along the new q without a
 * second pass. */
static inline void potential_reverse_line(potential *u, const double *p, const double *q)
{
    u->call->reverse_line(u, p, q);
}
/* |q|^2 of the line. */
static inline double potential_speed2(const potential *u)
{
    return u->call->speed2(u);
}
/* The first time after t at which the line crosses a kink of a prior (INFINITY: never);
 * *jump is the jump of dU/dt there. */
static inline double potential_next_kink(const potential *u, double t, double *jump)
{
    return u->call->next_kink(u, t, jump);
}
/* G~ and c^2 at time t on a fresh batch. */
static inline observation potential_observe(potential *u, double t)
{
    return u->call->observe(u, t);
}
/* The same on the batch of the last observation, along the current line. */
static inline observation potential_observe_again(potential *u, double t)
{
    return u->call->observe_again(u, t);
}
/* gradient (dim) = grad U~ on the batch and at the time of the last observation. */
static inline void potential_gradient(potential *u, double *gradient)
{
    u->call->gradient(u, gradient);
}
/* U~ at w on a fresh batch, and the sd of its noise. Replaces the line by a fixed point. */
static inline void potential_value(potential *u, const double *w, double *value, double *sd)
{
    u->call->value(u, w, value, sd);
}
/* grad U~ at w on a fresh batch. Replaces the line by a fixed point. */
static inline void potential_fresh_gradient(potential *u, const double *w, double *gradient)
{
    u->call->fresh_gradient(u, w, gradient);
}
/* The same and U~, which is returned: one pass over the rows gives both. */
static inline double potential_fresh_both(potential *u, const double *w, double *gradient)
{
    return u->call->fresh_both(u, w, gradient);
}
/* U~ at time t of the line on the batch of the last observation; exact on the full data. */
static inline double potential_line_value(potential *u, double t)
{
    return u->call->line_value(u, t);
}
/* Draws w (dim) from the prior; NAN if that fails. */
static inline void potential_draw_prior(const potential *u, rng *random, double *w)
{
    u->call->draw_prior(u, random, w);
}

#endif
