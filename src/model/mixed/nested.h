/* Groups within groups. The integral over the effects of a level is of what its parts say, which are integrals
 * themselves, or rows at last:
 *
 *   log m(eta) = log int prod_parts m_part(eta + z.L v) N(v; 0, 1) dv.                                  (1)
 *
 * Each is a sum over nodes around its mode, as (1) of marginal.c, and so are gradients: what parts say of their rows is
 * averaged by the shares of the nodes. For the files of this folder. */
#ifndef MODEL_NESTED_H
#define MODEL_NESTED_H

#include "core/rng.h"
#include "model/mixed/group_view.h"

size_t nested_scratch(const mixed *m); /* 0: nothing is nested */
/* Of the group that is seen: log m; v->mean and v->extra. */
double nested_value(group_view *v);
/* Modes at phi, kept for searches to begin from; and, after all groups', the sds there. */
void nested_store_modes(group_view *v);
void nested_store_sds(mixed *m, const double *w);
/* What group_expand does. */
void nested_expand(group_view *v, double factor, double *scratch, double *gradient,
                   double *hessian);
size_t nested_expand_scratch(const mixed *m);
/* One draw of all effects of the group: those of its own level, then of the parts, each followed by its parts'. */
void nested_draw(group_view *v, rng *r, double *out);

/* effects.c: q numbers of Student's t; minus the log of their density. */
double draw_t(rng *r, size_t q, double *t);
/* Mean and factor of the covariance, q * q, that places have in these shares; false: they have none. */
bool node_moments(size_t q, size_t points, const double *weight, const double *place,
                  double *mean, double *factor);

/* Parts: runs of rows that have the same level. The end of the one that begins at row `first` of the table, no
 * further than `end`. */
size_t nested_run_end(const mixed *m, size_t level, size_t first, size_t end);
/* Numbers of `extra`: coordinates of spreads of all levels, then auxiliaries. */
size_t nested_extra_count(const mixed *m);

/* Nodes an effect of a level, where the innermost has so many. */
size_t nested_nodes(const mixed *m, size_t level, size_t nodes);
sbps_status nested_open(mixed *m, sbps_error *err);
sbps_status nested_set_nodes(mixed *m, size_t nodes, sbps_error *err);
void nested_close(mixed *m);

#endif
