/* The path: pieces of flight w(t) = centre + a(t) p + b(t) q, and the sinks that receive them. */
#ifndef PATH_PATH_H
#define PATH_PATH_H

#include "core/inspect.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    double a, b, aa, ab, bb; /* integrals of a, b, a^2, ab, b^2 over a stretch of time */
} flow_integrals;

typedef struct {
    const char *name;
    double stretch; /* longest stretch of time whose mean may stand for it; 0: any */
    void (*at)(double t, double *a, double *b);
    void (*rate)(double t, double *da, double *db);
    void (*integrate)(double t0, double t1, flow_integrals *out);
} flow_kind;

extern const flow_kind flow_line;    /* a = 1, b = t */
extern const flow_kind flow_ellipse; /* a = cos t, b = sin t */
extern const flow_kind
    flow_still; /* a = 1, b = 0: a discrete sampler's state, held for dt = 1 */

typedef enum { EVENT_START, EVENT_BOUNCE, EVENT_REFRESH, EVENT_STEP } event_kind;

typedef struct {
    event_kind kind;
    bool failed;         /* where it leads is not a number: the path ends here */
    uint64_t proposals;  /* in the segment it ends */
    uint64_t violations; /* proposals with G > lambda */
    uint64_t rows;       /* rows touched */
    double missing; /* (G/lambda - 1)+ summed over the proposals: bounces that did not happen */
    double near;    /* (G/lambda - 1/2)+ summed over them, */
    uint64_t nears; /* and how many had it */
    double expected; /* violations that the predictive distributions of G foresaw */
} event;

/* A proposal whose slope is so many times lambda. */
static inline void event_count_ratio(event *e, double ratio)
{
    e->proposals++;
    if (ratio > 0.5) {
        e->nears++;
        e->near += ratio - 0.5;
    }
    if (ratio > 1.0) {
        e->violations++;
        e->missing += ratio - 1.0;
    }
}

typedef struct {
    const flow_kind *flow;
    size_t dim;
    double dt;
    const double *centre, *p, *q; /* borrowed until the next step */
    const event *end;
    const double *q_next; /* the velocity after the event, for the same flow kind */
} segment;

/* A sink receives segments in order. Its mutable state is in an arena without pointers. */
typedef struct {
    void *self;
    void (*take)(void *self, const segment *s);
} sink;

#define SINKS_MAX 8

/* All that receive one path, in this order. */
typedef struct {
    size_t count;
    sink list[SINKS_MAX];
} path_sinks;

static inline void sinks_add(path_sinks *p, void *self, void (*take)(void *, const segment *))
{
    assert(p->count < SINKS_MAX);
    p->list[p->count++] = (sink){self, take};
}

static inline void sinks_take(const path_sinks *p, const segment *s)
{
    for (size_t i = 0; i < p->count; i++) p->list[i].take(p->list[i].self, s);
}

/* Of the segment flown last, read back: counts were passed on already, but what kind it was decides
 * how the next one begins. */
void event_inspect(const event *e, inspection *x);

#endif
