/* Effects of crossed factors: their distribution is the same for every standardisation,
 * derivatives agree with differences, and a new standardisation at a point leaves its effects
 * unchanged. */
#include "derivatives.h"
#include "linalg/cholesky.h"
#include "model/mixed/crossed_effects.h"
#include "posterior/full/log_prior.h"

#define Q LEVEL_EFFECTS_MAX

/* ---- one level ---- */

typedef struct {
    other_factor o;
    double precision[2 * Q * Q], pull[2 * Q], x[SPREAD_MAX], eta[Q];
} one_level;

/* q effects of one term with a correlation for every pair; level 1 is evaluated. */
static void level_make(one_level *l, size_t q, uint64_t seed)
{
    rng r = rng_stream(seed, 0, RNG_SIMULATE);
    double root[Q * Q];
    *l = (one_level){0};
    l->o = (other_factor){.precision = l->precision, .pull = l->pull, .spread = 3, .first = 20};
    spread_shape *s = &l->o.shape;
    s->effects = q;
    for (size_t a = 0; a < q; a++) s->of[s->count++] = (spread_coordinate){0, a, a};
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < a; b++) s->of[s->count++] = (spread_coordinate){0, a, b};
    for (size_t k = 0; k < s->count; k++) l->x[k] = 0.5 * rng_normal(&r);
    for (size_t a = 0; a < q; a++) l->eta[a] = rng_normal(&r);
    for (size_t a = 0; a < q; a++) l->pull[q + a] = 2.0 * rng_normal(&r);
    for (size_t a = 0; a < q * q; a++) root[a] = rng_normal(&r);
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++)
            l->precision[q * q + a * q + b] = dot(q, root + a * q, root + b * q);
}

static void evaluate_level(const one_level *l, const double *x, const double *eta,
                           level_point *out)
{
    effect_spread at;
    spread_at(&l->o.shape, x, false, &at);
    level_at(&l->o, &at, 1, eta, true, out);
}

static double log_determinant(size_t q, double (*a)[Q])
{
    double total = 0.0;
    for (size_t i = 0; i < q; i++) {
        size_t best = i;
        for (size_t k = i; k < q; k++)
            if (fabs(a[k][i]) > fabs(a[best][i])) best = k;
        for (size_t j = 0; j < q; j++) {
            double kept = a[i][j];
            a[i][j] = a[best][j];
            a[best][j] = kept;
        }
        for (size_t k = i + 1; k < q; k++) {
            double by = a[k][i] / a[i][i];
            for (size_t j = i; j < q; j++) a[k][j] -= by * a[i][j];
        }
        total += log(fabs(a[i][i]));
    }
    return total;
}

/* p(eta) = N(u; 0, L L') |du/d eta| */
TEST(levels_have_one_distribution_in_all_standardisations)
{
    for (size_t q = 1; q <= 3; q++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            one_level l;
            level_point p;
            effect_spread at;
            level_make(&l, q, seed);
            evaluate_level(&l, l.x, l.eta, &p);
            spread_at(&l.o.shape, l.x, false, &at);
            double z[Q], log_u = 0.0, jacobian[Q][Q];
            for (size_t a = 0; a < q; a++) {
                z[a] = (p.effect[a] - dot(a, at.factor[a], z)) / at.factor[a][a];
                log_u -= 0.5 * z[a] * z[a] + log(at.factor[a][a]);
                memcpy(jacobian[a], p.first[l.o.shape.count + a], sizeof jacobian[a]);
            }
            double log_eta = p.value - 0.5 * dot(q, l.eta, l.eta);
            CHECK_NEAR(log_eta, log_u + log_determinant(q, jacobian), 1e-10 * fabs(log_eta));
        }
}

#define STEP 1e-5

TEST(first_derivatives_are_differences)
{
    for (size_t q = 1; q <= 3; q++) {
        one_level l;
        level_point p, low, high;
        level_make(&l, q, 11);
        evaluate_level(&l, l.x, l.eta, &p);
        for (size_t k = 0; k < level_moves(&l.o); k++) {
            bool spread = k < l.o.shape.count;
            double *moved = spread ? &l.x[k] : &l.eta[k - l.o.shape.count], here = *moved;
            *moved = here - STEP;
            evaluate_level(&l, l.x, l.eta, &low);
            *moved = here + STEP;
            evaluate_level(&l, l.x, l.eta, &high);
            *moved = here;
            CHECK_NEAR((high.value - low.value) / (2.0 * STEP), p.value_first[k], 1e-7);
            for (size_t a = 0; a < q; a++)
                CHECK_NEAR((high.effect[a] - low.effect[a]) / (2.0 * STEP), p.first[k][a],
                           1e-7);
        }
    }
}

/* The new standardisation has its 0 at the effects, and a covariance that was `covariance`
 * becomes about I. */
TEST(recentring_keeps_the_effects)
{
    for (size_t q = 1; q <= 3; q++) {
        one_level l;
        level_point before, after;
        effect_spread at;
        double covariance[Q * Q] = {0.0};
        level_make(&l, q, 12);
        evaluate_level(&l, l.x, l.eta, &before);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) covariance[a * q + b] = a == b ? 0.3 : 0.05;
        spread_at(&l.o.shape, l.x, false, &at);
        level_recentre(&l.o, &at, 1, covariance, l.eta);
        evaluate_level(&l, l.x, l.eta, &after);
        const double(*old)[Q] = (const double(*)[Q])before.first[l.o.shape.count];
        const double(*new)[Q] = (const double(*)[Q])after.first[l.o.shape.count];
        for (size_t a = 0; a < q; a++) {
            CHECK(l.eta[a] == 0.0);
            CHECK_NEAR(after.effect[a], before.effect[a], 1e-9);
            for (size_t b = 0; b < q; b++) {
                double was = 0.0, is = 0.0;
                for (size_t k = 0; k < q; k++) {
                    is += new[k][a] * new[k][b];
                    for (size_t j = 0; j < q; j++)
                        was += old[k][a] * covariance[k * q + j] * old[j][b];
                }
                CHECK_NEAR(is, was, 1e-9);
            }
        }
    }
}

