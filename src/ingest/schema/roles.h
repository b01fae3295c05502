/* Columns of a file claimed for a plan, one by one: plan.c by options, plan_formula.c by a formula. */
#ifndef INGEST_ROLES_H
#define INGEST_ROLES_H

#include "ingest/schema/column_index.h"
#include "ingest/schema/column_schema.h"

/* Marks a column, which nothing else may have claimed. */
sbps_status assign_role(column_schema *p, size_t column, const char *option, sbps_error *err);
/* Finds and claims the one column an option names; leaves *column alone when none is named. */
sbps_status assign_named_role(column_schema *p, const column_index *x, const char *option,
                              const char *name, size_t *column, sbps_error *err);
sbps_status make_category(column_schema *p, size_t column, sbps_error *err);
/* What the cells of the target and of all features are decides what they are. */
sbps_status resolve_types(column_schema *p, sbps_error *err);

/* All columns that spec->formula names, in the place of target and features. */
sbps_status assign_formula_roles(column_schema *p, const column_index *x, const rows_spec *spec,
                                 sbps_error *err);
/* Slots are known: so is how everything is calculated. */
sbps_status bind_formula_slots(column_schema *p, sbps_error *err);

/* Fails where several names are wrong, with all of them; one alone is told by who looks for it. */
sbps_status schema_check_names(const column_schema *p, const column_index *x,
                               const rows_spec *spec, sbps_error *err);

#endif
