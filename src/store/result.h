/* What a run has to say, as plain arrays: filled by `run`, written and read by `store`, told by
 * `report`. */
#ifndef STORE_RESULT_H
#define STORE_RESULT_H

#include "core/status.h"

typedef struct {
    char *name, *value;
} result_option;

typedef struct {
    char *sampler, *model, *control_variate, *metric, *minibatch, *created_at, *target;
    char *command;    /* that was typed, quoted for a shell; NULL: unknown */
    char *made_by;    /* program and version */
    char *data;       /* name of the table's file; NULL: it had none */
    char *table_hash; /* of the table as it lay in the run; NULL: unknown */
    char *
        rows_content; /* of its rows in any order, see table/content_hash.h; NULL or "": unknown */
    char *formula;    /* target ~ columns, categories with their levels; NULL: no columns */
    double rows_dropped; /* for missing cells; NAN: unknown */
    double seed, rows, batch_size, band, bias_budget, refresh_rate;
    double proposals, bounces, refreshments, violations, missing_bounces, rows_touched;
    double bias_estimate, min_ess; /* NAN where unknown */
    double bias_estimate_se;       /* of the parameter it is that of */
    double pareto_k;               /* of importance weights; NAN: there are none */
    double passes_setup; /* through all rows before the first proposal; NAN: unknown */
    double ranks;        /* that the rows were shared out over */
    double
        rank_error; /* sd over the posterior of what one rank's rows leave out of log p; NAN: unknown */
    double rank_bias; /* posterior sds that means are off for it; NAN: unknown */
    double rank_rhat; /* nested R-hat between the chains that began on each; NAN: unknown */
    double seconds_setup, seconds_warmup, seconds_sampling;
    bool paper;                 /* --paper */
    bool interrupted;           /* stopped by Ctrl-C */
    bool unsettled;             /* warm-up ended before its chains had settled */
    bool band_capped;           /* warm-up wanted a wider band than there is */
    bool needs_refreshment;     /* no noise turns its velocity and nothing else does */
    double ess_goal;            /* what --ess asked for; 0 when another rule stopped it */
    double expected_violations; /* by the regression, at the proposals made; NAN: no band */
    double refreshments_per_sd; /* of flight, posterior sd; NAN: no flights */
    /* of the control variate from the mean, in posterior sd by the curvature at the mode, root
     * mean square over directions, less its Monte Carlo error; NAN: none */
    double reference_distance;
    double eta; /* missing bounces per unit time over sqrt(mean v'Hv) */
    /* the same of rows that no batch may ever have met: what they would have missed, by every row's
     * influence; NAN: not measured */
    double eta_unmet;
    char *
        influential_rows; /* those that move a parameter by a posterior sd or more, in words; "" */
    /* group effects that were sampled and are not kept: how many, and of them those without an R-hat; the largest R-hat, the
     * smallest of bulk and tail ESS and their geometric mean, with the names; 0 or NAN: there are none */
    double effects_checked, effects_undefined, effects_rhat, effects_ess, effects_mean_ess;
    char *effects_rhat_of, *effects_ess_of;
    char *replanned; /* what warm-up changed of what was chosen, in words; "" */
} result_info;

/* The struct behind sbps_result. */
typedef struct sbps_result {
    size_t chains, draws, dim;
    char **names;                  /* dim */
    double *w;                     /* [chain][draw][dim], as reported (sigma, not log sigma) */
    double *mean, *sd, *mcse;      /* dim, from the path */
    double *bias, *bias_se;        /* dim, stated, in posterior sd, and its standard error */
    double *sd_bias, *sd_bias_se;  /* dim, stated, of the sd, relative; NAN where unknown */
    double *ess_mean, *ess_square; /* dim, from the path */
    /* dim: of the prior, and of what it is the prior of under the posterior; NAN: none, or unknown */
    double *prior_mean, *prior_sd, *seen_mean, *seen_sd;
    double *
        prior_share; /* dim: of the posterior variance, what the priors alone hold; NAN: unknown, or
                            little */
    /* dim: of the column as the model sees it, and what --standardize took out; NAN: no column */
    double *column_mean, *column_sd, *standardize_mean, *standardize_sd;
    /* dim, each NULL when unknown: prior as an option says it, what it is of; column, level and
     * reference level of the table, "" where there is none */
    char **prior, **prior_of, **column, **level, **reference;
    /* per draw, [chain][draw]: since the draw before */
    double *proposals, *bounces, *missing;
    double *k; /* width of the band in force */
    double *potential, *potential_sd;
    double *
        seconds; /* of sampling when it was made, see inference/run/timestamps.c; NAN: unknown */
    char *design; /* of the table, see docs/design.md; NULL: unknown */
    /* per draw, [chain][draw]; the likelihood's standard error is that of the potential */
    double *log_prior, *log_likelihood;
    result_info info;
    size_t option_count;
    result_option *options; /* every option in force */
} result;

/* The fewest effective samples of parameter j by the path: of its mean, and of its square where the sampler's steps
 * are no draws by themselves (nuts: stored draws say how well its tails are known). */
double result_path_ess(const result *r, size_t j);

/* All arrays allocated and zeroed, names and labels NULL. */
sbps_status result_create(size_t chains, size_t draws, size_t dim, result **out,
                          sbps_error *err);
/* So many parameters more, behind the others, of which nothing is known: NAN, and without names. */
sbps_status result_widen(result *r, size_t extra, sbps_error *err);
/* Keeps the first `dim` parameters. */
void result_narrow(result *r, size_t dim);
/* These parameters alone, in this order. */
sbps_status result_select(result *r, const size_t *order, size_t count, sbps_error *err);
void result_destroy(result *r);
/* Bit for bit; a text that is NULL counts as "". */
bool result_same(const result *a, const result *b);

/* Store: each file appears whole or not at all (written beside, synced, renamed). */
sbps_status result_write_netcdf(const result *r, const char *path, sbps_error *err);
sbps_status result_read_netcdf(const char *path, result **out, sbps_error *err);
sbps_status result_write_csv(const result *r, const char *path, sbps_error *err);
/* One file a chain: run.stan.csv -> run.stan_1.csv, ... in CmdStan's layout. */
sbps_status result_write_stan(const result *r, const char *path, sbps_error *err);

/* By its first and last bytes; see sbps_result_recognise. */
bool result_recognise(const char *path);

#endif
