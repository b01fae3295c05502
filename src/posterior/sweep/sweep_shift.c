/* Moves along which the predictor of every row stays the same, so that only densities of
 * effects and priors decide: no row is read.
 *
 *   columns of x and a factor:   beta + e, u_l - c_l e          (2) of sweep_parts.h
 *   nested factors:              u_outer + e, u_inner - e       for each outer level
 *
 * In e the density of the effects is normal and is drawn exactly; so are quadratic priors of
 * beta. Other priors of beta accept or reject the draw. Without these moves the mean of a
 * factor's effects and the intercept would follow each other in small steps. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "posterior/sweep/sweep_parts.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define Q LEVEL_EFFECTS_MAX
/* Two products are equal that differ by a few roundings. */
#define ROUNDINGS (16.0 * DBL_EPSILON)

/* ---- which columns ---- */

/* Column `a` of a factor's effects before it was centred. */
static double raw_z(const sweep *s, size_t row, effect_column of)
{
    return mixed_z(s->m, row, (effect_column){of.of, 0.0});
}

/* ratio[l] = x_ij / z_ia, if it is the same in all rows of each level. */
static bool find_ratio(const sweep *s, const sweep_factor *f, size_t j, size_t a, double *ratio)
{
    const rows *data = s->data;
    effect_column of = f->of->column[a];
    bool other = false;
    for (size_t l = 0; l < f->levels; l++) ratio[l] = NAN;
    for (size_t i = 0; i < s->n; i++) {
        double x = data->storage.kind->cell(data, i, j), z = raw_z(s, i, of);
        double *own = &ratio[f->level[i]];
        if (isnan(*own) && z != 0.0) *own = x / z;
        if (z == 0.0 ? x != 0.0 : fabs(x - *own * z) > ROUNDINGS * fabs(x)) return false;
    }
    for (size_t l = 0; l < f->levels; l++) {
        if (isnan(ratio[l])) ratio[l] = 0.0; /* only rows with x = z = 0 */
        other |= ratio[l] != 0.0;
    }
    return other;
}

/* The effect of the constant in the term of effect a; q: none. */
static size_t constant_beside(const sweep_factor *f, size_t a)
{
    const spread_shape *shape = &f->of->shape;
    for (size_t b = 0; b < f->q; b++)
        if (f->of->column[b].of == GROUP_CONSTANT && shape->begin[b] == shape->begin[a])
            return b;
    return f->q;
}

/* Tries each effect for column j; on success appends it with its c. */
static void try_column(const sweep *s, sweep_factor *f, size_t j, double *ratio, double *c)
{
    for (size_t a = 0; a < f->q; a++) {
        double mean = f->of->column[a].mean;
        size_t constant = constant_beside(f, a);
        if (mean != 0.0 && constant == f->q) continue;
        if (!find_ratio(s, f, j, a, ratio)) continue;
        for (size_t l = 0; l < f->levels; l++) {
            double *own = c + (l * s->d + f->columns.count) * f->q;
            memset(own, 0, f->q * sizeof *own);
            own[a] = ratio[l];
            if (mean != 0.0) own[constant] = mean * ratio[l];
        }
        f->columns.column[f->columns.count++] = j;
        return;
    }
}

/* Sets the sums of products of c; false if columns are collinear, so that e is not determined.
 */
static bool set_gram(sweep_factor *f)
{
    size_t p = f->columns.count, q = f->q;
    double *gram = f->columns.gram, *sum = gram + q * q * p * p;
    memset(gram, 0, (q * q + 1) * p * p * sizeof *gram);
    for (size_t l = 0; l < f->levels; l++) {
        const double *c = f->columns.c + l * p * q;
        for (size_t j = 0; j < p; j++)
            for (size_t k = 0; k < p; k++)
                for (size_t a = 0; a < q; a++)
                    for (size_t b = 0; b < q; b++)
                        gram[((a * q + b) * p + j) * p + k] += c[j * q + a] * c[k * q + b];
    }
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < p; k++)
            for (size_t a = 0; a < q; a++)
                sum[j * p + k] += gram[((a * q + a) * p + j) * p + k];
    double scale[1];
    for (size_t j = 0; j < p; j++) {
        scale[0] = sqrt(sum[j * p + j]);
        for (size_t k = 0; k < p; k++) {
            sum[j * p + k] /= scale[0];
            sum[k * p + j] /= scale[0];
        }
    }
    return cholesky_pivot(p, sum, 1e-10) == p;
}

/* Closes the gaps of c, which has room for d columns, down to f->columns.count. */
static void pack(const sweep *s, sweep_factor *f)
{
    size_t p = f->columns.count, q = f->q;
    for (size_t l = 0; l < f->levels; l++)
        memmove(f->columns.c + l * p * q, f->columns.c + l * s->d * q,
                p * q * sizeof *f->columns.c);
}

