/* Zig-Zag: velocities theta in {-1,+1}^d, one coordinate flips at a time.
 *
 *   dz/dt = theta, w = A z;  theta_j flips with rate (theta_j G_j)+,  G = A' grad U         (1)
 *
 * zigzag: G on the full data. For log-concave rows 0 <= H <= H_ = K sum x~ x~', x~ = A'x,
 * and then theta_j (H theta)_j <= (|a||b| + a.b)/2 with |a|^2 = H_jj, |b|^2 = theta'H_ theta
 * and a.b = theta_j (H_ theta)_j: a linear bound from any point where G is known (2). Where
 * every row's log p is quadratic H is known, the bound is theta_j (H theta)_j itself, and
 * all proposals are flips.
 *
 * zigzag-ss: one uniformly drawn row i,
 *
 *   G_j = prior_j + N d_j(-log p_i), bounded by N max_i L |x~_ij|.                          (3)
 *
 * zigzag-cv: the same with a control variate,
 *
 *   G_j = prior_j + sum d_j(-log p)(w_hat) + N [d_j(-log p_i)(w) - d_j(-log p_i)(w_hat)],   (4)
 *
 * bounded by N max_i K |x~_ij||x~_i| (|z - z_hat| + t sqrt d), and for every w by N max_i (L
 * + |r_i|) |x~_ij| with r_i = d log p_i/d eta at w_hat.
 *
 * Quadratic priors are linear in t and enter exactly, others by a bound of their slope. In
 * (3) and (4) the coordinates' bounds are made non-negative and increasing, so that one
 * arrival serves all and belongs to coordinate j in proportion. Refreshment, off unless
 * requested, draws all signs anew.
 *
 * Bierkens, Fearnhead, Roberts (2019), Annals of Statistics 47, 1288-1320. */
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/thinning.h"

#include <math.h>
#include <string.h>

#define ROUNDING   1e-14         /* of a few sums */
#define EVENTS_MAX ((size_t)1e7) /* rows of a segment: with more it will not end */

typedef struct {
    rng random;
    event end;
    uint64_t known; /* zigzag: G at the segment's start is known from the last proposal */
} zigzag_state;

/* Arrays in s->extra of d entries each, `columns` and `hessian` d*d. */
typedef struct {
    double *columns;      /* row j: A e_j */
    double *slope, *rate; /* exact part of G: slope + rate t, from the segment's start */
    double *rest;         /* bound of the priors that are not quadratic */
    double *noise;        /* of rows: the factor in (3) or (4); in (2) a margin for rounding */
    double *ceiling;      /* bound of rows for every w */
    double *at, *growth;  /* bound of theta_j G_j: at + growth t */
    double *g;            /* zigzag: G */
    double *hessian, *hessian_theta; /* zigzag: H_, H_ theta */
} zigzag_parts;

/* Points the arrays into base and returns their size; base NULL: only counts. */
static size_t parts_split(size_t d, double *base, zigzag_parts *out)
{
    double **vectors[] = {&out->slope,  &out->rate,    &out->rest,
                          &out->noise,  &out->ceiling, &out->at,
                          &out->growth, &out->g,       &out->hessian_theta};
    size_t count = sizeof vectors / sizeof *vectors;
    if (base) {
        for (size_t i = 0; i < count; i++) *vectors[i] = base + i * d;
        out->columns = base + count * d;
        out->hessian = out->columns + d * d;
    }
    return count * d + 2 * d * d;
}

static size_t zigzag_extra(const potential_facts *facts)
{
    zigzag_parts parts;
    return parts_split(facts->dim, NULL, &parts);
}

static zigzag_parts parts_of(const sampler *s)
{
    zigzag_parts parts = {0};
    parts_split(s->dim, s->extra, &parts);
    return parts;
}

/* ---- start ---- */

/* Draws all velocities anew. */
static void draw_signs(sampler *s, rng *random)
{
    for (size_t j = 0; j < s->dim; j++) s->v[j] = rng_uniform(random) < 0.5 ? -1.0 : 1.0;
    s->a->kind->forward(s->a, s->v, s->q_next);
}

/* Sets the columns of A, and for each the bound of the priors that are not quadratic. */
static void start_common(sampler *s, const double *p, rng random)
{
    zigzag_state *state = s->state;
    zigzag_parts parts = parts_of(s);
    for (size_t j = 0; j < s->dim; j++) {
        double *column = parts.columns + j * s->dim;
        memset(s->v, 0, s->dim * sizeof *s->v);
        s->v[j] = 1.0;
        s->a->kind->forward(s->a, s->v, column);
        parts.rest[j] = (1.0 + BOUND_SLACK) * bounds_curved_slope(s->u, column);
    }
    *state = (zigzag_state){.random = random};
    memcpy(s->p_next, p, s->dim * sizeof *p);
    draw_signs(s, &state->random);
}

