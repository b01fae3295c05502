/* Checks of a general model on a table made here: derivatives are derivatives, and rows give
 * the same as a list or as a range. Include after check.h, once. */
#ifndef TESTS_MODEL_GENERAL_H
#define TESTS_MODEL_GENERAL_H

#include "core/memory.h"
#include "core/rng.h"
#include "ingest/ingest.h"
#include "posterior/full/posterior.h"

#define ROWS    137 /* not a multiple of any vector length */
#define COLUMNS 5

typedef struct {
    rows *data;
    posterior *u;
    const model_kind *kind;
    double *w, *v;   /* dim: a point and a direction */
    double *scratch; /* of ROWS rows */
    size_t dim;
    sbps_status status;
    sbps_error err;
} subject;

static inline void subject_close(subject *s)
{
    free(s->w);
    free(s->v);
    free(s->scratch);
    posterior_destroy(s->u);
    rows_destroy(s->data);
}

/* Takes over `data`. The point has weights of order `size`. */
static inline subject subject_of(rows *data, const char *model, const model_shape *shape,
                                 double size)
{
    subject s = {.data = data};
    s.status = posterior_open(data, model_find(model), shape, &s.u, &s.err);
    if (s.status != SBPS_OK) return s;
    rng r = rng_stream(5, 0, RNG_TEST);
    s.kind = s.u->model;
    s.dim = s.u->dim;
    s.w = new_doubles(s.dim);
    s.v = new_doubles(s.dim);
    s.scratch = new_doubles(s.kind->rows.scratch(s.u->self, ROWS));
    for (size_t j = 0; j < s.dim; j++) {
        s.w[j] = size * rng_normal(&r);
        s.v[j] = rng_normal(&r);
    }
    return s;
}

/* y = i mod classes, or normal when classes is 0; x normal around j/3. */
static inline rows *make_table(size_t classes, bool intercept, const double *offset)
{
    static double x[ROWS * COLUMNS], y[ROWS];
    rows *data = NULL;
    rng r = rng_stream(6, 0, RNG_TEST);
    rows_spec spec = {.target = "y", .intercept = intercept, .seed = 3};
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = rng_normal(&r) + (double)j / 3.0;
        y[i] = classes ? (double)(i % classes) : 2.0 * rng_normal(&r);
    }
    rows_copy(ROWS, COLUMNS, x, NULL, y, NULL, offset, &spec, &data, NULL);
    return data;
}

static const row_range all_rows = {NULL, 0, ROWS};

static inline void logliks(const subject *s, const double *w, double *out)
{
    s->kind->rows.loglik(s->u->self, all_rows, w, s->scratch, out);
}

static inline void gradient(const subject *s, const double *w, const double *factor,
                            double *out)
{
    memset(out, 0, s->dim * sizeof *out);
    s->kind->rows.gradient(s->u->self, all_rows, w, factor, s->scratch, out);
}

static inline void move(const subject *s, double t, double *w)
{
    for (size_t j = 0; j < s->dim; j++) w[j] = s->w[j] + t * s->v[j];
}

/* Row slopes are differences of row log-likelihoods, and the row's gradient times the
 * direction. */
static inline void check_slopes(const subject *s)
{
    double slope[ROWS], up[ROWS], down[ROWS], h = 1e-5;
    double *w = new_doubles(s->dim), *g = new_doubles(s->dim), only[ROWS] = {0};
    s->kind->rows.slope(s->u->self, all_rows, s->w, s->v, s->scratch, slope);
    move(s, h, w);
    logliks(s, w, up);
    move(s, -h, w);
    logliks(s, w, down);
    for (size_t i = 0; i < ROWS; i++) {
        CHECK_NEAR(slope[i], (up[i] - down[i]) / (2.0 * h), TOL_DIFF);
        double along = 0.0;
        only[i] = 1.0;
        gradient(s, s->w, only, g);
        only[i] = 0.0;
        for (size_t j = 0; j < s->dim; j++) along += g[j] * s->v[j];
        CHECK_NEAR(slope[i], along, TOL_SUM);
    }
    free(g);
    free(w);
}

/* Factors multiply rows in the gradient, and the gradient is the difference of the weighted
 * sum. */
static inline void check_gradient(const subject *s)
{
    double factor[ROWS], up[ROWS], down[ROWS], h = 1e-5;
    double *w = new_doubles(s->dim), *g = new_doubles(s->dim);
    rng r = rng_stream(7, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) factor[i] = rng_normal(&r);
    gradient(s, s->w, factor, g);
    memcpy(w, s->w, s->dim * sizeof *w);
    for (size_t j = 0; j < s->dim; j++) {
        double want = 0.0;
        w[j] = s->w[j] + h;
        logliks(s, w, up);
        w[j] = s->w[j] - h;
        logliks(s, w, down);
        w[j] = s->w[j];
        for (size_t i = 0; i < ROWS; i++) want += factor[i] * (up[i] - down[i]) / (2.0 * h);
        CHECK_NEAR(g[j], want, TOL_DIFF);
    }
    free(g);
    free(w);
}

static inline void check_products(const subject *s)
{
    double factor[ROWS], h = 1e-5;
    double *memory = new_doubles(4 * s->dim), *w = memory, *up = w + s->dim,
           *down = up + s->dim, *hv = down + s->dim;
    rng r = rng_stream(8, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) factor[i] = rng_normal(&r);
    s->kind->rows.hessian_vector(s->u->self, all_rows, s->w, s->v, factor, s->scratch, hv);
    move(s, h, w);
    gradient(s, w, factor, up);
    move(s, -h, w);
    gradient(s, w, factor, down);
    for (size_t j = 0; j < s->dim; j++)
        CHECK_NEAR(hv[j], (up[j] - down[j]) / (2.0 * h), TOL_DIFF);
    free(memory);
}

/* The same rows in another order give the same numbers, each for its own row; so does a shorter
 * block. */
static inline void check_listed_rows(const subject *s)
{
    double all[ROWS], some[ROWS];
    size_t list[ROWS], n = 50;
    for (size_t i = 0; i < n; i++) list[i] = (i * 31 + 7) % ROWS;
    s->kind->rows.slope(s->u->self, all_rows, s->w, s->v, s->scratch, all);
    s->kind->rows.slope(s->u->self, (row_range){list, 0, n}, s->w, s->v, s->scratch, some);
    for (size_t i = 0; i < n; i++) CHECK(some[i] == all[list[i]]);
    s->kind->rows.slope(s->u->self, (row_range){NULL, 40, 1}, s->w, s->v, s->scratch, some);
    CHECK(some[0] == all[40]);
    logliks(s, s->w, all);
    s->kind->rows.loglik(s->u->self, (row_range){list, 0, n}, s->w, s->scratch, some);
    for (size_t i = 0; i < n; i++) CHECK(some[i] == all[list[i]]);
}

static inline void check_general(const subject *s)
{
    check_slopes(s);
    check_gradient(s);
    check_products(s);
    check_listed_rows(s);
}

#endif
