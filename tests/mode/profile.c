/* Boundaries of the posterior are found and measured if they exist, and not found otherwise. */
#include "posterior/mode/profile.h"
#include "linalg/metric/metric.h"
#include "mode/helpers.h"

#define ROWS    400
#define COLUMNS 3
#define LONE    6 /* rows of the last column's level, all of one class */

/* Two ordinary columns, and a rare level whose rows all have class `y`; NAN: both classes. */
static fit rare_level(double y, double *x, double *target)
{
    rng r = rng_stream(3, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = x + i * COLUMNS;
        row[0] = rng_normal(&r);
        row[1] = rng_normal(&r);
        row[2] = i < LONE;
        target[i] = rng_uniform(&r) < 1.0 / (1.0 + exp(-row[0] + 0.5 * row[1]));
        if (i < LONE) target[i] = isnan(y) ? (double)(i % 2) : y;
    }
    return fit_rows(make_rows(ROWS, COLUMNS, x, target, NULL, true), "logistic", "normal(0,20)",
                    "exponential(1)", NULL);
}

static warps *find(const fit *f, const char *name)
{
    warps *found = NULL;
    metric *a = NULL;
    const metric_kind *kind = NULL;
    for (size_t i = 0; metric_kinds[i]; i++)
        if (!strcmp(metric_kinds[i]->name, name)) kind = metric_kinds[i];
    if (metric_create(kind, f->u->dim, f->m->hessian, &a, NULL) != SBPS_OK) return NULL;
    CHECK(profile_warps(f->u, f->m, a, &found, NULL) == SBPS_OK);
    metric_destroy(a);
    return found;
}

TEST(a_level_of_one_class_is_a_boundary)
{
    double x[ROWS * COLUMNS], y[ROWS];
    for (double class = 0.0; class < 2.0; class ++) {
        fit f = rare_level(class, x, y);
        REQUIRE(f.status == SBPS_OK);
        warps *found = find(&f, "dense");
        REQUIRE(found && found->count == 1);
        const warp *b = &found->list[0];
        CHECK(b->j == 3 && b->sign == (class > 0.5 ? 1.0 : -1.0));
        CHECK(!found->oblique);
        /* the prior bounds the far side, a boundary e^t the near one */
        CHECK_NEAR(b->reach / 20.0, 1.0, 0.05);
        CHECK(b->boundary > log(4.0) && b->boundary < 1.5 * log(4.0));
        /* sd at the mode by the Hessian, of which nearly all is the coordinate's own */
        CHECK_NEAR(b->unit * sqrt(f.m->hessian[3 * f.u->dim + 3]), 1.0, 0.05);
        free(found);
        found = find(&f, "none");
        REQUIRE(found && found->count == 1);
        CHECK(found->list[0].unit == 1.0);
        free(found);
        fit_close(&f);
    }
}

TEST(ordinary_posteriors_have_none)
{
    double x[ROWS * COLUMNS], y[ROWS];
    fit f = rare_level(NAN, x, y);
    REQUIRE(f.status == SBPS_OK);
    warps *found = find(&f, "dense");
    CHECK(!found);
    free(found);
    fit_close(&f);
}

/* In a softmax model the rows of such a level bound differences between the classes. */
TEST(a_level_of_one_of_three_classes_is_an_oblique_boundary)
{
    double x[ROWS * COLUMNS], y[ROWS];
    rng r = rng_stream(4, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = x + i * COLUMNS;
        row[0] = rng_normal(&r);
        row[1] = rng_normal(&r);
        row[2] = i < LONE;
        y[i] = i < LONE ? 2.0 : floor(3.0 * rng_uniform(&r));
    }
    fit f = fit_rows(make_rows(ROWS, COLUMNS, x, y, NULL, true), "softmax", "normal(0,20)",
                     "exponential(1)", NULL);
    REQUIRE(f.status == SBPS_OK);
    warps *found = find(&f, "dense");
    REQUIRE(found);
    CHECK(found->oblique);
    free(found);
    fit_close(&f);
}

/* Away from a mode there is no profile. */
TEST(away_from_the_mode_nothing_is_warped)
{
    double x[ROWS * COLUMNS], y[ROWS];
    fit f = rare_level(1.0, x, y);
    REQUIRE(f.status == SBPS_OK);
    f.m->gradient_norm = 1.0;
    CHECK(!find(&f, "dense"));
    fit_close(&f);
}

CHECK_MAIN
