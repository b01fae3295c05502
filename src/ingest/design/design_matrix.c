/* The design matrix: [1 |] numbers and one-hot columns, rows in random order.
 *
 *   category with levels l_0 < l_1 < ... < l_m:  columns 1{l_1}, ..., 1{l_m}                (1)
 *   standardised column:  (x - mean) / sd, population sd                                    (2)
 *
 * Rows are written straight to their places in the shuffle (table/row_origin.h). */
#include "ingest/design/design_matrix.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/threads.h"
#include "ingest/design/grouping.h"
#include "ingest/design/saved_schema.h"
#include "ingest/design/storage.h"
#include "ingest/text/parts.h"
#include "linalg/kernels.h"
#include "table/column_moments.h"
#include "table/content_hash.h"
#include "table/row_origin.h"
#include "table/row_partition.h"
#include "table/rows.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sbps_status design_allocate(design *g, double held, sbps_error *err)
{
    const column_schema *p = g->schema;
    rows *r = g->r;
    double n = (double)r->local_rows, table = sizeof(double) * n * (double)r->stride;
    if (r->storage.start) table = storage_sparse.bytes(r);
    sbps_status status = memory_holds(p->path, n, (double)r->d, held + table, err);
    if (status != SBPS_OK) return status;
    if (!r->storage.start) r->storage.x = unset_doubles(r->local_rows * r->stride);
    r->y = unset_doubles(r->local_rows);
    r->table.mean = new_doubles(r->d);
    r->table.sd = new_doubles(r->d);
    if (p->weight_slot != SIZE_MAX) r->weight = new_doubles(r->local_rows);
    if (p->offset_slot != SIZE_MAX) r->offset = new_doubles(r->local_rows);
    bool ready = (r->storage.x || r->storage.start) && r->y && r->table.mean && r->table.sd;
    ready = ready && (p->weight_slot == SIZE_MAX || r->weight);
    ready = ready && (p->offset_slot == SIZE_MAX || r->offset);
    return ready ? SBPS_OK : fail_memory(err);
}

void put_targets(const design *g, const double *row, size_t to)
{
    const column_schema *p = g->schema;
    rows *r = g->r;
    r->y[to] = p->target == SIZE_MAX && !p->formula ? 0.0
               : g->label                           ? g->label[(size_t)row[0]]
                                                    : row[0];
    if (r->weight) r->weight[to] = row[p->weight_slot];
    if (r->offset) r->offset[to] = row[p->offset_slot];
}

size_t design_max_entries(const design *g)
{
    return g->schema->formula ? g->schema->formula->entries_max : g->schema->features;
}

size_t design_entries(const design *g, const formula_scratch *s, const double *row,
                      uint32_t *column, double *value)
{
    const column_schema *p = g->schema;
    size_t n = 0;
    if (p->formula) return formula_design_entries(g, s, row, column, value);
    row += p->first;
    for (size_t f = 0; f < p->features; f++) {
        const feature_place *at = &g->place[f];
        size_t rank = at->rank ? at->rank[(size_t)row[f]] : 0;
        if (at->rank ? rank == 0 : row[f] == 0.0) continue;
        column[n] = (uint32_t)(at->column + (at->rank ? rank - 1 : 0));
        value[n++] = at->rank ? 1.0 : row[f];
    }
    return n;
}

/* Writes a row without a formula. */
static void put_features(const design *g, const double *row, size_t to)
{
    const column_schema *p = g->schema;
    rows *r = g->r;
    double *x = r->storage.x + to * r->stride;
    size_t overwritten =
        p->categories == 0 ? r->d : r->intercept; /* columns that are all written below */
    if (r->intercept) x[0] = 1.0;
    memset(x + overwritten, 0, (r->stride - overwritten) * sizeof *x);
    row += p->first;
    if (p->categories == 0) {
        memcpy(x + r->intercept, row, p->features * sizeof *x);
        return;
    }
    for (size_t f = 0; f < p->features; f++) {
        const feature_place *at = &g->place[f];
        if (!at->rank)
            x[at->column] = row[f];
        else if (at->rank[(size_t)row[f]] > 0)
            x[at->column + at->rank[(size_t)row[f]] - 1] = 1.0;
    }
}

void design_put(const design *g, const formula_scratch *s, const double *row, size_t to)
{
    put_targets(g, row, to);
    if (g->schema->formula)
        formula_design_put(g, s, row, to);
    else
        put_features(g, row, to);
}

