/* The mode of a group's effects given phi, by Newton, and the curvature there. */
#include "linalg/cholesky.h"
#include "model/mixed/group_polynomial.h"

#include <math.h>
#include <string.h>

#define NEAR_ENOUGH 0.03 /* a step of so many sds is taken, and ends the search */
#define STEPS_MAX   60
#define HALVINGS    30

typedef struct {
    double gradient[LEVEL_EFFECTS_MAX];
    double curvature[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX]; /* of -h; q * q */
} mode_derivatives;

/* Rows that bend the other way count for nothing in the curvature: the normal's is left. */
static void add_mode_derivatives(group_view *v, size_t first, size_t n, mode_derivatives *at)
{
    size_t q = v->m->shape.effects;
    for (size_t i = 0; i < n; i++)
        v->curvature[i] = v->curvature[i] < 0.0 ? -v->curvature[i] : 0.0;
    for (size_t a = 0; a < q; a++) {
        const double *along = v->along + a * v->n + first;
        at->gradient[a] += v->m->k->dot(n, v->out, along);
        for (size_t i = 0; i < n; i++) v->eta[i] = v->curvature[i] * along[i];
        for (size_t b = 0; b <= a; b++)
            at->curvature[a * q + b] += v->m->k->dot(n, v->eta, v->along + b * v->n + first);
    }
}

static void evaluate_derivatives(group_view *v, const double *place, mode_derivatives *at)
{
    size_t q = v->m->shape.effects, block = group_cell_count(v->m);
    const predictor *p = v->m->row_model->predictor;
    *at = (mode_derivatives){{0.0}, {0.0}};
    for (size_t a = 0; a < q; a++) {
        at->gradient[a] = -place[a];
        at->curvature[a * q + a] = 1.0;
    }
    for (size_t first = 0, n; first < v->n; first += n) {
        n = v->n - first < block ? v->n - first : block;
        batch b = group_cells(v, first, n, 1, place);
        p->gradient(&b, v->out, NULL);
        p->curvature(&b, v->curvature, NULL, NULL);
        group_weigh(v, first, n, 1, v->out);
        group_weigh(v, first, n, 1, v->curvature);
        add_mode_derivatives(v, first, n, at);
    }
}

static double height(group_view *v, const double *place)
{
    double h = 0.0;
    group_heights(v, 1, place, &h);
    return h;
}

/* Goes along the step as far as it leads uphill. */
static void climb(group_view *v, double *place, const double *step)
{
    size_t q = v->m->shape.effects;
    double from = height(v, place), length = 1.0, next[LEVEL_EFFECTS_MAX];
    for (int i = 0; i < HALVINGS; i++, length *= 0.5) {
        for (size_t a = 0; a < q; a++) next[a] = place[a] + length * step[a];
        if (height(v, next) > from) break;
    }
    memcpy(place, next, q * sizeof *place);
}

double group_widen(size_t q, const double *factor, double (*wide)[LEVEL_EFFECTS_MAX])
{
    double log_size = 0.0;
    memset(wide, 0, LEVEL_EFFECTS_MAX * sizeof *wide);
    for (size_t a = 0; a < q; a++) {
        double unit[LEVEL_EFFECTS_MAX] = {0.0};
        unit[a] = 1.0;
        cholesky_back(q, factor, unit);
        for (size_t b = 0; b < q; b++) wide[b][a] = unit[b];
        log_size -= log(factor[a * q + a]);
    }
    return log_size;
}

/* v->mode and v->wide; log |C|. */
static double find_mode(group_view *v, const double *from)
{
    size_t q = v->m->shape.effects;
    mode_derivatives at;
    memcpy(v->mode, from, q * sizeof *from);
    for (int i = 0; i < STEPS_MAX; i++) {
        double step[LEVEL_EFFECTS_MAX], size = 0.0;
        evaluate_derivatives(v, v->mode, &at);
        memcpy(step, at.gradient, sizeof step);
        if (!cholesky(q, at.curvature)) break;
        cholesky_solve(q, at.curvature, step);
        for (size_t a = 0; a < q; a++) size += step[a] * at.gradient[a];
        if (!(size > NEAR_ENOUGH * NEAR_ENOUGH)) {
            for (size_t a = 0; a < q; a++) v->mode[a] += step[a];
            break;
        }
        climb(v, v->mode, step);
    }
    return group_widen(q, at.curvature, v->wide);
}

double group_locate(group_view *v, size_t g)
{
    double log_size;
    if (polynomial_locate(v, g, &log_size)) return log_size;
    group_load_rows(v, g);
    return find_mode(v, v->m->centre + g * v->m->shape.effects);
}
