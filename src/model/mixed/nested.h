/* Nested groups. The integrand of a level's integral is a product over the parts of the level,
 * which are integrals themselves, or rows in the innermost level:
 *
 *   log m(eta) = log int prod_parts m_part(eta + z.L v) N(v; 0, 1) dv.                    (1)
 *
 * Each integral is a sum over nodes around its mode, as in group_view.c, and so are gradients:
 * derivatives of parts are averaged over the nodes with the nodes' weights. For the files of
 * this folder. */
#ifndef MODEL_NESTED_H
#define MODEL_NESTED_H

#include "core/rng.h"
#include "model/mixed/group_view.h"

/* Doubles of scratch of a group; 0: nothing is nested. */
size_t nested_scratch(const mixed *m);
/* Returns log m of the group that v has loaded; sets v->mean and v->extra. */
double nested_value(group_view *v);
/* As group_expand, with the Hessian by differences of gradients. scratch: nested_expand_scratch
 * doubles. */
void nested_expand(group_view *v, double factor, double *scratch, double *gradient,
                   double *hessian);
/* Doubles of scratch that nested_expand needs; 0: nothing is nested. */
size_t nested_expand_scratch(const mixed *m);
/* Draws all effects of the group: those of its own level, then of its parts, each followed by
 * those of the part's parts. */
void nested_draw(group_view *v, rng *r, double *out);

/* Stores the modes of all parts of the group, where later searches begin. */
void nested_store_modes(group_view *v);
/* After all groups: stores the sds at w, by which later searches scale the stored modes. */
void nested_store_sds(mixed *m, const double *w);

/* Parts are runs of rows with the same level. The end of the part of a level that begins at row
 * `first` of the table; at most `end`. */
size_t nested_run_end(const mixed *m, size_t level, size_t first, size_t end);
/* Numbers of `extra`: coordinates of the spreads of all levels, then auxiliaries. */
size_t nested_extra_count(const mixed *m);

/* Nodes per effect of a level, if the innermost level has `nodes`. */
size_t nested_nodes(const mixed *m, size_t level, size_t nodes);
/* Allocates the centres of all levels, where searches for modes begin. */
sbps_status nested_open(mixed *m, sbps_error *err);
/* Sets the rules of all levels, `nodes` being that of the innermost. Called again whenever the
 * number of nodes is raised. */
sbps_status nested_set_nodes(mixed *m, size_t nodes, sbps_error *err);
/* Frees rules and centres; the arrays may be NULL. */
void nested_close(mixed *m);

#endif
