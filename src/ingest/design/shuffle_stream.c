/* Rows of a conversion: entries are counted as rows are added, so that the size of a sparse
 * table is known before the first row is written. Numbers are counted here, categories by the
 * column schema, which counts the rows of each level. */
#include "ingest/design/shuffle_stream.h"

#include "core/memory.h"
#include "ingest/design/storage.h"
#include <stdlib.h>
#include <string.h>

/* ---- values kept for transforms ---- */

static sbps_status kept_values_open(const formula *f, kept_values *k, sbps_error *err)
{
    *k = (kept_values){.of = f};
    if (!f) return SBPS_OK;
    k->value = calloc(f->variables + 1, sizeof *k->value);
    return k->value ? SBPS_OK : fail_memory(err);
}

/* Doubles the room for values; false: no memory. */
static bool grow_values(kept_values *k)
{
    size_t capacity = k->capacity ? 2 * k->capacity : 1024;
    for (size_t v = 0; v < k->of->variables; v++) {
        if (!variable_needs_all_rows(&k->of->variable[v])) continue;
        double *wide = realloc(k->value[v], capacity * sizeof *wide);
        if (!wide) return false;
        k->value[v] = wide;
    }
    k->capacity = capacity;
    return true;
}

/* Keeps the transforms' arguments in the next row; false: no memory. */
static bool kept_values_add(kept_values *k, const double *row)
{
    if (!k->of) return true;
    if (k->rows == k->capacity && !grow_values(k)) return false;
    for (size_t v = 0; v < k->of->variables; v++)
        if (k->value[v])
            k->value[v][k->rows] = formula_number(k->of, &k->of->variable[v].value, row);
    k->rows++;
    return true;
}

/* row_values.all: copies the values of one transform's argument. */
static sbps_status copy_values(void *self, const program *of, double *value, sbps_error *err)
{
    const kept_values *k = self;
    (void)err;
    for (size_t v = 0; v < k->of->variables; v++)
        if (&k->of->variable[v].value == of)
            memcpy(value, k->value[v], k->rows * sizeof *value);
    return SBPS_OK;
}

row_values shuffle_stream_values(shuffle_stream *w)
{
    return (row_values){copy_values, &w->kept, w->kept.rows};
}

/* ---- the stream ---- */

/* Returns the doubles of a shuffled record, on average if rows are packed. */
static size_t record_width(const shuffle_stream *w)
{
    double filled = w->schema->columns->filled * (double)w->schema->width;
    return w->packed ? packed_size((size_t)filled + 1) : w->schema->width;
}

sbps_status shuffle_stream_open(const row_source *s, const rows_spec *spec,
                                const char *output_path, size_t memory, shuffle_stream *w,
                                sbps_error *err)
{
    *w = (shuffle_stream){.schema = s->schema,
                          .packed = s->names.filled < PACK_BELOW,
                          .counted = storage_depends(spec),
                          .ones = true};
    w->row = new_doubles(w->schema->width);
    if (!w->row) return fail_memory(err);
    sbps_status status = kept_values_open(s->schema->formula, &w->kept, err);
    if (status != SBPS_OK) return status;
    return shuffle_create(output_path, record_width(w), spec->seed, memory, &w->order, err);
}

size_t count_numbers(const column_schema *p, const double *row, bool *ones)
{
    size_t count = 0;
    for (size_t f = 0; f < p->features; f++) {
        double cell = row[p->first + f];
        if (cell == 0.0 || p->use[p->feature[f]].kind == USE_CATEGORY) continue;
        count++;
        *ones = *ones && cell == 1.0;
    }
    return count;
}

sbps_status shuffle_stream_add(shuffle_stream *w, const chunks *read, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t k = 0; k < read->runs; k++) {
        double *at = read->run[k].first;
        for (size_t i = 0; status == SBPS_OK && i < read->run[k].rows; i++) {
            const double *record = at, *row = run_next(read, &at, w->row);
            if (w->counted) w->numbers += count_numbers(w->schema, row, &w->ones);
            if (!kept_values_add(&w->kept, row)) return fail_memory(err);
            status = shuffle_add(w->order, record, (size_t)(at - record), err);
        }
    }
    return status;
}

const double *shuffle_stream_row(const shuffle_stream *w, const double *record)
{
    if (!w->packed) return record;
    row_unpack(record, w->schema->width, w->row);
    return w->row;
}

size_t category_entries(const design *g)
{
    const column_schema *p = g->schema;
    size_t total = 0;
    for (size_t f = 0; f < p->features; f++) {
        const levels *l = p->use[p->feature[f]].levels;
        for (size_t k = 0; l && k < l->count; k++)
            if (g->place[f].rank[k] > 0) total += l->item[k].rows;
    }
    return total;
}

size_t shuffle_stream_entries(const shuffle_stream *w, const design *g)
{
    return w->numbers + category_entries(g);
}

void shuffle_stream_close(shuffle_stream *w)
{
    shuffle_destroy(w->order);
    for (size_t v = 0; w->kept.value && v < w->kept.of->variables; v++) free(w->kept.value[v]);
    free(w->kept.value);
    free(w->row);
}
