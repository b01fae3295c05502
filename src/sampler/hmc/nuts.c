/* The No-U-Turn Sampler on the full data: HMC whose trajectories end when they turn back.
 *
 * In coordinates y = M^-1 z, M an adapted matrix, z and V those of full_target.h:
 *
 *   H(y, v) = V(M y) + |v|^2 / 2,      v ~ N(0, I) anew before every trajectory             (1)
 *   leapfrog:  v -= e/2 g(y),  y += e v,  v -= e/2 g(y),      g = M' dV/dz                  (2)
 *
 * A trajectory doubles, forwards or backwards in time at random, until it or one of its
 * balanced subtrees turns back: with v-, v+ the velocities at the ends and r the sum of all
 * velocities,
 *
 *   v-.(r - (v- + v+)/2) <= 0   or   v+.(r - (v- + v+)/2) <= 0.                             (3)
 *
 * The next state is drawn from the points of the trajectory with weights exp(-H): within a
 * subtree by its weights, between the old part and the new with probability min(1, new /
 * old). Subtrees are checked without recursion, from one saved point per depth.
 *
 * In a funnel, such as that of the sd of a few groups, no step fits everywhere. After
 * warm-up a share SHORT_EVERY of the trajectories, drawn independently of the state, has the
 * step SHORT e.
 *
 * A point whose H is DIVERGED above the start ends the trajectory; it is not accepted.
 *
 * Adapted in warm-up, then frozen: log e by dual averaging towards the mean acceptance
 * TARGET, and M by the draws z and gradients h = dV/dz of windows that double in length. M
 * is the diagonal matrix of scales
 *   s_j^2 = sqrt(Var(z_j) / Var(h_j)),                                                      (4)
 * and up to DENSE_DIM coordinates, from the second window on, a matrix with
 *   M M' Cov(h) M M' = Cov(z):   M = S L Q D^-1/4,   A = L L',   L' B L = Q D Q',           (5)
 * A and B the covariances of z_j / s_j and s_j h_j, their off-diagonal elements times n / (n
 * + dim) for n trajectories. Either brings the density of y closest to a standard normal in
 * Fisher divergence.
 *
 * M. D. Hoffman, A. Gelman (2014), JMLR 15, 1593-1623; M. Betancourt (2017), arXiv
 * 1701.02434 (weights, (3)); D. Phan, N. Pradhan, M. Jankowiak (2019), arXiv 1912.11554
 * (iterative doubling); A. Seyboldt, E. L. Carlson, B. Carpenter (2026), arXiv 2603.18845
 * (4). */
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"
#include "sampler/core/sampler_kinds.h"
#include "sampler/hmc/full_target.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TARGET      0.9   /* mean acceptance */
#define SHORT_EVERY 0.125 /* fraction of trajectories with a shorter step, */
/* by this factor: a chain in a narrow region, where e is too long, leaves it */
#define SHORT        0.25
#define DEPTH_MAX    10     /* doublings of a trajectory: at most 1023 leapfrogs */
#define DEPTH_EARLY  7      /* the same before the first window has ended */
#define DIVERGED     1000.0 /* increase of H over the start at which a trajectory ends */
#define FIRST_WINDOW 20     /* trajectories; each window is twice as long as the previous one */
#define SCALE_MIN    1e-6   /* least factor of s in one window */
/* Largest dim with a dense M: (5) takes some 100 dim^3 operations per window. */
#define DENSE_DIM ((size_t)100)
#define PIVOT_MIN 1e-12 /* least element of D, relative to the largest */

/* dual averaging: see hmc.c */
#define SHRINK   0.05
#define DELAY    10.0
#define FORGET   0.75
#define FIRST_UP 10.0

typedef struct {
    rng random;
    event end;
    double energy; /* V where the chain is */
    double step;   /* e */
    uint64_t adapting;
    uint64_t count;       /* trajectories since the step was last restarted */
    uint64_t window;      /* length of the current window, */
    uint64_t in_window;   /* and trajectories of it so far */
    double goal, error;   /* dual averaging: log of FIRST_UP e, mean of TARGET - acceptance */
    double log_step;      /* weighted average over the window */
    uint64_t unpaid_rows; /* rows evaluated before the first step, to be counted */
    uint64_t dense;       /* M is the matrix of (5) */
} nuts_state;