/* Writes one run of rows to their places. */
static void move_run(void *self, unsigned worker, size_t index)
{
    const row_placement *m = self;
    const row_run *run = &m->read->run[index];
    const formula_scratch *scratch = &m->scratch[worker];
    double *at = run->first;
    for (size_t i = 0; i < run->rows; i++) {
        const double *row = run_next(m->read, &at, m->line[worker]);
        size_t to = m->to[run->before + i];
        if (m->g->r->storage.start) {
            put_targets(m->g, row, to);
            sparse_put(m->g, row, to, &m->each[worker]);
        } else
            design_put(m->g, scratch, row, to);
        grouping_put(m->g, m->groups, scratch, run->before + i, to);
    }
}

/* Entries of every column of a sparse table, counted in one pass: reading cell by cell takes
 * columns x rows look-ups. */
typedef struct {
    size_t *count; /* NULL: the table is not sparse, or was not counted yet */
    double *first; /* first entry of each column */
    bool *varies;  /* two of its entries differ */
} column_entries;

static sbps_status entries_count(const rows *r, column_entries *c, sbps_error *err)
{
    if (!r->storage.start || c->count) return SBPS_OK;
    c->count = calloc(r->d + 1, sizeof *c->count);
    c->first = calloc(r->d + 1, sizeof *c->first);
    c->varies = calloc(r->d + 1, sizeof *c->varies);
    if (!c->count || !c->first || !c->varies) return fail_memory(err);
    for (size_t at = 0; at < r->storage.start[r->local_rows]; at++) {
        size_t j = r->storage.column[at];
        double value = r->storage.value ? r->storage.value[at] : 1.0;
        if (c->count[j]++ == 0) c->first[j] = value;
        c->varies[j] = c->varies[j] || value != c->first[j];
    }
    return SBPS_OK;
}

/* Returns whether a column has the same value in all rows, over all ranks. */
static bool is_constant(const rows *r, const column_entries *c, size_t j)
{
    bool same = true;
    if (c->count) same = !c->varies[j] && (c->count[j] == 0 || c->count[j] == r->local_rows);
    for (size_t i = 1; same && !c->count && i < r->local_rows; i++)
        same = r->storage.kind->cell(r, i, j) == r->storage.kind->cell(r, 0, j);
    return same_on_ranks(r, same ? r->storage.kind->cell(r, 0, j) : NAN);
}

#define NAMED_MAX 5

typedef struct {
    size_t count;
    char names[NAMED_MAX * 96];
} constants;

/* Returns whether a constant column serves as the intercept, of which there can be one. */
static bool is_own_intercept(const design *g, size_t j, bool taken)
{
    const rows *r = g->r;
    return !r->intercept && !g->spec->standardize && !taken &&
           r->storage.kind->cell(r, 0, j) != 0.0;
}

/* Constant columns are kept and noted: their posterior is the prior. */
static sbps_status note_constants(const design *g, const constants *c, sbps_error *err)
{
    char more[48] = "";
    if (c->count == 0 || (g->r->table.notes && strstr(g->r->table.notes, c->names)))
        return SBPS_OK;
    if (c->count > NAMED_MAX)
        snprintf(more, sizeof more, " and %zu more", c->count - NAMED_MAX);
    return rows_note(
        g->r, err,
        "%s %s%s: the same in all rows, which therefore have no information on the "
        "coefficient: its posterior is its prior%s",
        c->count > 1 ? "columns" : "column", c->names, more,
        g->r->intercept
            ? ", and the intercept at x = 0 is as uncertain; --exclude leaves columns out"
            : "");
}

/* Finds constant columns among those with sd 0; fails for columns whose moments overflow. */
static sbps_status find_constants(const design *g, column_entries *filled, constants *found,
                                  sbps_error *err)
{
    const rows *r = g->r;
    bool taken = false;
    for (size_t j = r->intercept; j < r->d; j++) {
        if (r->table.sd[j] > 0 && isfinite(r->table.sd[j]) && isfinite(r->table.mean[j]))
            continue;
        sbps_status status = entries_count(r, filled, err);
        if (status != SBPS_OK) return status;
        if (!is_constant(r, filled, j))
            return fail(err, SBPS_BAD_DATA,
                        "%s: column '%s' has values too large or too small to compute their "
                        "spread: divide it by a power of ten, or take its logarithm",
                        g->schema->path, show_name(r->table.names[j]).text);
        if (is_own_intercept(g, j, taken))
            taken = true;
        else {
            size_t used = strlen(found->names);
            if (found->count++ < NAMED_MAX)
                snprintf(found->names + used, sizeof found->names - used, "%s'%.80s'",
                         used ? ", " : "", show_name(r->table.names[j]).text);
        }
    }
    return SBPS_OK;
}

