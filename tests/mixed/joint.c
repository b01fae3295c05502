/* Joint models: derivatives agree with differences; the density is that of rows and effects for
 * every standardisation; a new standardisation at a point leaves its effects unchanged and
 * makes their curvature 1; and the metric from products of the Hessian agrees with its
 * formula. */
#include "model/mixed/joint.h"
#include "derivatives.h"
#include "linalg/cholesky.h"
#include "linalg/metric/metric.h"
#include "posterior/full/log_prior.h"

static const grouped_spec specs[] = {
    {.model = "linear",
     .groups = 12,
     .each = 6,
     .effects = 1,
     .sd = {1.0, 0.0},
     .crossed = 7,
     .crossed_effects = 1,
     .joint = true,
     .seed = 3},
    {.model = "logistic",
     .groups = 9,
     .each = 7,
     .effects = 2,
     .sd = {1.0, 0.5},
     .cor = 0.4,
     .weights = true,
     .crossed = 5,
     .crossed_effects = 2,
     .joint = true,
     .seed = 4},
    {.model = "poisson",
     .groups = 10,
     .each = 5,
     .effects = 1,
     .sd = {0.5, 0.0},
     .crossed = 6,
     .crossed_effects = 2,
     .joint = true,
     .seed = 5},
    /* more levels than are standardised together, and a factor with few */
    {.model = "poisson",
     .groups = 70,
     .each = 3,
     .effects = 1,
     .sd = {0.5, 0.0},
     .crossed = 4,
     .crossed_effects = 2,
     .joint = true,
     .seed = 6},
    {.model = "gamma",
     .groups = 35,
     .each = 4,
     .effects = 2,
     .sd = {0.5, 0.3},
     .crossed = 3,
     .crossed_effects = 2,
     .joint = true,
     .seed = 8},
    {.model = "student_t",
     .groups = 70,
     .each = 2,
     .effects = 1,
     .sd = {0.5, 0.0},
     .crossed = 3,
     .crossed_effects = 2,
     .joint = true,
     .seed = 9},
    /* a block for each group: its effects and those nested in it */
    {.model = "poisson",
     .groups = 22,
     .each = 4,
     .effects = 1,
     .sd = {0.5, 0.0},
     .nested = 2,
     .nested_effects = 1,
     .joint = true,
     .seed = 10},
    {.model = "gamma",
     .groups = 14,
     .each = 6,
     .effects = 2,
     .sd = {0.5, 0.3},
     .cor = 0.3,
     .nested = 3,
     .nested_effects = 2,
     .joint = true,
     .seed = 11},
    {.model = "logistic",
     .groups = 35,
     .each = 4,
     .effects = 2,
     .sd = {0.5, 0.3},
     .cor = -0.5,
     .crossed = 4,
     .crossed_effects = 1,
     .joint = true,
     .seed = 7},
};
#define SPECS (sizeof specs / sizeof *specs)

/* The priors of effects in a run, and others that ensure a mode. */
static void set_priors(const posterior *u)
{
    model_derived of;
    for (size_t j = 0; j < u->dim; j++) {
        bool effect = posterior_derived(u, j, &of) && of.effect;
        CHECK(prior_parse(u->scale[j] == SCALE_TANH  ? "lkj(2)"
                          : u->scale[j] == SCALE_LOG ? "student_t(3,0,2.5)"
                          : effect                   ? "normal(0,1)"
                                                     : "normal(0,10)",
                          &u->priors[j], NULL) == SBPS_OK);
    }
}

static grouped make(const grouped_spec *s, double *w)
{
    grouped t = grouped_make(s);
    rng r = rng_stream(s->seed, 1, RNG_TEST);
    set_priors(t.u);
    for (size_t j = 0; j < t.u->dim; j++) w[j] = 0.3 * rng_normal(&r);
    return t;
}

TEST(derivatives_are_differences_in_all_standardisations)
{
    for (size_t i = 0; i < SPECS; i++) {
        double w[MAX_DIM];
        grouped t = make(&specs[i], w);
        REQUIRE(t.u->dim <= MAX_DIM);
        check_derivatives(&t, w, 1e-4, 1e-5);
        CHECK(mixed_joint_recentre(t.u->self, t.data, w, NULL) == SBPS_OK);
        rng r = rng_stream(1, i, RNG_TEST);
        for (size_t j = 0; j < t.u->dim; j++) w[j] += 0.3 * rng_normal(&r);
        check_derivatives(&t, w, 1e-4, 1e-5);
        grouped_close(&t);
    }
}

static double log_normal(double x, double sd)
{
    return -0.5 * log(2.0 * M_PI) - log(sd) - 0.5 * x * x / (sd * sd);
}

