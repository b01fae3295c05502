/* Normal rows. With theta = (beta, all effects) and Z its design the likelihood depends on the
 * rows through
 *
 *   A = Z'W Z,   b = Z'W y,   y'W y,                                                      (1)
 *
 * which are collected once. A is block-diagonal within a factor; between two factors it has a
 * block for each pair of levels that occurs in some row (a cell). Given sigma, and with the pull
 * p_l = b_l - sum over other blocks of A_lk theta_k,
 *
 *   u_l ~ N(P^-1 p_l / sigma^2, P^-1),   P = S^-1 + A_ll / sigma^2                        (2)
 *
 * and likewise beta. The residual sum of squares R moves with every draw by
 *
 *   R(u + e) = R(u) - 2 e'(p_l - A_ll u) + e'A_ll e,                                      (3)
 *
 * and is computed anew from time to time. y here is the residual of a least-squares fit of
 * beta alone, and beta its distance to that fit, so that (3) does not cancel. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "posterior/sweep/sweep_parts.h"

#include <stdlib.h>
#include <string.h>

#define Q          LEVEL_EFFECTS_MAX
#define RECOMPUTED 64    /* sweeps after which R is computed anew */
#define RIDGE      1e-12 /* of the least-squares fit, relative to the diagonal */
#define LEAST      1e-12 /* R relative to y'W y: it may be 0 where effects fit every row */

/* The cells of a factor with another: those of level l are start[l] .. start[l + 1] - 1. */
typedef struct {
    size_t *start;
    uint32_t *level; /* of the other factor */
    double *block;   /* q * q of the other; NULL: 1 each */
} cell_list;

struct sweep_sums {
    double yy, weight; /* y'W y and the sum of weights */
    double *fit;       /* d: the least-squares beta */
    double *a, *b;     /* d * d, d: A and b of beta */
    struct {
        double *a, *b, *x; /* by level: q * q, q, and q * d between effects and beta */
        cell_list cells[OTHERS_MAX];
    } of[OTHERS_MAX];
};

/* ---- sums over the rows ---- */

static double weight_of(const sweep *s, size_t i)
{
    return s->data->weight ? s->data->weight[i] : 1.0;
}

static void load_z(const sweep *s, const sweep_factor *f, size_t i, double *z)
{
    for (size_t a = 0; a < f->q; a++) z[a] = mixed_z(s->m, i, f->of->column[a]);
}

/* Adds A of all blocks but cells, the weights, and b of beta with the targets less offset. x:
 * stride numbers. */
static void add_rows(sweep *s, double *x)
{
    sweep_sums *sums = s->sums;
    const rows *data = s->data;
    size_t d = s->d;
    double z[Q];
    for (size_t i = 0; i < s->n; i++) {
        double w = weight_of(s, i), y = data->y[i] - (data->offset ? data->offset[i] : 0.0);
        data->storage.kind->decode(data, i, x);
        sums->weight += w;
        add_scaled(d, w * y, x, sums->b);
        for (size_t j = 0; j < d; j++) add_scaled(d, w * x[j], x, sums->a + j * d);
        for (size_t f = 0; f < s->factors; f++) {
            size_t q = s->factor[f].q, l = s->factor[f].level[i];
            load_z(s, &s->factor[f], i, z);
            for (size_t a = 0; a < q; a++) {
                add_scaled(q, w * z[a], z, sums->of[f].a + (l * q + a) * q);
                add_scaled(d, w * z[a], x, sums->of[f].x + (l * q + a) * d);
            }
        }
    }
}

/* Fits beta alone; leaves 0 where A is singular. */
static void fit_fixed(sweep *s, double *factor)
{
    sweep_sums *sums = s->sums;
    size_t d = s->d;
    memcpy(factor, sums->a, d * d * sizeof *factor);
    for (size_t j = 0; j < d; j++) factor[j * d + j] *= 1.0 + RIDGE;
    if (!cholesky(d, factor)) return;
    memcpy(sums->fit, sums->b, d * sizeof *factor);
    cholesky_solve(d, factor, sums->fit);
}

/* b and y'W y with the residuals of that fit. */
static void add_residuals(sweep *s, double *x)
{
    sweep_sums *sums = s->sums;
    const rows *data = s->data;
    double z[Q];
    memset(sums->b, 0, s->d * sizeof *sums->b);
    for (size_t i = 0; i < s->n; i++) {
        double w = weight_of(s, i), y = data->y[i] - (data->offset ? data->offset[i] : 0.0);
        data->storage.kind->decode(data, i, x);
        y -= dot(s->d, x, sums->fit);
        sums->yy += w * y * y;
        add_scaled(s->d, w * y, x, sums->b);
        for (size_t f = 0; f < s->factors; f++) {
            size_t q = s->factor[f].q;
            load_z(s, &s->factor[f], i, z);
            add_scaled(q, w * y, z, sums->of[f].b + s->factor[f].level[i] * q);
        }
    }
}

