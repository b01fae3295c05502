/* Samplers: from a potential and a metric to path segments. A sampler does not depend on the
 * model or the data. Its state lies in an arena, so that a checkpoint is the arena's bytes. */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "core/inspect.h"
#include "core/memory.h"
#include "core/rng.h"
#include "linalg/metric/metric.h"
#include "path/path.h"
#include "posterior/minibatch/potential.h"
#include "sampler/band/settings.h"

typedef struct {
    band_settings band;             /* for samplers with a band */
    double refresh_rate;            /* refreshments per unit time */
    double step_size;               /* of discrete samplers: w -= h (mean gradient per row) */
    double step_decay;              /* the step is h (1 + i)^-decay */
    double metric_beta, metric_eps; /* adaptive diagonal metric */
    double gradient_noise; /* sd of noise on every component, for kinds with own_noise */
    bool adapt_forever;    /* adaptation continues after warm-up */
} sampler_settings;

typedef struct sampler_kind sampler_kind;

typedef struct {
    const sampler_kind *kind;
    const metric *a;      /* `own` if it has one, else `shared` */
    const metric *shared; /* shared by all chains */
    metric own; /* an adaptive metric whose numbers lie in the arena; kind NULL: none */
    /* at the reference, dim*dim; NULL: u'Hu = 1 for every velocity */
    const double *hessian;
    const double *centre; /* the reference point; positions are stored relative to it */
    const warps *warps;   /* for kinds that warp coordinates; NULL: no coordinate is warped */
    sampler_settings *settings; /* in the arena, since warm-up may change them */
    potential *u;
    /* receives the observations of kinds with a band; NULL: none */
    const observation_sink *observer;
    size_t dim;
    void *state;   /* of the kind, in the arena */
    double *extra; /* of the kind, in the arena: as many doubles as kind->extra says */
    double *p, *q; /* start and velocity of the current segment, in the arena */
    /* Position and velocity after it; v: velocity in the metric, q = A v. */
    double *p_next, *v, *q_next, *gradient, *scratch;
} sampler;

struct sampler_kind {
    /* ---- properties; `auto` is the value of an option that the user did not set ---- */
    const char *name;
    const char *summary;
    size_t state_bytes;
    size_t (*extra)(const potential_facts *facts); /* doubles in the arena; NULL: none */
    const char *metric;                            /* metric for auto; NULL: dense */
    const char *control_variate;                   /* control variate for auto; NULL: none */
    bool full;          /* uses all rows at every evaluation: no mini-batches */
    bool discrete;      /* positions change in jumps: its segments stand still, dt = 1 */
    bool gaussian;      /* v ~ N(0, I), length about sqrt(d), instead of |v| = 1 */
    bool unmetered;     /* its bias cannot be estimated, so none is stated */
    bool adapts_metric; /* an adaptive metric learns; for other kinds it would stay fixed */
    const char *remedy; /* advice after a failed step; NULL: none */
    size_t batch;       /* rows per batch for auto; 0: the general default */
    /* each step is a draw: the ESS of tails comes from stored draws, not from squares on the
     * path */
    bool means_suffice;
    /* trajectories per chain that adaptation takes; 0: until it has converged */
    size_t warmup;
    bool chooses_row; /* batches of one row, which the sampler chooses itself */
    /* thins under exact bounds: its control variate is part of them, and noise added to
     * gradients would invalidate them */
    bool bounded;
    bool pairs; /* compares pairs of points, see bounds.h: the potential needs row_bounds */
    bool independent; /* draws are independent: no warm-up */
    bool conditional; /* draws blocks of parameters by potential.sweep: needs no mode */
    bool ergodic;     /* without refreshment: auto is a rate of 0 */
    bool warped;      /* moves in warped coordinates where the posterior has boundaries */
    /* implements settings->gradient_noise itself: the potential adds none */
    bool own_noise;
    /* Optional: SBPS_BAD_ARG with a message if the sampler does not support this posterior
     * or these settings. */
    sbps_status (*check)(const potential_facts *facts, const sampler_settings *settings,
                         sbps_error *err);
    /* Starts a chain at centre + p. */
    void (*start)(sampler *s, const double *p, rng random);
    /* Checks `state` and `extra` after they were read from a file: every byte of them. */
    void (*inspect)(const sampler *s, inspection *x);
    /* Advances to the next event; the segment borrows from the sampler until the next step. */
    void (*step)(sampler *s, segment *out);
    /* Optional: warm-up begins (true), or ends and freezes what was adapted (false). */
    void (*adapt)(sampler *s, bool on);
    /* Optional, both or none: switches calibration of the band's width on or off, and
     * returns its statistics, see calibration.h. */
    void (*calibrate)(sampler *s, bool on);
    const struct calibration *(*curve)(const sampler *s);
    /* Optional: log importance weights of the last complete set of proposals; *count: their
     * number, 0 before there is one. */
    const double *(*weights)(const sampler *s, size_t *count);
    /* Optional, both or none: the running mean of c^2 / u'Hu; and its scaling for batches of
     * another size, whose noise is `factor` times as large. */
    double (*noise)(const sampler *s);
    void (*scale_noise)(sampler *s, double factor);
};

extern const sampler_kind *const sampler_kinds[]; /* NULL at the end */

/* The kind of this name, or NULL. */
const sampler_kind *sampler_find(const char *name);
/* Carves a sampler's state out of an arena in two passes (see arena). The other arguments
 * are borrowed. */
void sampler_carve(sampler *s, const sampler_kind *kind, const metric *a, const double *hessian,
                   const double *centre, potential *u, arena *memory);

/* Checks all that was carved, including the kind's own state. band: warm-up may have changed
 * its width. */
void sampler_inspect(const sampler *s, bool band, inspection *x);

/* u'Hu of a velocity q in w. */
double sampler_curvature(const sampler *s, const double *q);
/* Root mean curvature of U over the directions of z at the reference; overwrites s->v and
 * s->scratch. */
double sampler_scale(sampler *s);
/* v <- v - 2 (v.h / h.h) h with h = A' gradient, and q_next = A v. */
void sampler_reflect(sampler *s);
/* Draws v uniformly from the unit sphere, and sets q_next = A v. */
void sampler_refresh(sampler *s, rng *random);
/* Starts a segment at the next position and velocity. */
void sampler_begin_segment(sampler *s);
/* The segment's start in w; borrowed, in s->scratch. */
const double *sampler_start_point(sampler *s);
/* Thinning: counts a proposal and any violation in e; true with probability rate / bound. */
bool sampler_accept(double rate, double bound, rng *random, event *e);
/* Describes the current segment, of length dt. */
segment sampler_segment(const sampler *s, const flow_kind *flow, double dt, const event *end);
/* Sets the velocity after an event: reflected in the gradient of the last observation, or
 * drawn anew. */
void sampler_update_velocity(sampler *s, event_kind end, rng *random);
/* Copies `from` to the sampler's own metric, if it has one. */
void sampler_start_metric(sampler *s, const metric *from);
/* Updates the own metric by what it has learned, and sets q_next = A v. */
void sampler_update_metric(sampler *s);

#endif
