/* L-BFGS: approaches a mode where Newton's method has a bad start, using gradients only.
 *
 *   s_k = w_k+1 - w_k,  y_k = g_k+1 - g_k,  step = -H_k g_k by the two-loop recursion       (1)
 *
 * from H_0 = D^-2, D the scales in `root`, or from H_0 = A A' of a metric. Armijo
 * backtracking on values, or on slopes where rounding hides the decrease of values; pairs
 * with s.y <= 0 are left out.
 *
 * With a metric it is also the mode search for so many parameters that no Hessian is formed
 * (at the end of this file). That search stops within a given fraction of a posterior sd of
 * the mode, all coordinates together, which is enough for any reference point.
 *
 * Nocedal (1980), Updating quasi-Newton matrices with limited storage, Math. Comp. 35,
 * 773-782. Slopes: Hager, Zhang (2005), A new conjugate gradient method with guaranteed
 * descent and an efficient line search, SIAM J. Optim. 16, 170-192, eq. 4.1. */
#include "core/memory.h"
#include "linalg/dense_matrix.h"
#include "posterior/mode/search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS          10
#define MAX_ITERATIONS 200
/* for models whose Hessian costs as much as many gradients */
#define MAX_ITERATIONS_GRADIENT 2000

typedef struct {
    double *memory, *s, *y, *next; /* PAIRS * dim, PAIRS * dim, dim */
    double rho[PAIRS];
    size_t count; /* pairs so far; the last PAIRS are stored */
} history;

/* Sets the coordinates of x that are held fixed to 0. */
static void clear_held(const search *s, double *x)
{
    for (size_t j = 0; s->held && j < s->dim; j++)
        if (s->held[j]) x[j] = 0.0;
}

/* step <- H_0 step */
static void scale_step(search *s)
{
    if (s->a) {
        s->a->kind->transpose(s->a, s->step, s->root);
        s->a->kind->forward(s->a, s->root, s->step);
        clear_held(s, s->step);
        return;
    }
    for (size_t j = 0; j < s->dim; j++) s->step[j] /= s->root[j] * s->root[j];
}

/* s->step = -H_k g_k, by (1). */
static void two_loop_recursion(search *s, const history *h)
{
    size_t d = s->dim, kept = h->count < PAIRS ? h->count : PAIRS;
    double alpha[PAIRS];
    for (size_t j = 0; j < d; j++) s->step[j] = -s->gradient[j];
    for (size_t i = 0; i < kept; i++) {
        size_t at = (h->count - 1 - i) % PAIRS;
        alpha[at] = h->rho[at] * dot(d, h->s + at * d, s->step);
        add_scaled(d, -alpha[at], h->y + at * d, s->step);
    }
    scale_step(s);
    for (size_t i = kept; i-- > 0;) {
        size_t at = (h->count - 1 - i) % PAIRS;
        double beta = h->rho[at] * dot(d, h->y + at * d, s->step);
        add_scaled(d, alpha[at] - beta, h->s + at * d, s->step);
    }
}

/* Stores the pair (s_k, y_k) of the step from w to trial if s.y > 0. */
static void store_pair(search *s, history *h)
{
    size_t d = s->dim, at = h->count % PAIRS;
    double *step = h->s + at * d, *change = h->y + at * d;
    for (size_t j = 0; j < d; j++) {
        step[j] = s->trial[j] - s->w[j];
        change[j] = h->next[j] - s->gradient[j];
    }
    double sy = dot(d, step, change);
    if (!(sy > 0.0)) return;
    h->rho[at] = 1.0 / sy;
    h->count++;
}

