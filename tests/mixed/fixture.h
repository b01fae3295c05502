/* Simulated tables with groups: x normal, z the constant and the first column, y by the
 * model. */
#ifndef TESTS_MIXED_FIXTURE_H
#define TESTS_MIXED_FIXTURE_H

#include "check.h"
#include "core/memory.h"
#include "core/rng.h"
#include "model/mixed/mixed.h"
#include "posterior/full/posterior.h"
#include "table/row_groups.h"

typedef struct {
    const char *model;
    size_t groups, each; /* rows of group g: 1 + (g * 7) % (2 each - 1) */
    bool lopsided;       /* the first has about half of all rows */
    size_t effects;      /* 1: (1|g), 2: (1+x1|g) */
    bool weights, independent;
    double sd[2], cor, intercept;
    uint64_t seed;
    size_t crossed, crossed_effects; /* levels of h, assigned in turn: (1|h), (1+x1|h) */
    size_t nested,
        nested_effects; /* rows of each part of a group but the last: (1|g:k), (1+x1|g:k) */
    bool joint;         /* a joint model */
    bool centred;       /* coordinates are those of effects at the mean of z, else at z = 0 */
    double far;         /* added to z */
} grouped_spec;

#define FIXED ((size_t)3) /* intercept, x1, x2 */

static size_t rows_of_group(const grouped_spec *s, size_t g)
{
    if (s->lopsided && g == 0) return s->groups * s->each;
    return 1 + g * 7 % (2 * s->each - 1);
}

static char **texts(size_t count, const char *const *from)
{
    char **out = calloc(count, sizeof *out);
    for (size_t i = 0; i < count; i++) out[i] = copy_text(from[i]);
    return out;
}

static void make_factor(group_factor *f, const char *name, size_t levels, size_t n)
{
    *f = (group_factor){.name = copy_text(name), .levels = levels};
    f->level = calloc(levels, sizeof *f->level);
    f->of = calloc(n, sizeof *f->of);
    for (size_t i = 0; i < levels; i++) {
        char text[24];
        snprintf(text, sizeof text, "%zu", i);
        f->level[i] = copy_text(text);
    }
}

static void make_term(group_term *t, size_t factor, size_t effects, bool correlated)
{
    static const char *const names[] = {"Intercept", "x1"};
    *t = (group_term){.factor = factor,
                      .count = effects,
                      .names = texts(effects, names),
                      .column = calloc(2, sizeof *t->column),
                      .correlated = correlated};
    t->column[0] = GROUP_CONSTANT;
}

/* Parts of groups are the levels of the last factor. */
static void nest_levels(const grouped_spec *s, row_groups *g, size_t n)
{
    size_t last = g->factors - 1, parts = 0, row = 0;
    for (size_t i = 0; i < s->groups; i++) parts += (rows_of_group(s, i) - 1) / s->nested + 1;
    make_factor(g->factor + last, "k", parts, n);
    make_term(g->term + last, last, s->nested_effects, true);
    parts = 0;
    for (size_t i = 0; i < s->groups; i++) {
        for (size_t k = 0; k < rows_of_group(s, i); k++)
            g->factor[last].of[row++] = (uint32_t)(parts + k / s->nested);
        parts += (rows_of_group(s, i) - 1) / s->nested + 1;
    }
    g->nested_factor[0] = last;
    g->nested = 1;
}

static row_groups *make_groups(const grouped_spec *s, size_t n)
{
    row_groups *g = calloc(1, sizeof *g);
    g->factors = g->terms = 1 + (s->crossed > 0) + (s->nested > 0);
    g->factor = calloc(3, sizeof *g->factor);
    g->term = calloc(3, sizeof *g->term);
    make_factor(g->factor, "g", s->groups, n);
    make_term(g->term, 0, s->effects, !s->independent);
    if (s->crossed) make_factor(g->factor + 1, "h", s->crossed, n);
    if (s->crossed) make_term(g->term + 1, 1, s->crossed_effects, true);
    if (s->nested) nest_levels(s, g, n);
    g->count = s->groups;
    g->start = calloc(g->count + 1, sizeof *g->start);
    g->width = s->effects > 1 || s->crossed_effects > 1 || s->nested_effects > 1 ? 1 : 0;
    g->z = new_doubles(n * g->width + 1);
    for (size_t i = 0, row = 0; i < s->groups; i++) {
        for (size_t k = 0; k < rows_of_group(s, i); k++, row++) {
            g->factor->of[row] = (uint32_t)i;
            if (s->crossed) g->factor[1].of[row] = (uint32_t)((i + 3 * k) % s->crossed);
        }
        g->start[i + 1] = row;
    }
    return g;
}

