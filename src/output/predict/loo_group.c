/* Leave-one-group-out: predictive densities of all rows of a group, given the other groups.
 *
 * theta are all parameters except the effects v that are informed by the rows of group g alone:
 * those of the group, and those of levels of other factors that occur in this group only. Given
 * a draw theta_s, v is standard normal in its coordinates, and
 *
 *   l_s = log p(y_g | theta_s) = log int prod_(i in g) p(y_i | eta_i(v))^weight_i N(v; 0, I) dv.(1)
 *
 * The posterior of theta without the group is that of all rows divided by p(y_g | theta): l_s
 * takes the place of a row's log likelihood in (1) of loo.c. Merkle, Furr, Rabe-Hesketh (2019),
 * Bayesian comparison of latent variable models: conditional versus marginal likelihoods,
 * Psychometrika 84, 802-829.
 *
 * The integral is computed around the mode m of its integrand, with C C' the inverse of minus
 * its Hessian there and f the integrand,
 *
 *   int f(v) dv = |C| int f(m + C t) dt = |C| sum_k exp(a_k) f(m + C t_k).                 (2)
 *
 * Points: up to three effects a Gauss-Hermite grid; with more, draws t_k from a Student t and
 * their negatives, with log importance weights a_k. These are scaled so that (2) is exact for a
 * normal f, as in linear models. */
#include "output/predict/loo_group.h"
#include "output/predict/group_rows.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/threads.h"
#include "linalg/cholesky.h"
#include "linalg/random_variates.h"
#include "linalg/real.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID_EFFECTS  ((size_t)3)
#define MONTE_CARLO   ((size_t)500) /* points, in pairs of opposite ones */
#define DF            8.0           /* of the Student t */
#define EFFECTS_LIMIT ((size_t)100) /* of one group, nested ones included */
#define NEWTON_STEPS  50
#define NEWTON_HALVES 20
#define NEWTON_TOL    1e-10 /* squared length of a step, in sds of the integrand */
#define LOG_2PI       1.8378770664093453

