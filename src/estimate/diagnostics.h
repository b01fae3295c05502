/* R-hat, effective sample size (ESS), Monte Carlo error and quantiles of draws, by the
 * definitions of R's `posterior` package (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021,
 * Bayesian Analysis 16, 667-718). x holds chains one after the other: x[c*draws + i]. */
#ifndef ESTIMATE_DIAGNOSTICS_H
#define ESTIMATE_DIAGNOSTICS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

#define DRAW_SUMMARY(X)                                                                        \
    X(mean)                                                                                    \
    X(sd)                                                                                      \
    X(q5)                                                                                      \
    X(q50)                                                                                     \
    X(q95)                                                                                     \
    X(rhat) /* rank-normalised split R-hat: the larger of bulk and folded */                   \
    X(ess_bulk)                                                                                \
    X(ess_tail)                                                                                \
    X(ess_mean) /* of split chains, without ranks: for mcse_mean */                            \
    X(mcse_mean)

typedef struct {
#define DRAW_FIELD(name) double name;
    DRAW_SUMMARY(DRAW_FIELD)
#undef DRAW_FIELD
} draw_summary;

/* Summarises chains*draws draws. A quantity is NAN where it is undefined: for constant or
 * non-finite draws, and for half chains of fewer than 2 draws (R-hat) or 3 (ESS). */
sbps_status summarize_draws(size_t chains, size_t draws, const double *x, draw_summary *out,
                            sbps_error *err);

/* The same for many parameters with equal numbers of draws, with one allocation. few_lags:
 * autocovariances are computed one by one, as far as needed, which is faster where draws are
 * nearly independent; the results differ by rounding. */
typedef struct draw_workspace draw_workspace;
sbps_status draw_workspace_open(size_t chains, size_t draws, bool few_lags,
                                draw_workspace **out, sbps_error *err);
void draw_workspace_close(draw_workspace *workspace);
void summarize_in(draw_workspace *workspace, const double *x, draw_summary *out);
/* The same, but only mean, sd, ess_mean and mcse_mean; the others are NAN. Sorts nothing. */
void summarize_mean_in(draw_workspace *workspace, const double *x, draw_summary *out);

/* The quantile of n numbers in increasing order, R's type 7; NAN for n = 0. */
double quantile_sorted(size_t n, const double *sorted, double probability);

/* ---- R-hat and ESS of many effects of groups ----
 *
 * Of K effects that all have converged the largest R-hat exceeds 1.01 by chance alone, so that
 * the limit must be that of a maximum. With m half chains, N effective draws in all and chi^2_k
 * with k = m - 1 degrees of freedom,
 *
 *   R-hat^2 is about 1 + (m/N) chi^2_k / k                                              (4)
 *
 * and the limit is the 1 - 0.01/(2 K) quantile (R-hat is the larger of two), but at least 1.01.
 * N is the geometric mean of the effects' ESS: an effect that does not mix has a small ESS of
 * its own, which must not raise its limit. */
typedef struct {
    size_t count, undefined; /* effects; those of them without an R-hat */
    double rhat, ess;        /* the largest R-hat; the smallest of bulk and tail ESS */
    size_t rhat_at, ess_at;  /* the effects that have them */
    double log_ess;          /* sum over the effects that have an ESS */
    size_t with_ess;
} effect_check;

/* Adds one effect; `at` is the number by which the caller knows it. */
void effect_check_add(effect_check *c, size_t at, double rhat, double ess_bulk,
                      double ess_tail);
/* Returns the geometric mean of the smaller of bulk and tail ESS; NAN: no effect has one. */
double effect_check_mean_ess(const effect_check *c);
/* Returns the limit by (4). */
double effect_rhat_limit(size_t effects, double mean_ess, size_t chains);
/* Returns the ESS that the smallest of many effects needs where one quantity alone needs
 * `required`: estimates of ESS have a relative error of a tenth, so that the smallest of many
 * is lower by chance. */
double effect_ess_limit(size_t effects, double required);

/* ---- discrete Fourier transform of a power-of-two number of points ---- */

typedef struct {
    double re, im;
} point;

/* Returns the smallest power of two that is at least n. */
size_t fft_size(size_t n);
/* Computes roots[k] = exp(-2 pi i k / n) for k < n/2, n a power of two. */
void fft_roots(size_t n, point *roots);
/* Transforms in place: z_k <- sum_j z_j exp(-2 pi i j k / n). */
void fft_forward(size_t n, const point *roots, point *z);

#endif
