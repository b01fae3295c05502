/* The rows that are checked, and the numbers that checks need of each. Of a long table a first
 * pass keeps a random sample without evaluating any row; a second pass evaluates the sample. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include "linalg/pareto.h"
#include "output/predict/loo.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FULL_SCAN_MAX 2e7 /* rows x draws, up to which all rows are checked */
#define SAMPLE_USUAL  ((size_t)5000)
#define WEIGHTED_MAX                                                                           \
    ((size_t)100000) /* copies of weighted rows, where all rows are requested */
#define REPLICATES_MAX ((size_t)1000)
#define REPLICATES_MIN ((size_t)100)
#define REPLICATED_MAX 2e7 /* replicated responses, unless that leaves too few replicates */

/* Collects rows from the blocks of a stream; each slot holds the rows of one block in work. */
typedef struct {
    row_sample *s;
    size_t capacity;
    sampled_row **slot; /* [slot][row]: rows of the blocks in work */
    size_t *n;          /* [slot]: their number */
    double **loglik;    /* [thread]: log p(y | draw), then the weights of the draws */
    ranked_weight **rank;
    unsigned threads;
} row_collector;

/* ---- a row ---- */

size_t class_of(const predictor_draws *f, double y)
{
    return (size_t)(f->b->label ? y : y - f->lowest);
}

static double mean_of_draws(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* Sets sd and third central moment. */
static void measure_spread(size_t n, const double *x, sampled_row *to)
{
    double mean = mean_of_draws(n, x), square = 0.0, cube = 0.0;
    for (size_t i = 0; i < n; i++) {
        double off = x[i] - mean;
        square += off * off;
        cube += off * off * off;
    }
    to->sd = n > 1 ? sqrt(square / (double)(n - 1)) : 0.0;
    to->cube = cube / (double)n;
}

/* The draw that makes replicate k: evenly spaced. */
static size_t draw_of_replicate(const row_sample *s, size_t k)
{
    return (size_t)((double)k * (double)s->f->draws / (double)s->replicates);
}

/* P(y* < y) and P(y* <= y) without this row: the draws are weighted by 1/p(y | draw),
 * smoothed. */
static void leave_out(const row_collector *g, unsigned worker, const double *drawn,
                      sampled_row *to)
{
    size_t n = g->s->f->draws;
    double *w = g->loglik[worker], top = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < n; k++) w[k] = -w[k];
    to->k = pareto_smooth(n, w, g->rank[worker]);
    for (size_t k = 0; k < n; k++) top = fmax(top, w[k]);
    to->below = to->upto = 0.0;
    for (size_t k = 0; k < n; k++) {
        double weight = exp(w[k] - top);
        sum += weight;
        to->below += drawn[k] < to->y ? weight : 0.0;
        to->upto += drawn[k] <= to->y ? weight : 0.0;
    }
    to->below /= sum;
    to->upto /= sum;
}

/* Fills a row of a numeric target. */
static void fill_number(const row_collector *g, unsigned worker, const row_block *b, size_t i,
                        rng *r, sampled_row *to)
{
    const predictor_draws *f = g->s->f;
    double *drawn = to->value + g->s->columns;
    bool counted = f->model->support == SUPPORT_PROPORTIONS;
    predictor_draws_row(f, PREDICTION_MEAN, b, i, r, b->value);
    to->mean = mean_of_draws(f->draws, b->value) * (counted ? to->trials : 1.0);
    if (counted) to->y = rint(to->y * to->trials);
    predictor_draws_row(f, PREDICTION_OUTCOME, b, i, r, b->value);
    measure_spread(f->draws, b->value, to);
    for (size_t k = 0; k < g->s->replicates; k++)
        drawn[k] = b->value[draw_of_replicate(g->s, k)];
    if (f->model->support == SUPPORT_BINARY) return;
    predictor_draws_loglik(
        f, b, i, g->loglik[worker]); /* of rows with a weight only one copy is left out */
    leave_out(g, worker, b->value, to);
}

