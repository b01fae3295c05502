/* Properties of every flow: its rate is the derivative of its position, and its integrals are
 * those of its position. */
#include "check.h"
#include "path/path.h"

#define PANELS 2000

static const flow_kind *const flows[] = {&flow_line, &flow_ellipse, &flow_still};
static const double stretches[][2] = {{0, 1}, {0, 1e-3}, {0.7, 3.1}, {2, 2}, {-1.5, 0.4}};

#define EACH_FLOW(f)                                                                           \
    size_t f = 0;                                                                              \
    f < sizeof flows / sizeof *flows;                                                          \
    f++
#define EACH_STRETCH(s)                                                                        \
    size_t s = 0;                                                                              \
    s < sizeof stretches / sizeof *stretches;                                                  \
    s++

TEST(a_flow_begins_at_p)
{
    for (EACH_FLOW(f)) {
        double a, b;
        flows[f]->at(0.0, &a, &b);
        CHECK(a == 1.0 && b == 0.0);
    }
}

TEST(line_is_p_plus_t_q)
{
    for (double t = -2.0; t < 5.0; t += 0.37) {
        double a, b;
        flow_line.at(t, &a, &b);
        CHECK(a == 1.0 && b == t);
    }
}

/* |(a, b)| = 1, and a quarter turn exchanges position and velocity. */
TEST(ellipse_turns)
{
    for (double t = -2.0; t < 5.0; t += 0.37) {
        double a, b, da, db, a1, b1;
        flow_ellipse.at(t, &a, &b);
        flow_ellipse.rate(t, &da, &db);
        flow_ellipse.at(t + acos(0.0), &a1, &b1);
        CHECK_NEAR(a * a + b * b, 1.0, TOL_ROUND);
        CHECK_NEAR(a1, da, TOL_ROUND);
        CHECK_NEAR(b1, db, TOL_ROUND);
    }
}

TEST(short_arcs_keep_their_digits)
{
    flow_integrals f;
    double h = 1e-9, t = 0.8;
    flow_ellipse.integrate(t, t + h, &f);
    h = (t + h) - t;
    double c = cos(t + 0.5 * h), s = sin(t + 0.5 * h);
    CHECK_NEAR(f.a / h, c, TOL_ROUND);
    CHECK_NEAR(f.b / h, s, TOL_ROUND);
    CHECK_NEAR(f.aa / h, c * c, TOL_ROUND);
    CHECK_NEAR(f.ab / h, s * c, TOL_ROUND);
    CHECK_NEAR(f.bb / h, s * s, TOL_ROUND);
}

TEST(rate_is_the_finite_difference_of_at)
{
    const double h = 1e-5;
    for (EACH_FLOW(f))
        for (double t = -2.0; t < 5.0; t += 0.37) {
            double a0, b0, a1, b1, da, db;
            flows[f]->at(t - h, &a0, &b0);
            flows[f]->at(t + h, &a1, &b1);
            flows[f]->rate(t, &da, &db);
            CHECK_NEAR(da, (a1 - a0) / (2 * h), TOL_DIFF);
            CHECK_NEAR(db, (b1 - b0) / (2 * h), TOL_DIFF);
        }
}

static flow_integrals simpson(const flow_kind *flow, double t0, double t1)
{
    flow_integrals sum = {0};
    double h = (t1 - t0) / PANELS;
    for (size_t i = 0; i <= 2 * PANELS; i++) {
        double a, b, w = (i == 0 || i == 2 * PANELS ? 1.0 : i % 2 ? 4.0 : 2.0) * h / 6.0;
        flow->at(t0 + 0.5 * h * (double)i, &a, &b);
        sum.a += w * a;
        sum.b += w * b;
        sum.aa += w * a * a;
        sum.ab += w * a * b;
        sum.bb += w * b * b;
    }
    return sum;
}

static void check_integrals(const flow_integrals *x, const flow_integrals *y, double tol)
{
    CHECK_NEAR(x->a, y->a, tol);
    CHECK_NEAR(x->b, y->b, tol);
    CHECK_NEAR(x->aa, y->aa, tol);
    CHECK_NEAR(x->ab, y->ab, tol);
    CHECK_NEAR(x->bb, y->bb, tol);
}

TEST(integrals_agree_with_quadrature)
{
    for (EACH_FLOW(f))
        for (EACH_STRETCH(s)) {
            flow_integrals exact, numeric = simpson(flows[f], stretches[s][0], stretches[s][1]);
            flows[f]->integrate(stretches[s][0], stretches[s][1], &exact);
            check_integrals(&exact, &numeric, TOL_SUM);
        }
}

TEST(integrals_of_two_halves_are_that_of_the_whole)
{
    for (EACH_FLOW(f))
        for (EACH_STRETCH(s)) {
            double t0 = stretches[s][0], t1 = stretches[s][1], mid = t0 + 0.3 * (t1 - t0);
            flow_integrals whole, x, y;
            flows[f]->integrate(t0, t1, &whole);
            flows[f]->integrate(t0, mid, &x);
            flows[f]->integrate(mid, t1, &y);
            flow_integrals sum = {x.a + y.a, x.b + y.b, x.aa + y.aa, x.ab + y.ab, x.bb + y.bb};
            check_integrals(&sum, &whole, TOL_SUM);
        }
}

/* ---- sinks ---- */

typedef struct {
    int *order;
    int mine;
    double time;
} clerk;

static void note(void *self, const segment *s)
{
    clerk *c = self;
    c->mine = ++*c->order;
    c->time += s->dt;
}

TEST(sinks_receive_every_segment_in_the_order_they_were_added)
{
    int order = 0;
    clerk clerks[3] = {{&order, 0, 0.0}, {&order, 0, 0.0}, {&order, 0, 0.0}};
    path_sinks sinks = {0};
    segment s = {.flow = &flow_line, .dt = 0.5};
    for (size_t i = 3; i-- > 0;) sinks_add(&sinks, &clerks[i], note);
    sinks_take(&sinks, &s);
    sinks_take(&sinks, &s);
    CHECK(clerks[2].mine == 4 && clerks[1].mine == 5 && clerks[0].mine == 6);
    for (size_t i = 0; i < 3; i++) CHECK(clerks[i].time == 1.0);
}

CHECK_MAIN
