/* Properties of every sampler: a continuous path of constant speed, bounces that reflect at the
 * gradient, refreshments uniform on the sphere, and the same path from the same seed. */
#include "sampler/band/calibration.h"
#include "sampler/fixture.h"

static const sampler_settings *const settings[] = {&ours, &papers};
#define EACH_SETTING(i)                                                                        \
    size_t i = 0;                                                                              \
    i < sizeof settings / sizeof *settings;                                                    \
    i++

/* ---- the moves ---- */

/* A sampler with velocities only. */
static void velocity_only(sampler *s, const metric *a, double (*memory)[DIM_MAX])
{
    *s = (sampler){.a = a, .dim = a->d};
    s->v = memory[0];
    s->q_next = memory[1];
    s->gradient = memory[2];
    s->scratch = memory[3];
}

/* H = I + 1 1'/2 scaled, for metrics that need one. */
static metric *make_metric(const metric_kind *kind, size_t d)
{
    double h[DIM_MAX * DIM_MAX];
    metric *m = NULL;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            h[i * d + j] = ((i == j) + 0.5) * (double)((i + 1) * (j + 1));
    metric_create(kind, d, h, &m, NULL);
    return m;
}

TEST(reflection_preserves_speed_and_turns_the_slope_round)
{
    rng r = rng_stream(1, 0, RNG_TEST);
    for (size_t k = 0; metric_kinds[k]; k++)
        for (size_t d = 1; d < 9; d++) {
            double memory[4][DIM_MAX], before[DIM_MAX], h[DIM_MAX], q[DIM_MAX];
            metric *a = make_metric(metric_kinds[k], d);
            REQUIRE(a);
            sampler s;
            velocity_only(&s, a, memory);
            for (size_t i = 0; i < 50; i++) {
                rng_sphere(&r, d, s.v);
                memcpy(before, s.v, sizeof before);
                for (size_t j = 0; j < d; j++) s.gradient[j] = 1e3 * rng_normal(&r);
                a->kind->transpose(a, s.gradient, h);
                double along = dot(d, before, h), size = sqrt(dot(d, h, h));
                sampler_reflect(&s);
                CHECK_NEAR(dot(d, s.v, s.v), 1.0, TOL_ROUND);
                CHECK_NEAR(dot(d, s.v, h) / size, -along / size, TOL_SUM);
                a->kind->forward(a, s.v, q);
                CHECK_NEAR(dot(d, s.q_next, s.gradient) / size, -along / size, TOL_SUM);
                for (size_t j = 0; j < d; j++) { /* only along h does it change */
                    double out = s.v[j] - before[j] + 2.0 * along * h[j] / (size * size);
                    CHECK_NEAR(out, 0.0, TOL_SUM);
                    CHECK(s.q_next[j] == q[j]);
                }
            }
            metric_destroy(a);
        }
}

TEST(a_gradient_of_zero_leaves_the_velocity)
{
    double memory[4][DIM_MAX] = {{0.6, 0.8}};
    metric *a = make_metric(metric_find("none"), 2);
    REQUIRE(a);
    sampler s;
    velocity_only(&s, a, memory);
    sampler_reflect(&s);
    CHECK_NEAR(s.v[0], 0.6, TOL_ROUND);
    CHECK_NEAR(s.v[1], 0.8, TOL_ROUND);
    metric_destroy(a);
}

/* Means 0, squares 1/d, products 0, fourth powers 3/(d(d+2)). */
TEST(refreshed_velocities_are_uniform_on_the_sphere)
{
    const double n = 40000;
    for (size_t d = 1; d <= 5; d++) {
        double memory[4][DIM_MAX], dim = (double)d, fourth = 3.0 / (dim * (dim + 2.0));
        metric *a = make_metric(metric_find("none"), d);
        REQUIRE(a);
        sampler s;
        velocity_only(&s, a, memory);
        rng r = rng_stream(2, d, RNG_TEST);
        double mean[DIM_MAX] = {0}, square[DIM_MAX] = {0}, power[DIM_MAX] = {0}, cross = 0.0;
        for (size_t i = 0; i < (size_t)n; i++) {
            sampler_refresh(&s, &r);
            CHECK_NEAR(dot(d, s.v, s.v), 1.0, TOL_ROUND);
            for (size_t j = 0; j < d; j++) {
                mean[j] += s.v[j] / n;
                square[j] += s.v[j] * s.v[j] / n;
                power[j] += pow(s.v[j], 4.0) / n;
                CHECK(s.q_next[j] == s.v[j]);
            }
            if (d > 1) cross += s.v[0] * s.v[1] / n;
        }
        double spread = sqrt(fmax(fourth - 1.0 / (dim * dim), 1e-20) / n);
        CHECK_Z(cross, 0.0, sqrt(fourth / 3.0 / n), MAX_Z);
        for (size_t j = 0; j < d; j++) {
            CHECK_Z(mean[j], 0.0, sqrt(1.0 / dim / n), MAX_Z);
            CHECK_Z(square[j], 1.0 / dim, spread, MAX_Z);
            CHECK_Z(power[j], fourth, spread + 1e-12, 2.0 * MAX_Z);
        }
        metric_destroy(a);
    }
}