/* One end of a trajectory. */
typedef struct {
    double *z, *v, *h;
} nuts_point;

/* Vectors of dim numbers in the arena. */
typedef struct {
    double *z, *h;                                 /* the chain's position, and grad V there */
    double *scale;                                 /* s */
    double *mean_z, *square_z, *mean_h, *square_h; /* of the current window */
    double *x;                                     /* A z of the last evaluation */
    nuts_point end[2];                             /* backwards, forwards in time */
    double *drawn_z, *drawn_h;                     /* the draw from the trajectory so far, */
    double *candidate_z, *candidate_h;             /* and from the subtree under construction */
    double *sum, *subtree_sum;                     /* sums of velocities */
    double *saved_v, *saved_sum;                   /* DEPTH_MAX points of the subtree */
} nuts_vectors;

/* A trajectory while it is built. Weights are logarithms, relative to the start. */
typedef struct {
    double start;                  /* H */
    double weight, subtree_weight; /* log of the sum of exp(start - H) */
    double drawn_energy, candidate_energy;
    double acceptance; /* sum over points of min(1, exp(start - H)) */
    size_t points;
} nuts_tree;

#define VECTORS ((size_t)(20 + 2 * DEPTH_MAX))

/* Matrices of dim * dim numbers in the arena, row-major, after the vectors. */
typedef struct {
    double *m; /* M */
    /* sums of products of deviations from the mean in the current window, lower triangles */
    double *products_z, *products_h;
    double *rotated, *vectors; /* scratch for (5) */
} nuts_matrices;

#define MATRICES ((size_t)5)

static bool may_be_dense(size_t dim)
{
    return dim <= DENSE_DIM;
}

static size_t nuts_extra(const potential_facts *facts)
{
    size_t d = facts->dim;
    return VECTORS * d + (may_be_dense(d) ? MATRICES * d * d : 0);
}

static nuts_matrices matrices(const sampler *s)
{
    size_t d = s->dim;
    double *first = s->extra + VECTORS * d;
    return (nuts_matrices){first, first + d * d, first + 2 * d * d, first + 3 * d * d,
                           first + 4 * d * d};
}

static double *take_vector(double **next, size_t d)
{
    double *taken = *next;
    *next += d;
    return taken;
}

/* The arrays in s->extra. */
static nuts_vectors vectors(const sampler *s)
{
    size_t d = s->dim;
    double *next = s->extra;
    nuts_vectors x = {.z = take_vector(&next, d), .h = take_vector(&next, d)};
    double **const single[] = {
        &x.scale,    &x.mean_z,   &x.square_z,    &x.mean_h,      &x.square_h, &x.x,
        &x.end[0].z, &x.end[0].v, &x.end[0].h,    &x.end[1].z,    &x.end[1].v, &x.end[1].h,
        &x.drawn_z,  &x.drawn_h,  &x.candidate_z, &x.candidate_h, &x.sum,      &x.subtree_sum};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        *single[i] = take_vector(&next, d);
    x.saved_v = take_vector(&next, DEPTH_MAX * d);
    x.saved_sum = take_vector(&next, DEPTH_MAX * d);
    return x;
}

/* z of the start, its gradient and energy, and the initial step. */
static void nuts_start(sampler *s, const double *p, rng random)
{
    nuts_vectors x = vectors(s);
    nuts_state *state = s->state;
    double requested = s->settings->step_size;
    *state = (nuts_state){.random = random};
    state->step = requested > 0.0 ? requested : 1.0 / (sampler_scale(s) * sqrt((double)s->dim));
    for (size_t j = 0; j < s->dim; j++) x.scale[j] = 1.0;
    full_coordinates(s, p, x.x, x.z);
    memcpy(s->p_next, p, s->dim * sizeof *p);
    memset(s->q, 0, s->dim * sizeof *s->q);
    memset(s->q_next, 0, s->dim * sizeof *s->q_next);
    memset(s->v, 0, s->dim * sizeof *s->v);
    full_gradient(s, x.z, x.x, x.h, &state->energy);
    state->unpaid_rows = s->u->batch;
}

