/* Settings of the band: which observations it uses, their weights, its width. Time is length
 * in the metric, |v| = 1. "Natural" units divide it by sqrt(u'Hu), the posterior's own scale
 * along the segment. */
#ifndef SAMPLER_SETTINGS_H
#define SAMPLER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The prior of a segment's slope. */
typedef enum {
    SLOPE_HESSIAN, /* N(1, 1) in units of u'Hu, then learned in them */
    SLOPE_LEARNED, /* one for all directions, initially wide, then learned */
    SLOPE_WIDE,    /* the same, but it stays wide: only its mean follows the fitted slopes */
} slope_source;

typedef struct {
    double width;   /* k */
    double horizon; /* longest time between two observations, natural units */
    double floor;   /* least lambda, natural units; 0: none */
    double chord;   /* NAN: chosen from the band; else fixed chord length in time */
    /* batches that the running variance counts for; 0: only the last batch is used */
    double pool;
    double learning_rate;  /* of the slope prior, per segment */
    bool lack_of_fit;      /* the band includes lack of fit */
    bool keep_variance;    /* c_t is kept over a bounce as in the paper, else recomputed */
    bool fresh_bounce;     /* a segment after a bounce begins with a batch of its own */
    bool slope_repair;     /* a negative slope of the regression is set to 0 */
    bool process;          /* Gaussian-process regression in place of the linear one */
    bool weight_decay;     /* distant observations count less; the time scale is learned */
    size_t auxiliary;      /* auxiliary observations at 10 p mean proposal times, p = 1..this */
    bool auxiliary_always; /* after every observation, not only where the band falls */
    /* the slope prior learns without the observation that ended the segment */
    bool rejected_evidence;
    slope_source slope_prior; /* prior of the regression's slope */
} band_settings;

#endif