static sbps_status check_columns(const design *g, sbps_error *err)
{
    constants found = {0};
    column_entries filled = {0};
    sbps_status status = find_constants(g, &filled, &found, err);
    free(filled.count);
    free(filled.first);
    free(filled.varies);
    return status == SBPS_OK ? note_constants(g, &found, err) : status;
}

/* (2) for some rows; the intercept stays. */
static void standardize_rows(void *self, size_t first, size_t count)
{
    const design *g = self;
    const rows *r = g->r;
    for (size_t i = first; i < first + count; i++) {
        double *x = r->storage.x + i * r->stride;
        for (size_t j = r->intercept; j < r->d; j++) {
            const column_origin *o = &r->table.origin[j];
            x[j] = o->sd > 0.0 ? (x[j] - o->mean) / o->sd : 0.0;
        }
    }
}

/* Computes moments and hashes; `before` may change rows first. */
static sbps_status summarise_rows(design *g, void (*before)(void *, size_t, size_t),
                                  sbps_error *err)
{
    rows *r = g->r;
    uint64_t pieces = 0;
    const row_pass pass = {.r = r, .threads = g->threads, .before = before, .self = g};
    sbps_status status = column_moments(&pass, r->table.mean, r->table.sd, &pieces, err);
    if (status != SBPS_OK) return status;
    r->table.hash = hash_table(r, pieces);
    const char *formula_text = g->schema->formula ? g->schema->formula->text : NULL;
    table_content content;
    status = content_table(r, content_kind_of(r, formula_text), g->threads, &content, err);
    r->table.content = content.sum;
    r->table.content_kind = (unsigned char)content.kind;
    return status;
}

/* Fails if every weight of the table is 0. */
static sbps_status check_weights(const column_schema *p, const rows *r, sbps_error *err)
{
    bool some = !r->weight;
    for (size_t i = 0; !some && i < r->local_rows; i++) some = r->weight[i] > 0;
    if (any_rank(r, some)) return SBPS_OK;
    if (p->weight == SIZE_MAX)
        return fail(err, SBPS_BAD_DATA, "%s: every weight is 0", p->path);
    return fail(err, SBPS_BAD_DATA, "%s: column '%s': every weight is 0", p->path,
                show_name(p->columns->name[p->weight]).text);
}

/* Replaces labels -1 and +1 by 0 and 1, if both occur and no others; returns whether it did. */
static bool map_signs(rows *r)
{
    size_t minus = 0, plus = 0;
    for (size_t i = 0; i < r->local_rows; i++) {
        minus += r->y[i] == -1;
        plus += r->y[i] == 1;
    }
    bool others = any_rank(r, minus + plus < r->local_rows);
    if (!any_rank(r, minus > 0) || !any_rank(r, plus > 0) || others) return false;
    for (size_t i = 0; i < r->local_rows; i++) r->y[i] = r->y[i] > 0;
    return true;
}

/* Notes rows without trials, which are kept with weight 0. */
static sbps_status note_trials(const design *g, sbps_error *err)
{
    const rows *r = g->r;
    size_t none = 0;
    if (g->schema->trials == SIZE_MAX) return SBPS_OK;
    for (size_t i = 0; i < r->local_rows; i++) none += r->weight[i] == 0.0;
    none = (size_t)sum_over_ranks(r, (double)none);
    if (none == 0) return SBPS_OK;
    return rows_note(g->r, err, "%zu %s of 0 trials%s: %s no information", none,
                     none > 1 ? "rows" : "row",
                     g->schema->trials == g->schema->weight ? "" : " or weight 0",
                     none > 1 ? "they have" : "it has");
}

sbps_status design_finish(design *g, sbps_error *err)
{
    rows *r = g->r;
    const columns *c = g->schema->columns;
    sbps_status status = check_weights(g->schema, r, err);
    if (status == SBPS_OK) status = note_trials(g, err);
    if (status != SBPS_OK) return status;
    bool labelled = c->target && g->schema->target != SIZE_MAX;
    if (labelled && !g->spec->real_target && c->name[g->schema->target] == c->target)
        g->signs = map_signs(r);
    if ((status = labels_number(g, err)) != SBPS_OK) return status;
    status = summarise_rows(g, NULL, err);
    if (status == SBPS_OK) status = check_columns(g, err);
    if (status != SBPS_OK) return status;
    if (g->spec->standardize) {
        /* Standardisation removes these means and sds. */
        for (size_t j = r->intercept; j < r->d; j++) {
            r->table.origin[j].mean = r->table.mean[j];
            r->table.origin[j].sd = r->table.sd[j];
        }
        status = summarise_rows(g, standardize_rows, err);
    }
    return status == SBPS_OK ? saved_schema_write(g, &r->table.design, err) : status;
}

