/* A group's integral against sums on a fine grid and against closed forms; gradients and
 * Hessians against differences. */
#include "derivatives.h"
#include "linalg/cholesky.h"
#include "linalg/special_functions.h"

#define NODES_MANY ((size_t)25)

static const grouped_spec specs[] = {
    {.model = "logistic", .groups = 7, .each = 6, .effects = 1, .sd = {1.2, 0.0}, .seed = 1},
    {.model = "logistic",
     .groups = 7,
     .each = 6,
     .effects = 2,
     .sd = {1.2, 0.7},
     .cor = 0.4,
     .seed = 2},
    {.model = "logistic",
     .groups = 5,
     .each = 90,
     .effects = 2,
     .sd = {1.2, 0.7},
     .cor = -0.4,
     .weights = true,
     .seed = 3},
    {.model = "poisson",
     .groups = 7,
     .each = 6,
     .effects = 2,
     .sd = {0.6, 0.3},
     .cor = 0.4,
     .independent = true,
     .weights = true,
     .seed = 4},
    {.model = "linear",
     .groups = 7,
     .each = 6,
     .effects = 2,
     .sd = {1.2, 0.7},
     .cor = 0.4,
     .seed = 5},
    {.model = "linear",
     .groups = 5,
     .each = 90,
     .effects = 2,
     .sd = {1.2, 0.7},
     .cor = 0.4,
     .weights = true,
     .seed = 6},
};
#define SPECS (sizeof specs / sizeof *specs)

static mixed *nodes(const grouped *t, size_t count)
{
    mixed *m = t->u->self;
    CHECK(mixed_set_nodes(m, count, NULL) == SBPS_OK);
    return m;
}

/* Sets w to a generic point. */
static void place(const grouped *t, double *w)
{
    const double at[] = {0.2, 0.4, -0.2, -0.1, -0.5, 0.3, -0.3};
    size_t d = t->u->dim;
    for (size_t j = 0; j < d; j++) w[j] = at[j];
    if (((mixed *)t->u->self)->row_model->auxiliary_count) w[d - 1] = -0.3;
}

static double normal_density(double x)
{
    return exp(-0.5 * x * x) / sqrt(2.0 * M_PI);
}

/* The group's likelihood with effects L v. */
static double likelihood(const mixed *m, const double *w, size_t g, const double *v)
{
    effect_spread at;
    double total = 0.0;
    spread_at(&m->shape, w + m->data->d, false, &at);
    for (size_t i = m->groups->start[g]; i < m->groups->start[g + 1]; i++) {
        const double *x = m->table_rows->storage.x + i * m->table_rows->stride;
        double eta = w[0] * x[0] + w[1] * x[1] + w[2] * x[2], value;
        for (size_t a = 0; a < m->shape.effects; a++)
            for (size_t b = 0; b <= a; b++)
                eta += (a == 0 ? 1.0 : x[1]) * at.factor[a][b] * v[b];
        const batch one = {.k = m->k,
                           .n = 1,
                           .eta = &eta,
                           .y = m->table_rows->y + i,
                           .aux = w + m->aux,
                           .pitch = 1};
        m->row_model->predictor->loglik(&one, &value);
        total += (m->table_rows->weight ? m->table_rows->weight[i] : 1.0) * value;
    }
    return exp(total);
}

static double on_a_grid(const mixed *m, const double *w, size_t g)
{
    double sum = 0.0, step = 0.02, reach = 8.0;
    bool two = m->shape.effects > 1;
    if (two) step = 0.05;
    for (double a = -reach; a <= reach; a += step)
        for (double b = two ? -reach : 0.0; b <= (two ? reach : 0.0); b += step) {
            const double v[] = {a, b};
            sum += likelihood(m, w, g, v) * normal_density(a) * step *
                   (two ? normal_density(b) * step : 1.0);
        }
    return log(sum);
}

TEST(a_group_is_the_integral_over_its_effects)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        mixed *m = nodes(&t, NODES_MANY);
        double w[16], value, *scratch = new_doubles(t.u->model->rows.scratch(m, 1));
        place(&t, w);
        for (size_t g = 0; g < specs[s].groups; g++) {
            t.u->model->rows.loglik(m, rows_from(g, 1), w, scratch, &value);
            CHECK_NEAR(value, on_a_grid(m, w, g), 1e-6 * fmax(1.0, fabs(value)));
        }
        free(scratch);
        grouped_close(&t);
    }
}