/* A'HA of a quadratic model, and a margin for rounding. */
static void exact_hessian(sampler *s, const zigzag_parts *parts)
{
    size_t d = s->dim;
    for (size_t j = 0; j < d; j++) {
        bounds_curvature(s->u, s->centre, parts->columns + j * d, s->gradient);
        double *row = parts->hessian + j * d;
        s->a->kind->transpose(s->a, s->gradient, row);
        parts->noise[j] = 0.0;
        for (size_t k = 0; k < d; k++) parts->noise[j] += BOUND_SLACK * fabs(row[k]);
        parts->noise[j] += BOUND_SLACK * sqrt(row[j]);
    }
}

/* zigzag: also the Hessian, or its bound. */
static void full_start(sampler *s, const double *p, rng random)
{
    if (s->u->facts.quadratic) {
        zigzag_parts exact = parts_of(s);
        start_common(s, p, random);
        exact_hessian(s, &exact);
        return;
    }
    zigzag_parts parts = parts_of(s);
    column_bounds of = {parts.ceiling, parts.noise, parts.rate};
    start_common(s, p, random);
    bounds_hessian(s->u, thinning_map(s), s->scratch, parts.hessian);
    bounds_columns(s->u, thinning_map(s), s->scratch, of);
    for (size_t j = 0; j < s->dim; j++) parts.noise[j] *= BOUND_SLACK;
}

/* The factors of (3) and (4), scaled to all rows. */
static void rows_start(sampler *s, const double *p, rng random)
{
    zigzag_parts parts = parts_of(s);
    column_bounds of = {parts.ceiling, parts.rate, parts.noise};
    double scale = (1.0 + BOUND_SLACK) * (double)s->u->facts.rows;
    start_common(s, p, random);
    bounds_columns(s->u, thinning_map(s), s->scratch, of);
    for (size_t j = 0; j < s->dim; j++) {
        parts.ceiling[j] *= scale;
        parts.noise[j] = s->u->reference ? scale * parts.noise[j] : parts.ceiling[j];
    }
}

/* ---- segments by single rows ---- */

/* Slope and rate of the exact part of G along this segment, in z. */
static void exact_part(sampler *s, const zigzag_parts *parts)
{
    bounds_exact_gradient(s->u, s->gradient, s->scratch);
    s->a->kind->transpose(s->a, s->gradient, parts->slope);
    s->a->kind->transpose(s->a, s->scratch, parts->rate);
}

/* |A^-1 (w - w_hat)|^2 = square + 2 along t + d t^2 on this segment. */
typedef struct {
    double square, along;
} distance;

/* Those numbers; zero without a control variate, when they are not used. */
static distance measure_distance(sampler *s)
{
    double *x = s->gradient;
    if (!s->u->reference) return (distance){0};
    for (size_t j = 0; j < s->dim; j++) x[j] = s->centre[j] - s->u->reference[j] + s->p[j];
    s->a->kind->precision(s->a, x, s->scratch);
    return (distance){dot(s->dim, x, s->scratch), dot(s->dim, s->q, s->scratch)};
}

/* The factor of a row's bound at time t; *speed: the most by which it grows per unit time. */
static double bound_factor(const sampler *s, distance from_reference, double t, double *speed)
{
    double d = (double)s->dim, slack = 1.0 + BOUND_SLACK;
    *speed = s->u->reference ? slack * sqrt(d) : 0.0;
    if (!s->u->reference) return 1.0;
    double outer =
        from_reference.square + d * t * t; /* the sum below may lose this to rounding */
    return slack * sqrt(larger(outer + 2.0 * from_reference.along * t, 0.0) + ROUNDING * outer);
}

/* Bounds (3) or (4) of all coordinates from time t of the segment on; sums: theirs. */
static void bound_rows(sampler *s, const zigzag_parts *parts, distance from_reference, double t,
                       double sums[2])
{
    double speed, size = bound_factor(s, from_reference, t, &speed);
    sums[0] = sums[1] = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        double exact = s->v[j] * (parts->slope[j] + parts->rate[j] * t) + parts->rest[j];
        double near = parts->noise[j] * size, ceiling = parts->ceiling[j];
        parts->at[j] = smaller(near, ceiling) + larger(exact, 0.0);
        parts->growth[j] = larger(s->v[j] * parts->rate[j], 0.0);
        if (near < ceiling) parts->growth[j] += parts->noise[j] * speed;
        sums[0] += parts->at[j];
        sums[1] += parts->growth[j];
    }
}

