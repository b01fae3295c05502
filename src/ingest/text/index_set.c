/* Index sets: a bit an index, so that indices far apart cost what the largest costs and no more
 * than 256 MiB; ranks by counting bits. */
#include "ingest/text/index_set.h"

#include <stdlib.h>
#include <string.h>

static bool reach(index_set *s, size_t word)
{
    if (word < s->words) return true;
    size_t words = 2 * word + 16;
    if (words > INDEX_MAX / 64 + 1) words = INDEX_MAX / 64 + 1;
    uint64_t *fresh = calloc(words, sizeof *fresh);
    if (!fresh) return false;
    if (s->words > 0) memcpy(fresh, s->word, s->words * sizeof *fresh);
    free(s->word);
    s->word = fresh;
    s->words = words;
    return true;
}

bool index_set_add(index_set *s, size_t index)
{
    if (!reach(s, index / 64)) return false;
    uint64_t bit = UINT64_C(1) << index % 64;
    s->count += !(s->word[index / 64] & bit);
    s->word[index / 64] |= bit;
    return true;
}

bool index_set_seal(index_set *s)
{
    uint32_t count = 0;
    s->before = malloc((s->words + 1) * sizeof *s->before);
    if (!s->before) return false;
    for (size_t k = 0; k < s->words; k++) {
        s->before[k] = count;
        count += (uint32_t)__builtin_popcountll(s->word[k]);
    }
    return true;
}

size_t index_set_rank(const index_set *s, size_t index)
{
    size_t k = index / 64;
    if (k >= s->words || !(s->word[k] >> index % 64 & 1)) return 0;
    uint64_t upto = s->word[k] << (63 - index % 64);
    return s->before[k] + (size_t)__builtin_popcountll(upto);
}

size_t index_set_from(const index_set *s, size_t index)
{
    uint64_t mask = ~UINT64_C(0) << index % 64;
    for (size_t k = index / 64; k < s->words; k++, mask = ~UINT64_C(0))
        if (s->word[k] & mask) return 64 * k + (size_t)__builtin_ctzll(s->word[k] & mask);
    return 0;
}

void index_set_clear(index_set *s)
{
    free(s->word);
    free(s->before);
    *s = (index_set){0};
}
