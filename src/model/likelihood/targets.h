/* Which targets there can be; `model` says in sentences who wants them. */
#ifndef MODEL_TARGETS_H
#define MODEL_TARGETS_H

#include "model/likelihood/model.h"

/* Finite, and not the same in all rows. */
sbps_status targets_real(const rows *r, const char *model, sbps_error *err);
/* Whole numbers. */
sbps_status targets_whole(const rows *r, const char *model, sbps_error *err);
/* 0, 1, 2, ... */
sbps_status targets_counts(const rows *r, const char *model, sbps_error *err);
/* Likewise, and some above 0, without which the law's shape could be anything. */
sbps_status targets_some_counts(const rows *r, const char *model, sbps_error *err);
/* Above `low`, below `high`, and not the same in all rows; `want` says it in words. */
sbps_status targets_between(const rows *r, const char *model, double low, double high,
                            const char *want, sbps_error *err);
/* Shares of successes: 0 to 1, and neither successes nor failures lack. */
sbps_status targets_proportions(const rows *r, const char *model, sbps_error *err);

#endif
