/* A batch takes n_s of the N_s rows of stratum s and counts each N_s/n_s times. The variance
 *
 *   sum_s N_s^2 spread_s^2 / n_s (1 - n_s/N_s),   least for n_s ~ N_s spread_s (Neyman 1934),       (1)
 *
 * is then that of rows alike within a stratum: the few loud rows of a table (outliers, rare columns,
 * rare events) are seen often or always instead of now and then, and the noise has no long tails.
 * Borders lie where the influence reaches powers of 4 above its root mean square.
 *
 * Neyman (1934), Journal of the Royal Statistical Society 97, 558-625. */
#include "potential/strata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP 4.0 /* of influence, from stratum to stratum */

/* Stratum 0 holds the quiet rows. */
static size_t stratum_of(double influence, double unit)
{
    double level = influence;
    size_t s = 0;
    while (level > unit && s + 1 < STRATA_MAX) {
        level /= STEP;
        s++;
    }
    return s;
}

static double mean_square(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum / (double)n;
}

/* Strata too small to be told apart join the next quieter one. */
static void join_small(size_t size[STRATA_MAX], size_t into[STRATA_MAX])
{
    for (size_t s = 0; s < STRATA_MAX; s++) into[s] = s;
    for (size_t s = STRATA_MAX; s-- > 1;) {
        if (size[s] >= STRATA_LEAST) continue;
        size[s - 1] += size[s];
        size[s] = 0;
        for (size_t k = s; k < STRATA_MAX; k++)
            if (into[k] == s) into[k] = s - 1;
    }
}

static void fill(strata *out, size_t n, const double *influence, double unit,
                 const size_t into[STRATA_MAX], const size_t place[STRATA_MAX])
{
    size_t at[STRATA_MAX];
    memcpy(at, out->first, sizeof at);
    for (size_t i = 0; i < n; i++) {
        size_t s = place[into[stratum_of(influence[i], unit)]];
        out->order[at[s]++] = i;
        out->spread[s] += influence[i] * influence[i];
    }
    for (size_t s = 0; s < out->count; s++)
        out->spread[s] = sqrt(out->spread[s] / (double)out->size[s]);
}

sbps_status strata_create(size_t n, const double *influence, strata **out, sbps_error *err)
{
    size_t size[STRATA_MAX] = {0}, into[STRATA_MAX], place[STRATA_MAX] = {0}, first = 0;
    double unit = sqrt(mean_square(n, influence));
    strata *s = *out = calloc(1, sizeof *s);
    if (s) s->order = malloc(n * sizeof *s->order);
    if (!s || !s->order) {
        strata_destroy(s);
        *out = NULL;
        return fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) size[stratum_of(influence[i], unit)]++;
    join_small(size, into);
    for (size_t k = 0; k < STRATA_MAX; k++) {
        if (!size[k]) continue;
        place[k] = s->count;
        s->first[s->count] = first;
        s->size[s->count++] = size[k];
        first += size[k];
    }
    fill(s, n, influence, unit, into, place);
    return SBPS_OK;
}

void strata_destroy(strata *s)
{
    if (!s) return;
    free(s->order);
    free(s);
}

/* Those whose share would be more than all their rows are taken whole, and the rest is shared out
 * among the others, until no more are. */
size_t strata_allot(const strata *s, size_t n, size_t rows[STRATA_MAX])
{
    bool whole[STRATA_MAX] = {false}, more = true;
    double left = (double)n, weight = 0.0;
    while (more) {
        more = false;
        left = (double)n;
        weight = 0.0;
        for (size_t i = 0; i < s->count; i++) {
            if (whole[i])
                left -= (double)s->size[i];
            else
                weight += (double)s->size[i] * s->spread[i];
        }
        for (size_t i = 0; i < s->count && weight > 0.0; i++) {
            if (whole[i] || left * s->spread[i] / weight < 1.0) continue;
            whole[i] = more = true;
        }
    }
    size_t all = 0;
    for (size_t i = 0; i < s->count; i++) {
        double share = weight > 0.0 ? left * (double)s->size[i] * s->spread[i] / weight : left;
        rows[i] = share > (double)STRATA_LEAST ? (size_t)(share + 0.5) : STRATA_LEAST;
        if (whole[i] || rows[i] > s->size[i]) rows[i] = s->size[i];
        all += rows[i];
    }
    return all;
}

double strata_variance(const strata *s, size_t n)
{
    size_t rows[STRATA_MAX];
    double sum = 0.0;
    strata_allot(s, n, rows);
    for (size_t i = 0; i < s->count; i++) {
        double size = (double)s->size[i], taken = (double)rows[i], total = size * s->spread[i];
        sum += total * total / taken * (1.0 - taken / size);
    }
    return sum;
}
