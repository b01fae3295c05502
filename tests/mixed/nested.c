/* Nested groups: integrals against the closed form of normal rows and against a grid, gradients
 * and Hessians against differences, draws of effects against the integral's own moments. */
#include "derivatives.h"
#include "linalg/cholesky.h"
#include "model/mixed/group_effects.h"
#include "model/mixed/group_view.h"

#define STEP 0.01 /* modes are found so accurately that values jump by up to 1e-6 */

static const grouped_spec specs[] = {
    {.model = "linear",
     .groups = 7,
     .each = 6,
     .effects = 1,
     .sd = {1.2, 0.0},
     .seed = 1,
     .nested = 2,
     .nested_effects = 1},
    {.model = "linear",
     .groups = 6,
     .each = 6,
     .effects = 2,
     .sd = {1.2, 0.5},
     .seed = 2,
     .nested = 3,
     .nested_effects = 2},
    {.model = "logistic",
     .groups = 7,
     .each = 6,
     .effects = 1,
     .sd = {1.2, 0.0},
     .seed = 3,
     .weights = true,
     .nested = 2,
     .nested_effects = 1},
    {.model = "poisson",
     .groups = 6,
     .each = 5,
     .effects = 1,
     .sd = {0.5, 0.0},
     .seed = 4,
     .nested = 2,
     .nested_effects = 2,
     .crossed = 3,
     .crossed_effects = 1},
};
#define SPECS (sizeof specs / sizeof *specs)

/* More parts than are evaluated together. */
static const grouped_spec large[] = {
    {.model = "linear",
     .groups = 2,
     .each = 650,
     .lopsided = true,
     .effects = 1,
     .sd = {1.2, 0.0},
     .seed = 5,
     .nested = 1,
     .nested_effects = 1},
    {.model = "linear",
     .groups = 2,
     .each = 650,
     .lopsided = true,
     .effects = 2,
     .sd = {1.2, 0.5},
     .seed = 6,
     .nested = 1,
     .nested_effects = 1},
};

static mixed *generic_point(const grouped *t, size_t nodes, double *w)
{
    mixed *m = t->u->self;
    CHECK(mixed_set_nodes(m, nodes, NULL) == SBPS_OK);
    rng r = rng_stream(7, 0, RNG_SIMULATE);
    for (size_t j = 0; j < m->dim; j++) w[j] = 0.3 * rng_normal(&r);
    return m;
}

/* L'z of row i for a level's effects: the constant and x1 */
static void along(const mixed *m, size_t level, const double *w, size_t i, double *out)
{
    effect_spread at;
    const nested_level *l = &m->level[level];
    spread_at(&l->shape, w + l->spread, false, &at);
    const double z[] = {1.0, m->data->storage.x[i * m->data->stride + 1]};
    for (size_t a = 0; a < 2; a++) {
        out[a] = 0.0;
        for (size_t b = a; b < l->shape.effects; b++) out[a] += at.factor[b][a] * z[b];
    }
}

/* log N(y; X beta, sum over levels of Z S Z' + sigma^2) of a group */
static double closed_form(const mixed *m, const double *w, size_t g)
{
    size_t first = m->groups->start[g], n = m->groups->start[g + 1] - first;
    double *v = new_doubles(n * n), *r = new_doubles(n),
           value = -0.5 * (double)n * log(2.0 * M_PI);
    for (size_t i = 0; i < n; i++) {
        r[i] = m->data->y[first + i] -
               dot(FIXED, w, m->data->storage.x + (first + i) * m->data->stride);
        for (size_t j = 0; j < n; j++) {
            v[i * n + j] = i == j ? exp(2.0 * w[m->aux]) : 0.0;
            for (size_t l = 0; l < m->levels; l++) {
                double a[2], b[2];
                const uint32_t *of = m->groups->factor[m->level[l].factor].of + first;
                along(m, l, w, first + i, a);
                along(m, l, w, first + j, b);
                if (of[i] == of[j]) v[i * n + j] += dot(2, a, b);
            }
        }
    }
    CHECK(cholesky(n, v));
    for (size_t i = 0; i < n; i++) {
        r[i] = (r[i] - dot(i, v + i * n, r)) / v[i * n + i];
        value -= log(v[i * n + i]) + 0.5 * r[i] * r[i];
    }
    free(v);
    free(r);
    return value;
}

