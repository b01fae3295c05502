/* Parts of a file are read at the same time, each with levels of its own; joined in the order of the file
 * they get the codes that one reader would have given them. */
#include "ingest/schema/column_schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool schema_fork(const column_schema *p, column_schema *out)
{
    size_t count = p->columns->count;
    *out = *p;
    out->learns = false;
    out->use = calloc(count + 1, sizeof *out->use);
    bool whole = out->use != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        out->use[i] = p->use[i];
        if (p->use[i].levels) whole = (out->use[i].levels = levels_create());
    }
    return whole;
}

/* Rows dropped for what is missing in them. */
static void add_missing(const column_schema *p, const column_schema *fork)
{
    for (size_t i = 0; i < p->columns->count; i++) p->use[i].missing += fork->use[i].missing;
}

void schema_reset(column_schema *fork)
{
    for (size_t i = 0; i < fork->columns->count; i++) fork->use[i].missing = 0;
    for (size_t i = 0; fork->categories > 0 && i < fork->columns->count; i++) {
        levels *l = fork->use[i].levels;
        if (l) levels_reset(l);
    }
}

static bool same_codes(const size_t *code, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (code[k] != k) return false;
    return true;
}

static void recode(const chunks *read, size_t slot, const size_t *code)
{
    for (size_t k = 0; k < read->runs; k++)
        for (size_t i = 0; i < read->run[k].rows; i++) {
            double *cell = read->run[k].first + i * read->width + slot;
            if (!isnan(*cell)) *cell = (double)code[(size_t)*cell];
        }
}

bool schema_merge(const column_schema *p, const column_schema *fork, chunks *read)
{
    bool whole = true;
    if (p->drop_missing) add_missing(p, fork);
    for (size_t i = 0; whole && p->categories > 0 && i < p->columns->count; i++) {
        const column_use *use = &p->use[i];
        const levels *own = fork->use[i].levels;
        if (!own) continue;
        size_t *code = malloc((own->count + 1) * sizeof *code);
        whole = code && levels_merge(use->levels, own, code);
        if (whole && !same_codes(code, own->count)) recode(read, use->slot, code);
        free(code);
    }
    return whole;
}

void schema_close_fork(column_schema *fork)
{
    for (size_t i = 0; fork->use && i < fork->columns->count; i++)
        levels_destroy(fork->use[i].levels);
    free(fork->use);
}