sbps_status design_open(const column_schema *p, const rows_spec *spec, const row_values *all,
                        design *g, sbps_error *err)
{
    *g = (design){.schema = p,
                  .spec = spec,
                  .all = all,
                  .threads = reading_threads(spec),
                  .place = calloc(p->features + 1, sizeof *g->place),
                  .r = calloc(1, sizeof *g->r)};
    sbps_status status = g->place && g->r ? design_place(g, err) : fail_memory(err);
    return status == SBPS_OK ? labels_place(g, err) : status;
}

void design_close(design *g)
{
    for (size_t f = 0; g->place && f < g->schema->features; f++) free(g->place[f].rank);
    free(g->place);
    free(g->label);
    formula_design_clear(g);
    rows_destroy(g->r);
}

sbps_status design_to_floats(design *g, sbps_error *err)
{
    size_t own = g->r->local_rows;
    if (g->r->partition) g->r->local_rows = g->held;
    floats_from_doubles(g->r);
    g->r->local_rows = own;
    sbps_status status = summarise_rows(g, NULL, err);
    return status == SBPS_OK ? check_columns(g, err) : status;
}

static sbps_status open_moving(row_placement *m, sbps_error *err)
{
    m->each = calloc(m->threads, sizeof *m->each);
    m->line = calloc(m->threads, sizeof *m->line);
    m->scratch = calloc(m->threads, sizeof *m->scratch);
    bool ready = m->to && m->each && m->line && m->scratch;
    for (unsigned w = 0; ready && w < m->threads && run_line(m->read) > 0; w++)
        ready = (m->line[w] = new_doubles(run_line(m->read)));
    for (unsigned w = 0; ready && m->g->schema->formula && w < m->threads; w++)
        ready = scratch_open(m->g->schema->formula, &m->scratch[w], err) == SBPS_OK;
    return ready ? SBPS_OK : fail_memory(err);
}

static void close_moving(row_placement *m)
{
    if (m->each) entries_clear(m->each, m->threads);
    for (unsigned w = 0; m->line && w < m->threads; w++) free(m->line[w]);
    for (unsigned w = 0; m->scratch && w < m->threads; w++) scratch_close(&m->scratch[w]);
    free(m->scratch);
    free(m->each);
    free(m->line);
}

/* Places, storage, memory, rows and moments of a table in memory. */
static sbps_status fill_design(design *g, const chunks *read, sbps_error *err)
{
    const storage_kind *storage = NULL;
    size_t *to = g->spec->in_order ? same_places(read->rows)
                                   : shuffled_places(g->spec->seed, read->rows, g->threads);
    grouping groups = {0};
    row_placement m = {
        .g = g, .read = read, .to = to, .threads = g->threads, .groups = &groups};
    g->r->local_rows = read->rows;
    g->r->table.seed = g->spec->seed;
    g->r->table.in_order = g->spec->in_order;
    sbps_status status = open_moving(&m, err);
    if (status == SBPS_OK) status = grouping_open(g, read, &groups, err);
    if (status == SBPS_OK) status = grouping_places(g, &groups, to, err);
    if (status == SBPS_OK) status = storage_choose(&m, &storage, err);
    if (status == SBPS_OK) status = design_allocate(g, chunks_bytes(read), err);
    if (status == SBPS_OK) status = workers_run(m.threads, read->runs, move_run, &m, err);
    close_moving(&m);
    grouping_close(g, &groups);
    free(to);
    if (status == SBPS_OK) status = design_finish(g, err);
    if (status == SBPS_OK && storage == &storage_float) status = design_to_floats(g, err);
    return status;
}

sbps_status design_create(const column_schema *p, const rows_spec *spec, const chunks *read,
                          rows **out, sbps_error *err)
{
    design g;
    chunk_values from = {p->formula, read};
    const row_values all = values_of_chunks(&from);
    *out = NULL;
    sbps_status status = design_open(p, spec, &all, &g, err);
    if (status == SBPS_OK) status = fill_design(&g, read, err);
    if (status == SBPS_OK) {
        *out = g.r;
        g.r = NULL;
    }
    design_close(&g);
    return status;
}