/* Halves the step until U decreases enough and moves there; false if it never does. */
static bool search_line(search *s, history *h, sbps_status *status, sbps_error *err)
{
    double slope = dot(s->dim, s->gradient, s->step), value;
    double noise = 64.0 * DBL_EPSILON * fmax(1.0, fabs(s->value));
    if (!(slope < 0.0)) return false;
    for (double t = 1.0; t > 1e-12; t *= 0.5) {
        for (size_t j = 0; j < s->dim; j++) s->trial[j] = s->w[j] + t * s->step[j];
        *status = posterior_gradient(s->u, s->trial, &value, h->next, err);
        if (*status != SBPS_OK) return false;
        clear_held(s, h->next);
        bool lower = value <= s->value + 1e-4 * t * slope;
        bool flatter =
            value <= s->value + noise && fabs(dot(s->dim, h->next, s->step)) <= -0.9 * slope;
        if (!lower && !flatter) continue;
        store_pair(s, h);
        memcpy(s->w, s->trial, s->dim * sizeof *s->w);
        memcpy(s->gradient, h->next, s->dim * sizeof *s->w);
        s->value = value;
        return true;
    }
    return false;
}

/* True if the scaled gradient is at most goal. */
static bool is_near(const search *s, double goal)
{
    double total = 0.0;
    if (s->a) {
        s->a->kind->transpose(s->a, s->gradient, s->root);
        return dot(s->dim, s->root, s->root) <= goal * goal;
    }
    for (size_t j = 0; j < s->dim; j++)
        total += s->gradient[j] * s->gradient[j] / (s->root[j] * s->root[j]);
    return total <= goal * goal;
}

sbps_status lbfgs_search(search *s, double goal, sbps_error *err)
{
    history h = {.memory = new_doubles((2 * PAIRS + 1) * s->dim)};
    if (!h.memory) return fail_memory(err);
    h.s = h.memory;
    h.y = h.s + PAIRS * s->dim;
    h.next = h.y + PAIRS * s->dim;
    size_t limit = s->u->model->facts.mode_optional ? MAX_ITERATIONS_GRADIENT : MAX_ITERATIONS;
    s->evaluated = false;
    sbps_status status = posterior_gradient(s->u, s->w, &s->value, s->gradient, err);
    clear_held(s, s->gradient);
    for (size_t i = 0; i < limit && status == SBPS_OK && !is_near(s, goal); i++) {
        two_loop_recursion(s, &h);
        if (!search_line(s, &h, &status, err)) break;
        s->iterations++;
    }
    free(h.memory);
    return status;
}

/* ---- searches without a Hessian ---- */

/* Copies the result of the search into a new mode. */
static sbps_status make_wide_mode(const search *s, mode **out, sbps_error *err)
{
    mode *m = *out = calloc(1, sizeof *m);
    if (m) m->w = new_doubles(s->dim);
    if (!m || !m->w) {
        mode_destroy(m);
        *out = NULL;
        return fail_memory(err);
    }
    memcpy(m->w, s->w, s->dim * sizeof *m->w);
    s->a->kind->transpose(s->a, s->gradient, s->root);
    m->value = s->value;
    m->gradient_norm = norm(s->dim, s->root);
    m->plain_norm = norm(s->dim, s->gradient);
    m->iterations = s->iterations;
    m->method = "lbfgs";
    return SBPS_OK;
}

sbps_status mode_find_wide(const posterior *u, const double *start, const metric *a,
                           const bool *held, double goal, mode **out, sbps_error *err)
{
    size_t d = u->dim;
    search s = {.u = u, .dim = d, .a = a, .held = held, .memory = new_doubles(5 * d)};
    *out = NULL;
    if (!s.memory) return fail_memory(err);
    double **const parts[] = {&s.w, &s.trial, &s.gradient, &s.step, &s.root};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = s.memory + i * d;
    memcpy(s.w, start, d * sizeof *start);
    sbps_status status = lbfgs_search(&s, goal, err);
    if (status == SBPS_OK && !(isfinite(s.value) && all_finite(d, s.gradient)))
        status = fail(err, SBPS_NO_MODE,
                      "the search for the mode ended at values that are not finite: check the "
                      "scale of the columns and of the offset, or give tighter priors");
    if (status == SBPS_OK) status = make_wide_mode(&s, out, err);
    free(s.memory);
    return status;
}
