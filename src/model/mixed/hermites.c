/* Products of Hermite polynomials: their terms, and their values by the recurrence
 *
 *   He_(n+1)(t) = t He_n(t) - n He_(n-1)(t).                                              (1)
 * */
#include "model/mixed/hermites.h"

#include <string.h>

/* The degree of a term. */
static size_t total_degree(const hermites *h, const size_t *power)
{
    size_t sum = 0;
    for (size_t i = 0; i < h->axes; i++) sum += power[i];
    return sum;
}

/* The next exponents with digits up to `degree`; false: there are no more. */
static bool count_up(const hermites *h, size_t *power)
{
    for (size_t i = 0; i < h->axes; i++) {
        if (power[i] < h->degree) {
            power[i]++;
            return true;
        }
        power[i] = 0;
    }
    return false;
}

/* The term with these exponents; NO_TERM: there is none. */
static size_t find_term(const hermites *h, const size_t *power)
{
    size_t a = 0;
    while (a < h->terms && memcmp(h->power[a], power, h->axes * sizeof *power)) a++;
    return a < h->terms ? a : NO_TERM;
}

/* Sets `lower` of all terms. */
static void link_lower(hermites *h)
{
    for (size_t a = 0; a < h->terms; a++)
        for (size_t i = 0; i < h->axes; i++) {
            size_t power[LEVEL_EFFECTS_MAX];
            memcpy(power, h->power[a], sizeof power);
            if (power[i] > 0) power[i]--;
            h->lower[a][i] = h->power[a][i] > 0 ? find_term(h, power) : NO_TERM;
        }
}

void hermites_open(hermites *h, size_t axes, size_t degree)
{
    *h = (hermites){.axes = axes, .degree = degree};
    for (size_t of = 0; of <= degree; of++) {
        size_t power[LEVEL_EFFECTS_MAX] = {0};
        do {
            if (total_degree(h, power) == of) memcpy(h->power[h->terms++], power, sizeof power);
        } while (count_up(h, power));
        h->upto[of] = h->terms;
    }
    link_lower(h);
}

/* Term a from lower ones by (1), along the first axis that has a power. */
static void apply_recurrence(const hermites *h, size_t a, size_t n, const double *t,
                             double *out)
{
    size_t axis = 0;
    while (h->power[a][axis] == 0) axis++;
    size_t below = h->lower[a][axis], again = h->lower[below][axis];
    double times = (double)h->power[a][axis] - 1.0, *to = out + a * n;
    const double *x = t + axis * n, *one = out + below * n;
    if (again == NO_TERM) {
        for (size_t k = 0; k < n; k++) to[k] = x[k] * one[k];
        return;
    }
    const double *two = out + again * n;
    for (size_t k = 0; k < n; k++) to[k] = x[k] * one[k] - times * two[k];
}

void hermites_at(const hermites *h, size_t terms, size_t n, const double *t, double *out)
{
    for (size_t k = 0; k < n; k++) out[k] = 1.0;
    for (size_t a = 1; a < terms; a++) apply_recurrence(h, a, n, t, out);
}

void hermites_slope(const hermites *h, size_t axis, const double *c, double *out)
{
    memset(out, 0, h->terms * sizeof *out);
    for (size_t a = 1; a < h->terms; a++)
        if (h->lower[a][axis] != NO_TERM)
            out[h->lower[a][axis]] = (double)h->power[a][axis] * c[a];
}

double hermites_square(const hermites *h, size_t term)
{
    double product = 1.0;
    for (size_t i = 0; i < h->axes; i++)
        for (size_t p = 2; p <= h->power[term][i]; p++) product *= (double)p;
    return product;
}
