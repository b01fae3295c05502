/* The rows of leave-one-group-out: read in blocks by several threads, then sorted by group. */
#include "output/predict/group_rows.h"

#include "core/memory.h"
#include "core/printable.h"
#include "linalg/real.h"
#include "output/predict/predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_PART 0.5 /* of the machine's memory, for the rows */

/* ---- rows ---- */

static void free_row(group_row *r, size_t terms)
{
    for (size_t t = 0; r->name && t < terms; t++) free(r->name[t]);
    free(r->name);
    free(r->number);
    free(r->level);
}

void group_rows_close(group_rows *d)
{
    for (size_t i = 0; i < d->count; i++) free_row(&d->row[i], d->terms);
    for (size_t t = 0; t < d->terms; t++) {
        if (d->level) free(d->level[t]); /* the names are those of rows */
        if (d->only_in) free(d->only_in[t]);
        if (d->known_at) free(d->known_at[t]);
    }
    free(d->row);
    free(d->term_begin);
    free(d->term_count);
    free(d->own);
    free(d->level);
    free(d->levels);
    free(d->only_in);
    free(d->known_at);
    free(d->known);
    free(d->start);
    pthread_mutex_destroy(&d->lock);
}

/* SBPS_BAD_ARG with the factors of the model. */
static sbps_status unknown_factor(const group_rows *d, sbps_error *err)
{
    char list[256] = "";
    bool correlated;
    for (size_t t = 0; t < d->terms; t++) {
        const char *name = saved_schema_factor(d->f->b, t, &correlated);
        size_t used = strlen(list);
        if (!strstr(list, name))
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", name);
    }
    if (d->terms == 0)
        return fail(err, SBPS_BAD_ARG,
                    "--group: the model of %s has no group effects; `loo` without --group "
                    "leaves out rows",
                    d->f->path);
    return fail(err, SBPS_BAD_ARG, "--group: '%s' is no grouping factor of %s, which has %s",
                show_name(d->factor).text, d->f->path, show_name(list).text);
}

sbps_status group_rows_open(const predictor_draws *f, const char *factor, group_rows *d,
                            sbps_error *err)
{
    const saved_schema *b = f->b;
    bool correlated;
    *d = (group_rows){.f = f,
                      .columns = b->names,
                      .terms = saved_schema_terms(b),
                      .factor = factor,
                      .bytes_max = MEMORY_PART * machine_memory(),
                      .first_own = GROUP_NONE};
    pthread_mutex_init(&d->lock, NULL);
    d->term_begin = calloc(d->terms + 1, sizeof *d->term_begin);
    d->term_count = calloc(d->terms + 1, sizeof *d->term_count);
    d->own = calloc(d->terms + 1, sizeof *d->own);
    d->level = calloc(d->terms + 1, sizeof *d->level);
    d->levels = calloc(d->terms + 1, sizeof *d->levels);
    d->only_in = calloc(d->terms + 1, sizeof *d->only_in);
    d->known_at = calloc(d->terms + 1, sizeof *d->known_at);
    if (!d->term_begin || !d->term_count || !d->own || !d->level || !d->levels || !d->only_in ||
        !d->known_at)
        return fail_memory(err);
    for (size_t t = 0; t < d->terms; t++) {
        d->term_begin[t] = d->varying;
        d->term_count[t] = saved_schema_effects(b, t);
        d->varying += d->term_count[t];
        d->own[t] = strcmp(saved_schema_factor(b, t, &correlated), factor) == 0;
        if (d->own[t] && d->first_own == GROUP_NONE) d->first_own = t;
    }
    return d->first_own == GROUP_NONE ? unknown_factor(d, err) : SBPS_OK;
}

/* The parts of the log likelihood that do not depend on eta, as in row_loglik. */
static void set_factor(const predictor_draws *f, const encoded_row *s, group_row *r)
{
    r->factor = s->weight;
    r->constant = 0.0;
    if (f->model->support != SUPPORT_PROPORTIONS) return;
    double n = s->trials, k = n * s->y;
    double ways = log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0);
    r->constant = n > 0.0 ? s->weight / n * ways : 0.0;
}

