/* Searches that gain log units at every step for a long time: unbounded densities are
 * distinguished from bounded ones. */
#include "check.h"
#include "ingest/ingest.h"
#include "model/likelihood/model.h"
#include "model/prior/prior.h"
#include "posterior/full/posterior.h"
#include "posterior/mode/mode.h"

#include <math.h>

/* log p = -exp(w): from far out Newton moves by 1 per step, and each gains more than a log
 * unit for long. */
static sbps_status steep_open(const model_kind *kind, const rows *data,
                              const model_shape *shape, void **self, sbps_error *err)
{
    (void)kind, (void)data, (void)shape, (void)err;
    *self = NULL;
    return SBPS_OK;
}

static void steep_close(void *self)
{
    (void)self;
}

static size_t steep_dim(const void *self)
{
    (void)self;
    return 1;
}

static void steep_name(const void *self, size_t j, size_t size, char *text)
{
    (void)self, (void)j;
    snprintf(text, size, "w");
}

static size_t steep_scratch(const void *self, size_t n)
{
    (void)self, (void)n;
    return 0;
}

static void steep_loglik(const void *self, row_range r, const double *w, double *scratch,
                         double *out)
{
    (void)self, (void)scratch;
    for (size_t i = 0; i < r.n; i++) out[i] = -exp(w[0]);
}

static void steep_slope(const void *self, row_range r, const double *w, const double *u,
                        double *scratch, double *out)
{
    (void)self, (void)scratch;
    for (size_t i = 0; i < r.n; i++) out[i] = -exp(w[0]) * u[0];
}

static void steep_gradient(const void *self, row_range r, const double *w, const double *factor,
                           double *scratch, double *out)
{
    (void)self, (void)scratch;
    for (size_t i = 0; i < r.n; i++) out[0] -= factor[i] * exp(w[0]);
}

static void steep_product(const void *self, row_range r, const double *w, const double *v,
                          const double *factor, double *scratch, double *out)
{
    (void)self, (void)scratch;
    for (size_t i = 0; i < r.n; i++) out[0] -= factor[i] * exp(w[0]) * v[0];
}

#define STEEP                                                                                  \
    .name = "steep", .facts.no_rows = true, .facts.mode_optional = true, .open = steep_open,   \
    .close = steep_close, .parameters.dim = steep_dim, .parameters.name = steep_name,          \
    .rows.scratch = steep_scratch, .rows.loglik = steep_loglik, .rows.slope = steep_slope,     \
    .rows.gradient = steep_gradient, .rows.hessian_vector = steep_product

static sbps_status find(const model_kind *model, double *w, sbps_error *err)
{
    const double far = 45.0;
    rows *data = NULL;
    posterior *u = NULL;
    mode *m = NULL;
    prior wide;
    rows_none(&data, NULL);
    CHECK(data && prior_parse("normal(0,10)", &wide, NULL) == SBPS_OK);
    sbps_status status = posterior_create(data, model, &wide, &u, err);
    if (status == SBPS_OK) status = mode_find(u, &far, &m, err);
    *w = m ? m->w[0] : NAN;
    mode_destroy(m);
    posterior_destroy(u);
    rows_destroy(data);
    return status;
}

TEST(only_a_density_without_an_upper_bound_is_refused_for_growing)
{
    static const model_kind may = {STEEP}, cannot = {STEEP, .facts.bounded_above = true};
    sbps_error err = {0};
    double w;
    CHECK(find(&may, &w, &err) == SBPS_NO_MODE);
    CHECK(strstr(err.text, "the density grows for ever"));
    CHECK(find(&cannot, &w, &err) == SBPS_OK);
    CHECK_NEAR(exp(w) + w / 100.0, 0.0, 1e-8); /* the slope of U there */
}

CHECK_MAIN