/* order: the rows in the order of their levels, those of a level in the order of `from` (NULL:
 * of the table). start: levels + 1. */
static void sort_rows(size_t n, const uint32_t *level, size_t levels, const uint32_t *from,
                      size_t *start, uint32_t *order)
{
    memset(start, 0, (levels + 1) * sizeof *start);
    for (size_t i = 0; i < n; i++) start[level[i] + 1]++;
    for (size_t l = 0; l < levels; l++) start[l + 1] += start[l];
    for (size_t i = 0; i < n; i++) {
        uint32_t row = from ? from[i] : (uint32_t)i;
        order[start[level[row]]++] = row;
    }
    for (size_t l = levels; l > 0; l--) start[l] = start[l - 1];
    start[0] = 0;
}

/* Sets the cells of factor f with g; `order` has the rows by level of f, then of g. Returns
 * whether all blocks are 1. */
static bool fill_cells(const sweep *s, const sweep_factor *f, const sweep_factor *g,
                       const uint32_t *order, cell_list *out)
{
    size_t count = 0, size = f->q * g->q;
    bool ones = size == 1;
    double z[Q], other[Q];
    for (size_t l = 0, i = 0; l < f->levels; l++) {
        size_t end = out->start[l + 1], first = count;
        out->start[l] = count;
        for (; i < end; i++) {
            uint32_t row = order[i], to = g->level[row];
            if (count == first || out->level[count - 1] != to) out->level[count++] = to;
            double *block = out->block + (count - 1) * size, w = weight_of(s, row);
            load_z(s, f, row, z);
            load_z(s, g, row, other);
            for (size_t a = 0; a < f->q; a++)
                add_scaled(g->q, w * z[a], other, block + a * g->q);
        }
    }
    out->start[f->levels] = count;
    for (size_t c = 0; ones && c < count; c++) ones = out->block[c] == 1.0;
    return ones;
}

static sbps_status find_cells(const sweep *s, const sweep_factor *f, const sweep_factor *g,
                              cell_list *out, sbps_error *err)
{
    size_t most = f->levels > g->levels ? f->levels : g->levels;
    uint32_t *order = malloc((s->n + 1) * sizeof *order),
             *first = malloc((s->n + 1) * sizeof *first);
    size_t *start = calloc(most + 2, sizeof *start);
    out->start = calloc(f->levels + 2, sizeof *out->start);
    out->level = malloc((s->n + 1) * sizeof *out->level);
    out->block = new_doubles(s->n * f->q * g->q + 1);
    bool memory = order && first && start && out->start && out->level && out->block;
    if (memory) {
        sort_rows(s->n, g->level, g->levels, NULL, start, first);
        sort_rows(s->n, f->level, f->levels, first, out->start, order);
        if (fill_cells(s, f, g, order, out)) {
            free(out->block);
            out->block = NULL;
        }
    }
    free(order);
    free(first);
    free(start);
    return memory ? SBPS_OK : fail_memory(err);
}

sbps_status linear_sums_open(sweep *s, sbps_error *err)
{
    size_t d = s->d;
    sweep_sums *sums = s->sums = calloc(1, sizeof *sums);
    double *x = new_doubles(s->data->stride + d * d + 1);
    sbps_status status = sums && x ? SBPS_OK : fail_memory(err);
    if (sums) {
        sums->fit = new_doubles(d + 1);
        sums->a = new_doubles(d * d + 1);
        sums->b = new_doubles(d + 1);
        if (!sums->fit || !sums->a || !sums->b) status = fail_memory(err);
    }
    for (size_t f = 0; f < s->factors && status == SBPS_OK; f++) {
        size_t count = s->widest; /* levels * q, at most */
        sums->of[f].a = new_doubles(count * s->factor[f].q);
        sums->of[f].b = new_doubles(count);
        sums->of[f].x = new_doubles(count * d + 1);
        if (!sums->of[f].a || !sums->of[f].b || !sums->of[f].x) status = fail_memory(err);
    }
    if (status == SBPS_OK) {
        add_rows(s, x);
        fit_fixed(s, x + s->data->stride);
        add_residuals(s, x);
    }
    for (size_t f = 0; f < s->factors; f++)
        for (size_t g = 0; g < s->factors && status == SBPS_OK; g++)
            if (f != g)
                status =
                    find_cells(s, &s->factor[f], &s->factor[g], &sums->of[f].cells[g], err);
    free(x);
    return status;
}

