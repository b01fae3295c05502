/* Memory: aligned blocks, arenas, and how much memory the process may use. An arena holds the
 * whole mutable state of a chain without pointers, so that a checkpoint is the arena's
 * bytes. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stddef.h>

#define CACHE_LINE 64

/* Returns a zeroed block aligned to a cache line; NULL if memory ran out. Release with
 * free(). */
void *aligned_zeroed(size_t bytes);
/* Returns `count` zeroed doubles, aligned likewise. */
double *new_doubles(size_t count);
/* The same without zeroing, for memory that will be written in full. */
void *aligned_block(size_t bytes);
double *unset_doubles(size_t count);
/* Returns a copy that the caller frees; NULL for NULL, or if memory ran out. */
char *copy_text(const char *text);
/* Frees a list and the texts in it; NULL is fine. */
void free_texts(char **texts, size_t count);

/* Bytes that this process may use: the smallest of the machine's memory, the limits of its
 * control groups (containers, batch jobs) and those of setrlimit. */
double machine_memory(void);
/* The fraction of it that one request may take. */
#define MEMORY_REQUEST_FRACTION 0.8
/* The limit of the control groups, versions 1 and 2, of the process described by
 * root/proc/self; "" is this process. INFINITY: no limit. */
double memory_limit(const char *root);

/* An arena is carved twice by the same code: first with base NULL, which adds up the sizes and
 * returns NULL, then over the allocated block. */
typedef struct {
    unsigned char *base;
    size_t size, used; /* bytes */
} arena;

/* Returns the next `bytes` bytes, aligned to a cache line; NULL while counting. */
void *arena_take(arena *memory, size_t bytes);
double *arena_doubles(arena *memory, size_t count);

#endif
