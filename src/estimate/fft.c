/* Radix-2 transform, decimation in time: with E and O the transforms of the even and the odd
 * points,
 *
 *   Z_k = E_k + r^k O_k,   Z_{k+n/2} = E_k - r^k O_k,   r = exp(-2 pi i / n)    (1)
 *
 * applied to blocks of 2, 4, ..., n points after the points were put in bit-reversed order.
 *
 * Cooley, Tukey (1965), Mathematics of Computation 19, 297-301. */
#include "estimate/fft.h"

#include <math.h>

size_t fft_size(size_t n)
{
    size_t size = 1;
    while (size < n) size *= 2;
    return size;
}

void fft_roots(size_t n, point *roots)
{
    const double pi = 3.14159265358979323846;
    for (size_t k = 0; k < n / 2; k++) {
        double angle = -2.0 * pi * (double)k / (double)n;
        roots[k] = (point){cos(angle), sin(angle)};
    }
}

/* j is i with its bits in reverse order; the inner loop adds one to it from the highest bit
 * down. */
static void reverse_bits(size_t n, point *z)
{
    for (size_t i = 0, j = 0; i < n; i++) {
        if (i < j) {
            point kept = z[i];
            z[i] = z[j];
            z[j] = kept;
        }
        size_t bit = n / 2;
        while (bit && (j & bit)) {
            j ^= bit;
            bit /= 2;
        }
        j |= bit;
    }
}

/* (1) for one block of 2*half points. */
static void butterfly(size_t half, size_t stride, const point *roots, point *z)
{
    for (size_t k = 0; k < half; k++) {
        point r = roots[k * stride], a = z[k], b = z[k + half];
        point rotated = {r.re * b.re - r.im * b.im, r.re * b.im + r.im * b.re};
        z[k] = (point){a.re + rotated.re, a.im + rotated.im};
        z[k + half] = (point){a.re - rotated.re, a.im - rotated.im};
    }
}

void fft_forward(size_t n, const point *roots, point *z)
{
    reverse_bits(n, z);
    for (size_t half = 1; half < n; half *= 2)
        for (size_t start = 0; start < n; start += 2 * half)
            butterfly(half, n / (2 * half), roots, z + start);
}
