/* Columns of a file claimed for a plan, one by one: plan.c by options, plan_formula.c by a formula. */
#ifndef READ_CLAIMS_H
#define READ_CLAIMS_H

#include "read/columns.h"
#include "read/plan.h"

/* Marks a column, which nothing else may have claimed. */
sbps_status claim(plan *p, size_t column, const char *option, sbps_error *err);
/* Finds and claims the one column an option names; leaves *column alone when none is named. */
sbps_status claim_one(plan *p, const column_index *x, const char *option, const char *name,
                      size_t *column, sbps_error *err);
sbps_status make_category(plan *p, size_t column, sbps_error *err);
/* What the cells of the target and of all features are decides what they are. */
sbps_status settle_types(plan *p, sbps_error *err);

/* All columns that spec->formula names, in the place of target and features. */
sbps_status claim_formula(plan *p, const column_index *x, const rows_spec *spec,
                          sbps_error *err);
/* Slots are known: so is how everything is calculated. */
sbps_status settle_formula(plan *p, sbps_error *err);

/* Fails where several names are wrong, with all of them; one alone is told by who looks for it. */
sbps_status plan_check_names(const plan *p, const column_index *x, const rows_spec *spec,
                             sbps_error *err);

#endif