/* log N(y; X beta, Z S Z' + sigma^2/weight) of a group, with weights as exponents: sigma once
 * for every unit of weight. */
static double closed_form(const mixed *m, const double *w, size_t g)
{
    effect_spread at;
    size_t first = m->groups->start[g], n = m->groups->start[g + 1] - first;
    double *v = new_doubles(n * n), *r = new_doubles(n), *weight = new_doubles(n),
           value = -0.5 * (double)n * log(2.0 * M_PI);
    spread_at(&m->shape, w + m->data->d, false, &at);
    for (size_t i = 0; i < n; i++) {
        weight[i] = m->table_rows->weight ? m->table_rows->weight[first + i] : 1.0;
        value += (1.0 - weight[i]) * (0.5 * log(2.0 * M_PI) + w[m->aux]) - 0.5 * log(weight[i]);
    }
    for (size_t i = 0; i < n; i++) {
        const double *x = m->table_rows->storage.x + (first + i) * m->table_rows->stride;
        r[i] = m->table_rows->y[first + i] - w[0] * x[0] - w[1] * x[1] - w[2] * x[2];
        for (size_t j = 0; j < n; j++) {
            const double *y = m->table_rows->storage.x + (first + j) * m->table_rows->stride;
            double a0 = at.factor[0][0] + x[1] * at.factor[1][0], a1 = x[1] * at.factor[1][1];
            double b0 = at.factor[0][0] + y[1] * at.factor[1][0], b1 = y[1] * at.factor[1][1];
            v[i * n + j] =
                a0 * b0 + a1 * b1 + (i == j ? exp(2.0 * w[m->aux]) / weight[i] : 0.0);
        }
    }
    CHECK(cholesky(n, v));
    for (size_t i = 0; i < n; i++) {
        r[i] = (r[i] - dot(i, v + i * n, r)) / v[i * n + i];
        value -= log(v[i * n + i]) + 0.5 * r[i] * r[i];
    }
    free(v);
    free(r);
    free(weight);
    return value;
}

/* Also for the few rows that replace those of long groups. */
TEST(of_normal_rows_three_nodes_are_exact)
{
    for (size_t s = 4; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        mixed *m = nodes(&t, 3);
        double w[16], value, *scratch = new_doubles(t.u->model->rows.scratch(m, 1));
        place(&t, w);
        for (size_t g = 0; g < specs[s].groups; g++) {
            t.u->model->rows.loglik(m, rows_from(g, 1), w, scratch, &value);
            CHECK_NEAR(value, closed_form(m, w, g), 1e-10 * fmax(1.0, fabs(value)));
            CHECK(m->start[g + 1] - m->start[g] <= FIXED + 1); /* z is among the columns of x */
        }
        free(scratch);
        grouped_close(&t);
    }
}

#define STEP 1e-5

TEST(gradients_and_hessians_are_derivatives)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[MAX_DIM];
        nodes(&t, NODES_MANY);
        place(&t, w);
        check_derivatives(&t, w, STEP, 1e-4);
        grouped_close(&t);
    }
}

TEST(slopes_are_gradients_along)
{
    for (size_t s = 0; s < SPECS; s++) {
        grouped t = grouped_make(&specs[s]);
        double w[MAX_DIM];
        nodes(&t, 5);
        place(&t, w);
        check_slopes(&t, w);
        grouped_close(&t);
    }
}

TEST(nodes_integrate_polynomials)
{
    for (size_t n = 1; n <= 40; n++) {
        double node[HERMITE_MAX], weight[HERMITE_MAX], moment = 1.0;
        hermite_rule(n, node, weight);
        for (size_t p = 0; p < 2 * n && p < 20; p += 2) {
            double sum = 0.0;
            for (size_t i = 0; i < n; i++) sum += weight[i] * pow(node[i], (double)p);
            CHECK_NEAR(sum, moment, 1e-10 * moment);
            moment *= (double)p + 1.0;
        }
    }
}

CHECK_MAIN
