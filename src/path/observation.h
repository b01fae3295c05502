/* Looks: what is seen of the slope along a flight, and who may be told. */
#ifndef PATH_OBSERVATION_H
#define PATH_OBSERVATION_H

#include "core/inspect.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    double slope;    /* G~ = dU~/dt */
    double variance; /* c^2, eq. (10): of the mini-batch noise in G~; 0 on the full data */
    size_t rows;     /* rows touched */
} observation;

/* Of the last one of a flight, read back. */
void observation_inspect(const observation *o, inspection *x);

/* One look, for who wants to see how a band is made and used. */
typedef enum {
    OBSERVATION_START,
    OBSERVATION_PROPOSAL,
    OBSERVATION_HORIZON,
    OBSERVATION_AUXILIARY,
    OBSERVATION_REFRESH
} observation_kind;

typedef struct {
    observation_kind kind;
    bool bounced;           /* a proposal that was accepted */
    double t;               /* since the flight began */
    double slope, variance; /* G~ and c^2; NAN at a refreshment, which looks at nothing */
    double mean, sd, rate;  /* predicted for t, and lambda there; NAN where no band was made */
    double from, rate_from; /* the band began at this t, and lambda there */
} slope_observation;

/* NULL where nobody wants to know: then a look costs one comparison. */
typedef struct {
    void *self;
    void (*take)(void *self, const slope_observation *l);
} observation_sink;

#endif