/* ---- groups ---- */

static const grouped_spec specs[] = {
    {.model = "logistic",
     .groups = 7,
     .each = 6,
     .effects = 1,
     .sd = {1.2, 0.0},
     .seed = 1,
     .crossed = 4,
     .crossed_effects = 1},
    {.model = "poisson",
     .groups = 6,
     .each = 4,
     .effects = 2,
     .sd = {0.4, 0.2},
     .cor = 0.4,
     .seed = 2,
     .weights = true,
     .crossed = 5,
     .crossed_effects = 2},
    {.model = "linear",
     .groups = 9,
     .each = 300,
     .effects = 1,
     .sd = {1.2, 0.0},
     .seed = 3,
     .crossed = 4,
     .crossed_effects = 2},
};
#define SPECS (sizeof specs / sizeof *specs)

/* Sets w to a generic point, with P and b that data could have given. */
static mixed *generic_point(const grouped *t, double *w)
{
    mixed *m = t->u->self;
    other_factor *o = &m->other[0];
    size_t q = o->shape.effects, levels = m->groups->factor[o->factor].levels;
    CHECK(mixed_set_nodes(m, 25, NULL) == SBPS_OK);
    rng r = rng_stream(7, 0, RNG_SIMULATE);
    for (size_t j = 0; j < m->dim; j++) w[j] = 0.3 * rng_normal(&r);
    for (size_t l = 0; l < levels; l++)
        for (size_t a = 0; a < q; a++) {
            o->precision[(l * q + a) * q + a] = 1.0 + (double)l;
            o->pull[l * q + a] = rng_normal(&r);
        }
    return m;
}

TEST(gradients_and_hessians_are_derivatives)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[MAX_DIM];
        generic_point(&t, w);
        check_derivatives(&t, w, STEP, 1e-4);
        grouped_close(&t);
    }
}

TEST(slopes_are_gradients_along)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[MAX_DIM];
        generic_point(&t, w);
        check_slopes(&t, w);
        grouped_close(&t);
    }
}

/* log N(y; X beta, Z S Z' + Z_h S_h Z_h' + sigma^2) of all rows, against the integral over eta:
 * with the Hessian H of U in eta, the least U and log |H|/2. */
TEST(normal_rows_have_the_closed_form)
{
    grouped_spec s = specs[2];
    s.each = 5;
    grouped t = grouped_make(&s);
    double w[MAX_DIM], gradient[MAX_DIM], hessian[MAX_DIM * MAX_DIM], value;
    mixed *m = generic_point(&t, w);
    const other_factor *o = &m->other[0];
    size_t n = m->data->local_rows, d = m->dim, from = o->first, count = m->aux - from;
    w[m->aux] = -0.3;
    for (size_t j = from; j < m->aux; j++) w[j] = 0.0;
    const expansion out = {&value, gradient, hessian};
    REQUIRE(posterior_expand(t.u, w, &out, NULL, NULL) == SBPS_OK);
    double *h = new_doubles(count * count), *step = new_doubles(count);
    for (size_t i = 0; i < count; i++) {
        step[i] = gradient[from + i]; /* flat here: the prior of eta comes with h */
        for (size_t j = 0; j < count; j++)
            h[i * count + j] = hessian[(from + i) * d + from + j] + (i == j ? 1.0 : 0.0);
    }
    REQUIRE(cholesky(count, h));
    double direct = -value - log_prior_value(t.u, w), solved[MAX_DIM];
    memcpy(solved, step, count * sizeof *solved);
    cholesky_solve(count, h, solved);
    direct += 0.5 * dot(count, step, solved);
    for (size_t i = 0; i < count; i++) direct -= log(h[i * count + i]);

    effect_spread own, other;
    spread_at(&m->shape, w + m->data->d, false, &own);
    spread_at(&o->shape, w + o->spread, false, &other);
    double *v = new_doubles(n * n), *r = new_doubles(n),
           closed = -0.5 * (double)n * log(2.0 * M_PI);
    for (size_t i = 0; i < n; i++) {
        const double *x = m->data->storage.x + i * m->data->stride;
        r[i] = m->data->y[i] - dot(FIXED, x, w);
        for (size_t j = 0; j < n; j++) {
            const double *y = m->data->storage.x + j * m->data->stride;
            double with[2] = {other.factor[0][0] + x[1] * other.factor[1][0],
                              x[1] * other.factor[1][1]};
            double and[2] = {other.factor[0][0] + y[1] * other.factor[1][0],
                             y[1] * other.factor[1][1]};
            const uint32_t *g = m->groups->factor[0].of, *k = m->groups->factor[1].of;
            v[i * n + j] = i == j ? exp(2.0 * w[m->aux]) : 0.0;
            if (g[i] == g[j]) v[i * n + j] += own.factor[0][0] * own.factor[0][0];
            if (k[i] == k[j]) v[i * n + j] += dot(2, with, and);
        }
    }
    REQUIRE(cholesky(n, v));
    for (size_t i = 0; i < n; i++) {
        r[i] = (r[i] - dot(i, v + i * n, r)) / v[i * n + i];
        closed -= log(v[i * n + i]) + 0.5 * r[i] * r[i];
    }
    CHECK_NEAR(direct, closed, 1e-8 * fabs(closed));
    free(h);
    free(step);
    free(v);
    free(r);
    grouped_close(&t);
}

CHECK_MAIN
