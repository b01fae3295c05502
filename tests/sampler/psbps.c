/* psbps: a bounce reflects in z, w = A z, so that the same mini-batch has the slope -G~ along
 * the new velocity (section 4, after (13), and (16)):
 *
 *   h = A' grad U~,   v_r = v - 2 (v.h / h.h) h,   A v_r . grad U~ = v_r . h = -v.h = -G~.  (1)
 *
 * That holds while A is fixed. Where it adapts, A changes after the reflection, and the batch
 * is evaluated along the new A v_r. */
#include "sampler/fixture.h"

typedef struct {
    slope_observation bounce; /* the last one */
    bool bounced;
    double count, changed; /* first observations after a bounce; those of another c^2 */
    double worst;          /* largest |G_start + G_bounce|, relative to their size */
    double sum;            /* of these */
} bounce_record;

static void record(void *self, const slope_observation *o)
{
    bounce_record *r = self;
    if (o->kind == OBSERVATION_START && r->bounced) {
        double off = fabs(o->slope + r->bounce.slope) / fmax(1.0, fabs(r->bounce.slope));
        r->count++;
        r->sum += off;
        r->worst = fmax(r->worst, off);
        r->changed += o->variance != r->bounce.variance;
    }
    r->bounced = o->kind == OBSERVATION_PROPOSAL && o->bounced;
    if (r->bounced) r->bounce = *o;
}

/* Bounces of psbps, after some with an adapting metric so that A is not the initial one. */
static bounce_record run(const problem *p, bool adapting)
{
    test_chain f;
    segment s;
    bounce_record r = {0};
    observation_sink watch = {&r, record};
    test_chain_make(&f, p, &ours, 21);
    f.s.kind->adapt(&f.s, true);
    for (size_t i = 0; i < 100; i++) test_chain_step(&f, &s);
    f.s.kind->adapt(&f.s, adapting);
    f.s.observer = &watch;
    for (size_t i = 0; i < 300; i++) test_chain_step(&f, &s);
    free(f.memory.base);
    return r;
}

/* Calls `property` for every kind of batch and every regression. */
static void for_each_table(void (*property)(const problem *p))
{
    for (size_t b = 0; batch_kinds[b]; b++)
        for (size_t m = 0; regression_model(m); m++) {
            problem p = problem_make((recipe){sampler_find("psbps"), metric_find("adaptive"),
                                              batch_kinds[b], regression_model(m), 40});
            CHECK(p.a);
            if (p.a) property(&p);
            problem_close(&p);
        }
}

static void fixed_property(const problem *p)
{
    bounce_record r = run(p, false);
    printf("%-10s %-24s: %.0f bounces, off by %.1e\n", p->made.batches->name,
           p->made.model->name, r.count, r.worst);
    CHECK(r.count > 100.0);
    CHECK_NEAR(r.worst, 0.0, TOL_SUM);
    /* the variance of the rows' slopes is another: only G~ may be kept */
    if (p->made.batches != &batch_full) CHECK(r.changed > 0.9 * r.count);
}

TEST(with_a_fixed_metric_a_bounce_turns_the_slope_of_its_batch_round)
{
    for_each_table(fixed_property);
}

static void adapting_property(const problem *p)
{
    bounce_record r = run(p, true);
    CHECK(r.count > 100.0);
    CHECK(r.sum > 1e-4 * r.count);
}

TEST(an_adapting_metric_changes_the_slope_of_the_batch)
{
    for_each_table(adapting_property);
}

CHECK_MAIN
