/* Samplers: potential and metric -> path segments. */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "base/inspect.h"
#include "metric/bend.h"
#include "metric/metric.h"
#include "path/path.h"
#include "potential/potential.h"

/* Time is length in the metric, |v| = 1. "Natural" units divide it by sqrt(u'Hu), the posterior's
 * own scale along the flight. */
/* Where the prior of a flight's slope comes from. */
typedef enum {
    SLOPE_HESSIAN, /* N(1, 1) in units of u'Hu, then learned in them */
    SLOPE_LEARNED, /* one for all directions, begun wide, then learned */
    SLOPE_WIDE,    /* the same, but it stays wide: its mean alone follows the slopes fitted */
} slope_source;

typedef struct {
    double band;          /* k */
    double refresh_rate;  /* refreshments per unit time */
    double horizon;       /* longest flight between two observations, natural units */
    double floor;         /* of lambda, natural units; 0: none */
    double chord;         /* NAN: scale-free; else fixed chord length in time */
    double pool;          /* batches the running variance counts for; 0: last batch alone */
    double learning_rate; /* of the slope prior, per flight */
    bool lack_of_fit;
    bool keep_variance;    /* c_t carried over a bounce as printed, else recomputed */
    bool fresh_bounce;     /* a flight after a bounce begins with a batch of its own */
    bool slope_repair;     /* a negative slope of the regression is set to 0 */
    bool process;          /* Gaussian-process regression in place of the linear one */
    bool weight_decay;     /* distant observations count less, scale learned */
    size_t auxiliary;      /* auxiliary observations at 10 p mean proposal times, p = 1..this */
    bool auxiliary_always; /* after every look, not only under a band that falls */
    bool rejected_evidence; /* the slope prior learns without the look that ended the flight */
    slope_source slope_prior; /* of the regression */
    double step_size;  /* discrete samplers, as design says: w -= h (mean gradient per row) */
    double step_decay; /* h (1 + i)^-decay */
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
    const bends *bent;     /* of kinds that bend coordinates; NULL: all are straight */
    sampler_settings *settings; /* in the arena: chosen in warm-up */
    potential *u;
    const watcher *watch; /* of looks, by kinds with a band; NULL: nobody */
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
    size_t (*extra)(const posterior *target); /* doubles in the arena; NULL: none */
    const char *metric;                       /* what auto means; NULL: dense */
    const char *control_variate;              /* what auto means; NULL: none */
    bool full;          /* looks at every row each time: mini-batches are not for it */
    bool discrete;      /* its segments stand still, dt = 1 */
    bool gaussian;      /* v ~ N(0, I), about sqrt(d) long, instead of |v| = 1 */
    bool unmetered;     /* cannot say how biased it is: no bias is stated */
    bool adapts_metric; /* an adaptive metric learns; others would hold it fixed */
    const char *remedy; /* what helps when a step failed; NULL: nothing known */
    size_t batch;       /* rows a batch that auto means; 0: what is usual */
    bool single;        /* of one row, which it chooses itself: no other batch will do */
    bool
        bounded; /* thins under exact bounds: its control variate is part of them, and noise that
                     is added to gradients would break them */
    bool ergodic;   /* without refreshment: auto is 0 */
    bool bends;     /* moves in bent coordinates where the posterior has walls */
    bool own_noise; /* deals with settings->gradient_noise itself: the potential adds none */
    /* Optional: can it do this? SBPS_BAD_ARG with a sentence that says which sampler can. */
    sbps_status (*check)(const posterior *target, const sampler_settings *settings,
                         sbps_error *err);
    void (*start)(sampler *s, const double *p, rng random);
    /* What `state` and `extra` may hold when they were read from a file: every word of them. */
    void (*inspect)(const sampler *s, inspection *x);
    /* Flies to the next event; the segment borrows from the sampler until the next step. */
    void (*step)(sampler *s, segment *out);
    /* Optional: warm-up begins (true), or ends and what was adapted is frozen (false). */
    void (*adapt)(sampler *s, bool on);
    /* While calibrating, a sampler with a band keeps how many bounces other widths would have
     * missed, see calibrate.h. NULL: it has no band. */
    void (*calibrate)(sampler *s, bool on);
    const struct calibration *(*curve)(const sampler *s);
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
/* v <- v - 2 (v.h / h.h) h with h = A' gradient, and q = A v. */
void sampler_reflect(sampler *s);
void sampler_refresh(sampler *s, rng *random);
/* The velocity after an event: reflected in the gradient of the last observation, or fresh. */
void sampler_turn(sampler *s, event_kind end, rng *random);
/* The sampler's own metric, if it has one, becomes a copy. */
void sampler_start_metric(sampler *s, const metric *from);
/* It takes up what it has seen, and q = A v. */
void sampler_settle_metric(sampler *s);

#endif