/* Finds the columns that the effects of f can imitate. A column that makes them collinear is
 * left out. */
static sbps_status find_columns(sweep *s, sweep_factor *f, sbps_error *err)
{
    size_t q = f->q, d = s->d;
    if (d == 0) return SBPS_OK;
    double *ratio = new_doubles(f->levels), *c = new_doubles(f->levels * d * q);
    f->columns.column = calloc(d, sizeof *f->columns.column);
    f->columns.gram = new_doubles((q * q + 1) * d * d);
    f->columns.c = new_doubles(f->levels * d * q);
    bool memory = ratio && c && f->columns.column && f->columns.gram && f->columns.c;
    for (size_t j = 0; memory && j < d && f->columns.count < f->levels; j++) {
        size_t before = f->columns.count;
        try_column(s, f, j, ratio, c);
        if (f->columns.count == before) continue;
        memcpy(f->columns.c, c, f->levels * d * q * sizeof *c);
        pack(s, f);
        if (!set_gram(f)) f->columns.count--;
    }
    if (memory && f->columns.count > 0) {
        memcpy(f->columns.c, c, f->levels * d * q * sizeof *c);
        pack(s, f);
        set_gram(f);
    }
    free(ratio);
    free(c);
    return memory ? SBPS_OK : fail_memory(err);
}

/* ---- nested factors ---- */

/* link->of[l] = the level of `outer` that all rows of level l are in; false if there are
 * several. */
static bool find_outer(const sweep *s, const sweep_factor *f, const sweep_factor *outer,
                       uint32_t *of)
{
    memset(of, 0xff, f->levels * sizeof *of);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t *own = &of[f->level[i]];
        if (*own != UINT32_MAX && *own != outer->level[i]) return false;
        *own = outer->level[i];
    }
    for (size_t l = 0; l < f->levels; l++)
        if (of[l] == UINT32_MAX) of[l] = 0; /* a level without rows */
    return true;
}

/* Lists the effects of both factors that have the same column. */
static void match_effects(const sweep_factor *f, const sweep_factor *outer, sweep_link *link)
{
    for (size_t b = 0; b < outer->q; b++)
        for (size_t a = 0; a < f->q; a++) {
            effect_column x = f->of->column[a], y = outer->of->column[b];
            bool taken = false;
            for (size_t k = 0; k < link->count; k++)
                taken |= link->own[k] == a || link->other[k] == b;
            if (taken || x.of != y.of || x.mean != y.mean) continue;
            link->own[link->count] = a;
            link->other[link->count++] = b;
        }
}

static sbps_status find_links(sweep *s, sweep_factor *f, sbps_error *err)
{
    for (size_t g = 0; g < s->factors; g++) {
        const sweep_factor *outer = &s->factor[g];
        sweep_link *link = &f->link[f->links];
        if (outer == f || outer->levels >= f->levels) continue;
        *link = (sweep_link){.outer = g};
        link->of = calloc(f->levels, sizeof *link->of);
        link->inner = new_doubles(outer->levels);
        f->links++; /* freed by shift_close */
        if (!link->of || !link->inner) return fail_memory(err);
        match_effects(f, outer, link);
        if (link->count > 0 && find_outer(s, f, outer, link->of)) {
            for (size_t l = 0; l < f->levels; l++) link->inner[link->of[l]] += 1.0;
            continue;
        }
        f->links--;
        free(link->of);
        free(link->inner);
    }
    return SBPS_OK;
}

sbps_status shift_open(sweep *s, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t f = 0; f < s->factors && status == SBPS_OK; f++) {
        status = find_columns(s, &s->factor[f], err);
        if (status == SBPS_OK) status = find_links(s, &s->factor[f], err);
    }
    return status;
}

void shift_close(sweep *s)
{
    for (size_t f = 0; f < s->factors; f++) {
        sweep_columns *c = &s->factor[f].columns;
        free(c->column);
        free(c->c);
        free(c->gram);
        for (size_t k = 0; k < s->factor[f].links; k++) {
            free(s->factor[f].link[k].of);
            free(s->factor[f].link[k].inner);
        }
    }
}

/* ---- moves ---- */

/* out (q * q) = S^-1 of a factor. */
static void precision_of(const sweep_run *r, const sweep_factor *f, double *out)
{
    effect_spread at;
    double lower[Q * Q];
    spread_at(&f->of->shape, r->st.at + f->of->spread, false, &at);
    for (size_t a = 0; a < f->q; a++)
        for (size_t b = 0; b < f->q; b++) lower[a * f->q + b] = at.factor[a][b];
    cholesky_inverse(f->q, lower, out);
}

