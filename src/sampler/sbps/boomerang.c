/* The Boomerang Sampler: segments are arcs of ellipses around a Gaussian instead of straight
 * lines.
 *
 *   U(w) = |z|^2 / 2 + R(w),   z = A^-1 (w - centre),   v ~ N(0, I)                         (1)
 *   z(t) = cos t z + sin t v,  v(t) = -sin t z + cos t v                                    (2)
 *
 * keeps the Gaussian N(centre, A A') invariant; the posterior's departure from it enters by
 * bounces at the rate max(0, G), off the gradient of R:
 *
 *   G(t) = d/dt R = d/dt U - z(t).v(t),                                        (3)
 *   z(t).v(t) = (|v|^2 - |z|^2) sin t cos t + z.v cos 2t
 *   at a bounce  v <- v - 2 (v.h / h.h) h,   h = A' grad R~ = A' grad U~ - z(t)             (4)
 *
 * and v is drawn anew at the times of a Poisson process. Along (2) the potential is
 * evaluated on the tangent of the path, w(t) + s dw/dt, so that it needs to support straight
 * lines only. G~ comes from mini-batches; the intensity of proposals is the band over a
 * regression of G~ on the time since the last event (slope_regression.c), with the same
 * count of violations. In t the whole turn is 2 pi and the speed about sqrt(d) in the
 * metric; u'Hu is replaced by its mean over a whole turn.
 *
 * Bierkens, Grazzi, Kamatani, Roberts (2020), ICML, PMLR 119, 908-918. */
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/sbps/band_segment.h"

#include <math.h>
#include <string.h>

/* radians between two observations, at most: beyond, a line does not fit G */
#define ARC_MAX 0.5
/* (2) and (4) leave a Gaussian unchanged: without refreshment a segment might never end. */
#define REFRESH_MIN 0.1

typedef struct {
    band_segment segment;
    double zz, zv, vv; /* |z|^2, z.v and |v|^2 at the start of the segment */
} boomerang_state;

/* Extra: z, position in the metric; the tangent's point and direction in w. */
static size_t boomerang_extra(const potential_facts *facts)
{
    return 3 * facts->dim;
}

static void refresh(sampler *s)
{
    boomerang_state *state = s->state;
    for (size_t j = 0; j < s->dim; j++) s->v[j] = rng_normal(&state->segment.random);
    s->a->kind->forward(s->a, s->v, s->q_next);
}

static void boomerang_start(sampler *s, const double *p, rng random)
{
    boomerang_state *state = s->state;
    *state = (boomerang_state){0};
    band_segment_start(s, random);
    state->segment.view.prior.mean = 0.0; /* for a Gaussian G is 0 */
    memcpy(s->p_next, p, s->dim * sizeof *p);
    /* z = A^-1 p = A' (A A')^-1 p */
    s->a->kind->precision(s->a, p, s->scratch);
    s->a->kind->transpose(s->a, s->scratch, s->extra);
    refresh(s);
}

/* ---- observations along the ellipse ---- */

/* Sets the potential's line to the tangent at time t of the segment. */
static void set_tangent(sampler *s, double t)
{
    double a, b, da, db, *at = s->extra + s->dim, *along = s->extra + 2 * s->dim;
    flow_ellipse.at(t, &a, &b);
    flow_ellipse.rate(t, &da, &db);
    for (size_t j = 0; j < s->dim; j++) {
        at[j] = s->centre[j] + a * s->p[j] + b * s->q[j];
        along[j] = da * s->p[j] + db * s->q[j];
    }
    potential_set_line(s->u, at, along);
}

/* (3): subtracts the Gaussian's part from a slope of U. */
static observation without_reference(const boomerang_state *state, double t, observation o)
{
    double a = cos(t), b = sin(t);
    o.slope -= (state->vv - state->zz) * a * b + state->zv * (a * a - b * b);
    return o;
}

static observation observe(sampler *s, double t)
{
    set_tangent(s, t);
    return without_reference(s->state, t, potential_observe(s->u, 0.0));
}

static observation observe_again(sampler *s)
{
    set_tangent(s, 0.0);
    return without_reference(s->state, 0.0, potential_observe_again(s->u, 0.0));
}

/* ---- the segment ---- */

/* Inner products of the segment's start; returns the mean of u'Hu. */
static double begin_arc(sampler *s, bool same_batch)
{
    boomerang_state *state = s->state;
    const double *z = s->extra;
    (void)same_batch; /* every observation sets its own line */
    state->zz = dot(s->dim, z, z);
    state->zv = dot(s->dim, z, s->v);
    state->vv = dot(s->dim, s->v, s->v);
    if (!s->hessian) return 0.5 * (state->zz + state->vv);
    return 0.5 * (sampler_curvature(s, s->p) + sampler_curvature(s, s->q));
}

/* z, v and p_next at the end of a segment, by (2). */
static void end_arc(sampler *s, double dt)
{
    double a, b, *z = s->extra, *v = s->v;
    flow_ellipse.at(dt, &a, &b);
    for (size_t j = 0; j < s->dim; j++) {
        double from = z[j];
        z[j] = a * from + b * v[j];
        v[j] = a * v[j] - b * from;
        s->p_next[j] = a * s->p[j] + b * s->q[j];
    }
}

/* The reflection (4), with the batch of the last observation. */
static void bounce(sampler *s)
{
    double *h = s->scratch;
    const double *z = s->extra;
    potential_gradient(s->u, s->gradient);
    s->a->kind->transpose(s->a, s->gradient, h);
    for (size_t j = 0; j < s->dim; j++) h[j] -= z[j];
    double hh = dot(s->dim, h, h), c = hh > 0.0 ? 2.0 * dot(s->dim, s->v, h) / hh : 0.0;
    for (size_t j = 0; j < s->dim; j++) s->v[j] -= c * h[j];
    s->a->kind->forward(s->a, s->v, s->q_next);
}

static const segment_kind arc = {
    .flow = &flow_ellipse,
    .longest = ARC_MAX,
    .refresh_min = REFRESH_MIN,
    .begin = begin_arc,
    .observe = observe,
    .observe_again = observe_again,
    .end_segment = end_arc,
    .bounce = bounce,
    .refresh = refresh,
};

static void boomerang_step(sampler *s, segment *out)
{
    band_segment_step(s, &arc, out);
}

static void boomerang_inspect(const sampler *s, inspection *x)
{
    const boomerang_state *state = s->state;
    band_segment_inspect(s, x);
    INSPECT_ANY(x, state->zz);
    INSPECT_ANY(x, state->zv);
    INSPECT_ANY(x, state->vv);
    inspect_reals(x, "a position", s->extra, s->dim, -INSPECT_FARTHEST, INSPECT_FARTHEST);
    inspect_any(x, s->extra + s->dim, 2 * s->dim * sizeof *s->extra);
}

const sampler_kind sampler_boomerang = {
    .name = "boomerang",
    .summary =
        "Boomerang sampler: turns around the Gaussian at the mode, bounces off mini-batch "
        "gradients of what the posterior is beyond it",
    .state_bytes = sizeof(boomerang_state),
    .extra = boomerang_extra,
    .metric = "dense",
    .control_variate = "gradient",
    .gaussian = true,
    .start = boomerang_start,
    .inspect = boomerang_inspect,
    .step = boomerang_step,
    .calibrate = band_segment_calibrate,
    .curve = band_segment_curve,
};