/* The coordinate that an arrival after h belongs to; left: uniform on the total bound. */
static size_t find_coordinate(const sampler *s, const zigzag_parts *parts, double h,
                              double left)
{
    size_t j = 0;
    for (; j + 1 < s->dim; j++) {
        left -= parts->at[j] + parts->growth[j] * h;
        if (left < 0.0) break;
    }
    return j;
}

/* G_j by one row. */
static double row_partial(sampler *s, const zigzag_parts *parts, size_t j, size_t row, double t)
{
    const double *column = parts->columns + j * s->dim;
    double g = parts->slope[j] + parts->rate[j] * t + bounds_row_partial(s->u, row, t, column);
    if (bounds_curved_gradient(s->u, t, s->scratch)) g += dot(s->dim, column, s->scratch);
    return g;
}

/* Advances to a flip of coordinate *j or to a refreshment; returns the time. */
static double advance_rows(sampler *s, zigzag_state *state, event *e, size_t *j)
{
    zigzag_parts parts = parts_of(s);
    rng *random = &state->random;
    double t = 0.0, sums[2], refresh_at = thinning_refresh_at(s, random);
    size_t n = s->u->facts.rows;
    exact_part(s, &parts);
    distance from_reference = measure_distance(s);
    for (;;) {
        bound_rows(s, &parts, from_reference, t, sums);
        double h = linear_arrival(sums[0], sums[1], rng_exponential(random));
        t += h;
        e->failed = e->rows > EVENTS_MAX;
        if (e->failed || !(t < refresh_at)) { /* also for NaN */
            e->kind = EVENT_REFRESH;
            return e->failed ? t : refresh_at;
        }
        *j = find_coordinate(s, &parts, h, rng_uniform(random) * (sums[0] + sums[1] * h));
        double g = s->v[*j] * row_partial(s, &parts, *j, rng_below(random, n), t);
        e->rows++;
        if (!sampler_accept(g, parts.at[*j] + parts.growth[*j] * h, random, e)) continue;
        e->kind = EVENT_BOUNCE;
        return t;
    }
}

/* ---- segments on the full data ---- */

/* Evaluates G at time t of the segment. */
static void evaluate_slopes(sampler *s, const zigzag_parts *parts, double t, event *e)
{
    double *w = s->scratch;
    for (size_t j = 0; j < s->dim; j++) w[j] = s->centre[j] + s->p[j] + t * s->q[j];
    potential_fresh_gradient(s->u, w, s->gradient);
    s->a->kind->transpose(s->a, s->gradient, parts->g);
    e->rows += s->u->facts.rows;
}

/* Bound (2) from where G is known. What non-quadratic priors add to G is replaced by their
 * bound. */
static void bound_full(sampler *s, const zigzag_parts *parts)
{
    size_t d = s->dim;
    double energy = larger(dot(d, s->v, parts->hessian_theta), 0.0);
    bool curved = bounds_curved_gradient(s->u, 0.0, s->scratch), exact = s->u->facts.quadratic;
    for (size_t j = 0; j < d; j++) {
        double along = s->v[j] * parts->hessian_theta[j];
        double rate_bound = sqrt(parts->hessian[j * d + j] * energy) + along;
        double known = parts->g[j];
        if (curved) known -= dot(d, parts->columns + j * d, s->scratch);
        parts->at[j] = s->v[j] * known + parts->rest[j] + parts->noise[j];
        parts->growth[j] = exact ? along + BOUND_SLACK * fabs(along)
                                 : 0.5 * (1.0 + BOUND_SLACK) * larger(rate_bound, 0.0);
        parts->growth[j] += s->v[j] * parts->rate[j];
    }
}

/* The first arrival of all coordinates from now; INFINITY: none. */
static double first_arrival(const sampler *s, const zigzag_parts *parts, rng *random, size_t *j)
{
    double first = INFINITY;
    for (size_t k = 0; k < s->dim; k++) {
        double h = linear_arrival(parts->at[k], parts->growth[k], rng_exponential(random));
        if (h >= first) continue;
        first = h;
        *j = k;
    }
    return first;
}

