/* Options are one table: it yields defaults, range checks, command-line flags, help,
 * config-file keys and the reference page. */
#ifndef INFERENCE_OPTIONS_H
#define INFERENCE_OPTIONS_H

#include "core/status.h"
#include <math.h>
#include <stdio.h>

#define REAL_AUTO NAN      /* "auto": test with isnan */
#define SIZE_AUTO SIZE_MAX /* no number that can be given: 0 is one for --warmup */

struct sbps_options {
    /* data and model */
    char *model, *family, *formula, *target, *features, *categorical, *exclude, *reference,
        *success, *levels, *weights, *offset, *trials;
    char *missing;              /* error, drop */
    char *na;                   /* words that stand for a missing cell */
    char *header;               /* yes, no */
    char *encoding;             /* of text: utf-8, latin1, windows-1252 */
    size_t generate, data_seed; /* rows made on the fly, 0: none; their seed */
    bool no_intercept, standardize, no_shuffle;
    char *storage; /* auto, double, float, sparse */
    char *ranef;   /* none, all, or a file */
    char *crossed; /* auto, integrate, joint */
    /* Not an option: why a run samples all effects by nuts after a set-up with integrals; NULL: it does not. */
    const char *no_integrals;
    char *prior_sd, *prior_cor;    /* of groups, likewise */
    char *prior, *prior_intercept; /* "auto" or as prior_parse reads */
    char *prior_intercept_at;      /* auto, mean, zero */
    /* sampler */
    char *sampler, *control_variate, *metric, *minibatch; /* "auto" or a name */
    size_t batch_size;
    double band, refresh_rate;
    double bias_budget;
    bool paper;
    char *lack_of_fit, *pool_variance; /* auto, on, off */
    double horizon;                  /* auto, or in units of the posterior's scale; inf: none */
    double dt;                       /* auto (scale-free chords), or a fixed chord length */
    char *regression, *weight_decay; /* linear, gp; off, on */
    bool slope_repair, adapt_forever;
    size_t auxiliary;
    char *auxiliary_when;               /* needed, always */
    char *slope_prior, *slope_evidence; /* hessian, learned, wide; all, rejected */
    char *bounce_batch;                 /* reused, fresh */
    double step_size, step_decay;       /* auto: the sampler's own */
    double metric_beta, metric_eps;
    double gradient_noise;
    /* shape of a model */
    char *hidden, *activation, *head, *covariance;
    size_t dim;
    double condition;
    /* the mode */
    char *method, *start;
    double tolerance, max_epochs;
    /* chains and stopping */
    size_t chains, threads, warmup, draws; /* threads, warmup: SIZE_AUTO */
    double spread;                         /* posterior sds */
    uint64_t seed;
    double ess, epochs, seconds; /* epochs, seconds: auto = not asked */
    /* files and talk */
    char *output, *checkpoint, *resume, *skeleton, *trace, *config, *progress;
    bool dry_run, watch;
    size_t trace_chain;           /* from 1 */
    sbps_model_function function; /* in the place of a model; `rows` NULL: there is none */
    unsigned char *given;         /* one flag an option: set by the user */
    char (*number)[32]; /* one slot an option: where sbps_options_get prints numbers */
    char *prior_of[];   /* one an auxiliary of the models listed, as the other priors */
};

/* As sbps.h has them. */
sbps_status options_create(sbps_options **out, sbps_error *err);
sbps_status options_set(sbps_options *options, const char *name, const char *value,
                        sbps_error *err);
const char *options_get(const sbps_options *options, const char *name);
sbps_status options_set_model(sbps_options *options, const sbps_model_function *model,
                              sbps_error *err);
sbps_status options_read(sbps_options *options, const char *path, sbps_error *err);
void options_destroy(sbps_options *options);
/* What was given, and defaults. */
sbps_status options_copy(const sbps_options *from, sbps_options **out, sbps_error *err);

/* Walks every option in force as text (for attributes of files and the checkpoint's check).
 * affects_path: false for options that change only where and when a run ends (ess, epochs,
 * seconds, threads, files, progress). Returns false past the end. `text` gets the value. */
bool option_text(const sbps_options *options, size_t index, const char **name,
                 bool *affects_path, size_t size, char *text);
/* Has the user set it (command line or config file)? */
bool option_given(const sbps_options *options, const char *name);
/* The model they ask for, NULL where there is none of that name. */
const struct model_kind *options_model(const sbps_options *options);
/* Is the choice left to us? */
bool is_auto(const char *text);

#endif
