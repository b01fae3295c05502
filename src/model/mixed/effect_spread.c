/* The factor (1) of effect_spread.h and its derivatives, row by row. */
#include "model/mixed/effect_spread.h"

#include <math.h>

/* A row of L by (1), and the indices of its coordinates. */
typedef struct {
    size_t begin, row; /* columns begin..row are not 0 */
    double sd;
    double p[LEVEL_EFFECTS_MAX]; /* by column; 0: independent */
    /* by column: index of the coordinate of p, in its own column of log sd; NOWHERE: none */
    size_t at[LEVEL_EFFECTS_MAX];
} factor_row;

#define NOWHERE SPREAD_MAX

/* Collects row `row` of the factor. */
static factor_row row_of(const spread_shape *shape, const double *x, size_t row)
{
    factor_row r = {.begin = shape->begin[row], .row = row, .sd = 1.0};
    for (size_t j = 0; j <= row; j++) r.at[j] = NOWHERE;
    for (size_t a = 0; a < shape->count; a++) {
        const spread_coordinate *c = &shape->of[a];
        if (c->row != row) continue;
        r.at[c->against] = a;
        if (c->against == row)
            r.sd = exp(x[a]);
        else
            r.p[c->against] = tanh(x[a]);
    }
    return r;
}

/* Entry sd C_ij, differentiated times[k] <= 2 times by atanh p_k. Then sqrt(1 - p^2) becomes -p
 * sqrt(1 - p^2) and (2 p^2 - 1) sqrt(1 - p^2), and p becomes 1 - p^2 and -2 p (1 - p^2). */
static double entry(const factor_row *r, size_t j, const unsigned *times)
{
    double value = r->sd;
    for (size_t k = r->begin; k < r->row; k++) {
        double p = r->p[k], rest = 1.0 - p * p;
        const double shrink[] = {sqrt(rest), -p * sqrt(rest), (2.0 * p * p - 1.0) * sqrt(rest)};
        const double own[] = {p, rest, -2.0 * p * rest};
        if (k < j)
            value *= shrink[times[k]];
        else if (k == j)
            value *= own[times[k]];
        else if (times[k] > 0)
            value = 0.0;
    }
    return value;
}

/* The entries of the row, differentiated `times` as in `entry`; 0 in the columns of other
 * terms. */
static void fill_factor_row(const factor_row *r, const unsigned *times, double *out)
{
    for (size_t j = 0; j < LEVEL_EFFECTS_MAX; j++)
        out[j] = j < r->begin || j > r->row ? 0.0 : entry(r, j, times);
}

/* Derivatives of the row by its coordinates. */
static void differentiate(const factor_row *r, bool with_second, effect_spread *out)
{
    for (size_t j = r->begin; j <= r->row; j++) {
        unsigned times[LEVEL_EFFECTS_MAX + 1] = {0};
        size_t a = r->at[j];
        if (a == NOWHERE) continue;
        if (j < r->row) times[j]++; /* a derivative by log sd is the row itself */
        fill_factor_row(r, times, out->first[a]);
        for (size_t l = r->begin; with_second && l <= r->row; l++) {
            if (r->at[l] == NOWHERE) continue;
            if (l < r->row) times[l]++;
            fill_factor_row(r, times, out->second[a][r->at[l]]);
            if (l < r->row) times[l]--;
        }
    }
}

void spread_at(const spread_shape *shape, const double *x, bool with_second, effect_spread *out)
{
    const unsigned never[LEVEL_EFFECTS_MAX] = {0};
    for (size_t row = 0; row < shape->effects; row++) {
        factor_row r = row_of(shape, x, row);
        fill_factor_row(&r, never, out->factor[row]);
        differentiate(&r, with_second, out);
    }
}
