/* The path of a sampler: segments w(t) = centre + a(t) p + b(t) q of one flow, each ended by an
 * event; the sinks that receive them; counts of events, which are such a sink; and observations
 * of the slope along a segment. */
#ifndef PATH_PATH_H
#define PATH_PATH_H

#include "core/inspect.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- flows ---- */

typedef struct {
    double a, b, aa, ab, bb; /* integrals of a, b, a^2, ab, b^2 over a stretch of time */
} flow_integrals;

typedef struct {
    const char *name;
    /* longest time over which x^3 and x^4 may be computed from the mean of x; 0: any */
    double stretch;
    void (*at)(double t, double *a, double *b);     /* a(t), b(t) */
    void (*rate)(double t, double *da, double *db); /* their derivatives */
    void (*integrate)(double t0, double t1, flow_integrals *out);
} flow_kind;

extern const flow_kind flow_line;    /* a = 1, b = t */
extern const flow_kind flow_ellipse; /* a = cos t, b = sin t */
/* a = 1, b = 0: the state of a discrete sampler, held for dt = 1 */
extern const flow_kind flow_still;

/* ---- events ---- */

typedef enum { EVENT_START, EVENT_BOUNCE, EVENT_REFRESH, EVENT_STEP } event_kind;

/* The event at the end of a segment, and what happened along the segment. G is the slope at a
 * proposal and lambda the band there, the rate of proposals; (x)+ is max(0, x). */
typedef struct {
    event_kind kind;
    bool failed; /* the new position is not finite: the path ends here */
    uint64_t proposals;
    uint64_t violations; /* proposals with G > lambda */
    uint64_t rows;       /* row evaluations */
    double missing;  /* sum of (G/lambda - 1)+: expected number of bounces that were missed */
    double near;     /* sum of (G/lambda - 1/2)+ */
    uint64_t nears;  /* proposals with G > lambda/2 */
    double expected; /* violations expected by the predictive distributions of G */
} event;

/* Counts a proposal with the given G/lambda. */
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

/* Checks the last event of a path that was read from a file. Its counts were passed on before
 * it was stored; its kind decides how the next segment begins. */
void event_inspect(const event *e, inspection *x);

/* ---- segments and sinks ---- */

typedef struct {
    const flow_kind *flow;
    size_t dim;
    double dt;                    /* duration */
    const double *centre, *p, *q; /* dim each; borrowed until the next step */
    const event *end;
    const double *q_next; /* the velocity after the event, for the same flow kind */
} segment;

/* A sink receives segments in order. Its mutable state is in an arena without pointers. */
typedef struct {
    void *self;
    void (*take)(void *self, const segment *s);
} sink;

#define SINKS_MAX 8

/* The sinks of one path, in the order in which they receive a segment. */
typedef struct {
    size_t count;
    sink list[SINKS_MAX];
} path_sinks;

/* Appends a sink. */
static inline void sinks_add(path_sinks *p, void *self, void (*take)(void *, const segment *))
{
    assert(p->count < SINKS_MAX);
    p->list[p->count++] = (sink){self, take};
}

/* Passes a segment to every sink. */
static inline void sinks_take(const path_sinks *p, const segment *s)
{
    for (size_t i = 0; i < p->count; i++) p->list[i].take(p->list[i].self, s);
}

/* Totals of events along a path: a sink. All 0 at the start; without pointers. */
typedef struct {
    double time;     /* duration of the path */
    double missing;  /* expected number of missed bounces */
    double expected; /* violations expected by the slope regression */
    uint64_t proposals, bounces, refreshments, violations, rows;
    double near, nears; /* see event */
} event_counts;

/* Adds a segment to the event_counts `self`. */
void event_counts_take(void *self, const segment *s);
/* Checks counts that were read from a file. */
void event_counts_inspect(const event_counts *c, inspection *x);

/* ---- observations of the slope ---- */

typedef struct {
    double slope;    /* G~ = dU~/dt */
    double variance; /* c^2, eq. (10): of the mini-batch noise in G~; 0 on the full data */
    size_t rows;     /* row evaluations */
} observation;

/* Checks the last observation of a segment that was read from a file. */
void observation_inspect(const observation *o, inspection *x);

typedef enum {
    OBSERVATION_START,
    OBSERVATION_PROPOSAL,
    OBSERVATION_HORIZON,
    OBSERVATION_AUXILIARY,
    OBSERVATION_REFRESH
} observation_kind;

/* One observation as a slope trace records it, with the band at that time. */
typedef struct {
    observation_kind kind;
    bool bounced;           /* the proposal was accepted */
    double t;               /* since the segment began */
    double slope, variance; /* G~ and c^2; NAN at a refreshment, where nothing is observed */
    double mean, sd, rate;  /* predicted for t, and lambda there; NAN without a band */
    double from, rate_from; /* the time at which the band began, and lambda there */
} slope_observation;

/* Receives observations; NULL where no trace is kept, at the cost of one comparison. */
typedef struct {
    void *self;
    void (*take)(void *self, const slope_observation *l);
} observation_sink;

#endif