/* Fills a row of a class model. */
static void fill_class(const row_collector *g, const row_block *b, size_t i, rng *r,
                       sampled_row *to)
{
    const predictor_draws *f = g->s->f;
    size_t n = f->draws;
    double *probability = to->value + g->s->columns, *drawn = probability + f->classes;
    to->y = (double)class_of(f, to->y);
    predictor_draws_row(f, PREDICTION_MEAN, b, i, r, b->value);
    for (size_t c = 0; c < f->classes; c++) probability[c] = mean_of_draws(n, b->value + c * n);
    predictor_draws_row(f, PREDICTION_OUTCOME, b, i, r, b->value);
    for (size_t k = 0; k < g->s->replicates; k++)
        for (size_t c = 0; c < f->classes; c++)
            if (b->value[c * n + draw_of_replicate(g->s, k)] > 0.5) drawn[k] = (double)c;
}

/* Evaluates row i of a block into *out (malloced). False when memory runs out. */
static bool sample_row(const row_collector *g, unsigned worker, const row_block *b, size_t i,
                       sampled_row **out)
{
    const row_sample *s = g->s;
    size_t values = s->columns + s->classes + s->replicates;
    sampled_row *to = *out = malloc(sizeof *to + values * sizeof *to->value);
    if (!to) return false;
    size_t copy = b->copy ? b->copy[i] : 0;
    uint64_t key = b->index[i] + copy * UINT64_C(0x9e3779b97f4a7c15);
    rng r = rng_stream(s->f->seed, key, RNG_PREDICT);
    *to = (sampled_row){.index = b->index[i],
                        .key = key,
                        .y = b->y[i],
                        .trials = b->trials[i],
                        .below = NAN,
                        .upto = NAN,
                        .k = NAN};
    const double *cell = b->raw ? b->raw[i] : b->x + i * s->f->b->names;
    for (size_t k = 0; k < s->columns; k++) to->value[k] = cell[s->column[k].at];
    if (s->classes)
        fill_class(g, b, i, &r, to);
    else
        fill_number(g, worker, b, i, &r, to);
    return true;
}

/* ---- all rows ---- */

/* Stream callback: evaluates the rows of a block. */
static sbps_status sample_block(void *self, unsigned worker, size_t slot, row_block *b,
                                sbps_error *err)
{
    const row_collector *g = self;
    sampled_row **to = g->slot + slot * BLOCK_ROWS;
    g->n[slot] = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->state[i] != ROW_WHOLE) continue;
        if (!sample_row(g, worker, b, i, &to[g->n[slot]])) return fail_memory(err);
        g->n[slot]++;
    }
    return SBPS_OK;
}

/* Stream callback: appends the rows of the first blocks to the sample. */
static sbps_status take_blocks(void *self, size_t blocks, sbps_error *err)
{
    row_collector *g = self;
    row_sample *s = g->s;
    for (size_t k = 0; k < blocks; k++) {
        if (s->rows + g->n[k] > g->capacity) {
            size_t more = 2 * g->capacity + BLOCK_ROWS;
            sampled_row **grown = realloc(s->row, more * sizeof *grown);
            if (!grown) return fail_memory(err);
            s->row = grown;
            g->capacity = more;
        }
        memcpy(s->row + s->rows, g->slot + k * BLOCK_ROWS, g->n[k] * sizeof *s->row);
        s->rows += g->n[k];
        g->n[k] = 0;
    }
    return SBPS_OK;
}

/* Allocates the buffers; close the collector in any case. */
static sbps_status open_collector(row_collector *g, sbps_error *err)
{
    g->slot = calloc(SLOTS_MAX * BLOCK_ROWS, sizeof *g->slot);
    g->n = calloc(SLOTS_MAX, sizeof *g->n);
    g->loglik = calloc(g->threads, sizeof *g->loglik);
    g->rank = calloc(g->threads, sizeof *g->rank);
    bool ready = g->slot && g->n && g->loglik && g->rank;
    for (unsigned w = 0; ready && w < g->threads; w++) {
        g->loglik[w] = new_doubles(g->s->f->draws);
        g->rank[w] = calloc(g->s->f->draws, sizeof **g->rank);
        ready = g->loglik[w] && g->rank[w];
    }
    return ready ? SBPS_OK : fail_memory(err);
}

