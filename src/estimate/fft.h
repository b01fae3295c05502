/* Discrete Fourier transform of a power-of-two number of points. */
#ifndef ESTIMATE_FFT_H
#define ESTIMATE_FFT_H

#include <stddef.h>

typedef struct {
    double re, im;
} point;

/* Returns the smallest power of two that is at least n. */
size_t fft_size(size_t n);
/* Computes roots[k] = exp(-2 pi i k / n) for k < n/2, n a power of two. */
void fft_roots(size_t n, point *roots);
/* Transforms in place: z_k <- sum_j z_j exp(-2 pi i j k / n). */
void fft_forward(size_t n, const point *roots, point *z);

#endif
