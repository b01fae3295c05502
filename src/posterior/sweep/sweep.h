/* Conditional updates of a model with group effects: one sweep draws every block of the
 * parameters given all others and leaves the posterior invariant. With effects u of the levels
 * of crossed or nested factors (model/mixed/joint.h)
 *
 *   eta_i = x_i.beta + offset_i + sum over factors of z_i.u[level of row i],   u ~ N(0, S)  (1)
 *
 * the levels of one factor are independent given all else, so that all of them are drawn in one
 * pass through the rows. The files of this folder:
 *
 *   sweep          opening, the order of the updates, coordinates of the posterior
 *   sweep_linear   normal rows: sums over rows are collected once, draws are exact
 *   sweep_rows     other likelihoods: proposals by Newton steps, accepted or rejected
 *   sweep_spread   standard deviations and correlations, given u and given L^-1 u
 *   sweep_along    the same for other likelihoods, with effects that move along
 *   sweep_shift    shifts of coefficients against effects that no row notices
 *
 * Papaspiliopoulos, Roberts, Zanella (2020), Scalable inference for crossed random effects
 * models, Biometrika 107, 25-40; Papaspiliopoulos, Stumpf-Fetizon, Zanella (2023), Scalable
 * Bayesian computation for crossed and nested hierarchical models, Electronic Journal of
 * Statistics 17, 3575-3612. */
#ifndef POSTERIOR_SWEEP_H
#define POSTERIOR_SWEEP_H

#include "core/inspect.h"
#include "core/rng.h"
#include "core/status.h"

struct posterior;
/* What the chains of a run share; immutable. */
typedef struct sweep sweep;

/* Prepares sweeps of u, a joint model (model/mixed/joint.h), whose standardised effects become
 * L^-1 u. u is borrowed. SBPS_BAD_ARG: the model or table is not supported. The caller closes
 * *out, which is NULL on failure. */
sbps_status sweep_open(const struct posterior *u, sweep **out, sbps_error *err);
void sweep_close(sweep *s); /* NULL is fine */

/* Doubles of the state of a chain. */
size_t sweep_numbers(const sweep *s);
/* Starts a chain at w (dim), with standard deviations, correlations and auxiliaries moved by
 * parts of p (dim; NULL: unmoved). The rest is fitted given these. w becomes the point
 * reached. */
void sweep_start(const sweep *s, const double *p, double *w, double *state);
/* Sweep number `count`, from 0, of the chain whose random numbers are the stream `random`, which
 * is only read. adapting: scales of proposals may change. Sets w (dim); returns the passes
 * through the rows. */
double sweep_step(const sweep *s, const rng *random, uint64_t count, bool adapting,
                  double *state, double *w);
/* Checks a state that was read from a file. */
void sweep_inspect(const sweep *s, const double *state, inspection *x);

#endif
