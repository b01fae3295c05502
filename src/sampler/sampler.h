/* Samplers: potential and metric -> path segments. */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "metric/metric.h"
#include "path/path.h"
#include "potential/potential.h"

/* Time is length in the metric, |v| = 1. "Natural" units divide it by sqrt(u'Hu), the posterior's
 * own scale along the flight. */
typedef struct {
    double band;          /* k */
    double refresh_rate;  /* refreshments per unit time */
    double horizon;       /* longest flight between two observations, natural units */
    double floor;         /* of lambda, natural units; 0: none */
    double chord;         /* NAN: scale-free; else fixed chord length in time */
    double pool;          /* batches the running variance counts for; 0: last batch alone */
    double learning_rate; /* of the slope prior, per flight */
    bool lack_of_fit;
    bool keep_variance; /* c_t carried over a bounce as printed, else recomputed */
} sampler_settings;

typedef struct sampler_kind sampler_kind;

typedef struct {
    const sampler_kind *kind;
    const metric *a;
    const double *hessian; /* at the reference, dim*dim; NULL: u'Hu = 1 for every velocity */
    const double *centre;  /* reference point; positions are kept relative to it */
    sampler_settings *settings; /* in the arena: chosen in warm-up */
    potential *u;
    size_t dim;
    void *state;   /* kind's own, in the arena */
    double *p, *q; /* the segment flown last: in the arena */
    double *p_next, *v, *q_next, *gradient, *scratch;
} sampler;

struct sampler_kind {
    const char *name;
    const char *summary;
    size_t state_bytes;
    /* Is this combination possible? */
    void (*start)(sampler *s, const double *p, rng random);
    /* Flies to the next event; the segment borrows from the sampler until the next step. */
    void (*step)(sampler *s, segment *out);
    /* While calibrating, a sampler with a band keeps how many bounces other widths would have
     * missed. NULL: it has no band. `curve` has BAND_CURVE entries, see calibrate.h. */
    void (*calibrate)(sampler *s, bool on);
    const double *(*curve)(const sampler *s, double *time);
};

extern const sampler_kind *const sampler_kinds[]; /* NULL at the end */

const sampler_kind *sampler_find(const char *name);
void sampler_carve(sampler *s, const sampler_kind *kind, const metric *a, const double *hessian,
                   const double *centre, potential *u, arena *memory);

/* u'Hu of a velocity in w. */
double sampler_curvature(const sampler *s, const double *q);
/* v <- v - 2 (v.h / h.h) h with h = A' gradient, and q = A v. */
void sampler_reflect(sampler *s);
void sampler_refresh(sampler *s, rng *random);

#endif