/* Copies a row; false: no memory. */
static bool copy_row(const group_rows *d, size_t index, const encoded_row *s, group_row *r)
{
    *r = (group_row){.index = index,
                     .y = s->y,
                     .offset = s->offset,
                     .number = malloc((d->columns + d->varying + 1) * sizeof(double)),
                     .name = calloc(d->terms + 1, sizeof *r->name),
                     .level = calloc(d->terms + 1, sizeof *r->level)};
    if (!r->number || !r->name || !r->level) return false;
    memcpy(r->number, s->x, d->columns * sizeof(double));
    memcpy(r->number + d->columns, s->z, d->varying * sizeof(double));
    set_factor(d->f, s, r);
    for (size_t t = 0; t < d->terms; t++)
        if (!(r->name[t] = copy_text(s->level[t].data))) return false;
    return true;
}

static sbps_status keep_row(void *self, size_t index, const encoded_row *s, sbps_error *err)
{
    group_rows *d = self;
    group_row r;
    bool kept = copy_row(d, index, s, &r);
    pthread_mutex_lock(&d->lock);
    if (kept && d->count == d->capacity) {
        size_t more = d->capacity ? 2 * d->capacity : 1024;
        group_row *grown = realloc(d->row, more * sizeof *grown);
        kept = grown;
        if (grown) {
            d->row = grown;
            d->capacity = more;
        }
    }
    if (kept) d->row[d->count++] = r;
    d->bytes += (double)(d->columns + d->varying + 12 * d->terms + 16) * sizeof(double);
    bool fits = d->bytes <= d->bytes_max;
    pthread_mutex_unlock(&d->lock);
    if (!kept) {
        free_row(&r, d->terms);
        return fail_memory(err);
    }
    return fits ? SBPS_OK
                : fail(err, SBPS_NO_MEM,
                       "--group keeps all rows in memory, and they need more than %.3g GiB",
                       d->bytes_max / 0x1p30);
}

/* ---- levels and groups ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_index(const void *a, const void *b)
{
    const group_row *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Rows are sorted by this, see order_rows. */
typedef struct {
    size_t group, at;
} row_place;

static int by_place(const void *a, const void *b)
{
    const row_place *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Numbers the levels of a term in alphabetical order. */
static sbps_status number_levels(group_rows *d, size_t t, sbps_error *err)
{
    char **all = d->level[t] = malloc((d->count + 1) * sizeof *all);
    if (!all) return fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++) all[i] = d->row[i].name[t];
    qsort(all, d->count, sizeof *all, by_text);
    for (size_t i = 0; i < d->count; i++)
        if (n == 0 || strcmp(all[n - 1], all[i]) != 0) all[n++] = all[i];
    d->levels[t] = n;
    for (size_t i = 0; i < d->count; i++) {
        char **found = bsearch(&d->row[i].name[t], all, n, sizeof *all, by_text);
        d->row[i].level[t] = (size_t)(found - all);
    }
    return SBPS_OK;
}

/* Sorts rows by group, and in a group by their place in the file; groups in the order of their
 * first rows. */
static sbps_status order_rows(group_rows *d, sbps_error *err)
{
    size_t own = d->first_own, n = d->count, groups = d->levels[own];
    row_place *place = malloc((n + 1) * sizeof *place);
    size_t *rank = malloc((groups + 1) * sizeof *rank), next = 0;
    group_row *sorted = malloc((n + 1) * sizeof *sorted);
    char **names = malloc((groups + 1) * sizeof *names);
    d->start = calloc(groups + 1, sizeof *d->start);
    bool whole = place && rank && sorted && names && d->start;
    for (size_t g = 0; whole && g < groups; g++) rank[g] = GROUP_NONE;
    for (size_t i = 0; whole && i < n; i++) {
        size_t g = d->row[i].level[own];
        if (rank[g] == GROUP_NONE) {
            names[next] = d->level[own][g];
            rank[g] = next++;
        }
        place[i] = (row_place){rank[g], i};
        d->start[rank[g] + 1]++;
    }
    if (whole) {
        qsort(place, n, sizeof *place, by_place);
        for (size_t i = 0; i < n; i++) sorted[i] = d->row[place[i].at];
        free(d->row);
        d->row = sorted;
        sorted = NULL;
        free(d->level[own]);
        d->level[own] = names;
        names = NULL;
        for (size_t g = 0; g < groups; g++) d->start[g + 1] += d->start[g];
        d->groups = groups;
    }
    for (size_t g = 0; whole && g < groups; g++)
        for (size_t i = d->start[g]; i < d->start[g + 1]; i++)
            for (size_t t = 0; t < d->terms; t++)
                if (d->own[t]) d->row[i].level[t] = g;
    free(place);
    free(rank);
    free(sorted);
    free(names);
    return whole ? SBPS_OK : fail_memory(err);
}

