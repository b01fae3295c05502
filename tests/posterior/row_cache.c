/* Quantities computed during a pass over all rows equal, bit for bit, those computed
 * separately: a control variate by control_create, influence by influence_measure. It also
 * agrees with the definition, row by row. For every predictor model and every storage, with and
 * without weights and offsets, by one and two threads. */
#include "posterior/full/row_cache.h"
#include "linalg/cholesky.h"
#include "minibatch/fixture.h"
#include "posterior/full/influence.h"
#include "posterior/mode/mode.h"
#include "table/row_sums.h"

#define ROWS    (PART_ROWS + 619) /* two parts, the last ragged */
#define EFFECTS ((size_t)8)
/* of influence, when the Hessian of the previous evaluation is used instead of its own */
#define NEARLY 0.2

static const char *const storages[] = {"double", "float", "sparse"};

/* Where influence is written. */
typedef struct {
    float rows[INFLUENCE_ORDERS][ROWS];
    row_effect list[EFFECTS];
    row_effects effects;
    double steepness;
} measured;

static influence_target target_of(measured *m)
{
    m->effects = (row_effects){.min_shift = 1e-3, .capacity = EFFECTS, .list = m->list};
    influence_target to = {.effects = &m->effects, .steepness = &m->steepness, .spread = 2.0};
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++) to.rows[order] = m->rows[order];
    return to;
}

typedef struct {
    table t;
    const posterior *u;
    measured *on_the_way, *alone;
    row_cache *g;
    struct row_workers row_threads;
    double near[DIM_MAX * DIM_MAX], value, gradient[DIM_MAX], hessian[DIM_MAX * DIM_MAX];
} subject;

static subject *subject_make(const model_kind *model, const char *storage, bool weighted)
{
    subject *s = calloc(1, sizeof *s);
    s->t = table_make(model, (table_spec){.n = ROWS,
                                          .columns = 5,
                                          .weights = "normal(0.3,1.5)",
                                          .sigma = "exponential(1.3)",
                                          .weighted = weighted,
                                          .centred = weighted,
                                          .storage = storage});
    s->on_the_way = calloc(1, sizeof *s->on_the_way);
    s->alone = calloc(1, sizeof *s->alone);
    s->u = s->t.u;
    s->row_threads.threads = weighted ? 2 : 1;
    s->t.data->workers = &s->row_threads;
    CHECK(!strcmp(s->t.data->storage.kind->name, storage));
    influence_target to = target_of(s->on_the_way);
    CHECK(row_cache_open(s->u, &to, &s->g, NULL) == SBPS_OK);
    return s;
}

static void subject_close(subject *s)
{
    row_cache_close(s->g);
    free(s->on_the_way);
    free(s->alone);
    table_close(&s->t);
    free(s);
}

/* Prints the case, once, if a check failed. */
static void for_each_subject(void (*property)(subject *s))
{
    for (size_t k = 0; regression_model(k); k++)
        for (size_t i = 0; i < 2 * sizeof storages / sizeof *storages; i++) {
            int before = check_failures;
            subject *s = subject_make(regression_model(k), storages[i / 2], i % 2);
            property(s);
            if (check_failures > before)
                printf("of %s, %s%s\n", regression_model(k)->name, storages[i / 2],
                       i % 2 ? ", weighted" : "");
            subject_close(s);
        }
}

static bool same(size_t n, const double *a, const double *b)
{
    return a && b ? !memcmp(a, b, n * sizeof *a) : !a && !b;
}

