/* Samplers that thin under exact bounds: arrivals under linear rates, bounds that hold for
 * every row and are attained by some, local-bps as lipsbps of one row, and Zig-Zag's moves. */
#include "sampler/core/sampler_kinds.h"
#include "sampler/exact/thinning.h"
#include "sampler/fixture.h"

/* ---- arrivals ---- */

/* The integral of (a + b s)+ up to t. */
static double mass(double a, double b, double t)
{
    double from = 0.0, to = t;
    if (a < 0.0) from = b > 0.0 ? fmin(-a / b, t) : t;
    if (a > 0.0 && a + b * t < 0.0) to = -a / b;
    return a * (to - from) + 0.5 * b * (to * to - from * from);
}

TEST(an_arrival_uses_up_its_exponential)
{
    rng r = rng_stream(21, 0, RNG_TEST);
    size_t never = 0;
    for (size_t i = 0; i < 10000; i++) {
        double a = 3.0 * rng_normal(&r), b = 3.0 * rng_normal(&r), e = rng_exponential(&r);
        if (i % 10 == 0) b = 0.0;
        double t = linear_arrival(a, b, e);
        if (isfinite(t)) {
            CHECK(t > 0.0);
            CHECK_NEAR(mass(a, b, t), e, 1e-9);
            continue;
        }
        never++;
        CHECK(b <= 0.0 && mass(a, b, 1e6) <= e);
    }
    CHECK(never > 1000 && never < 9000);
    CHECK(linear_arrival(0.0, 0.0, 1.0) == INFINITY);
    CHECK_NEAR(linear_arrival(2.0, 0.0, 1.0), 0.5, TOL_ROUND);
}

/* ---- bounds ---- */

static const model_kind *bounded_model(void)
{
    return model_find("logistic");
}

/* Weighted rows with offsets, a metric from their Hessian, and a potential of one row a
 * batch. */
typedef struct {
    problem p;
    carved c;
    control *cv;
    sampler s;
    double columns[DIM_MAX * DIM_MAX]; /* row j: A e_j */
} bound_case;

static bool bound_case_make(bound_case *b, const metric_kind *kind, const char *prior_text,
                            bool with_cv)
{
    *b = (bound_case){0};
    table_spec spec = {.n = 60,
                       .columns = 3,
                       .weights = prior_text,
                       .sigma = "exponential(1)",
                       .weighted = true,
                       .centred = !with_cv};
    b->p.t = table_make(bounded_model(), spec);
    const posterior *u = b->p.t.u;
    if (!u || mode_find(u, NULL, &b->p.m, NULL) != SBPS_OK) return false;
    metric_create(kind, u->dim, b->p.m->hessian, &b->p.a, NULL);
    if (with_cv) control_create(u, b->p.m->w, CONTROL_GRADIENT, NULL, &b->cv, NULL);
    b->c = carve(&batch_window, u, 1, 1);
    minibatch_equip(&b->c.u, b->cv, b->c.u.is.noise);
    b->s = (sampler){.a = b->p.a, .u = &b->c.u.is, .dim = u->dim};
    for (size_t j = 0; j < u->dim; j++) {
        double e[DIM_MAX] = {0};
        e[j] = 1.0;
        b->p.a->kind->forward(b->p.a, e, b->columns + j * u->dim);
    }
    return b->p.a && (!with_cv || b->cv);
}

static void bound_case_close(bound_case *b)
{
    free(b->c.memory.base);
    control_destroy(b->cv);
    problem_close(&b->p);
}

/* w = mode + A z with |z| about `far`, and the line along A v. */
static void set_random_line(bound_case *b, rng *r, double far, double *z, double *v)
{
    size_t d = b->s.dim;
    double p[DIM_MAX], q[DIM_MAX];
    for (size_t j = 0; j < d; j++) z[j] = far * rng_normal(r);
    rng_sphere(r, d, v);
    b->p.a->kind->forward(b->p.a, z, p);
    b->p.a->kind->forward(b->p.a, v, q);
    for (size_t j = 0; j < d; j++) p[j] += b->p.m->w[j];
    potential_set_line(&b->c.u.is, p, q);
}

