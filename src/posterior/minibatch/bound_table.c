/* Classes are sets of floats with the same exponent and the same four leading bits of the
 * mantissa, 16 per octave: the class of a row is read off the bits of its bound, and the
 * class limit exceeds the bound by 3 % on average. */
#include "posterior/minibatch/bound_table.h"
#include "core/memory.h"
#include "linalg/real.h"
#include "table/row_sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* bits dropped from a float: what remains are the exponent and four bits of the mantissa */
#define TOP_SHIFT 19
#define TOPS      ((size_t)4096)       /* classes of positive floats */
#define TOP_NONE  ((size_t)0x7f8 << 1) /* class of infinity */

typedef struct {
    const posterior *u;
    const control *cv;
    const float *norm;
    const bound_table *tables;
    uint16_t *top[BOUND_TABLES]; /* class of every row's bound */
} classification;

/* The class of a bound, rounded up. */
static uint16_t class_of_bound(double bound)
{
    float rounded = nextafterf((float)bound, INFINITY);
    uint32_t bits;
    if (!(bound <= (double)FLT_MAX)) return TOP_NONE;
    if (bound == 0.0) return 0;
    memcpy(&bits, &rounded, sizeof bits);
    return (uint16_t)(bits >> TOP_SHIFT);
}

/* The smallest float above the class. */
static double class_limit(size_t top)
{
    uint32_t bits = (uint32_t)(top + 1) << TOP_SHIFT;
    float edge;
    memcpy(&edge, &bits, sizeof edge);
    return (double)edge;
}

/* Classifies each row of the block by b_i = (T_i / 6) |x~_i|^3, for every table. */
static void classify(const void *self, row_range r, double *scratch, double *total)
{
    const classification *b = self;
    const predictor *model = b->u->model->predictor;
    const double *weight = b->u->data->weight;
    (void)scratch, (void)total;
    for (size_t i = r.first; i < r.first + r.n; i++) {
        double size = (double)b->norm[i];
        double cube = (weight ? weight[i] : 1.0) * size * size * size / 6.0;
        for (size_t k = 0; k < BOUND_TABLES; k++) {
            double reach = size > 0.0 ? size * b->tables[k].radius : 0.0;
            double third = cube > 0.0 ? model->third_bound(b->cv->eta[i], reach) : 0.0;
            b->top[k][i] = class_of_bound(cube * third);
        }
    }
}

/* Position of a class in the table, in descending order of bounds; small bounds share the
 * last. */
static size_t table_position(size_t largest, size_t top)
{
    return largest - top < BOUND_CLASSES ? largest - top : BOUND_CLASSES - 1;
}

/* Counts the rows of every class, and returns the largest class. */
static size_t count_rows(bound_table *t, size_t n, const uint16_t *top)
{
    size_t count[TOPS] = {0}, largest = TOPS - 1;
    for (size_t i = 0; i < n; i++) count[top[i]]++;
    while (largest > 0 && count[largest] == 0) largest--;
    for (size_t k = 0; k <= largest; k++) t->first[1 + table_position(largest, k)] += count[k];
    return largest;
}

/* Sorts the rows by class; sets bounds, cumulative sums and first positions. */
static void sort_rows(bound_table *t, size_t n, size_t largest, const uint16_t *top)
{
    size_t next[BOUND_CLASSES], *count = t->first + 1;
    for (size_t k = 0; k < BOUND_CLASSES; k++) {
        next[k] = t->first[k];
        t->bound[k] = k <= largest ? class_limit(largest - k) : 0.0;
        t->total += t->bound[k] * (double)count[k];
        t->upto[k] = t->total;
        count[k] += t->first[k];
    }
    for (size_t i = 0; i < n; i++)
        t->order[next[table_position(largest, top[i])]++] = (uint32_t)i;
}

/* Fills t->guide from the cumulative sums. */
static void make_guide(bound_table *t)
{
    size_t k = 0;
    for (size_t i = 0; i < BOUND_CLASSES; i++) {
        double from = t->total * (double)i / (double)BOUND_CLASSES;
        while (k + 1 < BOUND_CLASSES && t->upto[k] <= from) k++;
        t->guide[i] = (uint16_t)k;
    }
}

/* Fills one table from the classes of its rows. */
static sbps_status fill_table(bound_table *t, size_t n, const uint16_t *top, sbps_error *err)
{
    size_t largest = count_rows(t, n, top);
    if (largest >= TOP_NONE) t->total = INFINITY;
    if (largest == 0 || largest >= TOP_NONE) return SBPS_OK;
    t->order = malloc(n * sizeof *t->order);
    if (!t->order) return fail_memory(err);
    sort_rows(t, n, largest, top);
    make_guide(t);
    return SBPS_OK;
}

/* |z| of a d-dimensional standard normal has its mode near sqrt(d): nearly all draws are
 * within 1.5 of it, and all but very few within 1.5 times that. */
static void set_radii(bound_table *tables, size_t d)
{
    double near = sqrt((double)d) + 1.5;
    tables[0].radius = near;
    tables[1].radius = 1.5 * near;
    tables[2].radius = INFINITY;
}

sbps_status bound_tables_fill(const posterior *u, const control *cv, const float *norm,
                              bound_table *tables, sbps_error *err)
{
    size_t n = u->data->local_rows;
    uint16_t *buffer = malloc(BOUND_TABLES * n * sizeof *buffer);
    classification b = {u, cv, norm, tables, {buffer, buffer + n, buffer + 2 * n}};
    const row_sum what = {.self = &b, .add = classify, .beside = true};
    set_radii(tables, u->dim);
    sbps_status status = buffer ? row_sums(u->data, &what, NULL, err) : fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k < BOUND_TABLES; k++)
        status = fill_table(&tables[k], n, b.top[k], err);
    free(buffer);
    return status;
}

void bound_tables_free(bound_table *tables)
{
    for (size_t k = 0; k < BOUND_TABLES; k++) free(tables[k].order);
}

size_t bound_table_draw(const bound_table *t, rng *random, double *bound)
{
    double x = t->total * rng_uniform(random);
    size_t k = t->guide[(size_t)(x / t->total * (double)BOUND_CLASSES)];
    while (k + 1 < BOUND_CLASSES && t->upto[k] <= x) k++;
    *bound = t->bound[k];
    return t->order[t->first[k] + rng_below(random, t->first[k + 1] - t->first[k])];
}
