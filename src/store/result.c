/* A result's memory: plain arrays, zeroed. */
#include "store/result.h"

#include "base/memory.h"
#include "store/layout.h"

#include <stdlib.h>

/* Empty products are allowed: a run stopped at once has no draws. */
static bool product(size_t a, size_t b, size_t c, size_t *out)
{
    size_t ab;
    return !__builtin_mul_overflow(a, b, &ab) && !__builtin_mul_overflow(ab, c, out);
}

static bool make_arrays(result *r, const array_field *fields, size_t count)
{
    for (const array_field *f = fields; f->name; f++)
        if (!(*array_slot(r, f) = new_doubles(count))) return false;
    return true;
}

static bool make_labels(result *r)
{
    for (const label_field *f = layout_labels; f->name; f++)
        if (!(*label_slot(r, f) = calloc(r->dim ? r->dim : 1, sizeof(char *)))) return false;
    return true;
}

sbps_status result_create(size_t chains, size_t draws, size_t dim, result **out,
                          sbps_error *err)
{
    *out = NULL;
    size_t values, rows;
    if (!product(chains, draws, dim, &values) || !product(chains, draws, 1, &rows))
        return fail(err, SBPS_NO_MEM,
                    "%zu chains of %zu draws of %zu numbers do not fit in memory", chains,
                    draws, dim);
    result *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (result){.chains = chains, .draws = draws, .dim = dim};
    r->names = calloc(dim ? dim : 1, sizeof *r->names);
    r->w = new_doubles(values);
    if (!r->names || !r->w || !make_arrays(r, layout_path, dim) ||
        !make_arrays(r, layout_model, dim) || !make_arrays(r, layout_stats, rows) ||
        !make_labels(r)) {
        result_destroy(r);
        return fail_memory(err);
    }
    *out = r;
    return SBPS_OK;
}

static void free_arrays(result *r, const array_field *fields)
{
    for (const array_field *f = fields; f->name; f++) free(*array_slot(r, f));
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) free(texts[i]);
    free(texts);
}

void result_destroy(result *r)
{
    if (!r) return;
    free_texts(r->names, r->dim);
    for (const label_field *f = layout_labels; f->name; f++) free_texts(label_of(r, f), r->dim);
    free(r->w);
    free_arrays(r, layout_path);
    free_arrays(r, layout_model);
    free_arrays(r, layout_stats);
    for (const info_field *f = layout_texts; f->name; f++) free(*info_text(&r->info, f));
    for (size_t i = 0; i < r->option_count; i++) {
        free(r->options[i].name);
        free(r->options[i].value);
    }
    free(r->options);
    free(r);
}
