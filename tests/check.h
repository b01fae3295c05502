/* A test is a property with a name. TEST registers it; CHECK_MAIN runs all and prints one line
 * per failure. Include once per test program. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOL_ROUND (16 * DBL_EPSILON)   /* a few roundings */
#define TOL_SUM   (4096 * DBL_EPSILON) /* a sum taken in another order */
#define TOL_DIFF  1e-6                 /* a finite difference */
#define MAX_Z     5.0                  /* a Monte Carlo mean, fixed seed */

/* A sample size by SBPS_LENGTH in the environment: `full` (make test-all), `soak` (make soak),
 * else brief (make test). Limits are in standard errors, so that they are the same for every
 * length. */
static inline double check_size(double brief, double full, double soak)
{
    const char *length = getenv("SBPS_LENGTH");
    if (!length || !*length) return brief;
    return strcmp(length, "soak") ? full : soak;
}

typedef struct check_case {
    const char *name;
    void (*body)(void);
    struct check_case *next;
} check_case;

static check_case *check_cases, **check_tail = &check_cases;
static int check_failures, check_skips;

#define TEST(property)                                                                         \
    static void property(void);                                                                \
    __attribute__((constructor)) static void register_##property(void)                         \
    {                                                                                          \
        static check_case self = {#property, property, NULL};                                  \
        *check_tail = &self;                                                                   \
        check_tail = &self.next;                                                               \
    }                                                                                          \
    static void property(void)

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, #condition);       \
            check_failures++;                                                                  \
        }                                                                                      \
    } while (0)

/* Stops the property when the condition fails. */
#define REQUIRE(condition)                                                                     \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, #condition);       \
            check_failures++;                                                                  \
            return;                                                                            \
        }                                                                                      \
    } while (0)

/* |a - b| <= tol * max(1, |a|, |b|) */
#define CHECK_NEAR(a, b, tol)                                                                  \
    do {                                                                                       \
        double a_ = (a), b_ = (b), t_ = (tol);                                                 \
        if (!(fabs(a_ - b_) <= t_ * fmax(1.0, fmax(fabs(a_), fabs(b_))))) {                    \
            printf("%s:%d: %s: %s = %.17g, %s = %.17g, differ by %.3g > %.3g\n", __FILE__,     \
                   __LINE__, __func__, #a, a_, #b, b_, fabs(a_ - b_), t_);                     \
            check_failures++;                                                                  \
        }                                                                                      \
    } while (0)

/* |estimate - truth| <= z standard errors */
#define CHECK_Z(estimate, truth, error, z)                                                     \
    do {                                                                                       \
        double e_ = (estimate), t_ = (truth), s_ = (error);                                    \
        if (!(fabs(e_ - t_) <= (z)*s_)) {                                                      \
            printf("%s:%d: %s: %s = %.6g, expected %.6g, error %.3g, z = %.2f\n", __FILE__,    \
                   __LINE__, __func__, #estimate, e_, t_, s_, (e_ - t_) / s_);                 \
            check_failures++;                                                                  \
        }                                                                                      \
    } while (0)

#define SKIP(why)                                                                              \
    do {                                                                                       \
        printf("skipped %s: %s\n", __func__, why);                                             \
        check_skips++;                                                                         \
        return;                                                                                \
    } while (0)

#define CHECK_SKIPPED 77 /* ctest reports a skip */

/* A word that names no property is an error. If all properties were skipped, the exit status is
 * CHECK_SKIPPED. */
static inline int check_summary(int run)
{
    printf("%d properties, %d failures, %d skipped\n", run, check_failures, check_skips);
    if (run == 0) printf("FAILED: no property has that name\n");
    if (run == 0 || check_failures) return EXIT_FAILURE;
    return check_skips == run ? CHECK_SKIPPED : EXIT_SUCCESS;
}

/* An argument runs only the properties whose name contains it. */
#define CHECK_MAIN                                                                             \
    int main(int argc, char **argv)                                                            \
    {                                                                                          \
        int run = 0;                                                                           \
        for (check_case *c = check_cases; c; c = c->next) {                                    \
            if (argc > 1 && !strstr(c->name, argv[1])) continue;                               \
            int before = check_failures;                                                       \
            c->body();                                                                         \
            run++;                                                                             \
            if (check_failures > before) printf("FAILED %s\n", c->name);                       \
        }                                                                                      \
        return check_summary(run);                                                             \
    }

#endif