/* ---- adaptation ---- */

/* Restarts dual averaging at the current step. */
static void restart_step(nuts_state *state)
{
    state->count = 0;
    state->error = 0.0;
    state->goal = log(FIRST_UP * state->step);
    state->log_step = log(state->step);
}

/* Begins a window of `length` trajectories: clears its moments. */
static void restart_window(sampler *s, uint64_t length)
{
    nuts_state *state = s->state;
    nuts_vectors x = vectors(s);
    double *const moments[] = {x.mean_z, x.square_z, x.mean_h, x.square_h};
    size_t d = s->dim;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        memset(moments[i], 0, d * sizeof(double));
    if (may_be_dense(d)) memset(matrices(s).products_z, 0, 2 * d * d * sizeof(double));
    state->window = length;
    state->in_window = 0;
}

static void nuts_adapt(sampler *s, bool on)
{
    nuts_state *state = s->state;
    bool fixed = s->settings->step_size > 0.0;
    if (!on && state->count > 0 && !fixed) state->step = exp(state->log_step);
    state->adapting = on;
    restart_step(state);
    restart_window(s, FIRST_WINDOW);
}

/* One update of dual averaging, see hmc.c. */
static void adapt_step(nuts_state *state, double acceptance)
{
    double n = (double)++state->count;
    state->error += (TARGET - acceptance - state->error) / (n + DELAY);
    double log_step = state->goal - sqrt(n) / SHRINK * state->error;
    state->step = exp(log_step);
    state->log_step += pow(n, -FORGET) * (log_step - state->log_step);
}

/* Welford's update of a mean and a sum of squares by the n-th value. */
static void update_moments(double value, double n, double *mean, double *square)
{
    double change = value - *mean;
    *mean += change / n;
    *square += change * (value - *mean);
}

/* Sets the scales (4). A coordinate that has not moved keeps its scale. */
static void set_scales(sampler *s)
{
    nuts_vectors x = vectors(s);
    for (size_t j = 0; j < s->dim; j++) {
        double scale = pow(x.square_z[j] / x.square_h[j], 0.25);
        double low = SCALE_MIN * x.scale[j], high = x.scale[j] / SCALE_MIN;
        if (isfinite(scale) && scale > 0.0) x.scale[j] = smaller(larger(scale, low), high);
    }
}

/* Adds the products of the deviations of the n-th value from the mean of the previous ones. */
static void add_products(size_t d, const double *value, double n, const double *mean,
                         double *products)
{
    for (size_t i = 0; i < d; i++) {
        double change = (n - 1.0) / n * (value[i] - mean[i]);
        for (size_t j = 0; j <= i; j++) products[i * d + j] += change * (value[j] - mean[j]);
    }
}

/* out = covariance of x_j by_j (or of x_j / by_j), off-diagonal elements times `shrink`. */
static void scaled_covariance(size_t d, const double *products, double n, const double *by,
                              bool divide, double shrink, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double scale = divide ? 1.0 / (by[i] * by[j]) : by[i] * by[j];
            out[i * d + j] = out[j * d + i] =
                (i == j ? 1.0 : shrink) * scale * products[i * d + j] / (n - 1.0);
        }
}

/* Sets M by (5), after set_scales; M is unchanged if a coordinate has not moved. */
static void set_matrix(sampler *s, double n)
{
    size_t d = s->dim;
    nuts_state *state = s->state;
    nuts_vectors x = vectors(s);
    nuts_matrices of = matrices(s);
    double shrink = n / (n + (double)d), largest = 0.0, *l = of.products_z, *b = of.products_h;
    scaled_covariance(d, of.products_h, n, x.scale, false, shrink, of.vectors);
    memcpy(b, of.vectors, d * d * sizeof *b);
    scaled_covariance(d, of.products_z, n, x.scale, true, shrink, of.vectors);
    memcpy(l, of.vectors, d * d * sizeof *l);
    if (!cholesky(d, l)) return;
    /* vectors = B L, rotated = L' B L */
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k < d; k++) {
            double sum = 0.0;
            for (size_t j = k; j < d; j++) sum += b[i * d + j] * l[j * d + k];
            of.vectors[i * d + k] = sum;
        }
    memset(of.rotated, 0, d * d * sizeof *of.rotated);
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i <= j; i++)
            add_scaled(d, l[j * d + i], of.vectors + j * d, of.rotated + i * d);
    if (!isfinite(dot(d * d, of.rotated, of.rotated))) return;
    symmetric_eigen(d, of.rotated, of.vectors);
    for (size_t k = 0; k < d; k++) largest = larger(largest, of.rotated[k * d + k]);
    for (size_t k = 0; k < d; k++) {
        double root = pow(larger(of.rotated[k * d + k], PIVOT_MIN * largest), -0.25);
        for (size_t i = 0; i < d; i++)
            of.m[i * d + k] = x.scale[i] * root * dot(i + 1, l + i * d, of.vectors + k * d);
    }
    state->dense = true;
}

