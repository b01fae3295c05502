/* A step never allocates. The linker sends every allocation of the library through the counters
 * below (--wrap). */
#include "sampler/fixture.h"

static size_t allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes)
{
    allocations++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    allocations++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    allocations++;
    return __real_realloc(block, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    allocations++;
    return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    allocations++;
    return __real_posix_memalign(block, alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    allocations++;
    return __real_strdup(text);
}

TEST(allocations_of_the_library_are_counted)
{
    recipe made = {sampler_kinds[0], metric_find("none"), &batch_full, regression_model(0), 40};
    problem p = problem_make(made);
    REQUIRE(p.a);
    double value;
    allocations = 0;
    posterior_value(p.t.u, p.m->w, &value, NULL); /* known to take scratch */
    CHECK(allocations > 0);
    problem_close(&p);
}

static void no_allocation_property(const problem *p)
{
    test_chain f;
    segment s;
    test_chain_make(&f, p, &ours, 1);
    REQUIRE(f.memory.base);
    if (f.s.kind->calibrate) f.s.kind->calibrate(&f.s, true);
    if (f.s.kind->adapt) f.s.kind->adapt(&f.s, true);
    allocations = 0;
    size_t steps = (size_t)check_size(1000, 10000, 10000);
    for (size_t i = 0; i < steps; i++) test_chain_step(&f, &s);
    CHECK(allocations == 0);
    CHECK(f.d.state->spacing > 0.0 && f.m.state->full > 0);
    CHECK(f.counts->bounces > 0 || f.s.kind->discrete);
    free(f.memory.base);
}

TEST(a_step_never_allocates)
{
    for (size_t k = 0; sampler_kinds[k]; k++)
        for (size_t b = 0; batch_kinds[b]; b++)
            for (size_t m = 0; regression_model(m); m++) {
                if (!takes(sampler_kinds[k], batch_kinds[b])) continue;
                recipe made = {sampler_kinds[k], metric_find("dense"), batch_kinds[b],
                               regression_model(m), 40};
                problem p = problem_make(made);
                REQUIRE(p.a);
                if (can(&p)) no_allocation_property(&p);
                problem_close(&p);
            }
}

CHECK_MAIN
