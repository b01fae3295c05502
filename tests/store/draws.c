/* Draws are at equal times whatever the segments, at the right position, and count every event
 * once. */
#include "check.h"
#include "core/rng.h"
#include "store/draw_store.h"

#define DIM    2
#define WANTED ((size_t)50)

static const double centre[DIM] = {10.0, -3.0};

typedef struct {
    draws d;
    arena memory;
    double time;
    draw_counts total;
} recorder;

static recorder start_recorder(double spacing)
{
    recorder r = {0};
    draws_carve(&r.d, DIM, WANTED, &r.memory);
    r.memory = (arena){.base = aligned_zeroed(r.memory.used), .size = r.memory.used};
    draws_carve(&r.d, DIM, WANTED, &r.memory);
    draws_start(&r.d, spacing);
    return r;
}

/* The path is w(t) = centre + (t, -2t), cut into segments: a draw determines its time. */
static void record_segment(recorder *r, double dt, const event *end)
{
    const double p[DIM] = {r->time, -2.0 * r->time}, q[DIM] = {1.0, -2.0};
    segment s = {.flow = &flow_line,
                 .dim = DIM,
                 .dt = dt,
                 .centre = centre,
                 .p = p,
                 .q = q,
                 .end = end,
                 .q_next = q};
    draws_take(&r->d, &s);
    r->time += dt;
    r->total.proposals += (double)end->proposals;
    r->total.bounces += end->kind == EVENT_BOUNCE;
    r->total.missing += end->missing;
}

static event random_event(rng *random)
{
    return (event){.kind = rng_below(random, 3) ? EVENT_BOUNCE : EVENT_REFRESH,
                   .proposals = rng_below(random, 9),
                   .missing = (double)rng_below(random, 4) / 8.0};
}

static void check_times(const recorder *r)
{
    const draws_state *s = r->d.state;
    double n = (double)s->count;
    for (size_t i = 0; i < s->count; i++) {
        double want = (double)(i + 1) * s->spacing;
        CHECK_NEAR(r->d.w[i * DIM] - centre[0], want, 1e-10);
        CHECK_NEAR(r->d.w[i * DIM + 1] - centre[1], -2.0 * want, 1e-10);
    }
    CHECK_NEAR(s->time, r->time, 1e-10);
    CHECK_NEAR(s->next, (n + 1.0) * s->spacing, 1e-10);
    CHECK(n * s->spacing <= r->time * (1 + 1e-10) && s->next > r->time * (1 - 1e-10));
}

TEST(draws_are_at_equal_times_from_the_first_spacing_to_the_last)
{
    rng random = rng_stream(1, 0, RNG_TEST);
    recorder r = start_recorder(0.37);
    for (size_t i = 0; i < 3000; i++) {
        event e = random_event(&random);
        record_segment(&r, rng_exponential(&random), &e);
        if (i % 50 == 0) check_times(&r);
    }
    check_times(&r);
    free(r.memory.base);
}

/* Two paths of different lengths are thinned to one spacing at any time, and continue. */
TEST(draws_thinned_by_the_caller_stay_at_equal_times)
{
    rng random = rng_stream(2, 0, RNG_TEST);
    recorder r = start_recorder(0.37);
    for (size_t i = 0; i < 300; i++) {
        event e = random_event(&random);
        record_segment(&r, rng_exponential(&random), &e);
        if (i % 37 == 0) draws_thin_to(&r.d, (i % 2 ? 2.0 : 4.0) * r.d.state->spacing);
        check_times(&r);
    }
    double sum = r.d.state->since.proposals;
    for (size_t i = 0; i < r.d.state->count; i++) sum += r.d.counts[i].proposals;
    CHECK_NEAR(sum, r.total.proposals, 1e-9);
    double spacing = r.d.state->spacing;
    draws_thin_to(&r.d, spacing);
    CHECK(r.d.state->spacing == spacing);
    free(r.memory.base);
}

TEST(a_segment_longer_than_the_buffer_is_thinned)
{
    event e = {.kind = EVENT_REFRESH};
    recorder r = start_recorder(0.01);
    record_segment(&r, 0.003, &e);
    record_segment(&r, 1234.5, &e);
    check_times(&r);
    CHECK(r.d.state->spacing >= 1234.5 / (2.0 * (double)WANTED));
    free(r.memory.base);
}

TEST(once_there_are_enough_draws_there_are_never_too_few)
{
    rng random = rng_stream(2, 0, RNG_TEST);
    recorder r = start_recorder(1.0);
    for (size_t i = 0; i < 5000; i++) {
        event e = random_event(&random);
        record_segment(&r, rng_exponential(&random), &e);
        CHECK(r.d.state->count < r.d.capacity && r.d.capacity <= 9 * WANTED / 4);
        if (r.time > (double)WANTED) CHECK(r.d.state->count >= WANTED);
    }
    free(r.memory.base);
}

TEST(the_spacing_only_doubles)
{
    rng random = rng_stream(3, 0, RNG_TEST);
    recorder r = start_recorder(0.5);
    double last = 0.5;
    for (size_t i = 0; i < 3000; i++) {
        event e = random_event(&random);
        record_segment(&r, rng_exponential(&random), &e);
        double now = r.d.state->spacing;
        CHECK(now == last || now == 2.0 * last);
        last = now;
    }
    CHECK(last > 0.5);
    free(r.memory.base);
}

TEST(every_event_is_counted_once)
{
    rng random = rng_stream(4, 0, RNG_TEST);
    recorder r = start_recorder(0.37);
    for (size_t i = 0; i < 3000; i++) {
        event e = random_event(&random);
        record_segment(&r, rng_exponential(&random), &e);
        draw_counts sum = r.d.state->since;
        for (size_t k = 0; i % 50 == 0 && k < r.d.state->count; k++) {
            sum.proposals += r.d.counts[k].proposals;
            sum.bounces += r.d.counts[k].bounces;
            sum.missing += r.d.counts[k].missing;
        }
        if (i % 50) continue;
        CHECK(sum.proposals == r.total.proposals);
        CHECK(sum.bounces == r.total.bounces);
        CHECK(sum.missing == r.total.missing); /* multiples of 1/8: sums are exact */
    }
    free(r.memory.base);
}

TEST(a_draw_counts_the_events_since_the_one_before)
{
    recorder r = start_recorder(1.0);
    for (uint64_t i = 0; i < 10; i++) { /* segment i ends in the middle of spacing i */
        event e = {.kind = EVENT_BOUNCE, .proposals = i + 1, .missing = 0.5};
        record_segment(&r, i == 0 ? 0.5 : 1.0, &e);
    }
    CHECK(r.d.state->count == 9);
    for (size_t i = 0; i < r.d.state->count; i++) {
        CHECK(r.d.counts[i].proposals == (double)(i + 1));
        CHECK(r.d.counts[i].bounces == 1.0 && r.d.counts[i].missing == 0.5);
    }
    free(r.memory.base);
}

CHECK_MAIN