/* Adapts the step; at the end of a window also M. */
static void adapt(sampler *s, double acceptance)
{
    nuts_state *state = s->state;
    nuts_vectors x = vectors(s);
    bool fixed = s->settings->step_size > 0.0;
    if (!fixed) adapt_step(state, acceptance);
    double n = (double)++state->in_window;
    bool dense = may_be_dense(s->dim) && state->window > FIRST_WINDOW;
    if (dense) {
        nuts_matrices of = matrices(s);
        add_products(s->dim, x.z, n, x.mean_z, of.products_z);
        add_products(s->dim, x.h, n, x.mean_h, of.products_h);
    }
    for (size_t j = 0; j < s->dim; j++) {
        update_moments(x.z[j], n, &x.mean_z[j], &x.square_z[j]);
        update_moments(x.h[j], n, &x.mean_h[j], &x.square_h[j]);
    }
    if (state->in_window < state->window) return;
    set_scales(s);
    if (dense) set_matrix(s, n);
    if (!fixed) restart_step(state);
    restart_window(s, 2 * state->window);
}

/* ---- a trajectory ---- */

/* log(exp(a) + exp(b)), also for minus infinity. */
static double log_add(double a, double b)
{
    double high = larger(a, b);
    return isinf(high) && high < 0.0 ? high : high + log1p(exp(smaller(a, b) - high));
}

/* (3): true if the trajectory with these end velocities turns back. */
static bool makes_u_turn(size_t d, const double *v, const double *v_other, const double *sum)
{
    double first = 0.0, last = 0.0;
    for (size_t j = 0; j < d; j++) {
        double between = sum[j] - 0.5 * (v[j] + v_other[j]);
        first += v[j] * between;
        last += v_other[j] * between;
    }
    return !(first > 0.0 && last > 0.0);
}

/* Half a kick of (2): v -= change M' h. */
static void kick(const sampler *s, const nuts_vectors *x, double change, nuts_point *at)
{
    const nuts_state *state = s->state;
    size_t d = s->dim;
    for (size_t i = 0; i < d; i++)
        if (state->dense)
            add_scaled(d, -change * at->h[i], matrices(s).m + i * d, at->v);
        else
            at->v[i] -= change * x->scale[i] * at->h[i];
}

/* The drift of (2): z += e M v. */
static void drift(const sampler *s, const nuts_vectors *x, double e, nuts_point *at)
{
    const nuts_state *state = s->state;
    size_t d = s->dim;
    for (size_t i = 0; i < d; i++)
        at->z[i] += e * (state->dense ? s->a->k->dot(d, matrices(s).m + i * d, at->v)
                                      : x->scale[i] * at->v[i]);
}

/* Leapfrog (2) from an end of the trajectory. Returns the new energy V; NAN: not finite. */
static double leapfrog(sampler *s, const nuts_vectors *x, double e, nuts_point *at)
{
    double energy = NAN;
    kick(s, x, 0.5 * e, at);
    drift(s, x, e, at);
    full_gradient(s, at->z, x->x, at->h, &energy);
    kick(s, x, 0.5 * e, at);
    return energy;
}

/* Saves every second point of a subtree, and checks (3) for all balanced subtrees that point
 * n, counted from 0, completes: those that begin at the saved points first .. last. */