void linear_sums_close(sweep_sums *sums)
{
    if (!sums) return;
    for (size_t f = 0; f < OTHERS_MAX; f++) {
        free(sums->of[f].a);
        free(sums->of[f].b);
        free(sums->of[f].x);
        for (size_t g = 0; g < OTHERS_MAX; g++) {
            free(sums->of[f].cells[g].start);
            free(sums->of[f].cells[g].level);
            free(sums->of[f].cells[g].block);
        }
    }
    free(sums->fit);
    free(sums->a);
    free(sums->b);
    free(sums);
}

/* ---- pulls ---- */

/* out[l] -= the sum of a factor's cells times the other factor's effects u. */
static void subtract_cells(const sweep_factor *f, const sweep_factor *g, const cell_list *c,
                           const double *u, double *out)
{
    size_t q = f->q, p = g->q;
    for (size_t l = 0; l < f->levels; l++) {
        double sum = 0.0;
        if (q == 1 && p == 1) {
            for (size_t i = c->start[l]; !c->block && i < c->start[l + 1]; i++)
                sum += u[c->level[i]];
            for (size_t i = c->start[l]; c->block && i < c->start[l + 1]; i++)
                sum += c->block[i] * u[c->level[i]];
            out[l] -= sum;
            continue;
        }
        for (size_t i = c->start[l]; i < c->start[l + 1]; i++)
            for (size_t a = 0; a < q; a++)
                out[l * q + a] -= dot(p, c->block + (i * q + a) * p, u + c->level[i] * p);
    }
}

/* beta less the fit. */
static void fixed_distance(const sweep_run *r, double *out)
{
    for (size_t j = 0; j < r->s->d; j++) out[j] = r->st.at[j] - r->s->sums->fit[j];
}

/* st.first = p of all levels of factor f. */
static void set_pulls(const sweep_run *r, size_t f)
{
    const sweep *s = r->s;
    const sweep_sums *sums = s->sums;
    const sweep_factor *of = &s->factor[f];
    size_t count = of->levels * of->q, d = s->d;
    double *beta = r->st.fixed;
    fixed_distance(r, beta);
    for (size_t l = 0; l < count; l++)
        r->st.first[l] = sums->of[f].b[l] - dot(d, sums->of[f].x + l * d, beta);
    for (size_t g = 0; g < s->factors; g++)
        if (g != f)
            subtract_cells(of, &s->factor[g], &sums->of[f].cells[g],
                           r->st.at + s->factor[g].of->first, r->st.first);
}

/* out = the pull of beta. */
static void set_fixed_pull(const sweep_run *r, double *out)
{
    const sweep *s = r->s;
    size_t d = s->d;
    memcpy(out, s->sums->b, d * sizeof *out);
    for (size_t f = 0; f < s->factors; f++) {
        const double *u = r->st.at + s->factor[f].of->first, *x = s->sums->of[f].x;
        for (size_t l = 0; l < s->factor[f].levels * s->factor[f].q; l++)
            add_scaled(d, -u[l], x + l * d, out);
    }
}

/* R is at least a little above 0. */
static void set_residual(const sweep_run *r, double value)
{
    double least = LEAST * r->s->sums->yy;
    *r->st.total = value > least ? value : least;
}

/* R from nothing: y'W y - theta'(b + (b - A theta)). */
static void recompute_residual(const sweep_run *r)
{
    const sweep *s = r->s;
    const sweep_sums *sums = s->sums;
    size_t d = s->d;
    double total = sums->yy, *beta = r->st.fixed, *pull = beta + d;
    set_fixed_pull(r, pull);
    fixed_distance(r, beta);
    for (size_t j = 0; j < d; j++)
        total -= beta[j] * (sums->b[j] + pull[j] - dot(d, sums->a + j * d, beta));
    for (size_t f = 0; f < s->factors; f++) {
        const sweep_factor *of = &s->factor[f];
        size_t q = of->q;
        set_pulls(r, f);
        for (size_t l = 0; l < of->levels; l++)
            for (size_t a = 0; a < q; a++) {
                const double *u = r->st.at + of->of->first + l * q;
                double own = dot(q, sums->of[f].a + (l * q + a) * q, u);
                total -= u[a] * (sums->of[f].b[l * q + a] + r->st.first[l * q + a] - own);
            }
    }
    set_residual(r, total);
}