/* -log p(rows | u) - log p(u), by (1) of joint.h, for a linear model with one effect per
 * level. */
static double direct(const grouped *t, const double *w, const double *at)
{
    const mixed *m = t->u->self;
    const rows *r = m->data;
    double total = 0.0, sigma = exp(w[m->aux]);
    for (size_t i = 0; i < r->local_rows; i++) {
        double eta = dot(FIXED, r->storage.x + i * r->stride, w);
        for (size_t f = 0; f < m->others; f++)
            eta += at[m->other[f].first + m->groups->factor[m->other[f].factor].of[i]];
        total -= log_normal(r->y[i] - eta, sigma);
    }
    for (size_t f = 0; f < m->others; f++)
        for (size_t l = 0; l < m->groups->factor[m->other[f].factor].levels; l++)
            total -= log_normal(at[m->other[f].first + l], exp(w[m->other[f].spread]));
    return total;
}

#define CAPACITY ((size_t)20000) /* space after x for the numbers of joint_transform */

/* log |du/d eta| = log |J'J| / 2, by differences; u is linear in eta. */
static double log_jacobian(const grouped *t, double *w)
{
    static double low[MAX_DIM + CAPACITY], high[MAX_DIM + CAPACITY];
    double columns[MAX_DIM][MAX_DIM], square[MAX_DIM * MAX_DIM], total = 0.0;
    const mixed *m = t->u->self;
    size_t first = m->other[0].first, n = m->aux - first;
    for (size_t j = 0; j < n; j++) {
        double here = w[first + j];
        w[first + j] = here - 0.5;
        joint_transform(m, w, low);
        w[first + j] = here + 0.5;
        joint_transform(m, w, high);
        w[first + j] = here;
        for (size_t i = 0; i < n; i++) columns[j][i] = high[first + i] - low[first + i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) square[i * n + j] = dot(n, columns[i], columns[j]);
    CHECK(cholesky(n, square));
    for (size_t i = 0; i < n; i++) total += log(square[i * n + i]);
    return total;
}

/* The densities of eta and u differ by the Jacobian and a constant. */
TEST(the_density_is_that_of_rows_and_effects)
{
    static double at[MAX_DIM + CAPACITY];
    double w[MAX_DIM], first = 0.0;
    grouped t = make(&specs[0], w);
    rng r = rng_stream(2, 0, RNG_TEST);
    for (int i = 0; i < 6; i++) {
        double value, own = 0.0;
        const mixed *m = t.u->self;
        if (i == 3) CHECK(mixed_joint_recentre(t.u->self, t.data, w, NULL) == SBPS_OK);
        for (size_t j = 0; j < t.u->dim; j++) w[j] += 0.2 * rng_normal(&r);
        CHECK(posterior_value(t.u, w, &value, NULL) == SBPS_OK);
        joint_transform(m, w, at);
        for (size_t j = m->other[0].first; j < m->aux; j++) own += log_normal(w[j], 1.0);
        double others = log_prior_value(t.u, w) - own;
        double left = value + others + log_jacobian(&t, w) - direct(&t, w, at);
        if (i == 0) first = left;
        CHECK_NEAR(left, first, 1e-9);
    }
    grouped_close(&t);
}

/* Rows with negative curvature, such as outliers of student_t, count as 0. */
TEST(recentring_keeps_the_effects)
{
    for (size_t i = 0; i < SPECS; i++) {
        static double before[MAX_DIM + CAPACITY], after[MAX_DIM + CAPACITY];
        double w[MAX_DIM], unit[MAX_DIM], hv[MAX_DIM];
        grouped t = make(&specs[i], w);
        const mixed *m = t.u->self;
        for (int twice = 0; twice < 2; twice++) {
            joint_transform(m, w, before);
            CHECK(mixed_joint_recentre(t.u->self, t.data, w, NULL) == SBPS_OK);
            joint_transform(m, w, after);
            for (size_t j = 0; j < m->dim; j++) CHECK_NEAR(after[j], before[j], 1e-10);
            for (size_t j = m->other[0].first; j < m->aux; j++) CHECK(w[j] == 0.0);
        }
        for (size_t j = m->other[0].first; j < m->aux; j++) {
            memset(unit, 0, sizeof unit);
            unit[j] = 1.0;
            CHECK(posterior_hessian_vector(t.u, w, unit, hv, NULL) == SBPS_OK);
            if (strcmp(specs[i].model, "student_t")) CHECK_NEAR(hv[j], 1.0, 1e-6);
        }
        grouped_close(&t);
    }
}

/* ---- the metric ---- */

typedef struct {
    size_t d;
    double matrix[MAX_DIM * MAX_DIM];
} known;

static sbps_status product(const void *self, const double *v, double *hv, sbps_error *err)
{
    const known *k = self;
    (void)err;
    for (size_t i = 0; i < k->d; i++) hv[i] = dot(k->d, k->matrix + i * k->d, v);
    return SBPS_OK;
}

/* A test matrix: the first three coordinates have any curvature and are correlated with all
 * others, which have ones on the diagonal and a mean that is undetermined. */
static void make_matrix(known *k, size_t d)
{
    rng r = rng_stream(9, d, RNG_TEST);
    double columns[MAX_DIM][MAX_DIM];
    k->d = d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            columns[i][j] = (i == j) + (i >= 3) * 0.9 + 0.05 * rng_normal(&r);
    for (size_t i = 0; i < d; i++) {
        double scale = i < 3 ? pow(50.0, (double)i) : 1.0;
        scale /= norm(d, columns[i]);
        for (size_t j = 0; j < d; j++) columns[i][j] *= scale;
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) k->matrix[i * d + j] = dot(d, columns[i], columns[j]);
}

/* The largest eigenvalue of A'HA, or of most - A'HA. */
static double largest(const metric *a, const known *k, double limit)
{
    double v[MAX_DIM], x[MAX_DIM], y[MAX_DIM], length = 0.0;
    for (size_t j = 0; j < k->d; j++) v[j] = 1.0 + 0.1 * (double)(j % 7);
    for (int i = 0; i < 3000; i++) {
        a->kind->forward(a, v, x);
        product(k, x, y, NULL);
        a->kind->transpose(a, y, x);
        for (size_t j = 0; j < k->d && limit > 0.0; j++) x[j] = limit * v[j] - x[j];
        length = norm(k->d, x);
        for (size_t j = 0; j < k->d; j++) v[j] = x[j] / length;
    }
    return length;
}

TEST(the_metric_by_products_leaves_little_spread)
{
    static const size_t at[] = {0, 1, 2};
    const metric_core core = {at, 3};
    known k;
    metric *a;
    make_matrix(&k, 40);
    const metric_source h = {&k, product, 1e6};
    REQUIRE(metric_from_products(k.d, &core, 0, h, &a, NULL) == SBPS_OK);
    double before = largest(a, &k, 0.0);
    metric_destroy(a);
    REQUIRE(metric_from_products(k.d, &core, k.d, h, &a, NULL) == SBPS_OK);
    double upper = largest(a, &k, 0.0), lower = 4.0 - largest(a, &k, 4.0);
    printf("largest %.3g without pairs, with them %.3g, least %.3g\n", before, upper, lower);
    CHECK(before > 10.0);
    CHECK(upper < 2.0 && lower > 0.5);
    metric_destroy(a);
}

/* (A A')^-1 inverts A A'. */
TEST(the_metric_by_products_has_an_inverse)
{
    static const size_t at[] = {1, 4, 30};
    const metric_core core = {at, 3};
    known k;
    metric *a;
    double x[MAX_DIM], y[MAX_DIM], z[MAX_DIM];
    make_matrix(&k, 40);
    const metric_source h = {&k, product, 1e6};
    REQUIRE(metric_from_products(k.d, &core, 20, h, &a, NULL) == SBPS_OK);
    for (size_t j = 0; j < k.d; j++) x[j] = cos((double)j);
    a->kind->transpose(a, x, y);
    a->kind->forward(a, y, z);
    a->kind->precision(a, z, y);
    for (size_t j = 0; j < k.d; j++) CHECK_NEAR(y[j], x[j], 1e-8);
    metric_destroy(a);
}

/* H = 1 - 4 uu' has curvature -3 along u, as at a point away from the mode. The metric takes it
 * by its size. A floor of 1e-6 instead would make steps along u a thousand times too long. */
TEST(the_metric_by_products_takes_negative_curvature_by_its_size)
{
    static const size_t at[] = {0, 1, 2};
    const metric_core core = {at, 3};
    known k = {.d = 40};
    double u[MAX_DIM] = {0.0}, y[MAX_DIM];
    for (size_t i = 3; i < k.d; i++) u[i] = 1.0 / sqrt((double)(k.d - 3));
    for (size_t i = 0; i < k.d; i++)
        for (size_t j = 0; j < k.d; j++) k.matrix[i * k.d + j] = (i == j) - 4.0 * u[i] * u[j];
    const metric_source h = {&k, product, 1e6};
    metric *a;
    REQUIRE(metric_from_products(k.d, &core, 20, h, &a, NULL) == SBPS_OK);
    a->kind->precision(a, u, y);
    CHECK_NEAR(dot(k.d, u, y), 3.0, 1e-6);
    metric_destroy(a);
}

CHECK_MAIN
