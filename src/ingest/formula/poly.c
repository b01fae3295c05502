/* Polynomials that are orthogonal over the rows, as R's poly():
 *
 *   p_0 = 1,  p_1 = x - a_1,  p_{j+1} = (x - a_{j+1}) p_j - (n_j / n_{j-1}) p_{j-1},   (1)
 *   n_j = sum p_j^2,  a_{j+1} = sum x p_j^2 / n_j,   column j = p_j / sqrt(n_j);   (2)
 *
 * with raw = TRUE the powers of x. */
#include "core/status.h"
#include "ingest/formula/transform.h"

#include <math.h>

#define DEGREE_MAX 30

typedef struct {
    size_t degree;
    bool raw;
    double a[DEGREE_MAX + 1], n[DEGREE_MAX + 1]; /* a[j] is a_{j+1} */
} polynomial;

static sbps_status poly_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", "degree", "raw", NULL};
    polynomial *p = *self = pool_take(c->pool, sizeof *p);
    if (!p) return fail_memory(c->err);
    p->degree = 1;
    sbps_status status = call_match(c, formal, given);
    if (status == SBPS_OK) status = call_count(c, given[1], 1, DEGREE_MAX, &p->degree);
    return status == SBPS_OK ? call_flag(c, given[2], &p->raw) : status;
}

/* (1): computes p_0 to p_count at x. */
static void run_recurrence(const polynomial *p, double x, size_t count, double *out)
{
    out[0] = 1.0;
    for (size_t j = 0; j < count; j++) {
        double before = j > 0 ? p->n[j] / p->n[j - 1] * out[j - 1] : 0.0;
        out[j + 1] = (x - p->a[j]) * out[j] - before;
    }
}

/* (2): computes n_j and a_{j+1} from all rows, those of lower degrees being known. */
static void fit_degree(polynomial *p, size_t j, const double *value, size_t n)
{
    long double square = 0.0L, along = 0.0L;
    double all[DEGREE_MAX + 1];
    for (size_t i = 0; i < n; i++) {
        run_recurrence(p, value[i], j, all);
        double own = all[j] * all[j];
        square += own;
        along += (long double)value[i] * own;
    }
    p->n[j] = (double)square;
    p->a[j] = (double)(along / square);
}

/* Returns whether there are more than `limit` distinct values; stops as soon as there are. */
static bool has_more(const double *value, size_t n, size_t limit)
{
    double seen[DEGREE_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < n && count <= limit; i++) {
        size_t k = 0;
        while (k < count && seen[k] != value[i]) k++;
        if (k == count) seen[count++] = value[i];
    }
    return count > limit;
}

static sbps_status poly_fit(const call *c, void *self, double *value, size_t n)
{
    polynomial *p = self;
    if (p->raw) return SBPS_OK;
    for (size_t j = 0; j <= p->degree; j++) fit_degree(p, j, value, n);
    if (!has_more(value, n, p->degree))
        return fail_call(c, "the degree must be less than the number of distinct values");
    return SBPS_OK;
}

static size_t poly_learned(const void *self, double *out)
{
    const polynomial *p = self;
    size_t each = p->raw ? 0 : p->degree + 1;
    for (size_t j = 0; out && j < each; j++) {
        out[j] = p->a[j];
        out[each + j] = p->n[j];
    }
    return 2 * each;
}

static sbps_status poly_recall(const call *c, void *self, const double *learned, size_t n)
{
    polynomial *p = self;
    size_t each = p->degree + 1;
    if (n != poly_learned(p, NULL)) return fail_recall(c);
    for (size_t j = 0; !p->raw && j < each; j++) {
        p->a[j] = learned[j];
        p->n[j] = learned[each + j];
    }
    return SBPS_OK;
}

static size_t poly_width(const void *self)
{
    return ((const polynomial *)self)->degree;
}

static void poly_numbers(const void *self, double x, double *out)
{
    const polynomial *p = self;
    double all[DEGREE_MAX + 1];
    if (!p->raw) run_recurrence(p, x, p->degree, all);
    for (size_t j = 1; j <= p->degree; j++)
        out[j - 1] = p->raw ? (j == 2 ? x * x : pow(x, (double)j)) : all[j] / sqrt(p->n[j]);
}

const transform_kind transform_poly = {
    .name = "poly",
    .open = poly_open,
    .fit = poly_fit,
    .learned = poly_learned,
    .recall = poly_recall,
    .width = poly_width,
    .numbers = poly_numbers,
};
