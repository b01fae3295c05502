/* Aligned blocks and arenas. Sizes that overflow saturate, so that the allocation fails
 * instead. */
#include "core/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Tables: on pages of 2 MiB a random window costs one look-up of an address instead of several, and
 * the hardware's prefetching does not stop every 4 KiB. */
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE     (8 * HUGE_PAGE)

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

static void *make_block(size_t size, bool large)
{
    if (size == 0 || size > PTRDIFF_MAX) return NULL;
    if (large) size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *block = aligned_alloc(large ? HUGE_PAGE : CACHE_LINE, size);
    if (block && large) madvise(block, size, MADV_HUGEPAGE);
    return block;
}

void *aligned_block(size_t bytes)
{
    size_t size = whole_lines(bytes ? bytes : 1); /* an empty block is still a block */
    return make_block(size, size >= HUGE_PAGE);
}

void *aligned_zeroed(size_t bytes)
{
    size_t size = whole_lines(bytes ? bytes : 1);
    void *block = make_block(size, size >= LARGE);
    return block ? memset(block, 0, size) : NULL;
}

double *unset_doubles(size_t count)
{
    return aligned_block(double_bytes(count));
}

double *new_doubles(size_t count)
{
    return aligned_zeroed(double_bytes(count));
}

char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) free(texts[i]);
    free(texts);
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