/* ---- the path ---- */

static double speed(const problem *p, const double *q)
{
    double y[DIM_MAX];
    p->a->kind->precision(p->a, q, y);
    return sqrt(dot(p->t.u->dim, q, y));
}

/* Runs one segment and compares it with the previous one. */
static void check_segment(const problem *p, test_chain *f, double *end, double *next,
                          bool first)
{
    size_t d = p->t.u->dim;
    segment s;
    test_chain_step(f, &s);
    CHECK(s.flow == &flow_line && s.dim == d && s.centre == p->m->w);
    CHECK(s.dt > 0.0 && isfinite(s.dt));
    bool signs = p->made.kind->ergodic; /* Zig-Zag: every coordinate moves at speed 1 */
    CHECK_NEAR(speed(p, s.q), signs ? sqrt((double)d) : 1.0, 1e-10);
    for (size_t j = 0; j < d; j++) {
        if (!first) CHECK(s.p[j] == end[j] && s.q[j] == next[j]);
        end[j] = s.p[j] + s.dt * s.q[j];
        next[j] = s.q_next[j];
    }
    CHECK(s.end->kind == EVENT_BOUNCE || s.end->kind == EVENT_REFRESH);
    CHECK(s.end->violations <= s.end->proposals);
    CHECK((s.end->missing > 0.0) == (s.end->violations > 0));
    if (s.end->kind != EVENT_BOUNCE || signs) return;
    double size = sqrt(dot(d, f->s.gradient, f->s.gradient) * dot(d, s.q, s.q));
    double before = dot(d, s.q, f->s.gradient) / size;
    double after = dot(d, s.q_next, f->s.gradient) / size;
    CHECK(s.end->proposals >= 1);
    CHECK(before > 0.0); /* uphill, since it bounced */
    CHECK_NEAR(after, -before, 1e-10);
}

/* A state held for a unit of time; the next begins where this one led. */
static void check_state(const problem *p, test_chain *f, double *next, bool first)
{
    size_t d = p->t.u->dim;
    segment s;
    test_chain_step(f, &s);
    bool alone = f->s.kind->independent; /* of the previous state; held for its weight */
    CHECK(s.flow == &flow_still && s.dim == d && s.centre == p->m->w);
    CHECK(alone ? s.dt >= 0.0 : s.dt == 1.0);
    CHECK(s.end->kind == EVENT_STEP && s.end->proposals >= 1 && !s.end->failed);
    CHECK(s.end->violations == 0 && s.end->missing == 0.0);
    for (size_t j = 0; j < d; j++) {
        CHECK(isfinite(s.p[j]) && s.q[j] == 0.0 && s.q_next[j] == 0.0);
        if (!first && !alone) CHECK(s.p[j] == next[j]);
        next[j] = alone ? s.q[j] : f->s.p_next[j];
    }
}

static void state_property(const problem *p)
{
    test_chain f;
    double next[DIM_MAX], moved = 0.0;
    test_chain_make(&f, p, &ours, 1);
    REQUIRE(f.memory.base);
    for (size_t k = 0; k < 300; k++) {
        check_state(p, &f, next, k == 0);
        moved += next[0] != f.s.p[0];
    }
    CHECK(moved > 30.0);
    free(f.memory.base);
}

static void path_property(const problem *p)
{
    if (p->made.kind->discrete) {
        state_property(p);
        return;
    }
    if (p->made.kind->gaussian) return; /* ellipses have tests/sampler/boomerang.c */
    for (EACH_SETTING(i)) {
        test_chain f;
        double end[DIM_MAX], next[DIM_MAX];
        test_chain_make(&f, p, settings[i], 1);
        REQUIRE(f.memory.base);
        for (size_t k = 0; k < 300; k++) check_segment(p, &f, end, next, k == 0);
        CHECK(f.counts->bounces > 50);
        CHECK(f.counts->refreshments > 0 || p->made.kind->ergodic);
        free(f.memory.base);
    }
}

TEST(path_is_continuous_at_constant_speed_and_bounces_reverse_the_slope)
{
    for_each_recipe(path_property);
}