/* ---- draws ---- */

static double tau(const sweep_run *r)
{
    return exp(-2.0 * r->st.at[r->s->m->aux]);
}

/* Draws u of one level by (2) with z standard normal; returns the change of R by (3). */
static double draw_level(size_t q, const double *precision, const double *a, double by,
                         const double *pull, const double *z, double *u)
{
    double root[Q * Q], mean[Q], noise[Q], old[Q], change = 0.0;
    for (size_t i = 0; i < q * q; i++) root[i] = precision[i] + by * a[i];
    cholesky(q, root); /* positive definite: S^-1 is */
    for (size_t i = 0; i < q; i++) {
        mean[i] = by * pull[i];
        noise[i] = z[i];
        old[i] = u[i];
    }
    cholesky_solve(q, root, mean);
    cholesky_back(q, root, noise);
    for (size_t i = 0; i < q; i++) u[i] = mean[i] + noise[i];
    for (size_t i = 0; i < q; i++) {
        double e = u[i] - old[i], row = 0.0;
        for (size_t j = 0; j < q; j++) row += a[i * q + j] * (u[j] + old[j]);
        change += e * (row - 2.0 * pull[i]);
    }
    return change;
}

/* Draws all levels of a factor; st.first has their pulls. */
static void draw_levels(sweep_run *r, size_t f)
{
    const sweep_factor *of = &r->s->factor[f];
    const double *a = r->s->sums->of[f].a;
    size_t q = of->q;
    double by = tau(r), change = 0.0, lower[Q * Q], precision[Q * Q], z[PASS_LEVELS * Q];
    effect_spread at;
    spread_at(&of->of->shape, r->st.at + of->of->spread, false, &at);
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++) lower[i * q + j] = at.factor[i][j];
    cholesky_inverse(q, lower, precision);
    for (size_t from = 0; from < of->levels; from += PASS_LEVELS) {
        size_t n = of->levels - from < PASS_LEVELS ? of->levels - from : PASS_LEVELS;
        rng random = sweep_stream(r, from);
        rng_normals(&random, n * q, z);
        for (size_t i = 0; i < n; i++) {
            size_t l = from + i;
            double *u = sweep_effects(r, of, l);
            if (q > 1) {
                change += draw_level(q, precision, a + l * q * q, by, r->st.first + l * q,
                                     z + i * q, u);
                continue;
            }
            double p = precision[0] + by * a[l], old = *u, pull = r->st.first[l];
            *u = by * pull / p + z[i] / sqrt(p);
            change += (*u - old) * (a[l] * (*u + old) - 2.0 * pull);
        }
    }
    set_residual(r, *r->st.total + change);
    r->update++;
}

/* ---- standard deviations and correlations given L^-1 u ---- */

/* R when row `effect` of L moves by e: R - 2 e.slope + e'curve e. */
typedef struct {
    size_t q;
    double from[Q], slope[Q], curve[Q * Q], by;
} line_of_rows;

static double residual_change(const line_of_rows *line, const double *row)
{
    double e[Q], change = 0.0;
    for (size_t b = 0; b < line->q; b++) e[b] = row[b] - line->from[b];
    for (size_t b = 0; b < line->q; b++)
        change += e[b] * (dot(line->q, line->curve + b * line->q, e) - 2.0 * line->slope[b]);
    return change;
}

static double line_change(void *self, const double *row)
{
    const line_of_rows *line = self;
    return -0.5 * line->by * residual_change(line, row);
}

/* Sets the line of row `effect`; st.v has L^-1 u, st.first the pulls. */
static void set_line(const sweep_run *r, size_t f, size_t effect, line_of_rows *line)
{
    const sweep_factor *of = &r->s->factor[f];
    size_t q = of->q;
    effect_spread at;
    *line = (line_of_rows){.q = q, .by = tau(r)};
    spread_at(&of->of->shape, r->st.at + of->of->spread, false, &at);
    memcpy(line->from, at.factor[effect], q * sizeof *line->from);
    for (size_t l = 0; l < of->levels; l++) {
        const double *a = r->s->sums->of[f].a + l * q * q + effect * q, *v = r->st.v + l * q;
        double left = r->st.first[l * q + effect] - dot(q, a, sweep_effects(r, of, l));
        for (size_t b = 0; b < q; b++) {
            line->slope[b] += left * v[b];
            for (size_t c = 0; c < q; c++) line->curve[b * q + c] += a[effect] * v[b] * v[c];
        }
    }
}

