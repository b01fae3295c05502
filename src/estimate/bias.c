/* Linear response of the means to missing bounces.
 *
 * Let h solve L h = -(w_j - E w_j) for the exact process. The biased one lacks the reflection
 * v -> v_r with weight m = (G~/lambda - 1)+ at each violation, so to first order
 *     bias_j = (1/T) sum m (h(w, u) - h(w, u_r)).                                        (a)
 * Take h linear in the velocity: h = b.u with b = Cov(u)^-1 C_j,
 *     C_aj = int_0^inf Cov(u_a(0), w_j(s)) ds.                                            (b)
 * By stationarity Cov(u_a(0), w_j(s)) = -d/ds Cov(w_a(0), w_j(s)), because u = dw/dt: the
 * integral telescopes and C is the posterior covariance, no correlation time has to be known.
 * With Cov(u) = A A'/d:
 *     bias = Sigma (A A')^-1 (d/T) sum m (u - u_r).                                        (c) */
#include "estimate/bias.h"

#include <string.h>

void bias_carve(bias *b, size_t dim, arena *memory)
{
    b->dim = dim;
    b->state = arena_take(memory, sizeof *b->state);
    b->push = arena_doubles(memory, dim);
    b->square = arena_doubles(memory, dim);
}

void bias_start(bias *b)
{
    *b->state = (bias_state){0};
    memset(b->push, 0, b->dim * sizeof *b->push);
    memset(b->square, 0, b->dim * sizeof *b->square);
}

void bias_take(void *self, const segment *s)
{
    bias *b = self;
    const event *e = s->end;
    b->state->time += s->dt;
    b->state->missing += e->missing;
    b->state->proposals += e->proposals;
    b->state->violations += e->violations;
    b->state->rows += e->rows;
    b->state->bounces += e->kind == EVENT_BOUNCE;
    b->state->refreshments += e->kind == EVENT_REFRESH;
    if (!(e->missing > 0.0)) return;
    for (size_t j = 0; j < b->dim; j++) {
        double m = e->missing * (s->q[j] - s->q_next[j]);
        b->push[j] += m;
        b->square[j] += m * m;
    }
}

void bias_shift(const bias *chains, size_t count, precision_map map, const double *covariance,
                double *scratch, double *shift)
{
    size_t d = chains->dim;
    double *push = scratch, *y = scratch + d, time = 0.0;
    memset(push, 0, d * sizeof *push);
    for (size_t c = 0; c < count; c++) {
        for (size_t j = 0; j < d; j++) push[j] += chains[c].push[j];
        time += chains[c].state->time;
    }
    map.apply(map.self, push, y);
    for (size_t j = 0; j < d; j++) {
        shift[j] = 0.0;
        for (size_t a = 0; a < d; a++) shift[j] += covariance[j * d + a] * y[a];
        shift[j] *= time > 0.0 ? (double)d / time : 0.0;
    }
}
