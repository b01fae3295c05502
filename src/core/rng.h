/* Counter-based random numbers: Philox 4x64 (Salmon et al. 2011) from Random123.
 * A stream is keyed by seed, chain and what it is for, holds no pointers, and its state is part
 * of the checkpoint. */
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

#define RNG_BLOCK 16 /* words made at a time: four counters, whose rounds overlap */

typedef struct {
    uint64_t key[2], counter[4], block[RNG_BLOCK];
    uint64_t left; /* words of the block not yet used */
} rng;

rng rng_stream(uint64_t seed, uint64_t chain, rng_use use);
/* Another stream of the same seed and chain. */
rng rng_beside(const rng *r, rng_use use);
uint64_t rng_word(rng *r);
/* As if so many words had been asked for. */
void rng_skip(rng *r, uint64_t words);
double rng_uniform(rng *r);     /* in the open interval (0,1) */
double rng_exponential(rng *r); /* mean 1 */
double rng_normal(rng *r);
void rng_uniforms(rng *r, size_t n, double *out);
void rng_normals(rng *r, size_t n, double *out); /* two at a time: others than rng_normal's */
size_t rng_below(rng *r, size_t bound); /* uniform on 0..bound-1, without modulo bias */
/* n random entries of list[0..total-1] come to its front, every ordered choice as likely as any
 * other whatever the order before: the first n steps of a Fisher-Yates shuffle. */
void rng_choose(rng *r, size_t total, size_t n, size_t *list);
/* A uniform direction: v on the unit sphere in R^d. */
void rng_sphere(rng *r, size_t d, double *v);
/* Read back: its key is that of the stream it began as. */
void rng_inspect(const rng *r, inspection *x);

#endif