static void check_closed_form(const grouped_spec *s)
{
    grouped t = grouped_make(s);
    double w[MAX_DIM], value;
    mixed *m = generic_point(&t, 3, w);
    double *scratch = new_doubles(t.u->model->rows.scratch(m, 1));
    for (size_t g = 0; g < s->groups; g++) {
        t.u->model->rows.loglik(m, rows_from(g, 1), w, scratch, &value);
        CHECK_NEAR(value, closed_form(m, w, g), 1e-9 * fmax(1.0, fabs(value)));
    }
    free(scratch);
    grouped_close(&t);
}

TEST(of_normal_rows_few_nodes_are_exact)
{
    for (size_t s = 0; s < 2; s++) check_closed_form(&specs[s]);
}

TEST(any_number_of_parts)
{
    for (size_t s = 0; s < 2; s++) {
        check_closed_form(&large[s]);
        grouped t = grouped_make(&large[s]);
        double w[MAX_DIM];
        generic_point(&t, 3, w);
        check_derivatives(&t, w, STEP, 1e-2);
        grouped_close(&t);
    }
}

static double normal_density(double x)
{
    return exp(-0.5 * x * x) / sqrt(2.0 * M_PI);
}

static double row_likelihood(const mixed *m, const double *w, size_t i, double more)
{
    double eta = dot(FIXED, w, m->data->storage.x + i * m->data->stride) + more, value;
    const batch one = {
        .k = m->k, .n = 1, .eta = &eta, .y = m->data->y + i, .aux = w + m->aux, .pitch = 1};
    m->row_model->predictor->loglik(&one, &value);
    return exp((m->data->weight ? m->data->weight[i] : 1.0) * value);
}

/* Intercepts: a grid for the group's, and for each of its points one for every part's. */
static double on_a_grid(const mixed *m, const double *w, size_t g)
{
    double outer = exp(w[m->level[0].spread]), inner = exp(w[m->level[1].spread]);
    double step = 0.05, reach = 7.0, total = 0.0;
    const uint32_t *of = m->groups->factor[m->level[1].factor].of;
    size_t end = m->groups->start[g + 1];
    for (double a = -reach; a <= reach; a += step) {
        double product = 1.0;
        for (size_t i = m->groups->start[g], next; i < end; i = next) {
            double part = 0.0;
            for (next = i; next < end && of[next] == of[i];) next++;
            for (double b = -reach; b <= reach; b += step) {
                double likelihood = 1.0;
                for (size_t k = i; k < next; k++)
                    likelihood *= row_likelihood(m, w, k, outer * a + inner * b);
                part += likelihood * normal_density(b) * step;
            }
            product *= part;
        }
        total += product * normal_density(a) * step;
    }
    return log(total);
}

TEST(a_group_is_an_integral_of_integrals)
{
    grouped t = grouped_make(&specs[2]);
    double w[MAX_DIM], value;
    mixed *m = generic_point(&t, 25, w);
    double *scratch = new_doubles(t.u->model->rows.scratch(m, 1));
    for (size_t g = 0; g < specs[2].groups; g++) {
        t.u->model->rows.loglik(m, rows_from(g, 1), w, scratch, &value);
        CHECK_NEAR(value, on_a_grid(m, w, g), 1e-6 * fmax(1.0, fabs(value)));
    }
    free(scratch);
    grouped_close(&t);
}

