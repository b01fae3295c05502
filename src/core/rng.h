/* Counter-based random numbers: Philox 4x64 (Salmon et al. 2011) from Random123. A stream is
 * keyed by seed, chain and use, and holds no pointers: its state is part of the checkpoint. */
#ifndef CORE_RNG_H
#define CORE_RNG_H

#include "core/inspect.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    RNG_SHUFFLE,
    RNG_SIMULATE,
    RNG_START,
    RNG_PATH,
    RNG_BATCH,
    RNG_VALUE,
    RNG_TEST,
    RNG_MODE,
    RNG_AUTO,
    RNG_NOISE,
    RNG_EFFECTS,
    RNG_DERIVED,
    RNG_PREDICT,
    RNG_CHECK
} rng_use;

#define RNG_BLOCK 16 /* words computed at a time: four counters, whose rounds overlap */

typedef struct {
    uint64_t key[2], counter[4], block[RNG_BLOCK];
    uint64_t left; /* words of the block not yet used */
} rng;

/* Returns the stream of this seed, chain and use, at its beginning. */
rng rng_stream(uint64_t seed, uint64_t chain, rng_use use);
/* Returns another stream of the seed and chain of `r`. */
rng rng_sibling(const rng *r, rng_use use);
/* The next 64 random bits. */
uint64_t rng_word(rng *r);
/* Skips `words` words in constant time: the stream continues as if they had been drawn. */
void rng_skip(rng *r, uint64_t words);
double rng_uniform(rng *r);     /* in the open interval (0, 1) */
double rng_exponential(rng *r); /* mean 1 */
double rng_normal(rng *r);      /* standard normal */
void rng_uniforms(rng *r, size_t n, double *out);
/* n standard normals, two from each pair of uniforms: not the same as n calls of rng_normal. */
void rng_normals(rng *r, size_t n, double *out);
size_t rng_below(rng *r, size_t bound); /* uniform on 0..bound-1, without modulo bias */
/* Moves n random entries of list[0..total-1] to its front: the first n steps of a Fisher-Yates
 * shuffle. Every ordered choice has the same probability, whatever the order before. */
void rng_choose(rng *r, size_t total, size_t n, size_t *list);
/* A uniform direction: v on the unit sphere in R^d. */
void rng_sphere(rng *r, size_t d, double *v);
/* Checks a stream that was read from a file: its key must be that of the stream set-up made. */
void rng_inspect(const rng *r, inspection *x);

#endif
