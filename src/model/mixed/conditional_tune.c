/* Where a group's proposals come from, and how many of them it takes. */
#include "linalg/dense_matrix.h"
#include "model/mixed/conditional.h"

#include <math.h>
#include <string.h>

#define NEAR_ENOUGH 1e-3 /* of a mode, in t */
#define STEPS_MAX   20
#define WIDER       1.07 /* proposals, than the law's sd */
#define DEFICIT     1e-3 /* of the law's mass that the walk may not have reached */

/* W, of which the sketch has the inverse: Gauss and Jordan, small and well scaled. */
static bool invert(size_t q, const double *from, double *out)
{
    double a[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
    memcpy(a, from, q * q * sizeof *a);
    for (size_t i = 0; i < q * q; i++) out[i] = i % (q + 1) == 0 ? 1.0 : 0.0;
    for (size_t j = 0; j < q; j++) {
        size_t top = j;
        for (size_t i = j + 1; i < q; i++)
            if (fabs(a[i * q + j]) > fabs(a[top * q + j])) top = i;
        if (!(fabs(a[top * q + j]) > 0.0)) return false;
        for (size_t k = 0; k < q; k++) {
            double kept = a[j * q + k], other = out[j * q + k];
            a[j * q + k] = a[top * q + k];
            a[top * q + k] = kept;
            out[j * q + k] = out[top * q + k];
            out[top * q + k] = other;
        }
        double pivot = 1.0 / a[j * q + j];
        for (size_t k = 0; k < q; k++) a[j * q + k] *= pivot, out[j * q + k] *= pivot;
        for (size_t i = 0; i < q; i++) {
            double by = i == j ? 0.0 : a[i * q + j];
            add_scaled(q, -by, a + j * q, a + i * q);
            add_scaled(q, -by, out + j * q, out + i * q);
        }
    }
    return true;
}

/* t0: the mode of the law at home; l->curvature is F there. */
static bool find_home(conditional *l, const conditional_points *home)
{
    size_t q = l->s->h.axes;
    memset(l->t0, 0, sizeof l->t0);
    conditional_gather(l, home, 0);
    for (int step = 0; step < STEPS_MAX; step++) {
        double moved = 0.0;
        conditional_step(l, l->t0, home->near);
        if (l->fine[0] == 0.0) return false;
        for (size_t j = 0; j < q; j++) {
            moved = fmax(moved, fabs(l->centre[j * POINT_LANES] - l->t0[j]));
            l->t0[j] = l->centre[j * POINT_LANES];
        }
        if (moved <= NEAR_ENOUGH) return true;
    }
    return false;
}

/* |F'(t - from)|^2 */
static double distance(const conditional *l, const double *t, const double *from)
{
    size_t q = l->s->h.axes;
    double square = 0.0;
    for (size_t k = 0; k < q; k++) {
        double x = 0.0;
        for (size_t j = k; j < q; j++) x += conditional_factor(l, j, k)[0] * (t[j] - from[j]);
        square += x * x;
    }
    return square;
}

/* How much each point of the grid counts in the law at home. */
static void find_grid_mass(const conditional *l, const polynomial_grid *grid, double *mass)
{
    const hermites *h = &l->s->h;
    for (size_t k = 0; k < grid->points; k++) {
        const double *t = grid->node + k * h->axes;
        mass[k] = log(grid->weight[k]) + 0.5 * dot(h->axes, t, t);
        for (size_t a = 0; a < h->terms; a++)
            mass[k] +=
                conditional_term(l, l->order->at[a])[0] * grid->bases[a * grid->points + k];
    }
    normalise_log_weights(grid->points, mass);
}

/* As many proposals as bring all but DEFICIT of the mass: from where the law is w times as dense as proposals the walk
 * moves on with probability 1/w at least. */
static size_t tries_enough(size_t points, const double *mass, const double *log_dense)
{
    static const size_t ladder[] = {3, 4, 6, PROPOSALS_MAX};
    for (size_t i = 0; i < sizeof ladder / sizeof *ladder; i++) {
        double left = 0.0;
        for (size_t k = 0; k < points; k++)
            if (log_dense[k] > 0.0)
                left += mass[k] * pow(-expm1(-log_dense[k]), (double)ladder[i]);
        if (left <= DEFICIT) return ladder[i];
    }
    return 0;
}

/* Mean and width of the law at home, for proposals everywhere. */
static void match_moments(conditional *l, const polynomial_grid *grid, const double *mass)
{
    size_t q = l->s->h.axes;
    double mean[LEVEL_EFFECTS_MAX] = {0.0}, square = 0.0;
    for (size_t k = 0; k < grid->points; k++) add_scaled(q, mass[k], grid->node + k * q, mean);
    for (size_t k = 0; k < grid->points; k++)
        square += mass[k] * distance(l, grid->node + k * q, mean);
    for (size_t j = 0; j < q; j++) l->skew[j] = mean[j] - l->t0[j];
    l->stretch = WIDER * fmax(1.0, sqrt(square / (double)q));
}

/* log of the law's density at home over that of proposals, at the points of the grid. */
static void compare(const conditional *l, const polynomial_grid *grid, const double *mass,
                    double *out)
{
    size_t q = l->s->h.axes;
    double centre[LEVEL_EFFECTS_MAX], log_size = -(double)q * log(l->stretch);
    for (size_t j = 0; j < q; j++) {
        centre[j] = l->t0[j] + l->skew[j];
        log_size += log(conditional_factor(l, j, j)[0]);
    }
    for (size_t k = 0; k < grid->points; k++) {
        const double *t = grid->node + k * q;
        double apart = distance(l, t, centre) / (l->stretch * l->stretch);
        out[k] = log(mass[k] / grid->weight[k]) - 0.5 * dot(q, t, t) - log_size + 0.5 * apart;
    }
}

bool conditional_tune(conditional *l, const polynomial_grid *grid,
                      const conditional_points *home)
{
    double *mass = l->scratch, *dense = mass + grid->points;
    if (!invert(l->s->h.axes, l->of.inverse, l->wide) || !find_home(l, home)) return false;
    find_grid_mass(l, grid, mass);
    match_moments(l, grid, mass);
    compare(l, grid, mass, dense);
    l->tries = tries_enough(grid->points, mass, dense);
    return l->tries > 0;
}
