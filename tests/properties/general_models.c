/* Properties of every general model of the registry, on a suitable table: slopes, gradients and
 * Hessian products are derivatives, factors weight rows, and lists and ranges of rows agree. */
#include "check.h"
#include "ingest/ingest.h"
#include "model/general.h"

static const model_shape shape = {
    .hidden = "3", .activation = "tanh", .head = "softmax", .dim = 4, .condition = 50.0};

/* None, the rows it simulates, or three classes. */
static rows *table_for(const model_kind *kind)
{
    static double x[ROWS * 2 * COLUMNS], y[ROWS];
    rows *data = NULL;
    if (kind->facts.no_rows) {
        rows_none(&data, NULL);
        return data;
    }
    if (!kind->simulated.row) return make_table(3, true, NULL);
    rng r = rng_stream(9, 0, RNG_TEST);
    size_t columns = kind->simulated.columns(2);
    for (size_t i = 0; i < ROWS; i++) kind->simulated.row(&r, columns, x + i * columns, y + i);
    rows_spec spec = {.no_columns = kind->facts.no_columns,
                      .no_target = kind->support == SUPPORT_NONE,
                      .seed = 1};
    rows_copy(ROWS, columns, x, NULL, y, NULL, NULL, &spec, &data, NULL);
    return data;
}

static void for_each_general(void (*property)(const subject *s))
{
    size_t seen = 0;
    for (size_t k = 0; model_kinds[k]; k++) {
        if (model_kinds[k]->predictor) continue;
        rows *data = table_for(model_kinds[k]);
        REQUIRE(data);
        subject s = subject_of(data, model_kinds[k]->name, &shape, 0.7);
        int before = check_failures;
        CHECK(s.status == SBPS_OK);
        if (s.status == SBPS_OK) property(&s);
        if (check_failures > before) printf("of %s: %s\n", model_kinds[k]->name, s.err.text);
        subject_close(&s);
        seen++;
    }
    CHECK(seen >= 4);
}

TEST(slope_is_the_difference_of_loglik_and_the_gradient_along_the_segment)
{
    for_each_general(check_slopes);
}

TEST(gradient_is_the_difference_of_the_weighted_sum)
{
    for_each_general(check_gradient);
}

static void products_if_any(const subject *s)
{
    if (s->kind->rows.hessian_vector) check_products(s);
}

TEST(hessian_product_is_the_difference_of_gradient)
{
    for_each_general(products_if_any);
}

/* In one pass or in three. */
static void expansion_property(const subject *s)
{
    size_t d = s->dim;
    if (!posterior_expands(s->u)) return;
    double value, alone, *scratch = new_doubles(2 * d + 2 * d * d), *g = scratch + d;
    double *hessian = g + d, *expected = hessian + d * d;
    const expansion out = {&value, scratch, hessian};
    CHECK(posterior_expand(s->u, s->w, &out, NULL, NULL) == SBPS_OK);
    CHECK(posterior_gradient(s->u, s->w, &alone, g, NULL) == SBPS_OK);
    CHECK(value == alone && !memcmp(g, scratch, d * sizeof *g));
    CHECK(posterior_gradient(s->u, s->w, NULL, g, NULL) == SBPS_OK);
    CHECK(!memcmp(g, scratch, d * sizeof *g));
    CHECK(posterior_value(s->u, s->w, &alone, NULL) == SBPS_OK && value == alone);
    CHECK(posterior_hessian(s->u, s->w, expected, NULL) == SBPS_OK);
    CHECK(!memcmp(hessian, expected, d * d * sizeof *expected));
    free(scratch);
}

TEST(an_expansion_is_value_gradient_and_hessian_to_the_bit)
{
    for_each_general(expansion_property);
}

/* Column j is the product with unit j, to what differs between the two triangles. */
static void columns_property(const subject *s)
{
    size_t d = s->dim;
    double *hessian = new_doubles(d * d + 2 * d), *unit = hessian + d * d, *hv = unit + d;
    double size = 0.0;
    CHECK(posterior_hessian(s->u, s->w, hessian, NULL) == SBPS_OK);
    for (size_t i = 0; i < d * d; i++) size = fmax(size, fabs(hessian[i]));
    for (size_t j = 0; j < d; j++) {
        unit[j] = 1.0;
        CHECK(posterior_hessian_vector(s->u, s->w, unit, hv, NULL) == SBPS_OK);
        unit[j] = 0.0;
        for (size_t i = 0; i < d; i++)
            CHECK(fabs(hv[i] - hessian[i * d + j]) <= TOL_SUM * fmax(1.0, size));
    }
    free(hessian);
}

TEST(columns_of_the_hessian_are_products_with_units)
{
    for_each_general(columns_property);
}

TEST(lists_and_ranges_of_rows_agree)
{
    for_each_general(check_listed_rows);
}

/* Sums of ragged parts, and of rows one by one. */
static void parts_property(const subject *s)
{
    double factor[ROWS], *whole = new_doubles(2 * s->dim), *parts = whole + s->dim;
    static const size_t cuts[] = {0, 1, 4, 37, 38, 100, ROWS};
    for (size_t i = 0; i < ROWS; i++) factor[i] = 0.5 + (double)(i % 7);
    gradient(s, s->w, factor, whole);
    for (size_t c = 0; c + 1 < sizeof cuts / sizeof *cuts; c++) {
        row_range r = {NULL, cuts[c], cuts[c + 1] - cuts[c]};
        s->kind->rows.gradient(s->u->self, r, s->w, factor + cuts[c], s->scratch, parts);
    }
    double size = 0.0;
    for (size_t j = 0; j < s->dim; j++) size = fmax(size, fabs(whole[j]));
    for (size_t j = 0; j < s->dim; j++)
        CHECK(fabs(whole[j] - parts[j]) <= TOL_SUM * fmax(1.0, size));
    free(whole);
}

TEST(gradients_of_parts_add_up)
{
    for_each_general(parts_property);
}

/* Names differ, priors are positive widths or flat, starts are finite. */
static void metadata_property(const subject *s)
{
    char name[2][64];
    for (size_t j = 0; j < s->dim; j++) {
        posterior_name(s->u, j, sizeof name[0], name[j % 2]);
        CHECK(name[j % 2][0]);
        if (j > 0) CHECK(strcmp(name[0], name[1]) != 0);
        CHECK(s->kind->parameters.prior_sd(s->u->self, j) > 0.0);
    }
    double value, *w = new_doubles(s->dim);
    rng random = rng_stream(1, 0, RNG_TEST);
    if (s->kind->parameters.start) s->kind->parameters.start(s->u->self, w);
    posterior_value(s->u, w, &value, NULL);
    CHECK(isfinite(value));
    for (size_t chain = 0; s->kind->parameters.scatter && chain < 5; chain++) {
        s->kind->parameters.scatter(s->u->self, chain, &random, w);
        posterior_value(s->u, w, &value, NULL);
        CHECK(isfinite(value));
    }
    CHECK(!s->kind->simulated.columns == !s->kind->simulated.row);
    free(w);
}

TEST(names_priors_and_starts_are_valid)
{
    for_each_general(metadata_property);
}

CHECK_MAIN