static double dot_of(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- points of an integral ---- */

typedef struct {
    size_t effects, count;
    double *t;      /* [point][effect] */
    double *weight; /* [point]: a_k of (2) */
    bool grid;
} point_set;

/* He_n(x) / sqrt(n!) and its derivative, by the recurrence of the normalised polynomials. */
static double hermite_at(size_t n, double x, double *slope, double *before)
{
    double last = 0.0, value = 1.0;
    for (size_t k = 0; k < n; k++) {
        double next = (x * value - sqrt((double)k) * last) / sqrt((double)k + 1.0);
        last = value;
        value = next;
    }
    *slope = sqrt((double)n) * last;
    *before = last;
    return value;
}

/* Nodes of the Gauss-Hermite rule of n <= 21 points for the weight exp(-t^2/2), by Newton's
 * method between the nodes of the rule before; and log weight + t^2/2. */
static void gauss_hermite(size_t n, double *root, double *log_weight)
{
    double from[24] = {0.0}, slope, before;
    for (size_t m = 1; m <= n; m++) {
        for (size_t i = 0; i < m; i++) {
            /* the nodes of two successive rules interlace */
            double low = i == 0 ? -2.0 * sqrt((double)m) - 1.0 : from[i - 1];
            double high = i + 1 == m ? 2.0 * sqrt((double)m) + 1.0 : from[i];
            double sign = hermite_at(m, low, &slope, &before);
            for (int step = 0; step < 80; step++) {
                double middle = 0.5 * (low + high);
                double value = hermite_at(m, middle, &slope, &before);
                *(sign * value > 0.0 ? &low : &high) = middle;
            }
            root[i] = 0.5 * (low + high);
        }
        memcpy(from, root, m * sizeof *from);
    }
    for (size_t i = 0; i < n; i++) {
        hermite_at(n, root[i], &slope, &before);
        log_weight[i] =
            0.5 * LOG_2PI - log((double)n) - 2.0 * log(fabs(before)) + 0.5 * root[i] * root[i];
    }
}

static void fill_grid(point_set *p, size_t n)
{
    double root[24], log_weight[24];
    gauss_hermite(n, root, log_weight);
    for (size_t k = 0; k < p->count; k++)
        for (size_t a = 0, rest = k; a < p->effects; a++, rest /= n) {
            p->t[k * p->effects + a] = root[rest % n];
            p->weight[k] += log_weight[rest % n];
        }
}

static void fill_draws(point_set *p)
{
    rng r = rng_stream(1, p->effects, RNG_PREDICT);
    size_t q = p->effects;
    double total = 0.0;
    for (size_t k = 0; k < p->count; k += 2) {
        double *t = p->t + k * q, square = 0.0;
        double scale = sqrt(0.5 * DF / exp(draw_log_gamma(&r, 0.5 * DF)));
        for (size_t a = 0; a < q; a++) {
            t[a] = scale * rng_normal(&r);
            t[q + a] = -t[a];
            square += t[a] * t[a];
        }
        p->weight[k] = p->weight[k + 1] = 0.5 * (DF + (double)q) * log1p(square / DF);
        total += 2.0 * exp(p->weight[k] - 0.5 * square);
    }
    for (size_t k = 0; k < p->count; k++)
        p->weight[k] += 0.5 * (double)q * LOG_2PI - log(total);
}

/* The points for a number of effects; NULL: no memory. */
static point_set *points_create(size_t effects)
{
    static const size_t nodes[] = {1, 21, 11, 7};
    size_t n = effects <= GRID_EFFECTS ? nodes[effects] : 0, count = 1;
    for (size_t a = 0; a < effects && n; a++) count *= n;
    if (!n) count = MONTE_CARLO;
    point_set *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (point_set){.effects = effects,
                     .count = count,
                     .grid = n > 0,
                     .t = new_doubles(count * effects + 1),
                     .weight = new_doubles(count)};
    if (p->t && p->weight) {
        n ? fill_grid(p, n) : fill_draws(p);
        return p;
    }
    free(p->t);
    free(p->weight);
    free(p);
    return NULL;
}

static void points_destroy(point_set *p)
{
    if (!p) return;
    free(p->t);
    free(p->weight);
    free(p);
}

/* ---- the integral of one group ---- */

/* Memory of a thread. */
typedef struct {
    double *base, *eta, *y, *value, *slope, *curve; /* by row */
    double *r;  /* [row][varying column]: z'L of the terms that are integrated over */
    size_t *at; /* [row][term]: first coordinate of its effects in v, or GROUP_NONE */
    double *v, *next, *gradient; /* by effect */
    double *h;                   /* effect x effect */
    double *loglik;              /* by draw */
    double *scratch;             /* of loo_weigh */
    ranked_weight *ranked;
} worker_memory;

typedef struct {
    group_rows *d;
    double *w;                            /* [draw][column] */
    point_set *points[EFFECTS_LIMIT + 1]; /* by number of effects; NULL: not needed */
    worker_memory *memory;
    unsigned threads;
    loo *out;
    double *error; /* by group: mean square error of l_s by Monte Carlo */
} group_job;

/* Numbers the effects of a group that are integrated over; returns their number. */
static size_t number_effects(const group_rows *d, size_t g, size_t *at)
{
    size_t n = d->start[g + 1] - d->start[g], effects = 0;
    const group_row *row = d->row + d->start[g];
    for (size_t t = 0; t < d->terms; t++)
        for (size_t i = 0; i < n; i++) {
            size_t of = row[i].level[t], *to = &at[i * d->terms + t];
            *to = GROUP_NONE;
            if (d->only_in[t][of] != g) continue;
            /* the first row with this level, as rows of a level need not be neighbours */
            for (size_t k = 0; *to == GROUP_NONE && k < i; k++)
                if (row[k].level[t] == of) *to = at[k * d->terms + t];
            if (*to != GROUP_NONE) continue;
            *to = effects;
            effects += d->term_count[t];
        }
    return effects;
}

/* Sets base and r of all rows of the group at draw s. */
static void set_draw(const group_job *j, size_t g, size_t s, worker_memory *m)
{
    const group_rows *d = j->d;
    const double *w = j->w + s * d->columns;
    size_t n = d->start[g + 1] - d->start[g];
    for (size_t i = 0; i < n; i++) {
        const group_row *row = &d->row[d->start[g] + i];
        const double *z = row->number + d->columns;
        double eta = row->offset + dot_of(d->columns, row->number, w);
        for (size_t t = 0; t < d->terms; t++) {
            size_t q = d->term_count[t], from = d->term_begin[t];
            if (m->at[i * d->terms + t] == GROUP_NONE) {
                const double *const *known = d->known + d->known_at[t][row->level[t]];
                for (size_t a = 0; a < q; a++)
                    if (known[a]) eta += z[from + a] * known[a][s];
                continue;
            }
            const double *spread = effects_spread(d->f, t, s);
            double *r = m->r + i * d->varying + from;
            for (size_t c = 0; c < q; c++) {
                r[c] = 0.0;
                for (size_t a = c; a < q; a++) r[c] += z[from + a] * spread[a * q + c];
            }
        }
        m->base[i] = eta;
    }
}

/* The rows as the model sees them at v; sets eta. */
static batch rows_at(const group_job *j, size_t g, size_t s, worker_memory *m, const double *v)
{
    const group_rows *d = j->d;
    const predictor_draws *f = d->f;
    size_t n = d->start[g + 1] - d->start[g];
    for (size_t i = 0; i < n; i++) {
        double eta = m->base[i];
        for (size_t t = 0; t < d->terms; t++) {
            size_t at = m->at[i * d->terms + t];
            if (at != GROUP_NONE)
                eta +=
                    dot_of(d->term_count[t], m->r + i * d->varying + d->term_begin[t], v + at);
        }
        m->eta[i] = eta;
    }
    return (batch){.k = f->k,
                   .n = n,
                   .eta = m->eta,
                   .y = m->y,
                   .aux = f->aux + s * f->auxiliaries,
                   .pitch = n};
}

/* The log of the integrand of (1) at v. */
static double integrand(const group_job *j, size_t g, size_t s, worker_memory *m, size_t q,
                        const double *v)
{
    const group_row *row = j->d->row + j->d->start[g];
    batch b = rows_at(j, g, s, m, v);
    double sum = -0.5 * dot_of(q, v, v) - 0.5 * (double)q * LOG_2PI;
    j->d->f->model->predictor->loglik(&b, m->value);
    for (size_t i = 0; i < b.n; i++)
        if (row[i].factor != 0.0) sum += row[i].factor * m->value[i] + row[i].constant;
    return sum;
}

/* Sets gradient and minus the Hessian of the integrand's log at v. Rows with positive curvature
 * count as flat, so that the matrix is positive definite. */
static void expand(const group_job *j, size_t g, size_t s, worker_memory *m, size_t q,
                   const double *v)
{
    const group_rows *d = j->d;
    const group_row *row = d->row + d->start[g];
    batch b = rows_at(j, g, s, m, v);
    d->f->model->predictor->gradient(&b, m->slope, NULL);
    d->f->model->predictor->curvature(&b, m->curve, NULL, NULL);
    memset(m->h, 0, q * q * sizeof *m->h);
    for (size_t a = 0; a < q; a++) {
        m->gradient[a] = -v[a];
        m->h[a * q + a] = 1.0;
    }
    for (size_t i = 0; i < b.n; i++) {
        double slope = row[i].factor * m->slope[i];
        double curve = fmax(-row[i].factor * m->curve[i], 0.0);
        const double *r = m->r + i * d->varying;
        const size_t *at = m->at + i * d->terms;
        for (size_t t = 0; t < d->terms; t++) {
            for (size_t a = 0; at[t] != GROUP_NONE && a < d->term_count[t]; a++) {
                double ra = r[d->term_begin[t] + a], *h = m->h + (at[t] + a) * q;
                m->gradient[at[t] + a] += slope * ra;
                for (size_t u = 0; u < d->terms; u++)
                    for (size_t c = 0; at[u] != GROUP_NONE && c < d->term_count[u]; c++)
                        h[at[u] + c] += curve * ra * r[d->term_begin[u] + c];
            }
        }
    }
}

/* Finds the mode of the integrand from m->v on; leaves the Cholesky factor of minus the Hessian
 * in m->h. */
static void find_mode(const group_job *j, size_t g, size_t s, worker_memory *m, size_t q)
{
    double value = integrand(j, g, s, m, q, m->v);
    if (!isfinite(value)) {
        memset(m->v, 0, q * sizeof *m->v);
        value = integrand(j, g, s, m, q, m->v);
    }
    for (int step = 0; step < NEWTON_STEPS; step++) {
        expand(j, g, s, m, q, m->v);
        if (!cholesky(q, m->h)) return;
        memcpy(m->next, m->gradient, q * sizeof *m->next);
        cholesky_solve(q, m->h, m->next);
        double square = dot_of(q, m->next, m->gradient), factor = 1.0, there = -INFINITY;
        if (!(square > NEWTON_TOL)) return;
        for (int half = 0; half < NEWTON_HALVES; half++, factor *= 0.5) {
            for (size_t a = 0; a < q; a++) m->gradient[a] = m->v[a] + factor * m->next[a];
            there = integrand(j, g, s, m, q, m->gradient);
            if (there >= value) break;
        }
        if (!(there >= value)) return;
        value = there;
        memcpy(m->v, m->gradient, q * sizeof *m->v);
    }
    expand(j, g, s, m, q, m->v);
    cholesky(q, m->h);
}

/* l_s by (2). *error: of a Monte Carlo sum, by its two halves; 0 of a grid. */
static double integrate(const group_job *j, size_t g, size_t s, worker_memory *m, size_t q,
                        double *error)
{
    *error = 0.0;
    if (q == 0) return integrand(j, g, s, m, 0, m->v);
    find_mode(j, g, s, m, q);
    const point_set *p = j->points[q];
    double half[2] = {0.0, 0.0}, top = integrand(j, g, s, m, q, m->v), log_volume = 0.0;
    for (size_t a = 0; a < q; a++) log_volume -= log(m->h[a * q + a]);
    for (size_t k = 0; k < p->count; k++) {
        memcpy(m->next, p->t + k * q, q * sizeof *m->next);
        cholesky_back(q, m->h, m->next);
        for (size_t a = 0; a < q; a++) m->next[a] += m->v[a];
        half[k / 2 % 2] += exp(p->weight[k] + integrand(j, g, s, m, q, m->next) - top);
    }
    if (!p->grid) *error = fabs(half[0] - half[1]) / (half[0] + half[1]);
    return top + log_volume + log(half[0] + half[1]);
}

/* Leave-one-out of one group; runs on any thread. */
static void leave_out(void *self, unsigned worker, size_t g)
{
    group_job *j = self;
    group_rows *d = j->d;
    worker_memory *m = &j->memory[worker];
    size_t n = d->start[g + 1] - d->start[g], q = number_effects(d, g, m->at);
    double error, squares = 0.0;
    memset(m->v, 0, (EFFECTS_LIMIT + 1) * sizeof *m->v);
    for (size_t i = 0; i < n; i++) m->y[i] = d->row[d->start[g] + i].y;
    for (size_t s = 0; s < d->f->draws; s++) {
        set_draw(j, g, s, m);
        m->loglik[s] = integrate(j, g, s, m, q, &error);
        squares += error * error;
    }
    loo_weight row = loo_weigh(d->f->k, d->f->draws, m->loglik, m->scratch, m->ranked);
    j->out->elpd[g] = row.elpd;
    j->out->lpd[g] = row.lpd;
    j->out->k[g] = row.k;
    j->error[g] = squares / (double)d->f->draws;
}

/* ---- all groups ---- */

/* Creates the points that the groups need. */
static sbps_status prepare_points(group_job *j, size_t *at, sbps_error *err)
{
    const group_rows *d = j->d;
    for (size_t g = 0; g < d->groups; g++) {
        size_t q = number_effects(d, g, at);
        if (q > EFFECTS_LIMIT)
            return fail(err, SBPS_BAD_DATA,
                        "--group: %zu effects belong to '%s' alone, nested factors included; "
                        "at most %zu can be integrated over",
                        q, show_name(d->level[d->first_own][g]).text, EFFECTS_LIMIT);
        if (!j->points[q] && !(j->points[q] = points_create(q))) return fail_memory(err);
    }
    return SBPS_OK;
}

static void close_worker(worker_memory *m)
{
    free(m->base);
    free(m->at);
    free(m->ranked);
}

/* Allocates the memory of a thread for groups of up to `largest` rows. */
static bool open_worker(const group_rows *d, size_t largest, worker_memory *m)
{
    size_t q = EFFECTS_LIMIT + 1, draws = d->f->draws;
    size_t total = largest * (6 + d->varying) + q * (3 + q) + 3 * draws;
    double *next = m->base = new_doubles(total + 1);
    m->at = calloc(largest * d->terms + 1, sizeof *m->at);
    m->ranked = calloc(draws + 1, sizeof *m->ranked);
    if (!m->base || !m->at || !m->ranked) return false;
    double **const part[] = {&m->eta, &m->y, &m->value, &m->slope, &m->curve, &m->r};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) *part[k] = next += largest;
    m->v = m->r + largest * d->varying;
    m->next = m->v + q;
    m->gradient = m->next + q;
    m->h = m->gradient + q;
    m->loglik = m->h + q * q;
    m->scratch = m->loglik + draws;
    return true;
}

