/* The potential U = -log prior - sum log p, seen through noise. Three calls are the heart: aim
 * along a line once per velocity, observe the slope at a time with a fresh mini-batch, and ask
 * for the gradient on that batch. Samplers know nothing else of model, prior and data: what they may
 * ask of them are the facts. */
#ifndef POSTERIOR_POTENTIAL_H
#define POSTERIOR_POTENTIAL_H

#include "path/path.h"

#include <stdbool.h>
#include <stddef.h>

/* What is true of U whatever the batch. */
typedef struct {
    size_t dim;
    size_t rows;                 /* of the table */
    const char *model;           /* its name, for sentences */
    bool convex;                 /* U is convex along every line */
    bool quadratic;              /* so is log p of every row, see bounds_curvature */
    bool bounded;                /* every row's slope and curvature have bounds, see bounds.h */
    bool third_bounded;          /* so has its third derivative near the reference */
    const char *unbounded_prior; /* the first prior whose slope has none; NULL: all have one */
} potential_facts;

typedef struct potential potential;

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
} potential_calls;

/* The first member of whoever implements it. */
struct potential {
    const potential_calls *call;
    potential_facts facts;
    size_t batch; /* rows a look takes; changes between flights */
    double noise; /* sd of Gaussian noise on every component of the gradient; 0: none */
    const double *reference; /* of a control variate, dim; NULL: there is none */
    bool lost;               /* a sum over rows was NaN since somebody has set this to false */
};

/* The line w(t) = p + t q from now on (dim entries each, copied). */
static inline void potential_set_line(potential *u, const double *p, const double *q)
{
    u->call->set_line(u, p, q);
}
/* The same after an observation, where p is the point it was made at: the batch need not be looked
 * at again to be seen along q by potential_observe_again at time 0. */
static inline void potential_reverse_line(potential *u, const double *p, const double *q)
{
    u->call->reverse_line(u, p, q);
}
/* |q|^2 of the line. */
static inline double potential_speed2(const potential *u)
{
    return u->call->speed2(u);
}
/* The first time after t at which the line crosses a kink of a prior, INFINITY when it crosses
 * none, and by how much dU/dt jumps there. */
static inline double potential_next_kink(const potential *u, double t, double *jump)
{
    return u->call->next_kink(u, t, jump);
}
/* G~ and c^2 at time t on a fresh batch. */
static inline observation potential_observe(potential *u, double t)
{
    return u->call->observe(u, t);
}
/* The same on the batch of the last observation, along the line aimed at now. */
static inline observation potential_observe_again(potential *u, double t)
{
    return u->call->observe_again(u, t);
}
/* grad U~ on the batch and at the time of the last observation: dim entries. */
static inline void potential_gradient(potential *u, double *gradient)
{
    u->call->gradient(u, gradient);
}
/* U~ at w on a fresh batch, and the sd of its noise. Aims anew, along nothing. */
static inline void potential_value(potential *u, const double *w, double *value, double *sd)
{
    u->call->value(u, w, value, sd);
}
/* grad U~ at w on a fresh batch. Aims anew, along nothing. */
static inline void potential_fresh_gradient(potential *u, const double *w, double *gradient)
{
    u->call->fresh_gradient(u, w, gradient);
}
/* The same, and U~ there: one pass over the rows gives both. */
static inline double potential_fresh_both(potential *u, const double *w, double *gradient)
{
    return u->call->fresh_both(u, w, gradient);
}
/* U~ at time t of the line on the batch of the last observation; exact on the full data. */
static inline double potential_line_value(potential *u, double t)
{
    return u->call->line_value(u, t);
}

#endif