/* The largest of many ratios may not pass 1, and must come near it or the bound is too wide. */
static void check_attained(const char *what, const metric_kind *kind, double ratio,
                           double lower)
{
    if (ratio <= 1.0 + TOL_SUM && ratio >= lower) return;
    printf("%s under %s metric: largest ratio %.6g\n", what, kind->name, ratio);
    check_failures++;
}

static void slopes_of_rows(const metric_kind *kind)
{
    bound_case b;
    REQUIRE(bound_case_make(&b, kind, "flat", false));
    size_t n = b.c.u.is.facts.rows, d = b.s.dim;
    double each[64], scratch[DIM_MAX], z[DIM_MAX], v[DIM_MAX], ratio = 0.0, largest = 0.0;
    double top = bounds_norms(&b.c.u.is, thinning_map(&b.s), scratch, each);
    rng r = rng_stream(22, 0, RNG_TEST);
    for (size_t k = 0; k < 2000; k++) {
        set_random_line(&b, &r, 30.0, z, v);
        for (size_t i = 0; i < n; i++) {
            bounds_select_row(&b.c.u.is, i);
            double slope = potential_observe_again(&b.c.u.is, 0.5).slope / (double)n;
            ratio = fmax(ratio, fabs(slope) / each[i]);
            CHECK(each[i] <= top);
        }
    }
    for (size_t i = 0; i < n; i++) largest = fmax(largest, each[i]);
    CHECK(largest == top);
    check_attained("slope of a row", kind, ratio, d > 2 ? 0.9 : 0.99);
    bound_case_close(&b);
}

TEST(no_row_is_steeper_than_its_norm)
{
    for (size_t a = 0; metric_kinds[a]; a++) slopes_of_rows(metric_kinds[a]);
}

static void partials_of_rows(const metric_kind *kind, bool with_cv)
{
    bound_case b;
    REQUIRE(bound_case_make(&b, kind, "normal(0,1)", with_cv));
    size_t n = b.c.u.is.facts.rows, d = b.s.dim;
    double largest[DIM_MAX], total[DIM_MAX], lever[DIM_MAX], scratch[DIM_MAX], z[DIM_MAX],
        v[DIM_MAX];
    double top[DIM_MAX] = {0}, near[DIM_MAX] = {0}, sums[DIM_MAX] = {0};
    bounds_columns(&b.c.u.is, thinning_map(&b.s), scratch,
                   (column_bounds){largest, total, lever});
    rng r = rng_stream(23, with_cv, RNG_TEST);
    for (size_t k = 0; k < 4000; k++) {
        set_random_line(&b, &r, k % 2 ? 30.0 : 0.3, z, v);
        double far = sqrt(dot(d, z, z));
        memset(sums, 0, sizeof sums);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < d; j++) {
                const double *a = b.columns + j * d;
                double g = fabs(bounds_row_partial(&b.c.u.is, i, 0.0, a)) / (double)n;
                top[j] = fmax(top[j], g / largest[j]);
                near[j] = fmax(near[j], g / (lever[j] * far));
                sums[j] += g;
            }
        for (size_t j = 0; j < d && !with_cv; j++) CHECK(sums[j] <= total[j]);
    }
    for (size_t j = 0; j < d; j++) {
        /* with r = 1/2 at the reference max(r, 1 - r) / (1 + r) of the ceiling can be
         * reached */
        check_attained("partial of a row", kind, top[j], with_cv ? 0.33 : 0.95);
        if (with_cv) check_attained("change of a partial", kind, near[j], 0.1);
    }
    bound_case_close(&b);
}

TEST(partial_derivatives_of_rows_keep_their_bounds)
{
    for (size_t a = 0; metric_kinds[a]; a++) {
        partials_of_rows(metric_kinds[a], false);
        partials_of_rows(metric_kinds[a], true);
    }
}

