/* Independence Metropolis at many points: proposals come all at once, the first is where the chain begins, and with every
 * other the chain's law comes nearer to (1) of laws.h. */
#include "mixed/laws.h"

#include <math.h>
#include <string.h>

/* t = centre + skew + stretch F'^-1 z; l->ratio = |z|^2/2. */
static void place(law *l, size_t n, size_t try, rng *r)
{
    size_t q = l->s->h.axes;
    double *z = l->z, *t = l->t + try * q * LAW_LANES, *ratio = l->ratio + try * LAW_LANES;
    memset(ratio, 0, LAW_LANES * sizeof *ratio);
    for (size_t j = 0; j < q; j++) {
        double *one = z + j * LAW_LANES;
        rng_normals(r, n, one);
        for (size_t i = 0; i < n; i++) ratio[i] += 0.5 * one[i] * one[i];
    }
    law_solve_back(l, z);
    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < LAW_LANES; i++)
            t[j * LAW_LANES + i] =
                l->centre[j * LAW_LANES + i] + l->skew[j] + l->stretch * z[j * LAW_LANES + i];
}

/* There is no polynomial beyond its edge. */
static void leave_out_those_beyond(const law *l, const double *t, double *height)
{
    for (size_t j = 0; j < l->s->h.axes; j++)
        for (size_t i = 0; i < LAW_LANES; i++)
            if (!(fabs(t[j * LAW_LANES + i]) <= l->s->edge)) height[i] = -INFINITY;
}

void law_propose(law *l, const law_points *p, size_t first, size_t n, rng *r)
{
    size_t q = l->s->h.axes;
    law_gather(l, p, first);
    law_step(l, l->t0, p->near + first);
    for (size_t try = 0; try < l->tries; try++) {
        const double *t = l->t + try * q * LAW_LANES;
        double *height = l->height + try * LAW_LANES, *ratio = l->ratio + try * LAW_LANES;
        place(l, n, try, r);
        law_heights(l, t, height);
        leave_out_those_beyond(l, t, height);
        for (size_t i = 0; i < LAW_LANES; i++) ratio[i] += height[i];
    }
}

/* From t to u. */
static void turn_chosen(law *l)
{
    size_t q = l->s->h.axes;
    memcpy(l->z, l->chosen, q * LAW_LANES * sizeof *l->z);
    memcpy(l->chosen, l->mean, q * LAW_LANES * sizeof *l->chosen);
    for (size_t a = 0; a < q; a++)
        for (size_t j = 0; j < q; j++)
            l->m->k->axpy(LAW_LANES, l->wide[a * q + j], l->z + j * LAW_LANES,
                          l->chosen + a * LAW_LANES);
}

void law_walk(law *l, size_t n, rng *r)
{
    size_t q = l->s->h.axes;
    double *at = l->ratio;
    memcpy(l->chosen, l->t, q * LAW_LANES * sizeof *l->chosen);
    for (size_t try = 1; try < l->tries; try++) {
        const double *next = l->ratio + try * LAW_LANES, *t = l->t + try * q * LAW_LANES;
        for (size_t i = 0; i < LAW_LANES; i++) l->passing[i] = next[i] - at[i];
        l->m->k->exp(LAW_LANES, l->passing, l->passing);
        rng_uniforms(r, n, l->uniform);
        for (size_t i = 0; i < n; i++) {
            if (!(l->uniform[i] < l->passing[i])) continue;
            at[i] = next[i];
            for (size_t j = 0; j < q; j++) l->chosen[j * LAW_LANES + i] = t[j * LAW_LANES + i];
        }
    }
    turn_chosen(l);
}

void law_effects(const law *l, size_t try, size_t lane, double *u)
{
    size_t q = l->s->h.axes;
    for (size_t a = 0; a < q; a++) {
        u[a] = l->mean[a * LAW_LANES + lane];
        for (size_t j = 0; j < q; j++)
            u[a] += l->wide[a * q + j] * l->t[(try * q + j) * LAW_LANES + lane];
    }
}