#define WIDEN ((size_t)40) /* evaluations of a line take no rows */

static void draw_spread_along(sweep_run *r, size_t f)
{
    const sweep_factor *of = &r->s->factor[f];
    size_t q = of->q;
    sweep_standardise(r, of, r->st.v);
    for (size_t effect = 0; effect < q; effect++) {
        line_of_rows line;
        double row[Q];
        set_line(r, f, effect, &line);
        const sweep_line along = {&line, line_change};
        sweep_draw_row(r, of, effect, &along, WIDEN, row);
        set_residual(r, *r->st.total + residual_change(&line, row));
        for (size_t l = 0; l < of->levels; l++)
            sweep_effects(r, of, l)[effect] = dot(q, row, r->st.v + l * q);
    }
}

/* ---- beta and sigma ---- */

static void draw_fixed(sweep_run *r)
{
    const sweep *s = r->s;
    size_t d = s->d;
    double *precision = r->st.fixed, *pull = precision + d * d, *e = pull + d, *beta = e + d,
           *slope = beta + d, by = tau(r), change = 0.0;
    rng random = sweep_stream(r, 0);
    if (d == 0) return;
    set_fixed_pull(r, pull);
    fixed_distance(r, beta);
    sweep_fixed_slope(s, r->st.at, true, slope);
    for (size_t j = 0; j < d; j++) {
        pull[j] -= dot(d, s->sums->a + j * d, beta);
        slope[j] += by * pull[j];
        for (size_t k = 0; k < d; k++)
            precision[j * d + k] = by * s->sums->a[j * d + k] + s->prior_precision[j * d + k];
    }
    r->update++;
    if (!cholesky(d, precision)) return;
    rng_normals(&random, d, e);
    cholesky_back(d, precision, e);
    cholesky_solve(d, precision, slope);
    double before = s->quadratic ? 0.0 : sweep_fixed_prior(s, r->st.at, true);
    for (size_t j = 0; j < d; j++) {
        e[j] += slope[j];
        r->st.at[j] += e[j];
    }
    for (size_t j = 0; j < d; j++)
        change += e[j] * (dot(d, s->sums->a + j * d, e) - 2.0 * pull[j]);
    double gain = s->quadratic ? 0.0 : sweep_fixed_prior(s, r->st.at, true) - before;
    if (s->quadratic || -rng_exponential(&random) < gain) {
        set_residual(r, *r->st.total + change);
        return;
    }
    for (size_t j = 0; j < d; j++) r->st.at[j] -= e[j];
}

typedef struct {
    const sweep *s;
    double *at, total;
} given_rows;

/* log p(log sigma | R) */
static double density_of_sigma(void *self, double x)
{
    given_rows *g = self;
    size_t j = g->s->m->aux;
    double was = g->at[j];
    g->at[j] = x;
    double value = sweep_log_prior(g->s, g->at, j);
    g->at[j] = was;
    return value - g->s->sums->weight * x - 0.5 * g->total * exp(-2.0 * x);
}

static void draw_sigma(sweep_run *r)
{
    given_rows g = {r->s, r->st.at, *r->st.total};
    rng random = sweep_stream(r, 0);
    double *x = &r->st.at[r->s->m->aux], width = 3.0 / sqrt(2.0 * r->s->sums->weight);
    sweep_density density = {&g, density_of_sigma};
    *x = sweep_slice(&random, *x, density_of_sigma(&g, *x), width, WIDEN, density);
    r->update++;
}

/* ---- sweeps ---- */

void linear_begin(sweep_run *r, bool fit)
{
    const sweep_sums *sums = r->s->sums;
    if (fit) memcpy(r->st.at, sums->fit, r->s->d * sizeof *sums->fit);
    if (fit && sums->yy > 0.0) r->st.at[r->s->m->aux] = 0.5 * log(sums->yy / sums->weight);
    recompute_residual(r); /* the first sweep draws all the rest exactly */
}

void linear_sweep(sweep_run *r)
{
    if (r->count % RECOMPUTED == 0) recompute_residual(r);
    for (size_t f = 0; f < r->s->factors; f++) {
        set_pulls(r, f);
        draw_levels(r, f);
        draw_spread_along(r, f);
        sweep_draw_spread(r, &r->s->factor[f]);
        shift_draw(r, &r->s->factor[f]);
    }
    draw_fixed(r);
    draw_sigma(r);
    r->passes = 1.0;
}