/* The sum of single rows over N and the exact part are the full gradient. */
static void gradients_add_up(const metric_kind *kind, const char *prior_text, bool with_cv)
{
    bound_case b;
    REQUIRE(bound_case_make(&b, kind, prior_text, with_cv));
    size_t n = b.c.u.is.facts.rows, d = b.s.dim;
    rng r = rng_stream(24, 0, RNG_TEST);
    for (size_t k = 0; k < 20; k++) {
        double z[DIM_MAX], v[DIM_MAX], w[DIM_MAX], expected[DIM_MAX], slope[DIM_MAX],
            rate[DIM_MAX], curved[DIM_MAX] = {0}, t = 0.7;
        set_random_line(&b, &r, 2.0, z, v);
        for (size_t j = 0; j < d; j++) w[j] = b.c.u.p[j] + t * b.c.u.q[j];
        posterior_gradient(b.p.t.u, w, NULL, expected, NULL);
        bounds_exact_gradient(&b.c.u.is, slope, rate);
        bounds_curved_gradient(&b.c.u.is, t, curved);
        for (size_t j = 0; j < d; j++) slope[j] += rate[j] * t + curved[j];
        for (size_t j = 0; j < d; j++) {
            const double *a = b.columns + j * d;
            double got = dot(d, a, slope);
            for (size_t i = 0; i < n; i++)
                got += bounds_row_partial(&b.c.u.is, i, t, a) / (double)n;
            CHECK_NEAR(got, dot(d, a, expected), 1e-10);
        }
        /* the prior's slope along the line stays below its bound */
        prior_line line = bounds_prior_line(&b.c.u.is);
        CHECK(dot(d, b.c.u.q, curved) <= line.rest + TOL_SUM);
    }
    bound_case_close(&b);
}

TEST(rows_and_exact_part_add_up_to_the_gradient)
{
    static const char *const priors[] = {"flat", "normal(1,0.5)", "laplace(0,1)", "cauchy(0,2)",
                                         "student_t(3,1,2)"};
    for (size_t a = 0; metric_kinds[a]; a++)
        for (size_t i = 0; i < sizeof priors / sizeof *priors; i++)
            for (int cv = 0; cv < 2; cv++) gradients_add_up(metric_kinds[a], priors[i], cv);
}

TEST(bounds_of_prior_slopes_hold_and_are_attained)
{
    static const char *const priors[] = {"laplace(1,0.7)", "cauchy(-1,2)",
                                         "student_t(4,0.5,3)"};
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++) {
        prior of;
        double ratio = 0.0;
        REQUIRE(prior_parse(priors[i], &of, NULL) == SBPS_OK && of.kind->slope_bound);
        double bound = of.kind->slope_bound(of.theta);
        for (double x = -20.0; x < 20.0; x += 0.001)
            ratio = fmax(ratio, fabs(of.kind->slope(of.theta, x)));
        CHECK(ratio <= bound * (1.0 + TOL_ROUND));
        CHECK(ratio > 0.9999 * bound);
    }
}

/* theta_j (H theta)_j <= (sqrt(H_jj theta'H theta) + theta_j (H theta)_j)/2, H_ for H on the
 * right. */
TEST(the_largest_hessian_is_a_bound)
{
    for (size_t a = 0; metric_kinds[a]; a++) {
        bound_case b;
        REQUIRE(bound_case_make(&b, metric_kinds[a], "flat", false));
        size_t d = b.s.dim;
        double largest[DIM_MAX * DIM_MAX], h[DIM_MAX * DIM_MAX], scratch[DIM_MAX], ratio = 0.0;
        bounds_hessian(&b.c.u.is, thinning_map(&b.s), scratch, largest);
        rng r = rng_stream(25, 0, RNG_TEST);
        for (size_t k = 0; k < 2000; k++) {
            double z[DIM_MAX], v[DIM_MAX], q[DIM_MAX], hq[DIM_MAX], pull[DIM_MAX];
            set_random_line(&b, &r, 0.5, z, v);
            for (size_t j = 0; j < d; j++) v[j] = v[j] < 0.0 ? -1.0 : 1.0;
            posterior_hessian(b.p.t.u, b.c.u.p, h, NULL);
            b.p.a->kind->forward(b.p.a, v, q);
            for (size_t j = 0; j < d; j++) hq[j] = dot(d, h + j * d, q);
            for (size_t j = 0; j < d; j++) pull[j] = dot(d, largest + j * d, v);
            for (size_t j = 0; j < d; j++) {
                double slope_change = v[j] * dot(d, b.columns + j * d, hq);
                double bound =
                    0.5 * (sqrt(largest[j * d + j] * dot(d, v, pull)) + v[j] * pull[j]);
                ratio = fmax(ratio, slope_change / bound);
            }
        }
        check_attained("turn of the gradient", metric_kinds[a], ratio, 0.5);
        bound_case_close(&b);
    }
}

