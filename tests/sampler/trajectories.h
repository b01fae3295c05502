/* Properties of every sampler of trajectories with momentum. */
#ifndef TESTS_SAMPLER_TRAJECTORIES_H
#define TESTS_SAMPLER_TRAJECTORIES_H

#include "sampler/fixture.h"

/* Far out exp(eta) overflows: a trajectory that reaches infinities is rejected, and the
 * chain continues. */
static inline void check_absurd_steps(problem p)
{
    REQUIRE(p.a);
    test_chain f;
    segment s;
    sampler_settings absurd = ours;
    absurd.step_size = 1e200;
    test_chain_make(&f, &p, &absurd, 1);
    for (size_t i = 0; i < 50; i++) {
        test_chain_step(&f, &s);
        for (size_t j = 0; j < s.dim; j++) CHECK(f.s.p_next[j] == 0.0);
    }
    free(f.memory.base);
    problem_close(&p);
}

/* No trajectory can begin there; a chain that never moves would appear converged. */
static inline void check_start_without_energy(problem p)
{
    REQUIRE(p.a);
    test_chain f;
    segment s;
    double far[DIM_MAX];
    test_chain_make(&f, &p, &ours, 1);
    for (size_t j = 0; j < DIM_MAX; j++) far[j] = 1e200; /* its square overflows in the prior */
    f.s.kind->start(&f.s, far, rng_stream(1, 0, RNG_PATH));
    f.s.kind->step(&f.s, &s);
    CHECK(s.end->failed && f.s.p_next[0] == 1e200);
    CHECK(f.s.kind->remedy && strstr(f.s.kind->remedy, "not finite"));
    f.s.kind->start(&f.s, memset(far, 0, sizeof far), rng_stream(1, 0, RNG_PATH));
    f.s.kind->step(&f.s, &s);
    CHECK(!s.end->failed);
    free(f.memory.base);
    problem_close(&p);
}

#endif
