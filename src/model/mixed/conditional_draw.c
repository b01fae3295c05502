/* Independence Metropolis at many points: proposals come all at once, the first is where the chain begins, and with every
 * other the chain's law comes nearer to (1) of laws.h. */
#include "model/mixed/conditional.h"

#include <math.h>
#include <string.h>

/* t = centre + skew + stretch F'^-1 z; l->ratio = |z|^2/2. */
static void draw_proposal(conditional *l, size_t n, size_t try, rng *r)
{
    size_t q = l->s->h.axes;
    double *z = l->z, *t = l->t + try * q * POINT_LANES, *ratio = l->ratio + try * POINT_LANES;
    memset(ratio, 0, POINT_LANES * sizeof *ratio);
    for (size_t j = 0; j < q; j++) {
        double *one = z + j * POINT_LANES;
        rng_normals(r, n, one);
        for (size_t i = 0; i < n; i++) ratio[i] += 0.5 * one[i] * one[i];
    }
    conditional_solve_back(l, z);
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < POINT_LANES; i++)
            t[j * POINT_LANES + i] = l->centre[j * POINT_LANES + i] + l->skew[j] +
                                     l->stretch * z[j * POINT_LANES + i];
}

/* There is no polynomial beyond its edge. */
static void leave_out_those_beyond(const conditional *l, const double *t, double *height)
{
    for (size_t j = 0; j < l->s->h.axes; j++)
        for (size_t i = 0; i < POINT_LANES; i++)
            if (!(fabs(t[j * POINT_LANES + i]) <= l->s->edge)) height[i] = -INFINITY;
}

void conditional_propose(conditional *l, const conditional_points *p, size_t first, size_t n,
                         rng *r)
{
    size_t q = l->s->h.axes;
    conditional_gather(l, p, first);
    conditional_step(l, l->t0, p->near + first);
    for (size_t try = 0; try < l->tries; try++) {
        const double *t = l->t + try * q * POINT_LANES;
        double *height = l->height + try * POINT_LANES, *ratio = l->ratio + try * POINT_LANES;
        draw_proposal(l, n, try, r);
        conditional_heights(l, t, height);
        leave_out_those_beyond(l, t, height);
        for (size_t i = 0; i < POINT_LANES; i++) ratio[i] += height[i];
    }
}

/* From t to u. */
static void transform_draw(conditional *l)
{
    size_t q = l->s->h.axes;
    memcpy(l->z, l->draw, q * POINT_LANES * sizeof *l->z);
    memcpy(l->draw, l->mean, q * POINT_LANES * sizeof *l->draw);
    for (size_t a = 0; a < q; a++)
        for (size_t j = 0; j < q; j++)
            l->m->k->axpy(POINT_LANES, l->wide[a * q + j], l->z + j * POINT_LANES,
                          l->draw + a * POINT_LANES);
}

void conditional_walk(conditional *l, size_t n, rng *r)
{
    size_t q = l->s->h.axes;
    double *at = l->ratio;
    memcpy(l->draw, l->t, q * POINT_LANES * sizeof *l->draw);
    for (size_t try = 1; try < l->tries; try++) {
        const double *next = l->ratio + try * POINT_LANES, *t = l->t + try * q * POINT_LANES;
        for (size_t i = 0; i < POINT_LANES; i++) l->passing[i] = next[i] - at[i];
        l->m->k->exp(POINT_LANES, l->passing, l->passing);
        rng_uniforms(r, n, l->uniform);
        for (size_t i = 0; i < n; i++) {
            if (!(l->uniform[i] < l->passing[i])) continue;
            at[i] = next[i];
            for (size_t j = 0; j < q; j++)
                l->draw[j * POINT_LANES + i] = t[j * POINT_LANES + i];
        }
    }
    transform_draw(l);
}

void conditional_effects(const conditional *l, size_t try, size_t lane, double *u)
{
    size_t q = l->s->h.axes;
    for (size_t a = 0; a < q; a++) {
        u[a] = l->mean[a * POINT_LANES + lane];
        for (size_t j = 0; j < q; j++)
            u[a] += l->wide[a * q + j] * l->t[(try * q + j) * POINT_LANES + lane];
    }
}
