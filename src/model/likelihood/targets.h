/* Checks of the target column. All read the rows of every rank. `model` is the model's name for
 * the message, which says what the target holds and what the model needs. */
#ifndef MODEL_TARGETS_H
#define MODEL_TARGETS_H

#include "model/likelihood/model.h"

/* Finite numbers that are not the same in all rows. */
sbps_status targets_real(const rows *r, const char *model, sbps_error *err);
/* Whole numbers. */
sbps_status targets_whole(const rows *r, const char *model, sbps_error *err);
/* 0, 1, 2, ... */
sbps_status targets_counts(const rows *r, const char *model, sbps_error *err);
/* 0, 1, 2, ..., not all 0: a table of zeros does not identify a shape parameter. */
sbps_status targets_some_counts(const rows *r, const char *model, sbps_error *err);
/* Above `low`, below `high`, and not the same in all rows; `want` describes such numbers. */
sbps_status targets_between(const rows *r, const char *model, double low, double high,
                            const char *want, sbps_error *err);
/* Proportions of successes from 0 to 1, with at least one success and one failure in rows of
 * positive weight. */
sbps_status targets_proportions(const rows *r, const char *model, sbps_error *err);
/* Classes 0, 1, ..., K-1 that all occur, K >= 2; *count = K. */
sbps_status classes_count(const rows *data, const char *model, size_t *count, sbps_error *err);

#endif