/* Finds the levels that occur in one group only. */
static sbps_status find_nested(group_rows *d, size_t t, sbps_error *err)
{
    size_t n = d->own[t] ? d->groups : d->levels[t];
    size_t *only = d->only_in[t] = malloc((n + 1) * sizeof *only);
    bool *seen = calloc(n + 1, sizeof *seen);
    bool whole = only && seen;
    for (size_t g = 0; whole && g < d->groups; g++)
        for (size_t i = d->start[g]; i < d->start[g + 1]; i++) {
            size_t l = d->row[i].level[t];
            only[l] = seen[l] && only[l] != g ? GROUP_NONE : g;
            seen[l] = true;
        }
    free(seen);
    return whole ? SBPS_OK : fail_memory(err);
}

/* Looks up the draws of the effects of levels that occur in several groups. */
static sbps_status open_known(group_rows *d, sbps_error *err)
{
    size_t total = 0, next = 0;
    sbps_status status = SBPS_OK;
    for (size_t t = 0; t < d->terms; t++) total += d->levels[t] * d->term_count[t];
    d->known = calloc(total + 1, sizeof *d->known);
    if (!d->known) return fail_memory(err);
    for (size_t t = 0; t < d->terms; t++) {
        size_t *at = d->known_at[t] = malloc((d->levels[t] + 1) * sizeof *at);
        if (!at) return fail_memory(err);
        for (size_t l = 0; status == SBPS_OK && l < d->levels[t]; l++) {
            at[l] = GROUP_NONE;
            if (d->own[t] || d->only_in[t][l] != GROUP_NONE) continue;
            at[l] = next;
            status = effects_known(d->f, t, d->level[t][l], d->known + next, err);
            next += d->term_count[t];
        }
    }
    return status;
}

/* Brings the rows that were kept into their groups. */
sbps_status group_rows_arrange(group_rows *d, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    qsort(d->row, d->count, sizeof *d->row, by_index);
    for (size_t t = 0; status == SBPS_OK && t < d->terms; t++)
        status = number_levels(d, t, err);
    if (status == SBPS_OK) status = order_rows(d, err);
    for (size_t t = 0; status == SBPS_OK && t < d->terms; t++) status = find_nested(d, t, err);
    if (status != SBPS_OK) return status;
    if (d->groups < 2)
        return fail(err, SBPS_BAD_DATA, "--group: '%s' has a single level", d->factor);
    return open_known(d, err);
}

/* ---- reading ---- */

/* The rows are kept when they are put into blocks: nothing else is to be done. */
static sbps_status skip_block(void *self, unsigned worker, size_t slot, row_block *b,
                              sbps_error *err)
{
    (void)self, (void)worker, (void)slot, (void)b, (void)err;
    return SBPS_OK;
}

/* Reads all rows into *d. The stream's draws are of one point: nothing is computed by row. */
sbps_status group_rows_read(group_rows *d, const result *r, const char *run, const char *data,
                            const loo_choice *choice, stream_count *count, sbps_error *err)
{
    const uint16_t *encoding;
    predictor_draws *point;
    const predictor_options how = {.point = true, .new_levels = true};
    sbps_status status = text_encoding_read(choice->encoding, &encoding, err);
    if (status != SBPS_OK) return status;
    if ((status = predictor_draws_open(r, run, how, &point, err)) != SBPS_OK) return status;
    point->keep = keep_row;
    point->keep_self = d;
    const row_stream s = {.f = point,
                          .data = data,
                          .frame = choice->frame,
                          .request = {.target = true, .trials = true, .encoding = encoding},
                          .threads = choice->threads,
                          .batch_bytes = 64,
                          .self = d,
                          .block = skip_block};
    status = stream_rows(&s, count, err);
    predictor_draws_close(point);
    return status;
}