/* ---- proposals below their bound ---- */

static const char *const hard_priors[] = {"normal(2,0.3)", "normal(2,0.01)", "laplace(0,0.2)",
                                          "cauchy(1,0.3)"};

/* Segments from far away, where rows are saturated and priors steep. */
static void never_above(const sampler_kind *kind, const metric_kind *metric_used,
                        const char *prior_text)
{
    bound_case b;
    if (kind->pairs) return; /* tests/sampler/surrogate.c */
    REQUIRE(bound_case_make(&b, metric_used, prior_text,
                            !strcmp(kind->control_variate, "gradient")));
    b.p.made = (recipe){.kind = kind,
                        .metric = metric_used,
                        .batches = kind->full ? &batch_full : &batch_window,
                        .take = 1};
    test_chain f;
    segment s;
    double start[DIM_MAX];
    uint64_t violations = 0, proposals = 0, bounces = 0;
    test_chain_make(&f, &b.p, &ours, 1);
    minibatch_equip(&f.u, b.cv, f.u.is.noise);
    for (size_t j = 0; j < b.s.dim; j++) start[j] = j % 2 ? 3.0 : -3.0;
    kind->start(&f.s, start, rng_stream(26, 0, RNG_PATH));
    for (size_t k = 0; k < 3000; k++) {
        test_chain_step(&f, &s);
        violations += s.end->violations;
        proposals += s.end->proposals;
        bounces += s.end->kind == EVENT_BOUNCE;
        CHECK(s.end->missing == 0.0);
        CHECK(kind->full ? s.end->rows % f.u.is.batch == 0 : s.end->rows == s.end->proposals);
    }
    CHECK(violations == 0 && bounces > 1000 && proposals >= bounces);
    free(f.memory.base);
    bound_case_close(&b);
}

TEST(no_proposal_lies_above_its_bound)
{
    for (size_t k = 0; sampler_kinds[k]; k++)
        for (size_t a = 0; sampler_kinds[k]->bounded && metric_kinds[a]; a++)
            for (size_t i = 0; i < sizeof hard_priors / sizeof *hard_priors; i++)
                never_above(sampler_kinds[k], metric_kinds[a], hard_priors[i]);
}

/* ---- local-bps is lipsbps of one row ---- */

#define SEGMENTS 20000

typedef struct {
    double time[SEGMENTS];
    tally reflection, bounce;              /* velocity before . after; was it a bounce? */
    tally after[DIM_MAX], square[DIM_MAX]; /* velocity after bounces */
} first_events;

/* First events from one point with fresh velocities: independent, with the distribution of
 * the process. */
