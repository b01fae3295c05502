/* Standard deviations and correlations of a factor of rows that are not normal, with all of its
 * effects moving along. Near `centre`, a value of u that is fixed after warm-up, the log
 * likelihood of a level given all other parameters is about b'u - u'P u / 2. With S = L L'
 *
 *   u = L z,   z = M^-1 L'b + A'^-1 eta,   M = I + L'P L = A A'                             (1)
 *
 * makes eta nearly standard normal whatever L is. The coordinates x of L are drawn by slices with
 * eta held: at (1) the log density is
 *
 *   log p(x) = log likelihood(u) - |z|^2 / 2 - log|A| + log prior(x) + constant             (2)
 *
 * where -log|A| comes from the Jacobian |L| / |A| of u by eta and the factor 1/|L| of the density
 * of u. (2) is exact for any P and b that do not depend on u and x; where they fit, x is drawn as
 * if the effects were integrated out. P = 0 and b = 0 would hold L^-1 u. */
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "posterior/sweep/sweep_parts.h"

#include <string.h>

#define Q LEVEL_EFFECTS_MAX

typedef struct {
    sweep_run *r;
    const sweep_factor *f;
    size_t j;         /* the coordinate that is drawn */
    double last, end; /* its value evaluated last, and the log density there */
    double loglik;    /* of the rows there */
} along;

/* A of one level, and L'b. */
static void set_frame(size_t q, double (*factor)[Q], const double *precision, const double *b,
                      double *root, double *pull)
{
    double turned[Q][Q]; /* P L */
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < q; k++) {
            turned[i][k] = 0.0;
            for (size_t c = k; c < q; c++) turned[i][k] += precision[i * q + c] * factor[c][k];
        }
    for (size_t i = 0; i < q; i++) {
        pull[i] = 0.0;
        for (size_t c = i; c < q; c++) pull[i] += factor[c][i] * b[c];
        for (size_t k = 0; k < q; k++) {
            double sum = i == k ? 1.0 : 0.0;
            for (size_t c = i; c < q; c++) sum += factor[c][i] * turned[c][k];
            root[i * q + k] = sum;
        }
    }
    cholesky(q, root); /* M >= I */
}

/* -|z|^2 / 2 - log|A| */
static double frame_value(size_t q, const double *root, const double *z)
{
    double value = -0.5 * dot(q, z, z);
    for (size_t i = 0; i < q; i++) value -= log(root[i * q + i]);
    return value;
}

/* st.v = eta of all levels; st.second and st.curve2 have b and P. Returns the sum of
 * frame_value. */
static double set_eta(const along *a)
{
    const sweep_run *r = a->r;
    size_t q = a->f->q;
    effect_spread at;
    double total = 0.0, root[Q * Q], pull[Q];
    spread_at(&a->f->of->shape, r->st.at + a->f->of->spread, false, &at);
    for (size_t l = 0; l < a->f->levels; l++) {
        const double *u = sweep_effects(r, a->f, l);
        double z[Q], *eta = r->st.v + l * q;
        set_frame(q, at.factor, r->st.curve2 + l * q * q, r->st.second + l * q, root, pull);
        for (size_t i = 0; i < q; i++)
            z[i] = (u[i] - dot(i, at.factor[i], z)) / at.factor[i][i];
        total += frame_value(q, root, z);
        cholesky_solve(q, root, pull);
        for (size_t i = 0; i < q; i++) {
            eta[i] = 0.0;
            for (size_t c = i; c < q; c++) eta[i] += root[c * q + i] * (z[c] - pull[c]);
        }
    }
    return total;
}

/* st.step = the change of u by (1) at the spreads of the chain's point. Returns the sum of
 * frame_value. */
