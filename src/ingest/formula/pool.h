/* Memory that is given back all at once: what a formula is made of lives as long as the formula. */
#ifndef INGEST_POOL_H
#define INGEST_POOL_H

#include <stddef.h>

typedef struct pool_block pool_block;

typedef struct {
    pool_block *last;
} pool;

/* Zeroed; NULL: no memory. */
void *pool_take(pool *p, size_t bytes);
/* `count` of `size` bytes each; NULL also where that is more than can be counted. */
void *pool_array(pool *p, size_t count, size_t size);
/* A copy that ends with a zero. */
char *pool_text(pool *p, const char *begin, size_t length);
void pool_clear(pool *p);

#endif
