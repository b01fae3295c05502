/* Normal scores: Blom's z_i = Phi^-1((r_i - 3/8) / (n + 1/4)), r_i the rank of x_i, tied values
 * sharing the mean of their ranks.
 *
 * Phi^-1 by rational approximations in three regions, with q = p - 1/2:
 *   |q| <= 0.425         q A(s)/B(s),            s = 0.425^2 - q^2         (1)
 *   r <= 5               sign(q) C(r-1.6)/D(r-1.6),   r = sqrt(-log min(p, 1-p))   (2)
 *   r > 5                sign(q) E(r-5)/F(r-5)                             (3)
 * Wichura (1988), algorithm AS 241, Applied Statistics 37, 477-484. */
#include "estimate/normal_scores.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)
#define BUCKET_MAX ((size_t)32) /* values of a bucket, beyond which radix sort is faster */

/* Coefficients in increasing powers, numerator and denominator. */
typedef struct {
    double top[8], bottom[8];
} rational;

static const rational centre = {
    .top = {3.3871328727963666080, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
            1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
            3.3430575583588128105e+4, 2.5090809287301226727e+3},
    .bottom = {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
               5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
               2.8729085735721942674e+4, 5.2264952788528545610e+3},
};

static const rational shoulder = {
    .top = {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
            3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
            2.27238449892691845833e-2, 7.74545014278341407640e-4},
    .bottom = {1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
               1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
               1.05075007164441684324e-9},
};

static const rational tail = {
    .top = {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
            2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
            2.71155556874348757815e-5, 2.01033439929228813265e-7},
    .bottom = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
               1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
               1.42151175831644588870e-7, 2.04426310338993978564e-15},
};

/* Horner's rule for degree 7, coefficients in increasing powers. */
static double polynomial(const double a[8], double x)
{
    double sum = a[7];
    for (size_t i = 7; i-- > 0;) sum = sum * x + a[i];
    return sum;
}

static double evaluate(const rational *f, double x)
{
    return polynomial(f->top, x) / polynomial(f->bottom, x);
}

double normal_quantile(double p)
{
    double q = p - 0.5;
    if (fabs(q) <= 0.425) return q * evaluate(&centre, 0.425 * 0.425 - q * q);
    double r = sqrt(-log(q < 0.0 ? p : 1.0 - p));
    double z = r <= 5.0 ? evaluate(&shoulder, r - 1.6) : evaluate(&tail, r - 5.0);
    return q < 0.0 ? -z : z;
}

/* Maps a double to an integer of the same order: all bits of a negative number are flipped. */
static uint64_t sort_key(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static size_t digit_of(double value, unsigned shift)
{
    return (sort_key(value) >> shift) & (DIGITS - 1);
}

/* One stable pass of radix sort, by the digit at `shift`. */
static void sort_digit(size_t n, unsigned shift, const ranked *from, ranked *to)
{
    size_t place[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) place[digit_of(from[i].value, shift)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) to[place[digit_of(from[i].value, shift)]++] = from[i];
}

static size_t bucket_of(double value, double low, double scale)
{
    return (size_t)((value - low) * scale);
}

/* Finds where the values of each bucket begin; false: a bucket has more than BUCKET_MAX. */
static bool find_bucket_starts(size_t n, const ranked *from, double low, double scale,
                               size_t *place)
{
    size_t largest = 0, sum = 0;
    for (size_t i = 0; i < n; i++) place[bucket_of(from[i].value, low, scale)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = place[d];
        largest = count > largest ? count : largest;
        place[d] = sum;
        sum += count;
    }
    return largest <= BUCKET_MAX;
}

/* Insertion sort. */
static void insertion_sort(size_t n, ranked *x)
{
    for (size_t i = 1; i < n; i++) {
        ranked value = x[i];
        size_t at = i;
        for (; at > 0 && x[at - 1].value > value.value; at--) x[at] = x[at - 1];
        x[at] = value;
    }
}

/* Sorts into buckets of equal width, then by insertion: of a few thousand draws most
 * distributions put a few in each bucket. Returns false if this distribution does not. */
static bool sort_by_buckets(size_t n, const ranked *from, ranked *to)
{
    size_t place[DIGITS] = {0};
    double low = from[0].value, high = low;
    for (size_t i = 1; i < n; i++) {
        low = from[i].value < low ? from[i].value : low;
        high = from[i].value > high ? from[i].value : high;
    }
    double scale = (double)(DIGITS - 1) / (high - low);
    if (!(high - low < INFINITY) || !(scale < INFINITY)) return false;
    if (!find_bucket_starts(n, from, low, scale, place)) return false;
    for (size_t i = 0; i < n; i++) to[place[bucket_of(from[i].value, low, scale)]++] = from[i];
    insertion_sort(n, to);
    return true;
}

/* Both methods are stable, so that they give the same order. Radix sort starts with the lowest
 * digit. A sort by comparisons, which the processor cannot predict, took half the time of all
 * diagnostics. */
const ranked *sort_ranked(size_t n, const double *x, ranked *buffer)
{
    ranked *from = buffer, *to = buffer + n;
    for (size_t i = 0; i < n; i++) from[i] = (ranked){x[i] + 0.0, i}; /* turns -0 into 0 */
    if (n > 0 && sort_by_buckets(n, from, to)) return to;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        sort_digit(n, shift, from, to);
        ranked *kept = from;
        from = to;
        to = kept;
    }
    return from;
}

double rank_score(double rank, size_t n)
{
    return normal_quantile((rank - 0.375) / ((double)n + 0.25));
}

void order_scores(size_t n, const ranked *order, const double *by_rank, double *scores)
{
    for (size_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && order[next].value == order[first].value;) next++;
        bool untied = next == first + 1;
        double score =
            untied ? by_rank[first] : rank_score(0.5 * (double)(first + 1 + next), n);
        for (size_t i = first; i < next; i++) scores[order[i].index] = score;
    }
}
