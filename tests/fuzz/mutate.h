/* Documents that are changed at random, identically in every run. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "core/rng.h"
#include <string.h>

enum { DOCUMENT_MAX = 1 << 18 };

typedef struct {
    unsigned char bytes[DOCUMENT_MAX];
    size_t size;
} document;

/* Typical pieces of a kind of file. */
typedef struct {
    const char *const *list;
    size_t count;
} token_list;

/* Replaces `drop` bytes at `at` by `size` others, if the result fits. */
static void replace_bytes(document *d, size_t at, size_t drop, const void *bytes, size_t size)
{
    if (at > d->size) at = d->size;
    if (drop > d->size - at) drop = d->size - at;
    if (d->size - drop + size > DOCUMENT_MAX) return;
    memmove(d->bytes + at + size, d->bytes + at + drop, d->size - at - drop);
    memcpy(d->bytes + at, bytes, size);
    d->size = d->size - drop + size;
}

/* Replaces a word at a multiple of four by an extreme count or size. */
static void replace_word(document *d, rng *r)
{
    static const uint64_t odd[] = {0,          1,          2,          7,
                                   255,        4096,       UINT32_MAX, 1ull << 31,
                                   1ull << 48, 1ull << 63, UINT64_MAX, UINT64_MAX - 7,
                                   1ull << 61, 1ull << 32};
    size_t at = rng_below(r, d->size / 4 + 1) * 4, wide = rng_below(r, 2) ? 8 : 4;
    uint64_t word = rng_below(r, 4) ? odd[rng_below(r, sizeof odd / sizeof *odd)] : rng_word(r);
    if (at + wide <= d->size) memcpy(d->bytes + at, &word, wide);
}

static void mutate(document *d, const token_list *tokens, rng *r)
{
    size_t at = rng_below(r, d->size + 1), length = rng_below(r, 12);
    unsigned char byte = (unsigned char)rng_word(r), part[64];
    const char *token = tokens->count ? tokens->list[rng_below(r, tokens->count)] : "";
    switch (rng_below(r, 7)) {
    case 0:
        replace_bytes(d, at, 1, &byte, 1);
        break;
    case 1:
        replace_bytes(d, at, length, "", 0);
        break;
    case 2:
        replace_bytes(d, at, 0, token, strlen(token));
        break;
    case 3:
        replace_bytes(d, at, 1, token, strlen(token));
        break;
    case 4:
        d->size = at;
        break;
    case 5:
        replace_word(d, r);
        break;
    default: /* a repeated piece, at another place */
        length = rng_below(r, sizeof part);
        if (length > d->size - at) length = d->size - at;
        memcpy(part, d->bytes + at, length);
        replace_bytes(d, rng_below(r, d->size + 1), 0, part, length);
    }
}

#endif
