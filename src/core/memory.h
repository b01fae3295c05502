/* Memory: aligned blocks, and arenas that hold a chain's whole mutable state without pointers,
 * so that a checkpoint is the arena's bytes. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stddef.h>

#define CACHE_LINE 64

/* Zeroed, aligned to a cache line; NULL when there is none left. Release with free(). */
void *aligned_zeroed(size_t bytes);
double *new_doubles(size_t count);
/* The same without zeros, for what will be written whole. */
void *aligned_block(size_t bytes);
double *unset_doubles(size_t count);
char *copy_text(const char *text);           /* NULL in, NULL out */
void free_texts(char **texts, size_t count); /* each and their list; NULL is fine */
/* Bytes that this process may use: those of the machine, of its control groups (containers, batch jobs)
 * or of setrlimit, whichever is least. */
double machine_memory(void);
/* The part of it that may be requested at once. */
#define MEMORY_REQUEST_FRACTION 0.8
/* The limit of the control groups, version 1 and 2, of the process that root/proc/self describes; ""
 * is this one. INFINITY: none. */
double memory_limit(const char *root);

/* An arena is carved twice by the same code: first with base NULL to add up the sizes, then over
 * the block. Carving a NULL base returns NULL and only counts. */
typedef struct {
    unsigned char *base;
    size_t size, used;
} arena;

void *arena_take(arena *memory, size_t bytes); /* cache-line aligned */
double *arena_doubles(arena *memory, size_t count);

#endif
