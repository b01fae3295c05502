/* Aligned blocks and arenas. Sizes that overflow saturate, so that the allocation fails
 * instead. */
#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Up to a whole number of cache lines; 0 when that does not fit in a size_t. */
static size_t whole_lines(size_t bytes)
{
    if (bytes > SIZE_MAX - (CACHE_LINE - 1)) return 0;
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static size_t double_bytes(size_t count)
{
    return count > SIZE_MAX / sizeof(double) ? SIZE_MAX : count * sizeof(double);
}

void *aligned_zeroed(size_t bytes)
{
    size_t size = whole_lines(bytes ? bytes : 1); /* an empty block is still a block */
    if (size == 0 || size > PTRDIFF_MAX) return NULL;
    void *block = aligned_alloc(CACHE_LINE, size);
    if (block) memset(block, 0, size);
    return block;
}

double *new_doubles(size_t count)
{
    return aligned_zeroed(double_bytes(count));
}

char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

void *arena_take(arena *memory, size_t bytes)
{
    size_t start = memory->used, size = whole_lines(bytes);
    if ((bytes && !size) || size > SIZE_MAX - start) {
        memory->used = SIZE_MAX;
        return NULL;
    }
    memory->used = start + size;
    if (!memory->base) return NULL;
    assert(memory->used <= memory->size); /* carved as it was counted */
    return memory->base + start;
}

double *arena_doubles(arena *memory, size_t count)
{
    return arena_take(memory, double_bytes(count));
}