/* Frees the buffers, and rows that were not taken. */
static void close_collector(row_collector *g)
{
    for (size_t k = 0; g->n && g->slot && k < SLOTS_MAX; k++)
        for (size_t i = 0; i < g->n[k]; i++) free(g->slot[k * BLOCK_ROWS + i]);
    for (unsigned w = 0; g->loglik && g->rank && w < g->threads; w++) {
        free(g->loglik[w]);
        free(g->rank[w]);
    }
    free(g->loglik);
    free(g->rank);
    free(g->slot);
    free(g->n);
}

/* A stream over the table that evaluates its rows into the collector. */
static row_stream stream_of(row_collector *g, const char *data, const sbps_scoring *how)
{
    return (row_stream){.f = g->s->f,
                        .data = data,
                        .frame = how->frame,
                        .request = {.target = true, .trials = true},
                        .threads = how->threads,
                        .batch_bytes = 64,
                        .self = g,
                        .block = sample_block,
                        .finish_blocks = take_blocks,
                        .keep_seed = how->seed,
                        .by_weight = g->s->weighted};
}

/* Stream callbacks of a first pass, which only counts and samples. */
static sbps_status pass_block(void *self, unsigned worker, size_t slot, row_block *b,
                              sbps_error *err)
{
    (void)self, (void)worker, (void)slot, (void)b, (void)err;
    return SBPS_OK;
}

static sbps_status pass_table(void *self, const rows *r, sbps_error *err)
{
    (void)self, (void)r, (void)err;
    return SBPS_OK;
}

/* Rows that the first pass keeps. */
static size_t rows_kept(const predictor_draws *f, const sbps_scoring *how)
{
    size_t affordable = (size_t)(FULL_SCAN_MAX / (double)f->draws);
    if (how->rows == 0) return WEIGHTED_MAX;
    if (how->rows != SIZE_MAX) return how->rows;
    return affordable > SAMPLE_USUAL ? affordable : SAMPLE_USUAL;
}

/* Reads the table for the checks alone. */
static sbps_status read_alone(row_sample *s, const row_stream *reading, sbps_error *err)
{
    stream_count count = {0};
    sbps_status status = stream_rows(reading, &count, err);
    s->all = count.rows;
    s->counted = count.counted;
    s->identity = count.identity;
    s->lacking = count.lacking + count.not_finite;
    return status;
}

/* Reads the table once for leave-one-out and the checks. */
static sbps_status read_with_loo(row_sample *s, const char *run, const char *data,
                                 const sbps_scoring *how, const row_stream *reading,
                                 loo *left_out, sbps_error *err)
{
    loo_choice choice = loo_choice_of(how);
    choice.group = NULL;
    choice.second_sample = reading;
    sbps_status status = loo_make(s->f->r, run, data, &choice, left_out, err);
    s->all = left_out->places;
    s->identity = left_out->identity;
    s->lacking = left_out->lacking;
    return status;
}

/* All rows in one pass; leave-one-out then reads the table again. */
static sbps_status sample_in_one_pass(row_collector *g, const char *run, const char *data,
                                      const sbps_scoring *how, loo *left_out, sbps_error *err)
{
    const row_stream all = stream_of(g, data, how);
    loo_choice choice = loo_choice_of(how);
    choice.group = NULL;
    sbps_status status = read_alone(g->s, &all, err);
    if (status != SBPS_OK || !left_out) return status;
    return loo_make(g->s->f->r, run, data, &choice, left_out, err);
}

/* A pass that keeps a sample, and one that evaluates it. */
static sbps_status sample_in_two_passes(row_collector *g, const char *run, const char *data,
                                        const sbps_scoring *how, loo *left_out, sbps_error *err)
{
    predictor_draws *f;
    const row_stream second = stream_of(g, data, how);
    row_stream first = second;
    sbps_status status =
        predictor_draws_open(g->s->f->r, run, (predictor_options){.point = true}, &f, err);
    if (status != SBPS_OK) return status;
    first.f = f;
    first.block = pass_block;
    first.finish_blocks = NULL;
    first.table = pass_table;
    first.keep = rows_kept(g->s->f, how);
    first.sample = how->rows == SIZE_MAX ? SAMPLE_USUAL : first.keep;
    first.second_pass = &second;
    status = left_out ? read_with_loo(g->s, run, data, how, &first, left_out, err)
                      : read_alone(g->s, &first, err);
    predictor_draws_close(f);
    return status;
}