/* As advance_rows, on the full data. */
static double advance_full(sampler *s, zigzag_state *state, event *e, size_t *j)
{
    zigzag_parts parts = parts_of(s);
    rng *random = &state->random;
    double t = 0.0, refresh_at = thinning_refresh_at(s, random);
    exact_part(s, &parts);
    memset(parts.hessian_theta, 0, s->dim * sizeof *parts.hessian_theta);
    for (size_t k = 0; k < s->dim;
         k++) /* symmetric: by columns, which the compiler vectorises */
        for (size_t i = 0; i < s->dim; i++)
            parts.hessian_theta[i] += s->v[k] * parts.hessian[k * s->dim + i];
    if (!state->known) evaluate_slopes(s, &parts, 0.0, e);
    for (;;) {
        bound_full(s, &parts);
        double h = first_arrival(s, &parts, random, j);
        state->known = t + h < refresh_at;
        if (!state->known) {
            e->kind = EVENT_REFRESH;
            return refresh_at;
        }
        t += h;
        double bound = parts.at[*j] + parts.growth[*j] * h;
        evaluate_slopes(s, &parts, t, e);
        if (!sampler_accept(s->v[*j] * parts.g[*j], bound, random, e)) continue;
        e->kind = EVENT_BOUNCE;
        return t;
    }
}

/* ---- the step ---- */

/* One segment: to a flip of one coordinate, or to a refreshment of all signs. */
static void step(sampler *s, segment *out,
                 double (*advance_path)(sampler *, zigzag_state *, event *, size_t *))
{
    zigzag_state *state = s->state;
    event e = {0};
    size_t j = 0;
    thinning_begin_segment(s);
    double dt = advance_path(s, state, &e, &j);
    if (e.kind == EVENT_BOUNCE) {
        s->v[j] = -s->v[j];
        s->a->kind->forward(s->a, s->v, s->q_next);
    } else {
        draw_signs(s, &state->random);
    }
    state->end = e;
    thinning_end_segment(s, dt, &state->end, out);
}

static void full_step(sampler *s, segment *out)
{
    step(s, out, advance_full);
}

static void rows_step(sampler *s, segment *out)
{
    step(s, out, advance_rows);
}

static void zigzag_inspect(const sampler *s, inspection *x)
{
    const zigzag_state *state = s->state;
    zigzag_parts parts = parts_of(s);
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    INSPECT_COUNT(x, state->known, 1);
    inspect_any(x, s->extra, zigzag_extra(&s->u->facts) * sizeof *s->extra);
    const double *const bounds[] = {parts.rest, parts.noise, parts.ceiling};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        inspect_made(x, "the bound of a coordinate", bounds[i], s->dim);
    inspect_made(x, "the metric", parts.columns, 2 * s->dim * s->dim); /* and the Hessian */
    inspect_finite(x, "an observed slope", parts.g, s->dim);
}

/* ---- the kinds ---- */

static sbps_status full_check(const potential_facts *facts, const sampler_settings *settings,
                              sbps_error *err)
{
    (void)settings;
    if (facts->quadratic) return bounds_check_priors(facts, "zigzag", err);
    return bounds_check(facts, "zigzag", err);
}

static sbps_status ss_check(const potential_facts *facts, const sampler_settings *settings,
                            sbps_error *err)
{
    (void)settings;
    return bounds_check(facts, "zigzag-ss", err);
}

static sbps_status cv_check(const potential_facts *facts, const sampler_settings *settings,
                            sbps_error *err)
{
    (void)settings;
    return bounds_check(facts, "zigzag-cv", err);
}

const sampler_kind sampler_zigzag = {
    .name = "zigzag",
    .summary = "Zig-Zag on the full data: coordinates flip one by one; exact, logistic and "
               "gaussian only",
    .state_bytes = sizeof(zigzag_state),
    .extra = zigzag_extra,
    .control_variate = "none",
    .full = true,
    .bounded = true,
    .ergodic = true,
    .check = full_check,
    .start = full_start,
    .inspect = zigzag_inspect,
    .step = full_step,
};

const sampler_kind sampler_zigzag_ss = {
    .name = "zigzag-ss",
    .summary = "Zig-Zag with one row a proposal under exact bounds; logistic only",
    .state_bytes = sizeof(zigzag_state),
    .extra = zigzag_extra,
    .control_variate = "none",
    .batch = 1,
    .chooses_row = true,
    .bounded = true,
    .ergodic = true,
    .check = ss_check,
    .start = rows_start,
    .inspect = zigzag_inspect,
    .step = rows_step,
};

const sampler_kind sampler_zigzag_cv = {
    .name = "zigzag-cv",
    .summary =
        "Zig-Zag with one row a proposal and a control variate at the mode, exact bounds; "
        "logistic only",
    .state_bytes = sizeof(zigzag_state),
    .extra = zigzag_extra,
    .control_variate = "gradient",
    .batch = 1,
    .chooses_row = true,
    .bounded = true,
    .ergodic = true,
    .check = cv_check,
    .start = rows_start,
    .inspect = zigzag_inspect,
    .step = rows_step,
};