static void draw_effects(const grouped_spec *s, rng *r, double *u)
{
    double a = rng_normal(r), b = rng_normal(r);
    u[0] = s->sd[0] * a;
    u[1] = s->sd[1] * (s->cor * a + sqrt(1.0 - s->cor * s->cor) * b);
}

static void fill_row(const grouped_spec *s, rows *r, rng *random, size_t i, const double *u)
{
    double *x = r->storage.x + i * r->stride, aux[] = {log(0.7), log(4.0)};
    x[0] = 1.0;
    for (size_t j = 1; j < FIXED; j++) x[j] = rng_normal(random);
    double eta =
        s->intercept + 0.5 * x[1] - 0.3 * x[2] + u[0] + (s->effects > 1 ? u[1] * x[1] : 0.0);
    if (r->groups->width > 0) r->groups->z[i] = x[1] + s->far;
    r->y[i] = model_find(s->model)->predictor->simulate(random, eta, aux);
    if (r->weight) r->weight[i] = 0.5 + rng_uniform(random);
}

/* Groups, and the posterior over them with flat priors. */
typedef struct {
    rows *data;
    posterior *u;
} grouped;

static grouped grouped_make(const grouped_spec *s)
{
    static const char *const names[] = {"intercept", "x1", "x2"};
    size_t n = 0;
    rng random = rng_stream(s->seed, 0, RNG_SIMULATE);
    rows *r = calloc(1, sizeof *r);
    for (size_t g = 0; g < s->groups; g++) n += rows_of_group(s, g);
    *r = (rows){.storage.kind = &storage_double,
                .local_rows = n,
                .d = FIXED,
                .stride = KERNEL_LANES,
                .intercept = true};
    r->storage.x = new_doubles(n * r->stride);
    r->y = new_doubles(n);
    if (s->weights) r->weight = new_doubles(n);
    r->table.names = texts(FIXED, names);
    r->table.mean = new_doubles(FIXED);
    r->table.sd = new_doubles(FIXED);
    r->table.sd[1] = r->table.sd[2] = 1.0;
    r->table.target = copy_text("y");
    r->groups = make_groups(s, n);
    for (size_t g = 0; g < s->groups; g++) {
        double u[2];
        draw_effects(s, &random, u);
        for (size_t i = r->groups->start[g]; i < r->groups->start[g + 1]; i++)
            fill_row(s, r, &random, i, u);
    }
    grouped out = {0};
    sbps_error err;
    const model_shape shape = {.effects_at_zero = !s->centred};
    CHECK(grouped_rows(r, &out.data, &err) == SBPS_OK);
    if (posterior_open(out.data, mixed_of(out.data, model_find(s->model), s->joint), &shape,
                       &out.u, &err) != SBPS_OK) {
        printf("%s\n", err.text);
        exit(1);
    }
    return out;
}

static void grouped_close(grouped *t)
{
    posterior_destroy(t->u);
    rows_destroy(t->data);
}

/* Sets w near the parameters that the table was simulated with. */
__attribute__((unused)) static void grouped_truth(const grouped *t, const grouped_spec *s,
                                                  double *w)
{
    const mixed *m = t->u->self;
    const double fixed[] = {s->intercept, 0.5, -0.3};
    memcpy(w, fixed, sizeof fixed);
    for (size_t a = 0; a < m->shape.count; a++) {
        const spread_coordinate *c = &m->shape.of[a];
        w[FIXED + a] = c->against == c->row ? log(s->sd[c->row]) : atanh(s->cor);
    }
    if (m->row_model->auxiliary_count) w[m->aux] = log(0.7);
}

#endif