/* Fills the sample in one pass or in two. */
static sbps_status collect_rows(row_sample *s, const char *run, const char *data,
                                const sbps_scoring *how, loo *left_out, sbps_error *err)
{
    row_collector g = {.s = s,
                       .threads = stream_threads(&(row_stream){.threads = how->threads})};
    sbps_status status = open_collector(&g, err);
    if (status == SBPS_OK)
        status = how->rows == 0 && !s->weighted
                     ? sample_in_one_pass(&g, run, data, how, left_out, err)
                     : sample_in_two_passes(&g, run, data, how, left_out, err);
    close_collector(&g);
    return status;
}

/* ---- opening ---- */

/* Selects the columns of the text file, or of a converted table those of its design. */
static sbps_status select_columns(row_sample *s, const row_stream *from, sbps_error *err)
{
    const saved_schema *b = s->f->b;
    s->column = calloc(b->columns + b->names + 1, sizeof *s->column);
    if (!s->column) return fail_memory(err);
    if (stream_is_table(from))
        for (size_t j = b->intercept; j < b->names; j++)
            s->column[s->columns++] = (sample_column){.at = j, .name = b->name[j]};
    else
        for (size_t k = 0; k < b->columns; k++) {
            const saved_column *c = &b->column[k];
            bool category = c->kind == USE_CATEGORY;
            if (c->role == ROLE_FEATURE && c->needed && !c->left_out && !c->groups)
                s->column[s->columns++] = (sample_column){.at = k,
                                                          .name = c->name,
                                                          .levels = category ? c->levels : 0,
                                                          .level = c->level};
        }
    return SBPS_OK;
}

/* As many replicates as draws, within the limits. */
static size_t replicates_to_make(const row_sample *s, const sbps_scoring *how, size_t draws)
{
    double row_limit = how->rows > 0 && how->rows < SIZE_MAX ? (double)how->rows : INFINITY;
    double listed = s->f->r->info.rows;
    if (s->weighted) listed = how->rows == 0 ? (double)WEIGHTED_MAX : row_limit;
    double count = fmax(fmin(listed, row_limit), 1.0), fit = floor(REPLICATED_MAX / count);
    if (how->rows == SIZE_MAX) fit = INFINITY;
    size_t drawn = fit < (double)REPLICATES_MIN   ? REPLICATES_MIN
                   : fit < (double)REPLICATES_MAX ? (size_t)fit
                                                  : REPLICATES_MAX;
    return drawn < draws ? drawn : draws;
}

/* Whether weights count rows. For proportions without a trials column they are the trials. */
static bool has_weights(const predictor_draws *f)
{
    const saved_schema *b = f->b;
    bool weighted = b->of[ROLE_WEIGHTS] != SIZE_MAX || (b->formula && b->formula->weights);
    return weighted && (f->model->support != SUPPORT_PROPORTIONS || saved_schema_has_trials(b));
}

sbps_status sample_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, loo *left_out, row_sample *out,
                        sbps_error *err)
{
    const predictor_options choice = {.seed = how->seed, .max_draws = how->max_draws};
    *out = (row_sample){0};
    sbps_status status = predictor_draws_open(r, run, choice, &out->f, err);
    if (status != SBPS_OK) return status;
    out->classes = out->f->classes;
    out->weighted = has_weights(out->f);
    out->replicates = replicates_to_make(out, how, out->f->draws);
    status = select_columns(out, &(row_stream){.data = data, .frame = how->frame}, err);
    if (status == SBPS_OK) status = collect_rows(out, run, data, how, left_out, err);
    if (status == SBPS_OK && out->rows < 2)
        status = fail(err, SBPS_BAD_DATA,
                      "%s: at least two rows without missing cells are needed", data);
    return status;
}

void sample_clear(row_sample *s)
{
    for (size_t i = 0; i < s->rows; i++) free(s->row[i]);
    free(s->row);
    free(s->column);
    predictor_draws_close(s->f);
    *s = (row_sample){0};
}
