/* Draws of effects against their conditional distribution given phi, whose moments are
 * integrals over rows by many nodes. */
#include "fixture.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/group_effects.h"
#include "model/mixed/group_polynomial_fit.h"
#include "model/mixed/group_view.h"

#define NODES   ((size_t)31)
#define POINTS  ((size_t)40) /* different ones */
#define DRAWS   ((size_t)6000)
#define Z_LIMIT 5.0

typedef struct {
    grouped_spec table;
    double spread;       /* of points around the reference */
    bool by_polynomial;  /* the model has polynomials of its own */
    double lower, upper; /* fraction of groups that is drawn by polynomials */
} conditional_case;

static const conditional_case cases[] = {
    {{.model = "logistic", .groups = 40, .each = 60, .effects = 1, .sd = {1.2}, .seed = 1},
     0.02,
     false,
     0.9,
     1.0},
    {{.model = "logistic", .groups = 40, .each = 5, .effects = 1, .sd = {1.2}, .seed = 2},
     0.05,
     false,
     0.3,
     1.0},
    {{.model = "logistic",
      .groups = 30,
      .each = 120,
      .effects = 2,
      .sd = {1.2, 0.7},
      .cor = -0.4,
      .weights = true,
      .seed = 3},
     0.02,
     true,
     0.9,
     1.0},
    {{.model = "poisson",
      .groups = 30,
      .each = 40,
      .effects = 2,
      .sd = {0.6, 0.3},
      .independent = true,
      .seed = 4},
     0.02,
     false,
     0.8,
     1.0},
    {{.model = "linear",
      .groups = 30,
      .each = 20,
      .effects = 2,
      .sd = {1.2, 0.7},
      .cor = 0.4,
      .seed = 5},
     0.02,
     false,
     0.9,
     1.0},
    /* points so far apart that most groups are not drawn by polynomials */
    {{.model = "logistic", .groups = 30, .each = 20, .effects = 1, .sd = {1.2}, .seed = 6},
     0.8,
     false,
     0.0,
     0.5},
};
#define CASES (sizeof cases / sizeof *cases)

/* ---- points ---- */

typedef struct {
    double w[POINTS][16];
    const double *phi[DRAWS];
} points;

static void scatter(const grouped *t, const conditional_case *c, points *p)
{
    rng r = rng_stream(9, 0, RNG_TEST);
    grouped_truth(t, &c->table, p->w[0]);
    for (size_t i = POINTS; i-- > 0;)
        for (size_t j = 0; j < t->u->dim; j++)
            p->w[i][j] = p->w[0][j] + c->spread * rng_normal(&r);
    for (size_t i = 0; i < DRAWS; i++) p->phi[i] = p->w[i % POINTS];
}

/* ---- the distribution at a point ---- */

typedef struct {
    /* cube: third moment of the standardised effect */
    double mean[POINTS][2], sd[POINTS][2], cube[POINTS][2];
} moments;

static void moments_at(const group_view *v, size_t a, double *mean, double *sd, double *cube)
{
    size_t q = v->m->shape.effects;
    double square = 0.0, third = 0.0;
    *mean = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < v->m->points; k++) {
            double u = dot(a + 1, v->p.at->factor[a], v->place + k * q);
            if (pass == 0) *mean += v->node_weight[k] * u;
            if (pass == 1) square += v->node_weight[k] * pow(u - *mean, 2.0);
            if (pass == 1) third += v->node_weight[k] * pow(u - *mean, 3.0);
        }
    *sd = sqrt(square);
    *cube = third / pow(*sd, 3.0);
}

static void find_conditional(mixed *m, const points *p, size_t g, double *scratch, moments *out)
{
    m->by_rows = true;
    for (size_t i = 0; i < POINTS; i++) {
        group_view v;
        group_begin(&v, m, p->w[i], NULL, false, scratch);
        group_value(&v, g);
        for (size_t a = 0; a < m->shape.effects; a++)
            moments_at(&v, a, &out->mean[i][a], &out->sd[i][a], &out->cube[i][a]);
    }
    m->by_rows = false;
}

/* ---- draws ---- */

/* Sums over draws of quantities with mean 0, and of their squares. */
typedef struct {
    double sum[3], square[3];
} tally;

static void count(const moments *truth, size_t a, const double *drawn, tally *to)
{
    for (size_t i = 0; i < DRAWS; i++) {
        size_t at = i % POINTS;
        double z = (drawn[i] - truth->mean[at][a]) / truth->sd[at][a];
        const double off[] = {z, z * z - 1.0, z * z * z - truth->cube[at][a]};
        for (size_t k = 0; k < 3; k++) {
            to->sum[k] += off[k];
            to->square[k] += off[k] * off[k];
        }
    }
}

static double z_of(const tally *t, size_t k)
{
    return t->sum[k] / sqrt(t->square[k]);
}

static void check_tally(const char *what, size_t c, const tally *t)
{
    for (size_t k = 0; k < 3; k++) {
        if (fabs(z_of(t, k)) <= Z_LIMIT) continue;
        printf("case %zu, %s, power %zu: z = %.2f\n", c, what, k + 1, z_of(t, k));
        check_failures++;
    }
}

static void fit_polynomials(const grouped *t, const conditional_case *c, mixed *m,
                            const double *w)
{
    double sd[16];
    for (size_t j = 0; j < t->u->dim; j++) sd[j] = c->spread;
    CHECK(polynomials_fit(m, t->data, w, sd, NULL) == SBPS_OK && m->polynomials);
}

static void draw_case(size_t index)
{
    const conditional_case *c = &cases[index];
    static points p;
    static moments truth;
    grouped t = grouped_make(&c->table);
    mixed *m = t.u->self;
    size_t q = c->table.effects, by_polynomials = 0;
    effects_sampler *plan;
    tally all = {{0.0}, {0.0}};
    scatter(&t, c, &p);
    CHECK(mixed_set_nodes(m, NODES, NULL) == SBPS_OK);
    if (c->by_polynomial) fit_polynomials(&t, c, m, p.w[0]);
    REQUIRE(effects_sampler_open(m, DRAWS, p.phi, &plan, NULL) == SBPS_OK);
    double *scratch = new_doubles(effects_scratch(plan) + group_scratch(m)),
           *drawn = new_doubles(q * DRAWS);
    for (size_t g = 0; g < c->table.groups; g++) {
        by_polynomials += !isnan(effects_draw(plan, g, 7, scratch, drawn).error);
        find_conditional(m, &p, g, scratch, &truth);
        for (size_t a = 0; a < q; a++) {
            tally own = {{0.0}, {0.0}};
            count(&truth, a, drawn + a * DRAWS, &own);
            count(&truth, a, drawn + a * DRAWS, &all);
            check_tally("a group", index, &own);
        }
    }
    check_tally("all groups", index, &all);
    double part = (double)by_polynomials / (double)c->table.groups;
    printf("case %zu: %.0f %% by polynomials; z of all %.2f %.2f %.2f\n", index, 100.0 * part,
           z_of(&all, 0), z_of(&all, 1), z_of(&all, 2));
    CHECK(part >= c->lower && part <= c->upper);
    free(scratch);
    free(drawn);
    effects_sampler_close(plan);
    grouped_close(&t);
}

TEST(effects_have_their_conditional_distribution)
{
    for (size_t c = 0; c < CASES; c++) draw_case(c);
}

CHECK_MAIN
