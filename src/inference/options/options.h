/* The options of sbps.h: struct, setting and reading by name, config files, model families.
 *
 * The other files of this folder give options their meaning: option_table (names, ranges,
 * help), target (the table to read and the posterior), coordinate_priors, start_point
 * (--start), and crossed_method (how group effects are sampled). */
#ifndef INFERENCE_OPTIONS_H
#define INFERENCE_OPTIONS_H

#include "core/status.h"
#include <math.h>
#include <stdio.h>

#define REAL_AUTO NAN      /* "auto": test with isnan */
#define SIZE_AUTO SIZE_MAX /* "auto"; 0 is a valid value of --warmup */

/* The values of all options; text is owned. A member has the name of its option, whose
 * meaning, unit and range are in option_table.c. What is "auto" is decided by plan_make and
 * autotune.c. */
struct sbps_options {
    /* data and model */
    char *model, *family, *formula, *target, *features, *categorical, *exclude, *reference,
        *success, *levels, *weights, *offset, *trials;
    char *missing;              /* error, drop */
    char *na;                   /* words that mark a missing value */
    char *header;               /* yes, no */
    char *encoding;             /* of text: utf-8, latin1, windows-1252 */
    size_t generate, data_seed; /* generated rows, 0: none; their seed */
    bool no_intercept, standardize, no_shuffle;
    char *storage; /* auto, double, float, sparse, given */
    char *ranef;   /* auto, all, none, or a file */
    char *crossed; /* auto, integrate, joint */
    /* Not an option: reason for sampling all group effects by nuts after a set-up that
     * integrates over them; a constant, NULL: not the case. */
    const char *no_integrals;
    char *prior_sd, *prior_cor;    /* of group effects: "auto" or as prior_parse reads */
    char *prior, *prior_intercept; /* likewise */
    char *prior_intercept_at;      /* auto, mean, zero */
    bool prior_only;               /* draws from the prior, without the rows */
    /* sampler */
    char *sampler, *control_variate, *metric, *minibatch; /* "auto" or a name */
    size_t batch_size;
    double band, refresh_rate;
    double bias_budget; /* posterior sd */
    bool paper;
    char *lack_of_fit, *pool_variance; /* auto, on, off */
    double horizon;                  /* auto, or in units of the posterior's scale; inf: none */
    double dt;                       /* auto (scale-free), or a fixed length of chords */
    char *regression, *weight_decay; /* linear, gp; off, on */
    bool slope_repair, adapt_forever;
    size_t auxiliary;
    char *auxiliary_when;               /* needed, always */
    char *slope_prior, *slope_evidence; /* hessian, learned, wide; all, rejected */
    char *bounce_batch;                 /* reused, fresh */
    double step_size, step_decay;       /* auto: default of the sampler */
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
    double spread;                         /* posterior sd */
    uint64_t seed;
    double ess, epochs, seconds; /* epochs, seconds: REAL_AUTO: no such rule */
    /* files and messages */
    char *output, *checkpoint, *resume, *skeleton, *trace, *config, *progress;
    bool dry_run, watch;
    size_t trace_chain;           /* from 1 */
    sbps_model_function function; /* instead of `model`; `rows` NULL: none */
    unsigned char *given;         /* per option: set by the user */
    char (*number)[32];           /* per option: buffer for the text of a number */
    char *prior_of[];             /* per auxiliary parameter of the models: its prior */
};

/* ---- the functions of sbps.h with the same names ---- */

/* All options at their defaults; *out is the caller's. */
sbps_status options_create(sbps_options **out, sbps_error *err);
/* Parses and checks the value. SBPS_BAD_ARG names the option and what it accepts. */
sbps_status options_set(sbps_options *options, const char *name, const char *value,
                        sbps_error *err);
/* The value as text, borrowed until the next call on these options; NULL: no such option. */
const char *options_get(const sbps_options *options, const char *name);
/* Replaces the model by the caller's function; copies the struct, but not what it points to. */
sbps_status options_set_model(sbps_options *options, const sbps_model_function *model,
                              sbps_error *err);
/* Reads `name = value` lines. Options that were set before keep their values. */
sbps_status options_read(sbps_options *options, const char *path, sbps_error *err);
/* NULL is fine. */
void options_destroy(sbps_options *options);

/* Copies the options that were given; the others keep their defaults. *out is the caller's. */
sbps_status options_copy(const sbps_options *from, sbps_options **out, sbps_error *err);

/* Prints option `index` into `text`, with its name and whether it affects the path: options
 * such as ess, seconds, threads and file names do not. False past the last option. */
bool option_text(const sbps_options *options, size_t index, const char **name,
                 bool *affects_path, size_t size, char *text);
/* True if the user set the option, on the command line or in a config file. */
bool option_given(const sbps_options *options, const char *name);
/* The model named by the options, or NULL. */
const struct model_kind *options_model(const sbps_options *options);
/* True for NULL and "auto". */
bool is_auto(const char *text);

/* Name of family `index`, each once, and the model of its default link; NULL past the last. */
const char *family_at(size_t index, const char **model);

#endif