/* Copies the weights to [draw][column]. */
static bool copy_weights(group_job *j)
{
    const predictor_draws *f = j->d->f;
    size_t d = f->b->names;
    j->w = new_doubles(f->draws * d + 1);
    for (size_t c = 0; j->w && c < d; c++)
        for (size_t s = 0; s < f->draws; s++) j->w[s * d + c] = f->w[c * f->draws + s];
    return j->w;
}

/* Names and sizes of the groups. */
static bool describe_groups(const group_rows *d, loo *out)
{
    size_t n = d->groups;
    out->level = calloc(n + 1, sizeof *out->level);
    out->size = calloc(n + 1, sizeof *out->size);
    out->index = calloc(n + 1, sizeof *out->index);
    out->elpd = new_doubles(n + 1);
    out->lpd = new_doubles(n + 1);
    out->k = new_doubles(n + 1);
    bool whole = out->level && out->size && out->index && out->elpd && out->lpd && out->k;
    for (size_t g = 0; whole && g < n; g++) {
        out->index[g] = g;
        out->size[g] = d->start[g + 1] - d->start[g];
        whole = (out->level[g] = copy_text(d->level[d->first_own][g]));
        out->count = whole ? g + 1 : out->count;
    }
    out->rows = out->places = n;
    return whole;
}