static bool subtree_has_u_turn(const sampler *s, const nuts_vectors *x, size_t n,
                               const double *v)
{
    size_t d = s->dim, last = (size_t)__builtin_popcountll(n >> 1);
    if (n % 2 == 0) {
        memcpy(x->saved_v + last * d, v, d * sizeof *v);
        memcpy(x->saved_sum + last * d, x->subtree_sum, d * sizeof *v);
        return false;
    }
    size_t completed =
        (size_t)__builtin_ctzll(~(unsigned long long)n); /* ones at the end of n */
    double *sum = s->scratch;
    for (size_t i = 0; i < completed; i++) {
        const double *first_v = x->saved_v + (last - i) * d;
        const double *before = x->saved_sum + (last - i) * d;
        for (size_t j = 0; j < d; j++) sum[j] = x->subtree_sum[j] - before[j] + first_v[j];
        if (makes_u_turn(d, first_v, v, sum)) return true;
    }
    return false;
}

/* Adds a point with energy V to the subtree; false if it has diverged. */
static bool add_point(sampler *s, const nuts_vectors *x, nuts_tree *tree, const nuts_point *at,
                      double energy)
{
    nuts_state *state = s->state;
    double gain = tree->start - energy - 0.5 * dot(s->dim, at->v, at->v);
    tree->points++;
    tree->acceptance += isfinite(gain) ? exp(smaller(gain, 0.0)) : 0.0;
    if (!(gain > -DIVERGED) || !isfinite(dot(s->dim, at->h, at->h))) return false;
    tree->subtree_weight = log_add(tree->subtree_weight, gain);
    if (log(rng_uniform(&state->random)) < gain - tree->subtree_weight) {
        tree->candidate_energy = energy;
        memcpy(x->candidate_z, at->z, s->dim * sizeof *at->z);
        memcpy(x->candidate_h, at->h, s->dim * sizeof *at->h);
    }
    for (size_t j = 0; j < s->dim; j++) x->subtree_sum[j] += at->v[j];
    return true;
}

/* Builds a subtree of 2^depth leapfrogs from one end; false if it turns back or diverges. */
static bool build_subtree(sampler *s, const nuts_vectors *x, nuts_tree *tree, size_t depth,
                          bool forwards)
{
    nuts_state *state = s->state;
    nuts_point at = x->end[forwards];
    double e = forwards ? state->step : -state->step;
    tree->subtree_weight = -INFINITY;
    memset(x->subtree_sum, 0, s->dim * sizeof *x->subtree_sum);
    for (size_t n = 0; n < (size_t)1 << depth; n++) {
        double energy = leapfrog(s, x, e, &at);
        state->end.rows += s->u->batch;
        if (!add_point(s, x, tree, &at, energy)) return false;
        if (subtree_has_u_turn(s, x, n, at.v)) return false;
    }
    return true;
}

/* Joins the finished subtree to the trajectory; true if that turns back as a whole. */
static bool join_subtree(sampler *s, const nuts_vectors *x, nuts_tree *tree)
{
    nuts_state *state = s->state;
    size_t d = s->dim;
    if (log(rng_uniform(&state->random)) < tree->subtree_weight - tree->weight) {
        tree->drawn_energy = tree->candidate_energy;
        memcpy(x->drawn_z, x->candidate_z, d * sizeof *x->drawn_z);
        memcpy(x->drawn_h, x->candidate_h, d * sizeof *x->drawn_h);
    }
    tree->weight = log_add(tree->weight, tree->subtree_weight);
    for (size_t j = 0; j < d; j++) x->sum[j] += x->subtree_sum[j];
    return makes_u_turn(d, x->end[0].v, x->end[1].v, x->sum);
}

