/* The count of missing bounces works where the band is zero.
 *
 * U is Student's t alone (rows have weight 0), from far out towards the mode without noise:
 * the slope G falls at first, so the regression is a steep line downwards, and the band over
 * it is negative for the rest of the segment. Past the mode G is positive all the same. A
 * sampler without a floor and a horizon moves on for ever and notices nothing; ours makes
 * observations, and reports how much it missed. */
#include "ingest/ingest.h"
#include "minibatch/fixture.h"
#include "sampler/core/sampler.h"

#define START    8.0
#define SEGMENTS 4000
#define NU       3.0

typedef struct {
    table t;
    metric *a;
} problem;

static problem make_problem(void)
{
    problem p = {0};
    const double x[2] = {1.0, 1.0}, y[2] = {0.0, 1.0}, weight[2] = {1e-12, 1e-12};
    rows_spec as = {.target = "y", .seed = 1};
    prior t3;
    prior_parse("student_t(3,0,1)", &t3, NULL);
    rows_copy(2, 1, x, NULL, y, weight, NULL, &as, &p.t.data, NULL);
    if (p.t.data) posterior_create(p.t.data, model_find("logistic"), &t3, &p.t.u, NULL);
    metric_create(metric_find("none"), 1, NULL, &p.a, NULL);
    return p;
}

static double energy(double w)
{
    return 0.5 * (NU + 1.0) * log1p(w * w / NU);
}

typedef struct {
    double missing;  /* according to the events */
    double climbed;  /* integral of G+: bounces that should have happened */
    double bounces;  /* that did */
    double farthest; /* below zero */
} outcome;

/* First segments from START towards the mode. */
static outcome run_first_segment(const problem *p, const sampler_kind *kind,
                                 const sampler_settings *settings)
{
    static const double centre[1];
    outcome sum = {0};
    arena memory = {0};
    minibatch u = {0};
    sampler s;
    minibatch_carve(&u, &batch_full, p->t.u, 2, &memory);
    sampler_carve(&s, kind, p->a, NULL, centre, &u.is, &memory);
    memory = (arena){.base = aligned_zeroed(memory.used), .size = memory.used};
    minibatch_carve(&u, &batch_full, p->t.u, 2, &memory);
    sampler_carve(&s, kind, p->a, NULL, centre, &u.is, &memory);
    *s.settings = *settings;
    for (uint64_t seed = 0; seed < SEGMENTS; seed++) {
        segment first;
        minibatch_start(&u, rng_stream(seed, 0, RNG_BATCH));
        s.kind->start(&s, (double[]){START}, rng_stream(seed, 0, RNG_PATH));
        if (s.v[0] > 0.0) continue;
        s.kind->step(&s, &first);
        double end = first.p[0] + first.dt * first.q[0];
        sum.missing += first.end->missing;
        sum.climbed += end < 0.0 ? energy(end) : 0.0;
        sum.bounces += first.end->kind == EVENT_BOUNCE;
        sum.farthest = fmax(sum.farthest, -end);
    }
    free(memory.base);
    return sum;
}

/* The published settings with refreshment, so that every segment ends; chords fit either. */
static const sampler_settings blind = {.band.width = 5.0,
                                       .refresh_rate = 0.02,
                                       .band.horizon = INFINITY,
                                       .band.chord = 0.05,
                                       .band.learning_rate = 0.01};

/* Runs segments along lines under a band. */
static bool metered(const sampler_kind *kind)
{
    return kind->curve && !kind->gaussian;
}

TEST(without_a_floor_missing_bounces_are_not_counted)
{
    problem p = make_problem();
    REQUIRE(p.t.u && p.a);
    for (size_t k = 0; sampler_kinds[k]; k++) {
        if (!metered(sampler_kinds[k])) continue;
        outcome o = run_first_segment(&p, sampler_kinds[k], &blind);
        double unseen = o.climbed - o.bounces; /* about 0 for a correct sampler */
        CHECK(unseen > 0.5 * o.climbed);
        CHECK(o.missing < 0.02 * unseen);
        CHECK(o.farthest > 100.0);
    }
    metric_destroy(p.a);
    table_close(&p.t);
}

/* The integral of G+ is bounces plus missing ones, up to the noise of the proposals, whose
 * variance is the integral of G^2/lambda where G > lambda: at most G/lambda <= 1.16/0.1 times
 * what was climbed. */
static void check_balance(const outcome *o)
{
    CHECK_Z(o->bounces + o->missing, o->climbed, sqrt(12.0 * o->climbed), MAX_Z);
}

TEST(with_a_floor_missing_bounces_are_counted_where_the_band_is_zero)
{
    problem p = make_problem();
    sampler_settings floored = blind;
    floored.band.floor = 0.1;
    REQUIRE(p.t.u && p.a);
    for (size_t k = 0; sampler_kinds[k]; k++) {
        if (!metered(sampler_kinds[k])) continue;
        outcome o = run_first_segment(&p, sampler_kinds[k], &floored);
        CHECK(o.missing > 0.5 * o.climbed);
        check_balance(&o);
    }
    metric_destroy(p.a);
    table_close(&p.t);
}

TEST(with_lack_of_fit_and_horizon_no_bounces_are_missing)
{
    problem p = make_problem();
    sampler_settings ours = blind;
    ours.band.floor = 0.1;
    ours.band.horizon = 1.0;
    ours.band.chord = NAN;
    ours.band.pool = 3.0;
    ours.band.lack_of_fit = true;
    REQUIRE(p.t.u && p.a);
    for (size_t k = 0; sampler_kinds[k]; k++) {
        if (!metered(sampler_kinds[k])) continue;
        outcome o = run_first_segment(&p, sampler_kinds[k], &ours);
        CHECK(o.missing < 0.01 * o.climbed);
        CHECK(o.farthest < 20.0);
        check_balance(&o);
    }
    metric_destroy(p.a);
    table_close(&p.t);
}

CHECK_MAIN