static void run_to_first_event(const problem *p, const sampler_kind *kind, uint64_t seed,
                               first_events *out)
{
    problem of = *p;
    test_chain f;
    segment s;
    double start[DIM_MAX];
    of.made.kind = kind;
    *out = (first_events){0};
    test_chain_make(&f, &of, &ours, seed);
    for (size_t j = 0; j < f.s.dim; j++) start[j] = j % 2 ? 0.4 : -0.4;
    for (size_t k = 0; k < SEGMENTS; k++) {
        kind->start(&f.s, start, rng_stream(seed, k, RNG_PATH));
        kind->step(&f.s, &s);
        out->time[k] = s.dt;
        tally_add(&out->reflection, dot(s.dim, s.q, s.q_next) * s.dt);
        tally_add(&out->bounce, s.end->kind == EVENT_BOUNCE);
        for (size_t j = 0; s.end->kind == EVENT_BOUNCE && j < s.dim; j++) {
            tally_add(&out->after[j], f.s.v[j]);
            tally_add(&out->square[j], f.s.v[j] * f.s.v[j]);
        }
    }
    free(f.memory.base);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest distance of two empirical distributions, in units of its scale under equality. */
static double distance_of(double *x, double *y)
{
    size_t i = 0, j = 0;
    double largest = 0.0;
    qsort(x, SEGMENTS, sizeof *x, ascending);
    qsort(y, SEGMENTS, sizeof *y, ascending);
    while (i < SEGMENTS && j < SEGMENTS) {
        *(x[i] < y[j] ? &i : &j) += 1;
        largest = fmax(largest, fabs((double)i - (double)j) / SEGMENTS);
    }
    return largest * sqrt(SEGMENTS / 2.0);
}

static void check_same(const tally *x, const tally *y)
{
    double mx = tally_mean(x), my = tally_mean(y);
    double error =
        sqrt((x->squares / x->n - mx * mx) / x->n + (y->squares / y->n - my * my) / y->n);
    CHECK_Z(mx, my, error, MAX_Z);
}

static void compare_first_events(const metric_kind *kind, const char *prior_text)
{
    static first_events local, lips, other;
    bound_case b;
    REQUIRE(bound_case_make(&b, kind, prior_text, false));
    b.p.made = (recipe){.metric = kind, .batches = &batch_window, .take = 1};
    run_to_first_event(&b.p, &sampler_local_bps, 27, &local);
    run_to_first_event(&b.p, &sampler_lipsbps, 28, &lips);
    CHECK(tally_mean(&local.bounce) > 0.5);
    check_same(&local.reflection, &lips.reflection);
    check_same(&local.bounce, &lips.bounce);
    for (size_t j = 0; j < b.s.dim; j++) {
        check_same(&local.after[j], &lips.after[j]);
        check_same(&local.square[j], &lips.square[j]);
    }
    double same = distance_of(local.time, lips.time);
    /* batches of two rows are another process, and it shows */
    b.p.made.take = 2;
    run_to_first_event(&b.p, &sampler_lipsbps, 29, &other);
    double different = distance_of(local.time, other.time);
    CHECK(same < 2.2); /* one in ten thousand */
    CHECK(different > 2.2);
    bound_case_close(&b);
}

TEST(local_bps_is_lipsbps_of_one_row)
{
    for (size_t a = 0; metric_kinds[a]; a++) {
        compare_first_events(metric_kinds[a], "normal(0.5,1)");
        compare_first_events(metric_kinds[a], "normal(0.5,0.2)");
    }
}

/* ---- Zig-Zag's moves ---- */

static void zigzag_moves(const sampler_kind *kind, const metric_kind *metric_used)
{
    bound_case b;
    REQUIRE(bound_case_make(&b, metric_used, "normal(0,2)",
                            !strcmp(kind->control_variate, "gradient")));
    size_t d = b.s.dim;
    b.p.made = (recipe){.kind = kind,
                        .metric = metric_used,
                        .batches = kind->full ? &batch_full : &batch_window,
                        .take = 1};
    test_chain f;
    segment s;
    double end[DIM_MAX], before[DIM_MAX], q[DIM_MAX];
    test_chain_make(&f, &b.p, &ours, 3);
    minibatch_equip(&f.u, b.cv, f.u.is.noise);
    double zero[DIM_MAX] = {0};
    kind->start(&f.s, zero, rng_stream(30, 0, RNG_PATH));
    for (size_t k = 0; k < 500; k++) {
        memcpy(before, f.s.v, sizeof before[0] * d);
        test_chain_step(&f, &s);
        size_t flips = 0;
        b.p.a->kind->forward(b.p.a, f.s.v, q);
        for (size_t j = 0; j < d; j++) {
            CHECK(fabs(f.s.v[j]) == 1.0 && s.q_next[j] == q[j]);
            if (k) CHECK(s.p[j] == end[j]);
            flips += f.s.v[j] != before[j];
            end[j] = s.p[j] + s.dt * s.q[j];
        }
        CHECK(s.end->kind == EVENT_REFRESH || flips == 1);
        CHECK(s.dt > 0.0 && isfinite(s.dt));
    }
    CHECK(f.counts->bounces > 100 && f.counts->refreshments > 0);
    free(f.memory.base);
    bound_case_close(&b);
}

TEST(zigzag_flips_one_sign_at_a_time)
{
    for (size_t k = 0; sampler_kinds[k]; k++)
        for (size_t a = 0; sampler_kinds[k]->bounded && metric_kinds[a]; a++)
            if (sampler_kinds[k]->ergodic) zigzag_moves(sampler_kinds[k], metric_kinds[a]);
}

CHECK_MAIN