/* x <- a draw of N(P^-1 x, P^-1), with `root` the Cholesky factor of P. */
static void draw_normal(rng *random, size_t n, const double *root, double *x)
{
    double z[Q], *more = n > Q ? x + n : z;
    rng_normals(random, n, more);
    cholesky_back(n, root, more);
    cholesky_solve(n, root, x);
    for (size_t i = 0; i < n; i++) x[i] += more[i];
}

/* beta + e, u - c e for the columns of f. */
static void apply_columns(const sweep_run *r, const sweep_factor *f, const double *e)
{
    size_t p = f->columns.count, q = f->q;
    for (size_t j = 0; j < p; j++) r->st.at[f->columns.column[j]] += e[j];
    for (size_t l = 0; l < f->levels; l++) {
        double *u = sweep_effects(r, f, l);
        for (size_t j = 0; j < p; j++) add_scaled(q, -e[j], f->columns.c + (l * p + j) * q, u);
    }
}

/* The precision of e and, in x, its linear term: effects, and quadratic priors. */
static void set_columns_density(const sweep_run *r, const sweep_factor *f, double *precision,
                                double *x, double *slope)
{
    const sweep *s = r->s;
    size_t p = f->columns.count, q = f->q;
    double inverse[Q * Q], su[Q];
    precision_of(r, f, inverse);
    sweep_fixed_slope(s, r->st.at, true, slope);
    for (size_t j = 0; j < p; j++) {
        x[j] = slope[f->columns.column[j]];
        for (size_t k = 0; k < p; k++) {
            double sum = s->prior_precision[f->columns.column[j] * s->d + f->columns.column[k]];
            for (size_t a = 0; a < q * q; a++)
                sum += inverse[a] * f->columns.gram[(a * p + j) * p + k];
            precision[j * p + k] = sum;
        }
    }
    for (size_t l = 0; l < f->levels; l++) {
        const double *u = sweep_effects(r, f, l);
        apply_matrix(q, inverse, u, su);
        for (size_t j = 0; j < p; j++) x[j] += dot(q, f->columns.c + (l * p + j) * q, su);
    }
}

static void shift_columns(sweep_run *r, const sweep_factor *f)
{
    const sweep *s = r->s;
    size_t p = f->columns.count, d = s->d;
    double *precision = r->st.fixed, *x = precision + d * d, *slope = x + 2 * d;
    rng random = sweep_stream(r, 0);
    if (p == 0) return;
    set_columns_density(r, f, precision, x, slope);
    r->update++;
    if (!cholesky(p, precision)) return;
    draw_normal(&random, p, precision, x);
    double before = s->quadratic ? 0.0 : sweep_fixed_prior(s, r->st.at, true);
    apply_columns(r, f, x);
    if (s->quadratic) return;
    double gain = sweep_fixed_prior(s, r->st.at, true) - before;
    if (-rng_exponential(&random) < gain) return;
    for (size_t j = 0; j < p; j++) x[j] = -x[j];
    apply_columns(r, f, x);
}

/* One e for each outer level. `sums`: scratch, by outer level. */
static void shift_nested(sweep_run *r, const sweep_factor *f, const sweep_link *link)
{
    const sweep_factor *outer = &r->s->factor[link->outer];
    size_t n = link->count, q = f->q;
    double own[Q * Q], others[Q * Q], su[Q], *sums = r->st.step, root[Q * Q];
    precision_of(r, f, own);
    precision_of(r, outer, others);
    memset(sums, 0, outer->levels * n * sizeof *sums);
    for (size_t l = 0; l < f->levels; l++) {
        apply_matrix(q, own, sweep_effects(r, f, l), su);
        for (size_t k = 0; k < n; k++) sums[link->of[l] * n + k] += su[link->own[k]];
    }
    for (size_t l = 0; l < outer->levels; l++) {
        double *e = sums + l * n, *u = sweep_effects(r, outer, l);
        rng random = sweep_stream(r, l);
        apply_matrix(outer->q, others, u, su);
        for (size_t j = 0; j < n; j++) {
            e[j] -= su[link->other[j]];
            for (size_t k = 0; k < n; k++)
                root[j * n + k] = others[link->other[j] * outer->q + link->other[k]] +
                                  link->inner[l] * own[link->own[j] * q + link->own[k]];
        }
        if (!cholesky(n, root)) {
            memset(e, 0, n * sizeof *e);
            continue;
        }
        draw_normal(&random, n, root, e);
        for (size_t k = 0; k < n; k++) u[link->other[k]] += e[k];
    }
    for (size_t l = 0; l < f->levels; l++)
        for (size_t k = 0; k < n; k++)
            sweep_effects(r, f, l)[link->own[k]] -= sums[link->of[l] * n + k];
    r->update++;
}

void shift_draw(sweep_run *r, const sweep_factor *f)
{
    shift_columns(r, f);
    for (size_t k = 0; k < f->links; k++) shift_nested(r, f, &f->link[k]);
}
