/* Stratified mini-batches. A batch takes n_s of the N_s rows of stratum s and counts each
 * N_s/n_s times. The variance
 *
 *   sum_s N_s^2 spread_s^2 / n_s (1 - n_s/N_s),   least for n_s ~ N_s spread_s,  (1)
 *
 * (Neyman 1934) then depends on the differences within a stratum only: the few influential
 * rows of a table (outliers, rare columns, rare events) are in a batch often or always
 * instead of now and then, and the noise has no long tails. Borders are placed where (1) is
 * least, by dynamic programming over cells of half an octave.
 *
 * Neyman (1934), Journal of the Royal Statistical Society 97, 558-625. */
#include "posterior/minibatch/strata.h"
#include "core/status.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lower limit of influence relative to its mean: the measure is for a normal posterior. */
#define FLOOR          0.1
#define SQRT_HALF_BITS 0x3504f3U /* of the mantissa of sqrt(1/2) */

/* The cell of an influence, half an octave wide, by exponent and comparison of the mantissa
 * with sqrt(1/2). A row without influence is in the first cell; one beyond the last or not
 * finite in the last. */
static size_t cell_of(float influence)
{
    uint32_t bits;
    memcpy(&bits, &influence, sizeof bits);
    size_t octave = bits >> 23, upper = (bits & 0x7fffffU) >= SQRT_HALF_BITS;
    if (influence <= 0.0F || octave == 0) return 0;
    size_t cell = 2 * (octave - 126 + 160) + upper; /* frexp's exponent is 0 for 126 */
    return cell < STRATA_CELLS ? cell : STRATA_CELLS - 1;
}

/* Lower limit of a cell. */
static double cell_from(size_t cell)
{
    double mantissa = cell % 2 ? M_SQRT1_2 : 0.5;
    return cell == 0 ? 0.0 : ldexp(mantissa, (int)(cell / 2) - 160);
}

/* Layout of the tally as doubles. */
enum { TALLY_ROWS = 0, TALLY_SQUARES = STRATA_CELLS, TALLY_SUM = 2 * STRATA_CELLS };

void strata_add(size_t n, const float *influence, double *counts)
{
    for (size_t i = 0; i < n; i++) {
        double x = influence[i];
        size_t cell = cell_of(influence[i]);
        counts[TALLY_ROWS + cell] += 1.0;
        counts[TALLY_SQUARES + cell] += x * x;
        counts[TALLY_SUM] += x;
    }
}

void strata_from_counts(const double *counts, strata_tally *out)
{
    for (size_t c = 0; c < STRATA_CELLS; c++) out->rows[c] = (size_t)counts[TALLY_ROWS + c];
    memcpy(out->squares, counts + TALLY_SQUARES, sizeof out->squares);
    out->sum = counts[TALLY_SUM];
}

static void add_influences(const void *self, row_range r, double *scratch, double *total)
{
    const float *influence = self;
    (void)scratch;
    strata_add(r.n, influence + r.first, total);
}

sbps_status strata_count(const rows *data, const float *influence, strata_tally *out,
                         sbps_error *err)
{
    double total[STRATA_COUNTS] = {0};
    const row_sum what = {
        .self = influence, .width = STRATA_COUNTS, .add = add_influences, .uncounted = true};
    sbps_status status = row_sums(data, &what, total, err);
    strata_from_counts(total, out);
    return status;
}

double strata_squares(const strata_tally *tally)
{
    double sum = 0.0;
    for (size_t c = 0; c < STRATA_CELLS; c++) sum += tally->squares[c];
    return sum;
}

/* ---- borders ---- */

/* Occupied cells, and cumulative sums before each. */
typedef struct {
    size_t count, cell[STRATA_CELLS];
    double rows[STRATA_CELLS + 1], squares[STRATA_CELLS + 1];
} occupied_cells;

/* Fills l from the tally; influences are raised to at least FLOOR times their mean. */
static void find_occupied(const strata_tally *tally, occupied_cells *l)
{
    double total = 0.0;
    for (size_t c = 0; c < STRATA_CELLS; c++) total += (double)tally->rows[c];
    double influence_min = FLOOR * tally->sum / total;
    *l = (occupied_cells){0};
    for (size_t c = 0; c < STRATA_CELLS; c++) {
        double n = (double)tally->rows[c];
        if (!tally->rows[c]) continue;
        l->cell[l->count++] = c;
        l->rows[l->count] = l->rows[l->count - 1] + n;
        l->squares[l->count] = l->squares[l->count - 1] +
                               fmax(tally->squares[c], n * influence_min * influence_min);
    }
}

/* N_s spread_s of the cells a to b - 1: with Neyman's allocation the noise is the square of
 * its sum over strata, over n. */
static double stratum_noise(const occupied_cells *l, size_t a, size_t b)
{
    return sqrt((l->rows[b] - l->rows[a]) * (l->squares[b] - l->squares[a]));
}

/* Appends the stratum of cells a to b - 1. */
static void put_stratum(const occupied_cells *l, size_t a, size_t b, strata *out)
{
    size_t s = out->count++;
    double row_count = l->rows[b] - l->rows[a];
    out->first[s] = (size_t)l->rows[a];
    out->size[s] = (size_t)row_count;
    out->from[s] = a == 0 ? 0.0 : cell_from(l->cell[a]);
    out->spread[s] = sqrt((l->squares[b] - l->squares[a]) / row_count);
}

/* lowest[k % 2][b]: least noise of the cells before b in k + 1 strata, the last of which
 * begins at start[k][b]. Only the previous row of lowest is needed: the whole would not fit
 * a small stack. */