static double set_step(const along *a)
{
    const sweep_run *r = a->r;
    size_t q = a->f->q;
    effect_spread at;
    double total = 0.0, root[Q * Q], pull[Q], z[Q];
    spread_at(&a->f->of->shape, r->st.at + a->f->of->spread, false, &at);
    for (size_t l = 0; l < a->f->levels; l++) {
        const double *u = sweep_effects(r, a->f, l), *eta = r->st.v + l * q;
        double *step = r->st.step + l * q;
        if (q == 1) {
            double s = at.factor[0][0], square = 1.0 + s * s * r->st.curve2[l];
            z[0] = s * r->st.second[l] / square + *eta / sqrt(square);
            *step = s * z[0] - *u;
            total -= 0.5 * (z[0] * z[0] + log(square));
            continue;
        }
        set_frame(q, at.factor, r->st.curve2 + l * q * q, r->st.second + l * q, root, pull);
        cholesky_solve(q, root, pull);
        memcpy(z, eta, sizeof *z * q);
        cholesky_back(q, root, z);
        for (size_t i = 0; i < q; i++) z[i] += pull[i];
        for (size_t i = 0; i < q; i++) step[i] = dot(i + 1, at.factor[i], z) - u[i];
        total += frame_value(q, root, z);
    }
    return total;
}

/* (2) */
static double density(void *self, double x)
{
    along *a = self;
    double was = a->r->st.at[a->j];
    if (x == a->last) return a->end;
    a->r->st.at[a->j] = x;
    double value = sweep_log_prior(a->r->s, a->r->st.at, a->j) + set_step(a);
    a->loglik = rows_value(a->r, a->f, a->r->st.step);
    a->r->st.at[a->j] = was;
    a->last = x;
    a->end = value + a->loglik;
    return a->end;
}

/* b and P of all levels, from the slopes and curvatures at the centre. */
static void set_approximation(sweep_run *r, const sweep_factor *f)
{
    size_t q = f->q;
    const double *centre = r->st.centre + f->of->first;
    for (size_t i = 0; i < f->levels * q; i++)
        r->st.step[i] = centre[i] - sweep_effects(r, f, 0)[i];
    rows_sum_levels(r, f, r->st.step, r->st.value2, r->st.second, r->st.curve2);
    for (size_t l = 0; l < f->levels; l++)
        for (size_t i = 0; i < q; i++)
            r->st.second[l * q + i] += dot(q, r->st.curve2 + (l * q + i) * q, centre + l * q);
}

void along_draw(sweep_run *r, const sweep_factor *f)
{
    along a = {.r = r, .f = f, .loglik = r->loglik};
    size_t count = f->of->shape.count, q = f->q;
    set_approximation(r, f);
    double frames = set_eta(&a);
    rng random = sweep_stream(r, 0);
    for (size_t c = 0; c < count; c++) {
        a.j = f->of->spread + c;
        double x = a.last = r->st.at[a.j], *width = r->st.width + (a.j - r->s->d);
        double fx = a.end = a.loglik + frames + sweep_log_prior(r->s, r->st.at, a.j);
        double to = sweep_slice(&random, x, fx, *width, 0, (sweep_density){&a, density});
        sweep_adapt_width(r, width, to - x);
        if (to == x) { /* no draw in the slice was found */
            a.loglik = fx - frames - sweep_log_prior(r->s, r->st.at, a.j);
            continue;
        }
        density(&a, to); /* usually the point evaluated last */
        r->st.at[a.j] = to;
        frames = a.end - a.loglik - sweep_log_prior(r->s, r->st.at, a.j);
        add_scaled(f->levels * q, 1.0, r->st.step, sweep_effects(r, f, 0));
        rows_move(r, f, r->st.step);
    }
    r->update++;
}

void along_adapt(const sweep_run *r)
{
    const double rate = 0.1;
    for (size_t f = 0; r->adapting && f < r->s->factors; f++) {
        size_t first = r->s->factor[f].of->first,
               count = r->s->factor[f].levels * r->s->factor[f].q;
        for (size_t i = first; i < first + count; i++)
            r->st.centre[i] += rate * (r->st.at[i] - r->st.centre[i]);
    }
}
