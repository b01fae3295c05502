/* The family of a target for which none was given. */
#ifndef INFERENCE_OPTIONS_FAMILY_CHOICE_H
#define INFERENCE_OPTIONS_FAMILY_CHOICE_H

#include "inference/options/options.h"
#include "table/rows.h"

/* Sets the model if neither --model nor --family is given and the table has a target:
 *
 *   trials (family_has_trials)  binomial
 *   two labels                  bernoulli
 *   numbers, all of them 0 or 1 bernoulli
 *   other numbers               gaussian
 *
 * *why becomes a sentence about the choice, a constant; NULL: nothing was chosen. More than two
 * labels fail: they may have an order or not. */
sbps_status family_choose(sbps_options *options, const rows *data, const char **why,
                          sbps_error *err);

/* True if the target counts successes among trials: --trials, y | trials(n) or cbind(y, m). */
bool family_has_trials(const sbps_options *options);

#endif
