/* Counter-based random numbers.
 *
 *   word i        word i mod 4 of Philox4x64-10 with counter i div 4 and       (1)
 *                 key (seed, 256 chain + use)
 *   uniform       (floor(word / 2^12) + 1/2) 2^-52, in the open interval       (2)
 *   exponential   -log(uniform)                                                (3)
 *   normal        a sqrt(-2 log(s) / s), (a, b) uniform in the unit disc,      (4)
 *                 s = a^2 + b^2
 *   below         the high half of word x bound, rejected when its low half    (5)
 *                 is below 2^64 mod bound
 *   several       from one word: the low half of each product is the word of   (6)
 *                 the next; rejected as in (5) for the product of the bounds
 *
 * (1) Salmon, Moraes, Dror, Shaw (2011), SC11. (4) Marsaglia, Bray (1964), SIAM Review 6,
 * 260-264; the second number is dropped, so that the state of a stream is its counter.
 * (5) Lemire (2019), ACM TOMACS 29, 3. (6) Brackett-Rozinsky, Lemire (2024), Software: Practice
 * and Experience 55, 293-306. */
#include "core/rng.h"

#include <Random123/philox.h>
#include <assert.h>
#include <math.h>
#include <stdbool.h>

#define COUNTER_WORDS 4
#define CHOOSE_BLOCK  128
#define PRODUCT_BITS  52 /* of a product of bounds: one word in 4096 at most is rejected */

__extension__ typedef unsigned __int128 wide_word;

rng rng_stream(uint64_t seed, uint64_t chain, rng_use use)
{
    return (rng){.key = {seed, chain << 8 | (uint64_t)use}};
}

rng rng_sibling(const rng *r, rng_use use)
{
    return rng_stream(r->key[0], r->key[1] >> 8, use);
}

/* Computes the next RNG_BLOCK words. */
static void next_block(rng *r)
{
    const philox4x64_key_t key = {{r->key[0], r->key[1]}};
    for (size_t b = 0; b < RNG_BLOCK; b += COUNTER_WORDS) {
        philox4x64_ctr_t counter;
        for (size_t i = 0; i < COUNTER_WORDS; i++) counter.v[i] = r->counter[i];
        const philox4x64_ctr_t block = philox4x64_R(10, counter, key);
        for (size_t i = 0; i < COUNTER_WORDS; i++) r->block[b + i] = block.v[i];
        for (size_t i = 0; i < COUNTER_WORDS && ++r->counter[i] == 0; i++) continue;
    }
    r->left = RNG_BLOCK;
}

uint64_t rng_word(rng *r)
{
    if (r->left == 0) next_block(r);
    return r->block[RNG_BLOCK - r->left--];
}

void rng_skip(rng *r, uint64_t words)
{
    for (; words > 0 && r->left > 0; words--) r->left--;
    const uint64_t skipped = words / RNG_BLOCK * (RNG_BLOCK / COUNTER_WORDS);
    r->counter[0] += skipped;
    bool carry = r->counter[0] < skipped;
    for (size_t i = 1; carry && i < COUNTER_WORDS; i++) carry = ++r->counter[i] == 0;
    for (words %= RNG_BLOCK; words > 0; words--) rng_word(r);
}

double rng_uniform(rng *r)
{
    /* 52 bits and the half are 53; with one more, the largest would round to 1. */
    return ((double)(rng_word(r) >> 12) + 0.5) * 0x1p-52;
}

double rng_exponential(rng *r)
{
    return -log(rng_uniform(r));
}

/* A uniform point (a, b) in the unit disc; returns the factor that turns its coordinates into
 * normals: (4). */
static double in_disk(rng *r, double *a, double *b)
{
    double s;
    do {
        *a = 2 * rng_uniform(r) - 1;
        *b = 2 * rng_uniform(r) - 1;
        s = *a * *a + *b * *b;
    } while (s >= 1);
    return sqrt(-2 * log(s) / s);
}

double rng_normal(rng *r)
{
    double a, b;
    const double stretch = in_disk(r, &a, &b);
    return a * stretch;
}

void rng_uniforms(rng *r, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) out[i] = rng_uniform(r);
}

/* (4), and b sqrt(-2 log(s) / s) as the second number. */
void rng_normals(rng *r, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += 2) {
        double a, b;
        const double stretch = in_disk(r, &a, &b);
        out[i] = a * stretch;
        if (i + 1 < n) out[i + 1] = b * stretch;
    }
}

size_t rng_below(rng *r, size_t bound)
{
    assert(bound > 0);
    wide_word product = (wide_word)rng_word(r) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t limit = -(uint64_t)bound % bound;
        while ((uint64_t)product < limit) product = (wide_word)rng_word(r) * bound;
    }
    return (size_t)(product >> 64);
}

/* The exact test of (6): is `low` among the 2^64 mod product values that would come once too
 * often? */
static bool is_rejected(uint64_t low, size_t bound, size_t count)
{
    uint64_t product = 1;
    for (size_t i = 0; i < count; i++) product *= bound - i;
    return low < product && low < -product % product;
}

/* Draws `count` indices below bound, bound - 1, ...: (6). `limit` is at least their product. */
static void batch_below(rng *r, size_t bound, size_t count, uint64_t limit, size_t *out)
{
    uint64_t low;
    do {
        low = rng_word(r);
        for (size_t i = 0; i < count; i++) {
            wide_word p = (wide_word)low * (bound - i);
            out[i] = (size_t)(p >> 64);
            low = (uint64_t)p;
        }
    } while (low < limit && is_rejected(low, bound, count));
}

/* Indices are drawn in blocks before any is used: the multiplications are independent and
 * overlap, the swaps depend on each other. */
void rng_choose(rng *r, size_t total, size_t n, size_t *list)
{
    size_t bits = 1, index[CHOOSE_BLOCK + PRODUCT_BITS];
    while (bits < PRODUCT_BITS && total >> bits) bits++;
    const size_t batch = PRODUCT_BITS / bits;
    uint64_t product_max = 1;
    for (size_t i = 0; i < batch; i++) product_max *= total;
    for (size_t done = 0; done < n;) {
        const size_t left = n - done, size = left < CHOOSE_BLOCK ? left : CHOOSE_BLOCK;
        size_t made = 0;
        for (; made < size; made += batch) {
            const size_t count = size - made < batch ? size - made : batch;
            batch_below(r, total - done - made, count, product_max, index + made);
        }
        for (size_t i = 0; i < size; i++, done++) {
            const size_t j = done + index[i], kept = list[j];
            list[j] = list[done];
            list[done] = kept;
        }
    }
}

void rng_sphere(rng *r, size_t d, double *v)
{
    double squares = 0;
    for (size_t j = 0; j < d; j++) {
        v[j] = rng_normal(r);
        squares += v[j] * v[j];
    }
    const double norm = sqrt(squares); /* not 0, because 2 uniform - 1 is not 0 */
    for (size_t j = 0; j < d; j++) v[j] /= norm;
}

void rng_inspect(const rng *r, inspection *x)
{
    inspect_same(x, "the key of a random stream", r->key, sizeof r->key);
    INSPECT_ANY(x, r->counter);
    INSPECT_ANY(x, r->block);
    inspect_count(x, "words left of a random stream", &r->left, RNG_BLOCK);
}
