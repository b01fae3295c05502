/* R-hat and ESS of many effects of groups at once. Of K sound effects the largest R-hat lies above 1.01 by chance alone, so
 * that the limit is that of the maximum. With m half chains, N effective draws in all and chi^2 of k = m - 1 degrees of
 * freedom,
 *
 *   R-hat^2 is about 1 + (m/N) chi^2_k / k                                                              (1)
 *
 * and the limit is its 1 - 0.01/(2 K) quantile (R-hat is the larger of two), but at least 1.01. N is the geometric mean of the
 * effects' ESS: an effect that does not mix has a small one of its own, which must not excuse it. */
#ifndef ESTIMATE_EFFECT_CHECK_H
#define ESTIMATE_EFFECT_CHECK_H

#include <stddef.h>

typedef struct {
    size_t count, undefined; /* effects; of them, those without an R-hat */
    double rhat, ess;        /* the largest R-hat; the smallest of bulk and tail ESS */
    size_t rhat_at, ess_at;  /* where they were added */
    double log_ess;          /* sum over the effects that have an ESS */
    size_t with_ess;
} effect_check;

/* One effect more; `at` is the caller's number of it. */
void effect_check_add(effect_check *c, size_t at, double rhat, double ess_bulk,
                      double ess_tail);
/* Geometric mean of the smaller of bulk and tail ESS; NAN: there is none. */
double effect_check_mean_ess(const effect_check *c);
/* (1) */
double effect_rhat_limit(size_t effects, double mean_ess, size_t chains);
/* `least` is what one quantity needs: estimates of ESS err by a tenth, so that the smallest of many is lower by chance. */
double effect_ess_limit(size_t effects, double required);

#endif