/* Numbers, order and all. */
static void check_same_control(const posterior *u, const control *a, const control *b)
{
    size_t n = u->data->local_rows, dim = u->dim, aux = u->auxiliaries;
    CHECK(same(dim, a->w, b->w));
    CHECK(same(dim, a->gradient, b->gradient));
    CHECK(same(dim * ((dim + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES), a->hessian,
               b->hessian));
    CHECK(same(n, a->d_eta, b->d_eta));
    CHECK(same(n * aux, a->d_aux, b->d_aux));
    CHECK(same(n, a->eta, b->eta));
    CHECK(same(n, a->ee, b->ee));
    CHECK(same(n * aux, a->ea, b->ea));
    CHECK(same(n * packed_size(aux), a->aa, b->aa));
    CHECK(same(n, a->base, b->base));
}

static void check_same_influence(const measured *a, const measured *b)
{
    CHECK(!memcmp(a->rows, b->rows, sizeof a->rows));
    CHECK(a->steepness == b->steepness && a->steepness > 1.0);
    CHECK(a->effects.count == b->effects.count && a->effects.count > 0);
    for (size_t i = 0; i < a->effects.count && i < b->effects.count; i++) {
        CHECK(a->list[i].row == b->list[i].row);
        CHECK(a->list[i].parameter == b->list[i].parameter);
        CHECK(a->list[i].shift == b->list[i].shift);
    }
}

/* At p, with a Hessian of another point, made positive definite by its diagonal. */
static bool gather(subject *s)
{
    size_t dim = s->u->dim;
    double zero[DIM_MAX] = {0};
    const expansion out = {&s->value, s->gradient, s->hessian};
    posterior_hessian(s->u, zero, s->near, NULL);
    for (size_t j = 0; j < dim; j++) {
        double total = 1.0;
        for (size_t k = 0; k < dim; k++) total += fabs(s->near[j * dim + k]);
        s->near[j * dim + j] = total;
    }
    sbps_status status = row_cache_expand(s->g, s->t.p, s->near, &out, NULL);
    return status == SBPS_OK && s->g->complete;
}

static void check_expansion(const subject *s)
{
    double value, gradient[DIM_MAX], hessian[DIM_MAX * DIM_MAX];
    posterior_gradient(s->u, s->t.p, &value, gradient, NULL);
    posterior_hessian(s->u, s->t.p, hessian, NULL);
    CHECK(value == s->value);
    CHECK(same(s->u->dim, gradient, s->gradient));
    CHECK(same(s->u->dim * s->u->dim, hessian, s->hessian));
}

static void bits_property(subject *s)
{
    control *made = NULL;
    REQUIRE(gather(s));
    check_expansion(s);
    REQUIRE(control_create(s->u, s->t.p, CONTROL_HESSIAN, NULL, &made, NULL) == SBPS_OK);
    check_same_control(s->u, s->g->control, made);
    control_destroy(made);
    const influence_target to = target_of(s->alone);
    REQUIRE(cholesky(s->u->dim, s->near));
    const influence_point at = {s->t.p, s->t.p, s->near};
    REQUIRE(influence_measure(s->u, &at, &to, NULL) == SBPS_OK);
    check_same_influence(s->on_the_way, s->alone);
}

TEST(cached_and_separate_computations_have_the_same_bits)
{
    for_each_subject(bits_property);
}

static void reduction_property(subject *s)
{
    control *made = NULL;
    REQUIRE(gather(s));
    control_reduce(s->u, s->g->control);
    REQUIRE(control_create(s->u, s->t.p, CONTROL_GRADIENT, NULL, &made, NULL) == SBPS_OK);
    check_same_control(s->u, s->g->control, made);
    control_destroy(made);
}

TEST(the_reduced_cache_is_the_first_order_control_variate)
{
    for_each_subject(reduction_property);
}

/* Influence uses the Hessian of the previous step, so that it agrees approximately. */
static void check_near_influence(subject *s, const mode *m)
{
    double factor[DIM_MAX * DIM_MAX];
    const influence_point at = {m->w, m->w, factor};
    const influence_target to = target_of(s->alone);
    memcpy(factor, m->hessian, s->u->dim * s->u->dim * sizeof *factor);
    REQUIRE(cholesky(s->u->dim, factor));
    REQUIRE(influence_measure(s->u, &at, &to, NULL) == SBPS_OK);
    double worst = 0.0;
    for (size_t order = 0; order < INFLUENCE_ORDERS; order++)
        for (size_t i = 0; i < ROWS; i++) {
            double got = s->on_the_way->rows[order][i], expected = s->alone->rows[order][i];
            if (expected > 0.0) worst = fmax(worst, fabs(got - expected) / expected);
        }
    CHECK_NEAR(worst, 0.0, NEARLY);
    CHECK_NEAR(s->on_the_way->steepness / s->alone->steepness, 1.0, NEARLY);
}

/* The cache after a search for a reference belongs to its last point. */
static void search_property(subject *s)
{
    control *made = NULL;
    mode *m = NULL;
    REQUIRE(mode_near(s->u, NULL, s->g, false, &m, NULL) == SBPS_OK && s->g->complete);
    CHECK(same(s->u->dim, m->w, s->g->control->w));
    REQUIRE(control_create(s->u, m->w, CONTROL_HESSIAN, NULL, &made, NULL) == SBPS_OK);
    check_same_control(s->u, s->g->control, made);
    check_near_influence(s, m);
    control_destroy(made);
    mode_destroy(m);
}

TEST(a_search_ends_with_the_cache_of_its_last_point)
{
    for_each_subject(search_property);
}

/* Derivatives of row i at w by the model, from this row alone. */
typedef struct {
    double x[DIM_MAX + KERNEL_LANES], eta, weight;
    double d_eta, d_aux[2], ee, ea[2], aa[3];
} row_alone;

static row_alone evaluate_alone(const posterior *u, const double *w, size_t i)
{
    const rows *data = u->data;
    row_alone r = {.eta = data->offset ? data->offset[i] : 0.0,
                   .weight = data->weight ? data->weight[i] : 1.0};
    for (size_t j = 0; j < data->d; j++) {
        r.x[j] = data->storage.kind->cell(data, i, j);
        r.eta += w[j] * r.x[j];
    }
    batch b = {
        .k = u->k, .n = 1, .eta = &r.eta, .y = &data->y[i], .aux = w + data->d, .pitch = 1};
    u->model->predictor->gradient(&b, &r.d_eta, r.d_aux);
    u->model->predictor->curvature(&b, &r.ee, r.ea, r.aa);
    return r;
}

/* The row's part of gradient and Hessian, c = weight: of coordinate j it is c d_eta x_j or c
 * d_aux. */
static void add_alone(const posterior *u, const row_alone *r, double *gradient, double *hessian)
{
    size_t d = u->data->d, dim = u->dim;
    for (size_t j = 0; j < dim; j++) {
        gradient[j] += r->weight * (j < d ? r->d_eta * r->x[j] : r->d_aux[j - d]);
        for (size_t k = 0; k <= j; k++) {
            double each = j < d   ? r->ee * r->x[j] * r->x[k]
                          : k < d ? r->ea[j - d] * r->x[k]
                                  : r->aa[packed_index(j - d, k - d)];
            hessian[j * dim + k] += r->weight * each;
        }
    }
}

static void check_row(const posterior *u, const control *c, size_t i, const row_alone *r)
{
    size_t n = u->data->local_rows, aux = u->auxiliaries;
    CHECK_NEAR(c->eta[i], r->eta, TOL_SUM);
    CHECK_NEAR(c->d_eta[i], r->d_eta, TOL_SUM);
    CHECK_NEAR(c->ee[i], r->ee, TOL_SUM);
    if (c->base) CHECK_NEAR(c->base[i], u->data->y[i] - r->d_eta + r->ee * r->eta, TOL_SUM);
    for (size_t j = 0; j < aux; j++) {
        CHECK_NEAR(c->d_aux[j * n + i], r->d_aux[j], TOL_SUM);
        CHECK_NEAR(c->ea[j * n + i], r->ea[j], TOL_SUM);
    }
    for (size_t j = 0; j < packed_size(aux); j++)
        CHECK_NEAR(c->aa[j * n + i], r->aa[j], TOL_SUM);
}

static void check_sums(const posterior *u, const control *c, const double *gradient,
                       const double *hessian)
{
    size_t dim = u->dim, stride = (dim + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    for (size_t j = 0; j < dim; j++) {
        CHECK_NEAR(c->gradient[j] / ROWS, gradient[j] / ROWS, TOL_SUM);
        for (size_t k = 0; k <= j; k++) {
            CHECK_NEAR(c->hessian[j * stride + k] / ROWS, hessian[j * dim + k] / ROWS, TOL_SUM);
            CHECK(c->hessian[k * stride + j] == c->hessian[j * stride + k]);
        }
    }
}

static void definition_property(subject *s)
{
    double gradient[DIM_MAX] = {0}, hessian[DIM_MAX * DIM_MAX] = {0};
    REQUIRE(gather(s));
    for (size_t i = 0; i < ROWS; i++) {
        row_alone r = evaluate_alone(s->u, s->t.p, i);
        check_row(s->u, s->g->control, i, &r);
        add_alone(s->u, &r, gradient, hessian);
    }
    check_sums(s->u, s->g->control, gradient, hessian);
}

TEST(cached_numbers_are_those_of_single_rows)
{
    for_each_subject(definition_property);
}

CHECK_MAIN