void strata_divide(const strata_tally *tally, size_t count, strata *out)
{
    occupied_cells l;
    double lowest[2][STRATA_CELLS + 1];
    uint16_t start[STRATA_MAX][STRATA_CELLS + 1];
    size_t border[STRATA_MAX + 1];
    find_occupied(tally, &l);
    if (count > STRATA_MAX) count = STRATA_MAX;
    if (count > l.count) count = l.count;
    *out = (strata){0};
    for (size_t b = 0; b <= l.count; b++) {
        lowest[0][b] = stratum_noise(&l, 0, b);
        start[0][b] = 0;
    }
    for (size_t k = 1; k < count; k++)
        for (size_t b = k + 1; b <= l.count; b++) {
            lowest[k % 2][b] = INFINITY;
            start[k][b] =
                (uint16_t)(b - 1); /* if influences are so large that sums are not finite */
            for (size_t a = k; a < b; a++) {
                double sum = lowest[(k - 1) % 2][a] + stratum_noise(&l, a, b);
                if (!(sum < lowest[k % 2][b])) continue;
                lowest[k % 2][b] = sum;
                start[k][b] = (uint16_t)a;
            }
        }
    border[count] = l.count;
    for (size_t k = count; k-- > 0;) border[k] = start[k][border[k + 1]];
    for (size_t k = 0; k < count; k++) put_stratum(&l, border[k], border[k + 1], out);
}

/* ---- rows ---- */

/* Sorts the rows into s->order. */
static void sort_into_strata(strata *s, size_t n, const float *influence)
{
    size_t at[STRATA_MAX], stratum = 0;
    unsigned char of[STRATA_CELLS];
    for (size_t c = 0; c < STRATA_CELLS; c++) {
        while (stratum + 1 < s->count && cell_from(c) >= s->from[stratum + 1]) stratum++;
        of[c] = (unsigned char)stratum;
    }
    memcpy(at, s->first, sizeof at);
    for (size_t i = 0; i < n; i++) s->order[at[of[cell_of(influence[i])]]++] = i;
}

sbps_status strata_create(const strata *borders, size_t n, const float *influence, strata **out,
                          sbps_error *err)
{
    strata *s = *out = malloc(sizeof *s);
    if (!s) return fail_memory(err);
    *s = *borders;
    s->order = malloc(n * sizeof *s->order);
    if (!s->order) {
        strata_destroy(s);
        *out = NULL;
        return fail_memory(err);
    }
    sort_into_strata(s, n, influence);
    return SBPS_OK;
}

void strata_measure(strata *s, const float *influence)
{
    for (size_t k = 0; k < s->count; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < s->size[k]; i++) {
            double x = influence[s->order[s->first[k] + i]];
            sum += x * x;
        }
        s->spread[k] = sqrt(sum / (double)s->size[k]);
    }
}

void strata_destroy(strata *s)
{
    if (!s) return;
    free(s->order);
    free(s);
}

/* Strata whose allocation would exceed their rows are taken completely, and the rest is
 * allocated to the others, until none exceeds. */
size_t strata_allot(const strata *s, size_t n, size_t taken[STRATA_MAX])
{
    bool complete[STRATA_MAX] = {false}, more = true;
    double left = (double)n, weight = 0.0;
    while (more) {
        more = false;
        left = (double)n;
        weight = 0.0;
        for (size_t i = 0; i < s->count; i++) {
            if (complete[i])
                left -= (double)s->size[i];
            else
                weight += (double)s->size[i] * s->spread[i];
        }
        for (size_t i = 0; i < s->count && weight > 0.0; i++) {
            if (complete[i] || left * s->spread[i] / weight < 1.0) continue;
            complete[i] = more = true;
        }
    }
    size_t all = 0;
    for (size_t i = 0; i < s->count; i++) {
        double allotted =
            weight > 0.0 ? left * (double)s->size[i] * s->spread[i] / weight : left;
        taken[i] =
            allotted > (double)STRATUM_ROWS_MIN ? (size_t)(allotted + 0.5) : STRATUM_ROWS_MIN;
        if (complete[i] || taken[i] > s->size[i]) taken[i] = s->size[i];
        all += taken[i];
    }
    return all;
}

double strata_variance(const strata *s, size_t n)
{
    size_t each[STRATA_MAX];
    double sum = 0.0;
    strata_allot(s, n, each);
    for (size_t i = 0; i < s->count; i++) {
        double size = (double)s->size[i], taken = (double)each[i], total = size * s->spread[i];
        sum += total * total / taken * (1.0 - taken / size);
    }
    return sum;
}

/* How often a batch counts each row of a cell; 0 if the batch holds all of them. */
static double times_counted(const strata *parts, const size_t taken[STRATA_MAX], size_t cell)
{
    size_t s = parts->count - 1;
    while (s > 0 && cell_from(cell) < parts->from[s]) s--;
    return taken[s] == parts->size[s] ? 0.0 : (double)parts->size[s] / (double)taken[s];
}

double strata_beyond(const strata_tally *tally, const strata *parts, size_t n, double width)
{
    size_t taken[STRATA_MAX];
    double sum = 0.0, all = 0.0;
    for (size_t c = 0; c < STRATA_CELLS; c++) all += (double)tally->rows[c];
    if (parts) strata_allot(parts, n, taken);
    double uniform = (double)n < all ? all / (double)n : 0.0;
    for (size_t c = 0; c < STRATA_CELLS; c++) {
        if (!tally->rows[c]) continue;
        double count = (double)tally->rows[c], each = sqrt(tally->squares[c] / count);
        double times = parts ? times_counted(parts, taken, c) : uniform;
        if (times * each > width) sum += count * each;
    }
    return sum;
}
