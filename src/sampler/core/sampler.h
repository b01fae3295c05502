/* Samplers: potential and metric -> path segments. */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "core/inspect.h"
#include "core/memory.h"
#include "core/rng.h"
#include "linalg/metric/metric.h"
#include "linalg/metric/warp.h"
#include "path/path.h"
#include "posterior/minibatch/potential.h"
#include "sampler/band/settings.h"

typedef struct {
    band_settings band;  /* of samplers that have one */
    double refresh_rate; /* refreshments per unit time */
    double step_size;    /* discrete samplers, as design says: w -= h (mean gradient per row) */
    double step_decay;   /* h (1 + i)^-decay */
    double metric_beta, metric_eps; /* adaptive diagonal metric */
    double gradient_noise;          /* sd on every component, for kinds with own_noise */
    bool adapt_forever;             /* go on adapting after warm-up */
} sampler_settings;

typedef struct sampler_kind sampler_kind;

typedef struct {
    const sampler_kind *kind;
    const metric *a;       /* `own` where there is one, else `shared` */
    const metric *shared;  /* by all chains */
    metric own;            /* kind NULL, or an adaptive metric whose numbers lie in the arena */
    const double *hessian; /* at the reference, dim*dim; NULL: u'Hu = 1 for every velocity */
    const double *centre;  /* reference point; positions are kept relative to it */
    const warps *warps;    /* of kinds that bend coordinates; NULL: all are straight */
    sampler_settings *settings; /* in the arena: chosen in warm-up */
    potential *u;
    const observation_sink *observer; /* told of them by kinds with a band; NULL: nobody is */
    size_t dim;
    void *state;   /* kind's own, in the arena */
    double *extra; /* kind's own, in the arena: as many doubles as it asks for */
    double *p, *q; /* the segment flown last: in the arena */
    double *p_next, *v, *q_next, *gradient, *scratch;
} sampler;

struct sampler_kind {
    const char *name;
    const char *summary;
    size_t state_bytes;
    size_t (*extra)(const potential_facts *facts); /* doubles in the arena; NULL: none */
    const char *metric;                            /* what auto means; NULL: dense */
    const char *control_variate;                   /* what auto means; NULL: none */
    bool full;          /* looks at every row each time: mini-batches are not for it */
    bool discrete;      /* its segments stand still, dt = 1 */
    bool gaussian;      /* v ~ N(0, I), about sqrt(d) long, instead of |v| = 1 */
    bool unmetered;     /* cannot say how biased it is: no bias is stated */
    bool adapts_metric; /* an adaptive metric learns; others would hold it fixed */
    const char *remedy; /* what helps when a step failed; NULL: nothing known */
    size_t batch;       /* rows a batch that auto means; 0: what is usual */
    bool
        means_suffice; /* each step is a draw: stored draws say how well tails are known, not squares on the path */
    size_t warmup; /* trajectories of a chain that adaptation takes; 0: until it has settled */
    bool chooses_row; /* its batches are one row, which it chooses itself: no others will do */
    bool
        bounded; /* thins under exact bounds: its control variate is part of them, and noise that
                     is added to gradients would break them */
    bool pairs;  /* weighs pairs of points, see bounds.h: the potential needs a row_bounds */
    bool independent; /* draws know nothing of each other: there is nothing to warm up for */
    bool ergodic;     /* without refreshment: auto is 0 */
    bool warped;      /* moves in bent coordinates where the posterior has walls */
    bool own_noise;   /* deals with settings->gradient_noise itself: the potential adds none */
    /* Optional: can it do this? SBPS_BAD_ARG with a sentence that says which sampler can. */
    sbps_status (*check)(const potential_facts *facts, const sampler_settings *settings,
                         sbps_error *err);
    void (*start)(sampler *s, const double *p, rng random);
    /* What `state` and `extra` may hold when they were read from a file: every word of them. */
    void (*inspect)(const sampler *s, inspection *x);
    /* Flies to the next event; the segment borrows from the sampler until the next step. */
    void (*step)(sampler *s, segment *out);
    /* Optional: warm-up begins (true), or ends and what was adapted is frozen (false). */
    void (*adapt)(sampler *s, bool on);
    /* While calibrating, a sampler with a band keeps how many bounces other widths would have
     * missed, see calibration.h. NULL: it has no band. */
    void (*calibrate)(sampler *s, bool on);
    const struct calibration *(*curve)(const sampler *s);
    /* Optional: importance weights, as logarithms, of proposals that have become the path; they count from
     * when there is a whole set of them. NULL: it has none. */
    const double *(*weights)(const sampler *s, size_t *count);
    /* Optional, both or none: the running mean of c^2 / u'Hu; and for batches of another size, which
     * make so many times as much. */
    double (*noise)(const sampler *s);
    void (*scale_noise)(sampler *s, double factor);
};

extern const sampler_kind *const sampler_kinds[]; /* NULL at the end */

const sampler_kind *sampler_find(const char *name);
void sampler_carve(sampler *s, const sampler_kind *kind, const metric *a, const double *hessian,
                   const double *centre, potential *u, arena *memory);

/* All that was carved, the kind's own included. `band`: warm-up may have chosen its width. */
void sampler_inspect(const sampler *s, bool band, inspection *x);

/* u'Hu of a velocity in w. */
double sampler_curvature(const sampler *s, const double *q);
/* Root mean curvature of U over the directions of z at the reference; s->v and s->scratch are lost. */
double sampler_scale(sampler *s);
/* v <- v - 2 (v.h / h.h) h with h = A' gradient, and q = A v. */
void sampler_reflect(sampler *s);
void sampler_refresh(sampler *s, rng *random);
/* The next position and velocity become the flight's. */
void sampler_begin_segment(sampler *s);
/* Where it begins, in w: s->scratch. */
const double *sampler_place(sampler *s);
/* Thins a proposal, counting it and what it missed: true with probability rate / bound. */
bool sampler_accept(double rate, double bound, rng *random, event *e);
/* What was flown for dt. */
segment sampler_segment(const sampler *s, const flow_kind *flow, double dt, const event *end);
/* The velocity after an event: reflected in the gradient of the last observation, or fresh. */
void sampler_update_velocity(sampler *s, event_kind end, rng *random);
/* The sampler's own metric, if it has one, becomes a copy. */
void sampler_start_metric(sampler *s, const metric *from);
/* It takes up what it has seen, and q = A v. */
void sampler_update_metric(sampler *s);

#endif
