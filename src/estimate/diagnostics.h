/* R-hat, effective sample size, Monte Carlo error and quantiles of draws, by the definitions of
 * R's `posterior` package (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021, Bayesian
 * Analysis 16, 667-718). x holds chains one after the other: x[c*draws + i]. */
#ifndef ESTIMATE_DIAGNOSTICS_H
#define ESTIMATE_DIAGNOSTICS_H

#include "core/status.h"

#include <stdbool.h>

#define DRAW_SUMMARY(X)                                                                        \
    X(mean)                                                                                    \
    X(sd)                                                                                      \
    X(q5)                                                                                      \
    X(q50)                                                                                     \
    X(q95)                                                                                     \
    X(rhat) /* rank-normalised split R-hat: the larger of bulk and folded */                   \
    X(ess_bulk)                                                                                \
    X(ess_tail)                                                                                \
    X(ess_mean) /* split chains, no ranks: for mcse_mean */                                    \
    X(mcse_mean)

typedef struct {
#define DRAW_FIELD(name) double name;
    DRAW_SUMMARY(DRAW_FIELD)
#undef DRAW_FIELD
} draw_summary;

/* NAN where a quantity is undefined: constant or non-finite draws, a half chain of fewer than 2
 * draws (R-hat) or 3 (ESS). */
sbps_status summarize_draws(size_t chains, size_t draws, const double *x, draw_summary *out,
                            sbps_error *err);
/* The same for many of as many draws, in one room. few_lags: autocovariances one by one, as far as they are needed, where
 * draws are nearly independent; rounded otherwise. */
typedef struct draw_workspace draw_workspace;
sbps_status draw_workspace_open(size_t chains, size_t draws, bool few_lags,
                                draw_workspace **out, sbps_error *err);
void draw_workspace_close(draw_workspace *workspace);
void summarize_in(draw_workspace *workspace, const double *x, draw_summary *out);
/* quantile type 7; sorted in increasing order */
double quantile_sorted(size_t n, const double *sorted, double probability);

#endif