TEST(gradients_and_hessians_are_derivatives)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[MAX_DIM];
        generic_point(&t, specs[s].nested_effects > 1 ? 11 : 15, w);
        check_derivatives(&t, w, STEP, 1e-2);
        grouped_close(&t);
    }
}

TEST(slopes_are_gradients_along)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[MAX_DIM];
        generic_point(&t, 5, w);
        check_slopes(&t, w);
        grouped_close(&t);
    }
}

/* With normal rows the effects of a group and its parts are normal: their distribution given y,
 * by conditioning. */
static void conditional(const mixed *m, const double *w, size_t g, size_t count, double *mean,
                        double *sd)
{
    size_t first = m->groups->start[g], n = m->groups->start[g + 1] - first;
    const uint32_t *part = m->groups->factor[m->level[1].factor].of + first;
    double variance[] = {exp(2.0 * w[m->level[0].spread]), exp(2.0 * w[m->level[1].spread])};
    double *v = new_doubles(n * n), *r = new_doubles(n), *c = new_doubles(n);
    for (size_t i = 0; i < n; i++) {
        r[i] = m->data->y[first + i] -
               dot(FIXED, w, m->data->storage.x + (first + i) * m->data->stride);
        for (size_t j = 0; j < n; j++)
            v[i * n + j] = variance[0] + (part[i] == part[j] ? variance[1] : 0.0) +
                           (i == j ? exp(2.0 * w[m->aux]) : 0.0);
    }
    CHECK(cholesky(n, v));
    cholesky_solve(n, v, r);
    for (size_t e = 0; e < count; e++) { /* the group's, then those of its parts */
        double own = variance[e > 0];
        for (size_t i = 0; i < n; i++) c[i] = e == 0 || part[i] == part[0] + e - 1 ? own : 0.0;
        mean[e] = dot(n, c, r);
        double *solved = new_doubles(n);
        memcpy(solved, c, n * sizeof *c);
        cholesky_solve(n, v, solved);
        sd[e] = sqrt(own - dot(n, c, solved));
        free(solved);
    }
    free(v);
    free(r);
    free(c);
}

#define DRAWS   ((size_t)4000)
#define Z_LIMIT 4.5

TEST(effects_of_normal_rows_have_their_conditional_distribution)
{
    grouped t = grouped_make(&specs[0]);
    double w[MAX_DIM];
    mixed *m = generic_point(&t, 3, w);
    const double **phi = calloc(DRAWS, sizeof *phi);
    effects_sampler *plan;
    for (size_t i = 0; i < DRAWS; i++) phi[i] = w;
    REQUIRE(effects_sampler_open(m, DRAWS, phi, &plan, NULL) == SBPS_OK);
    double *scratch = new_doubles(effects_scratch(plan));
    for (size_t g = 0; g < specs[0].groups; g++) {
        double mean[16], sd[16];
        size_t count = mixed_effects(m, g);
        REQUIRE(count >= 2 && count <= mixed_effects_max(m) && count < 16);
        double *drawn = new_doubles(DRAWS * count);
        conditional(m, w, g, count, mean, sd);
        CHECK(isnan(effects_draw(plan, g, 5, scratch, drawn).error));
        for (size_t e = 0; e < count; e++) {
            double sum_of = 0.0, squares = 0.0;
            for (size_t i = 0; i < DRAWS; i++) sum_of += drawn[e * DRAWS + i] / (double)DRAWS;
            for (size_t i = 0; i < DRAWS; i++)
                squares += pow(drawn[e * DRAWS + i] - sum_of, 2.0) / (double)DRAWS;
            CHECK_NEAR(sum_of, mean[e], Z_LIMIT * sd[e] / sqrt((double)DRAWS));
            CHECK_NEAR(sqrt(squares), sd[e], Z_LIMIT * sd[e] / sqrt(2.0 * (double)DRAWS));
        }
        free(drawn);
    }
    free(scratch);
    effects_sampler_close(plan);
    free(phi);
    grouped_close(&t);
}

CHECK_MAIN
