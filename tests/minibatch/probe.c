/* A probe measures the noise in units of the posterior; it decreases with the order of the
 * control variate. */
#include "posterior/minibatch/probe.h"
#include "minibatch/fixture.h"

#define ROWS ((size_t)300)

typedef struct {
    table t;
    probe p;
} place;

/* Points within `reach` of the origin, directions of any length. */
static place place_make(double reach)
{
    place at = {
        .t = table_make(model_find("logistic"), (table_spec){.n = ROWS,
                                                             .columns = 3,
                                                             .weights = "normal(0,5)",
                                                             .sigma = "exponential(1)"})};
    rng r = rng_stream(3, 0, RNG_TEST);
    CHECK(probe_open(&at.p, at.t.u, NULL) == SBPS_OK);
    for (size_t i = 0; i < PROBE_POINTS * at.t.u->dim; i++) {
        at.p.points[i] = reach * rng_normal(&r);
        at.p.directions[i] = rng_normal(&r);
    }
    for (size_t i = 0; i < PROBE_POINTS; i++) at.p.natural[i] = 0.5 + rng_uniform(&r);
    return at;
}

static void place_close(place *at)
{
    probe_close(&at->p);
    table_close(&at->t);
}

/* N sum of the squares of the rows' influence. */
static double squares(place *at, const control *cv)
{
    float influence[ROWS];
    double sum = 0.0;
    CHECK(probe_influence(&at->p, cv, rng_stream(3, 1, RNG_TEST), influence, NULL) == SBPS_OK);
    for (size_t i = 0; i < ROWS; i++) sum += (double)influence[i] * (double)influence[i];
    return (double)ROWS * sum;
}

static double noise(place *at, const control *cv)
{
    return probe_noise(&at->p, cv, rng_stream(3, 2, RNG_TEST));
}

TEST(noise_has_the_units_of_the_curvature)
{
    place at = place_make(0.2);
    double before = noise(&at, NULL), rows_before = squares(&at, NULL);
    for (size_t i = 0; i < PROBE_POINTS * at.t.u->dim; i++) at.p.directions[i] *= 3.0;
    CHECK_NEAR(noise(&at, NULL), 9.0 * before, 1e-10);
    for (size_t i = 0; i < PROBE_POINTS; i++) at.p.natural[i] *= 9.0;
    CHECK_NEAR(noise(&at, NULL), before, 1e-10);
    CHECK_NEAR(squares(&at, NULL), rows_before, 1e-5); /* floats */
    place_close(&at);
}

/* A variance is a mean square less the square of a mean. */
TEST(noise_is_at_most_what_the_rows_make)
{
    place at = place_make(0.2);
    double limit = squares(&at, NULL) * (double)ROWS / (double)(ROWS - 1);
    CHECK(noise(&at, NULL) < limit && noise(&at, NULL) > 0.1 * limit);
    place_close(&at);
}

TEST(each_order_of_the_control_variate_leaves_less)
{
    place at = place_make(0.05);
    double origin[DIM_MAX] = {0}, before = noise(&at, NULL), rows_before = squares(&at, NULL);
    for (size_t k = 0; k < 2; k++) {
        control *cv = NULL;
        control_order order = k ? CONTROL_HESSIAN : CONTROL_GRADIENT;
        CHECK(control_create(at.t.u, origin, order, NULL, &cv, NULL) == SBPS_OK);
        double now = noise(&at, cv), rows_now = squares(&at, cv);
        CHECK(now < 0.1 * before && rows_now < 0.1 * rows_before);
        before = now;
        rows_before = rows_now;
        control_destroy(cv);
    }
    place_close(&at);
}

CHECK_MAIN