static sbps_status run_groups(group_job *j, sbps_error *err)
{
    group_rows *d = j->d;
    size_t largest = 1;
    for (size_t g = 0; g < d->groups; g++)
        if (d->start[g + 1] - d->start[g] > largest) largest = d->start[g + 1] - d->start[g];
    if (j->threads > d->groups) j->threads = (unsigned)d->groups;
    j->memory = calloc(j->threads + 1, sizeof *j->memory);
    j->error = new_doubles(d->groups + 1);
    bool whole = j->memory && j->error && copy_weights(j) && describe_groups(d, j->out);
    for (unsigned w = 0; whole && w < j->threads; w++)
        whole = open_worker(d, largest, &j->memory[w]);
    sbps_status status = whole ? prepare_points(j, j->memory->at, err) : fail_memory(err);
    if (status == SBPS_OK) status = workers_run(j->threads, d->groups, leave_out, j, err);
    for (size_t g = 0; status == SBPS_OK && g < d->groups; g++)
        j->out->integral_error = fmax(j->out->integral_error, sqrt(j->error[g]));
    for (unsigned w = 0; j->memory && w < j->threads; w++) close_worker(&j->memory[w]);
    for (size_t q = 0; q <= EFFECTS_LIMIT; q++) points_destroy(j->points[q]);
    free(j->memory);
    free(j->error);
    free(j->w);
    return status;
}