static void rows_property(const problem *p)
{
    test_chain f;
    segment s;
    test_chain_make(&f, p, &ours, 2);
    REQUIRE(f.memory.base);
    uint64_t evaluations = 0;
    for (size_t k = 0; k < 300; k++) {
        test_chain_step(&f, &s);
        CHECK(s.end->rows % f.u.is.batch == 0);
        bool some = f.s.kind->pairs; /* a random number of rows */
        CHECK(some || s.end->rows >= s.end->proposals * f.u.is.batch);
        evaluations += s.end->rows / f.u.is.batch;
    }
    CHECK(f.counts->rows == evaluations * f.u.is.batch);
    /* besides proposals only starts of segments without a bounce, and horizons, evaluate
     * rows */
    if (p->made.kind->curve) CHECK(evaluations > f.counts->proposals);
    free(f.memory.base);
}

TEST(rows_touched_are_whole_batches)
{
    for_each_recipe(rows_property);
}

/* ---- the same bits ---- */

static void same_seed_property(const problem *p)
{
    for (EACH_SETTING(i)) {
        test_chain one, two, other;
        segment s, t, u;
        size_t same = 0;
        test_chain_make(&one, p, settings[i], 3);
        test_chain_make(&two, p, settings[i], 3);
        test_chain_make(&other, p, settings[i], 4);
        for (size_t k = 0; k < (size_t)check_size(60, 60, 200); k++) {
            test_chain_step(&one, &s);
            test_chain_step(&two, &t);
            test_chain_step(&other, &u);
            CHECK(s.dt == t.dt && !memcmp(s.p, t.p, s.dim * sizeof *s.p));
            CHECK(!memcmp(s.end, t.end, sizeof *s.end));
            same += !memcmp(s.p, u.p, s.dim * sizeof *s.p);
        }
        CHECK(one.memory.size == two.memory.size &&
              !memcmp(one.memory.base, two.memory.base, one.memory.size));
        CHECK(same < 20); /* both begin at the mode, and some may stay there for a while */
        free(one.memory.base);
        free(two.memory.base);
        free(other.memory.base);
    }
}

TEST(same_seed_gives_the_same_path_bit_for_bit)
{
    for_each_recipe(same_seed_property);
}

/* A chain copied to another address and carved again continues as the first would have: nothing
 * in its memory points into it. */
static void moved_property(const problem *p)
{
    for (EACH_SETTING(i)) {
        test_chain here, there = {0};
        segment s;
        test_chain_make(&here, p, settings[i], 5);
        for (size_t k = 0; k < 47; k++) test_chain_step(&here, &s);
        there.memory =
            (arena){.base = aligned_zeroed(here.memory.size), .size = here.memory.size};
        REQUIRE(there.memory.base);
        memcpy(there.memory.base, here.memory.base, here.memory.size);
        test_chain_carve(&there, p);
        minibatch_restore(&there.u);
        unsigned char *expected = malloc(here.memory.size);
        for (size_t k = 0; k < 80; k++) test_chain_step(&here, &s);
        memcpy(expected, here.memory.base, here.memory.size);
        memset(here.memory.base, 0xA5,
               here.memory.size); /* a pointer into it would be detected */
        for (size_t k = 0; k < 80; k++) test_chain_step(&there, &s);
        CHECK(!memcmp(there.memory.base, expected, there.memory.size));
        free(expected);
        free(here.memory.base);
        free(there.memory.base);
    }
}

TEST(a_chain_moved_in_memory_continues_with_the_same_bits)
{
    for_each_recipe(moved_property);
}

/* ---- calibration ---- */

TEST(calibration_counts_only_while_it_is_on)
{
    for (size_t k = 0; sampler_kinds[k]; k++) {
        if (!sampler_kinds[k]->calibrate) continue;
        recipe made = {sampler_kinds[k], metric_find("none"), &batch_random,
                       regression_model(0), 40};
        problem p = problem_make(made);
        REQUIRE(p.a);
        test_chain f;
        segment s;
        double duration = 0.0;
        test_chain_make(&f, &p, &ours, 6);
        for (size_t i = 0; i < 100; i++) test_chain_step(&f, &s);
        const calibration *c = made.kind->curve(&f.s);
        CHECK(c->time == 0.0);
        made.kind->calibrate(&f.s, true);
        for (size_t i = 0; i < 1000; i++) {
            test_chain_step(&f, &s);
            duration += s.dt;
        }
        CHECK_NEAR(c->time, duration, TOL_SUM);
        CHECK(c->missed[0] > c->missed[10] && c->missed[10] > 0.0);
        CHECK(c->proposals[0] > 0.0 && c->proposals[10] > c->proposals[0]);
        made.kind->calibrate(&f.s, false);
        test_chain_step(&f, &s);
        CHECK(c->time == 0.0 && c->missed[0] == 0.0);
        free(f.memory.base);
        problem_close(&p);
    }
}

CHECK_MAIN
