/* How a band is made: which looks it rests on, what they weigh, how wide it is. Time is length in
 * the metric, |v| = 1. "Natural" units divide it by sqrt(u'Hu), the posterior's own scale along
 * the flight. */
#ifndef SAMPLER_SETTINGS_H
#define SAMPLER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* Where the prior of a flight's slope comes from. */
typedef enum {
    SLOPE_HESSIAN, /* N(1, 1) in units of u'Hu, then learned in them */
    SLOPE_LEARNED, /* one for all directions, begun wide, then learned */
    SLOPE_WIDE,    /* the same, but it stays wide: its mean alone follows the slopes fitted */
} slope_source;

typedef struct {
    double width;         /* k */
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
} band_settings;

#endif
