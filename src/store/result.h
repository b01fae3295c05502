/* The result of a run as plain arrays: filled by inference/run, written and read by store,
 * reported by output. */
#ifndef STORE_RESULT_H
#define STORE_RESULT_H

#include "core/status.h"

#include <string.h>

typedef struct {
    char *name, *value;
} result_option;

typedef struct {
    char *sampler, *model, *control_variate, *metric, *minibatch, *created_at, *target;
    char *command;       /* command line, quoted for a shell; NULL: unknown */
    char *made_by;       /* program and version */
    char *data;          /* name of the table's file; NULL: none */
    char *table_hash;    /* of the table as used by the run; NULL: unknown */
    char *rows_content;  /* hash of the rows in any order, table/content_hash.h; "": unknown */
    char *formula;       /* target ~ columns, categories with their levels; NULL: no columns */
    double rows_dropped; /* rows with missing values left out; NAN: unknown */
    double seed, rows, batch_size, band, bias_budget, refresh_rate;
    double proposals, bounces, refreshments, violations, missing_bounces, rows_touched;
    double bias_estimate, min_ess; /* NAN where unknown */
    double bias_estimate_se;       /* standard error of the largest bias */
    double pareto_k;               /* k-hat of importance weights; NAN: no weights */
    double passes_setup;           /* passes through the rows at set-up; NAN: unknown */
    double ranks;                  /* number of MPI ranks */
    double rank_error; /* sd of the error of log p from one rank's rows; NAN: unknown */
    double rank_bias;  /* resulting bias of means, posterior sd; NAN: unknown */
    double rank_rhat;  /* nested R-hat between the chains of each rank; NAN: unknown */
    double seconds_setup, seconds_warmup, seconds_sampling;
    bool paper;                 /* --paper */
    bool interrupted;           /* stopped by Ctrl-C */
    bool unsettled;             /* warm-up ended before it converged */
    bool band_capped;           /* the band is at its largest width */
    bool needs_refreshment;     /* the sampler is not ergodic without refreshment */
    double ess_goal;            /* goal of --ess; 0: another stopping rule */
    double expected_violations; /* predicted by the regression; NAN: no band */
    double refreshments_per_sd; /* refreshments per posterior sd of path; NAN: no segments */
    /* distance of the control variate's reference from the mean, posterior sd by the Hessian at
     * the mode, root mean square over directions, minus its Monte Carlo error; NAN: none */
    double reference_distance;
    double eta; /* missing bounces per unit time over sqrt(mean v'Hv) */
    /* estimated missing bounces from rows that no batch may have contained, by the influence of
     * every row; NAN: not measured */
    double eta_unmet;
    char *influential_rows; /* rows that shift a mean by a posterior sd or more; "": none */
    /* group effects that were sampled but not kept: their number, those without R-hat, the
     * largest R-hat, the smallest of bulk and tail ESS and its geometric mean, with names; 0 or
     * NAN: none */
    double effects_checked, effects_undefined, effects_rhat, effects_ess, effects_mean_ess;
    char *effects_rhat_of, *effects_ess_of;
    char *replanned; /* changes made by warm-up, as text; "": none */
} result_info;

/* The struct behind sbps_result. */
typedef struct sbps_result {
    size_t chains, draws, dim;
    char **names;                  /* dim */
    double *w;                     /* [chain][draw][dim], as reported (sigma, not log sigma) */
    double *mean, *sd, *mcse;      /* dim, from the path */
    double *bias, *bias_se;        /* dim: estimated bias of the mean, posterior sd; error */
    double *sd_bias, *sd_bias_se;  /* dim: relative bias of the sd; error; NAN: unknown */
    double *ess_mean, *ess_square; /* dim, from the path */
    /* dim: mean and sd of the prior, and of its argument under the posterior; NAN: none or
     * unknown */
    double *prior_mean, *prior_sd, *seen_mean, *seen_sd;
    /* dim: part of the posterior variance determined by the priors alone; NAN: unknown, small
     */
    double *prior_share;
    /* dim: of the column in the model, and removed by --standardize; NAN: no column */
    double *column_mean, *column_sd, *standardize_mean, *standardize_sd;
    /* dim, NULL: unknown: the prior as text and its argument; column, level and reference level
     * of the table, "": none */
    char **prior, **prior_of, **column, **level, **reference;
    /* per draw, [chain][draw]: counts since the previous draw */
    double *proposals, *bounces, *missing;
    double *k; /* width of the band */
    double *potential, *potential_sd;
    double *seconds; /* seconds of sampling at the draw, see collect.c; NAN: unknown */
    char *design;    /* design of the table, see docs/design.md; NULL: unknown */
    /* per draw, [chain][draw]; the likelihood's standard error is that of the potential */
    double *log_prior, *log_likelihood;
    result_info info;
    /* Effects of groups of which only posterior mean and sd are kept; 0: none. */
    size_t effects, effect_capacity;
    char **effect_names;
    double *effect_mean, *effect_sd;
    size_t option_count;
    result_option *options; /* all options */
} result;

/* The sampler of runs with --prior-only. */
#define PRIOR_SAMPLER "prior"
/* Are the draws from the prior alone? */
static inline bool result_prior_only(const result *r)
{
    return r->info.sampler && strcmp(r->info.sampler, PRIOR_SAMPLER) == 0;
}

/* Smallest ESS of parameter j along the path: of its mean, and of its square unless each step
 * of the sampler is a draw (nuts: the stored draws show how well the tails are known). */
double result_path_ess(const result *r, size_t j);

/* Creates a result with all arrays zeroed, names and labels NULL; *out is the caller's. */
sbps_status result_create(size_t chains, size_t draws, size_t dim, result **out,
                          sbps_error *err);
/* Appends parameters of which nothing is known: NAN, without names. */
sbps_status result_widen(result *r, size_t extra, sbps_error *err);
/* Removes all parameters after the first `dim`. */
void result_narrow(result *r, size_t dim);
/* Appends an effect of which only mean and sd are kept. */
sbps_status result_add_effect(result *r, const char *name, double mean, double sd,
                              sbps_error *err);
/* Removes all such effects after the first `count`. */
void result_drop_effects(result *r, size_t count);
/* Keeps the listed parameters, in this order. */
sbps_status result_select(result *r, const size_t *order, size_t count, sbps_error *err);
void result_destroy(result *r);
/* True if both are equal bit by bit; NULL equals "". */
bool result_same(const result *a, const result *b);

/* True if the file is a result written by this program (NetCDF or CSV), by its first and last
 * bytes; see sbps_result_recognise. */
bool result_recognise(const char *path);

/* ---- netcdf_file.c: results as NetCDF-4 files in ArviZ's layout ---- */

/* Writes the file atomically. */
sbps_status result_write_netcdf(const result *r, const char *path, sbps_error *err);
/* Reads and checks a file of result_write_netcdf; *out is the caller's. */
sbps_status result_read_netcdf(const char *path, result **out, sbps_error *err);

/* ---- result_csv.c: draws as CSV, one table or CmdStan's layout ---- */

/* Writes one table, chain,draw,<names...>, atomically. */
sbps_status result_write_csv(const result *r, const char *path, sbps_error *err);
/* Writes one file per chain in CmdStan's layout: run.stan.csv -> run.stan_1.csv, ... */
sbps_status result_write_stan(const result *r, const char *path, sbps_error *err);

#endif