sbps_status loo_make_groups(const result *r, const char *run, const char *data,
                            const loo_choice *choice, loo *out, sbps_error *err)
{
    predictor_draws *f = NULL;
    group_rows d = {0};
    stream_count count = {0};
    const predictor_options how = {.max_draws = choice->max_draws, .new_levels = true};
    sbps_status status = predictor_draws_open(r, run, how, &f, err);
    if (status != SBPS_OK) return status;
    status = group_rows_open(f, choice->group, &d, err);
    if (status == SBPS_OK) status = group_rows_read(&d, r, run, data, choice, &count, err);
    out->identity = count.identity;
    out->lacking = count.lacking + count.not_finite;
    out->draws = f->draws;
    out->table_rows = d.count;
    if (status == SBPS_OK && d.count < 2)
        status = fail(err, SBPS_BAD_DATA, "%s: fewer than two rows have no missing cell", data);
    if (status == SBPS_OK && out->identity != ROWS_OTHER) {
        group_job j = {.d = &d,
                       .threads = stream_threads(&(row_stream){.threads = choice->threads}),
                       .out = out};
        status = group_rows_arrange(&d, err);
        if (status == SBPS_OK && !(out->group = copy_text(choice->group)))
            status = fail_memory(err);
        if (status == SBPS_OK) status = run_groups(&j, err);
    }
    group_rows_close(&d);
    predictor_draws_close(f);
    return status;
}