/* One trajectory: doublings until it turns back, then the next state. */
static void run_trajectory(sampler *s)
{
    nuts_state *state = s->state;
    nuts_vectors x = vectors(s);
    size_t d = s->dim;
    double step = state->step;
    bool is_short = !state->adapting && rng_uniform(&state->random) < SHORT_EVERY;
    if (is_short) state->step *= SHORT;
    bool early = state->adapting && state->window == FIRST_WINDOW;
    for (size_t j = 0; j < d; j++) s->v[j] = rng_normal(&state->random);
    nuts_tree tree = {.start = state->energy + 0.5 * dot(d, s->v, s->v),
                      .drawn_energy = state->energy};
    for (size_t i = 0; i < 2; i++) {
        nuts_point *to = &x.end[i];
        memcpy(to->z, x.z, d * sizeof *x.z);
        memcpy(to->v, s->v, d * sizeof *s->v);
        memcpy(to->h, x.h, d * sizeof *x.h);
    }
    memcpy(x.sum, s->v, d * sizeof *x.sum);
    memcpy(x.drawn_z, x.z, d * sizeof *x.z);
    memcpy(x.drawn_h, x.h, d * sizeof *x.h);
    for (size_t depth = 0; depth < (early ? DEPTH_EARLY : DEPTH_MAX); depth++) {
        bool forwards = rng_uniform(&state->random) < 0.5;
        if (!build_subtree(s, &x, &tree, depth, forwards)) break;
        if (join_subtree(s, &x, &tree)) break;
    }
    memcpy(x.z, x.drawn_z, d * sizeof *x.z);
    memcpy(x.h, x.drawn_h, d * sizeof *x.h);
    state->energy = tree.drawn_energy;
    state->step = step;
    full_position(s, x.z, x.x, s->p_next);
    if (state->adapting) adapt(s, tree.acceptance / (double)tree.points);
}

static void nuts_step(sampler *s, segment *out)
{
    nuts_state *state = s->state;
    const double *h = vectors(s).h;
    state->end = (event){.kind = EVENT_STEP, .proposals = 1, .rows = state->unpaid_rows};
    state->unpaid_rows = 0;
    memcpy(s->p, s->p_next, s->dim * sizeof *s->p); /* kept until the next state is known */
    state->end.failed = !isfinite(state->energy) || !isfinite(dot(s->dim, h, h));
    if (!state->end.failed) run_trajectory(s);
    *out = sampler_segment(s, &flow_still, 1.0, &state->end);
}

static void nuts_inspect(const sampler *s, inspection *x)
{
    const nuts_state *state = s->state;
    const nuts_vectors of = vectors(s);
    rng_inspect(&state->random, x);
    event_inspect(&state->end, x);
    INSPECT_REAL(x, state->energy, -DBL_MAX, DBL_MAX);
    INSPECT_REAL(x, state->step, DBL_MIN, DBL_MAX);
    INSPECT_COUNT(x, state->adapting, 1);
    INSPECT_ANY(x, state->count);
    INSPECT_ANY(x, state->window);
    INSPECT_ANY(x, state->in_window);
    const double *const adapted[] = {&state->goal, &state->error, &state->log_step};
    for (size_t i = 0; i < sizeof adapted / sizeof *adapted; i++)
        inspect_finite(x, "the adapted step", adapted[i], 1);
    INSPECT_ANY(x, state->unpaid_rows);
    INSPECT_COUNT(x, state->dense, may_be_dense(s->dim));
    if (may_be_dense(s->dim))
        inspect_any(x, matrices(s).m, MATRICES * s->dim * s->dim * sizeof *s->extra);
    inspect_any(x, s->extra, VECTORS * s->dim * sizeof *s->extra);
    inspect_finite(x, "a position or gradient", s->extra, 2 * s->dim); /* z, h */
    inspect_reals(x, "a scale", of.scale, s->dim, DBL_MIN, INSPECT_FARTHEST);
}

const sampler_kind sampler_nuts = {
    .name = "nuts",
    .summary =
        "No-U-Turn Sampler on the full data: HMC with trajectories that end when they turn "
        "back, step and scales adapted in warm-up; exact",
    .state_bytes = sizeof(nuts_state),
    .extra = nuts_extra,
    .full = true,
    .warped = true,
    .discrete = true,
    .means_suffice = true,
    .warmup = FIRST_WINDOW * 15, /* four windows */
    .remedy =
        "where it started the posterior or its gradient is not finite; mh may start anywhere",
    .start = nuts_start,
    .inspect = nuts_inspect,
    .step = nuts_step,
    .adapt = nuts_adapt,
};
