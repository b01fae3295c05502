/* Pareto-smoothed importance sampling. With l_s = log p(y_i | draw s), the weights of draws
 * from the posterior without row i are exp(-l_s), smoothed (linalg/pareto.c), and
 *
 *   elpd_i = log sum_s w_s exp(l_s) / sum_s w_s,   lpd_i = log mean_s exp(l_s).             (1)
 *
 * Vehtari, Gelman, Gabry (2017), Statistics and Computing 27, 1413-1432.
 *
 * Of many rows a random sample of m is evaluated. All rows have a surrogate s_i, which is log
 * p(y_i | mean of the parameters). With e_j = elpd_j - s_j
 *
 *   sum = sum_i s_i + N mean e,   variance N^2 (1 - m/N) var(e) / m,                        (2)
 *   N var(elpd) = sum s_i^2 + N mean(elpd^2 - s^2) - (T^2 - v + 2 S sum - S^2) / N,         (3)
 *
 * S = sum s_i, T = N mean e, v the variance in (2).
 *
 * Magnusson, Andersen, Jonasson, Vehtari (2020), Leave-one-out cross-validation for Bayesian
 * model comparison in large data, AISTATS, PMLR 108. */
#include "output/predict/loo.h"
#include "output/predict/loo_group.h"
#include "output/predict/predict.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/threads.h"
#include "linalg/pareto.h"
#include "model/likelihood/model.h"
#include "output/predict/predictor_draws.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FULL_SCAN_MAX 4e7 /* rows x draws up to which all rows are evaluated */
#define SAMPLE_USUAL  ((size_t)1000)
#define ALIKE         1e-6                /* range of log weights that are taken as equal */
#define EXP_BLOCK     ((size_t)256)       /* exponentials computed at once */
#define KEPT_BYTES    ((size_t)256 << 20) /* of rows kept for the second pass */

/* ---- rows ---- */

double row_weight(const predictor_draws *f, const row_block *b, size_t i)
{
    if (f->model->support != SUPPORT_PROPORTIONS) return b->weight[i];
    return b->trials[i] > 0.0 ? b->weight[i] / b->trials[i] : 0.0;
}

void row_loglik(const predictor_draws *f, const row_block *b, size_t i, double *out)
{
    double weight = row_weight(f, b, i);
    predictor_draws_loglik(f, b, i, out);
    for (size_t s = 0; weight != 1.0 && s < f->draws; s++) out[s] *= weight;
}

/* Terms are added in order, so that every variant of the kernels gives the same bits. */
double log_mean_exp(const kernels *k, size_t n, const double *x)
{
    double top = -INFINITY, sum = 0.0, part[EXP_BLOCK];
    for (size_t i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
    if (!isfinite(top)) return top;
    for (size_t from = 0; from < n; from += EXP_BLOCK) {
        size_t m = n - from < EXP_BLOCK ? n - from : EXP_BLOCK;
        for (size_t i = 0; i < m; i++) part[i] = x[from + i] - top;
        k->exp(m, part, part);
        for (size_t i = 0; i < m; i++) sum += part[i];
    }
    return top + log(sum / (double)n);
}

double running_error(const running_sum *s)
{
    double mean = s->sum / s->n;
    return s->n > 1.0 ? sqrt(s->n * (s->square - s->n * mean * mean) / (s->n - 1.0)) : NAN;
}

/* ---- evaluation of rows ---- */

typedef struct {
    double loglik; /* surrogate, or elpd */
    double lpd, k;
    bool complete; /* no cell is missing */
} row_loo;

typedef struct {
    const predictor_draws *f;
    row_loo *slot;          /* [block of the batch][row] */
    size_t *at;             /* [block of the batch][row]: its place in the file */
    size_t *n;              /* [block of the batch]: rows */
    double **log_weight;    /* [thread]: 2 * draws */
    ranked_weight **ranked; /* [thread]: draws */
    unsigned threads;
    loo *out;
    size_t capacity;
    bool first; /* surrogates of all rows; else (1) */
} loo_pass;

loo_weight loo_weigh(const kernels *k, size_t n, const double *l, double *weight,
                     ranked_weight *ranked)
{
    double *density = weight + n;
    double low = INFINITY, top = -INFINITY, sum = 0.0, weight_sum = 0.0;
    for (size_t s = 0; s < n; s++) weight[s] = -l[s];
    for (size_t s = 0; s < n; s++) low = fmin(low, weight[s]);
    loo_weight row = {.lpd = log_mean_exp(k, n, l)};
    row.k = pareto_smooth(n, weight, ranked);
    for (size_t s = 0; s < n; s++) top = fmax(top, weight[s]);
    /* a row without influence: equal weights have no tail to be estimated */
    if (isinf(row.k) && top - low < ALIKE) row.k = 0.0;
    for (size_t s = 0; s < n; s++) weight[s] -= top;
    for (size_t s = 0; s < n; s++) density[s] = l[s] - row.lpd;
    k->exp(2 * n, weight, weight);
    for (size_t s = 0; s < n; s++) {
        weight_sum += weight[s];
        sum += weight[s] * density[s];
    }
    row.elpd = row.lpd + log(sum / weight_sum);
    return row;
}

/* (1) for one row; `l` holds its log likelihood by every draw. */
static row_loo weigh_row(const loo_pass *p, unsigned worker, const double *l)
{
    loo_weight w = loo_weigh(p->f->k, p->f->draws, l, p->log_weight[worker], p->ranked[worker]);
    return (row_loo){.loglik = w.elpd, .lpd = w.lpd, .k = w.k, .complete = true};
}

/* Evaluates the rows of a block, on any thread. */
static sbps_status weigh_block(void *self, unsigned worker, size_t slot, row_block *b,
                               sbps_error *err)
{
    const loo_pass *p = self;
    (void)err;
    p->n[slot] = b->n;
    for (size_t i = 0; i < b->n; i++) {
        row_loo *to = &p->slot[slot * BLOCK_ROWS + i];
        p->at[slot * BLOCK_ROWS + i] = b->index[i];
        *to = (row_loo){0};
        if (b->state[i] != ROW_WHOLE) continue;
        row_loglik(p->f, b, i, b->value);
        if (p->first)
            *to = (row_loo){.loglik = b->value[0], .complete = true};
        else
            *to = weigh_row(p, worker, b->value);
    }
    return SBPS_OK;
}

/* Makes room for one more evaluated row; false: no memory. */
static bool grow_rows(loo *l, size_t *capacity)
{
    if (l->count < *capacity) return true;
    size_t more = *capacity ? 2 * *capacity : 1024;
    double **arrays[] = {&l->elpd, &l->lpd, &l->k};
    for (size_t k = 0; k < 3; k++) {
        double *grown = realloc(*arrays[k], more * sizeof *grown);
        if (!grown) return false;
        *arrays[k] = grown;
    }
    size_t *index = realloc(l->index, more * sizeof *index);
    if (!index) return false;
    l->index = index;
    *capacity = more;
    return true;
}

/* Appends the surrogate of the next row of the file; false: no memory. */
static bool keep_surrogate(loo_pass *p, double value)
{
    loo *l = p->out;
    if (l->places == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 65536;
        double *grown = realloc(l->surrogate, p->capacity * sizeof *grown);
        if (!grown) return false;
        l->surrogate = grown;
    }
    l->surrogate[l->places++] = value;
    return true;
}

/* Appends the results of a row; false: no memory. */
static bool keep_row(loo_pass *p, const row_loo *row, size_t index)
{
    loo *l = p->out;
    if (!grow_rows(l, &p->capacity)) return false;
    l->index[l->count] = index;
    l->elpd[l->count] = row->loglik;
    l->lpd[l->count] = row->lpd;
    l->k[l->count++] = row->k;
    return true;
}

/* Appends the results of a batch, in the order of the file. */
static sbps_status store_blocks(void *self, size_t blocks, sbps_error *err)
{
    loo_pass *p = self;
    for (size_t k = 0; k < blocks; k++)
        for (size_t i = 0; i < p->n[k]; i++) {
            const row_loo *row = &p->slot[k * BLOCK_ROWS + i];
            bool kept = p->first        ? keep_surrogate(p, row->complete ? row->loglik : NAN)
                        : row->complete ? keep_row(p, row, p->at[k * BLOCK_ROWS + i])
                                        : true;
            if (!kept) return fail_memory(err);
        }
    return SBPS_OK;
}

/* Allocates the memory of a pass. Call close_pass in every case. */
static sbps_status open_pass(loo_pass *p, sbps_error *err)
{
    size_t slots = SLOTS_MAX * BLOCK_ROWS;
    p->slot = calloc(slots, sizeof *p->slot);
    p->at = calloc(slots, sizeof *p->at);
    p->n = calloc(SLOTS_MAX, sizeof *p->n);
    p->log_weight = calloc(p->threads, sizeof *p->log_weight);
    p->ranked = calloc(p->threads, sizeof *p->ranked);
    bool ready = p->slot && p->at && p->n && p->log_weight && p->ranked;
    for (unsigned w = 0; ready && w < p->threads; w++) {
        p->log_weight[w] = new_doubles(2 * p->f->draws);
        p->ranked[w] = calloc(p->f->draws, sizeof **p->ranked);
        ready = p->log_weight[w] && p->ranked[w];
    }
    return ready ? SBPS_OK : fail_memory(err);
}

static void close_pass(loo_pass *p)
{
    for (unsigned w = 0; p->log_weight && p->ranked && w < p->threads; w++) {
        free(p->log_weight[w]);
        free(p->ranked[w]);
    }
    free(p->log_weight);
    free(p->ranked);
    free(p->slot);
    free(p->at);
    free(p->n);
}

/* The stream of rows that a pass reads. */
static row_stream stream_of(loo_pass *p, const char *data, const loo_choice *c)
{
    return (row_stream){.f = p->f,
                        .data = data,
                        .frame = c->frame,
                        .request = {.target = true,
                                    .trials = true,
                                    .encoding = encoding_find(c->encoding ? c->encoding : "")},
                        .threads = c->threads,
                        .batch_bytes = 64,
                        .self = p,
                        .block = weigh_block,
                        .finish_blocks = store_blocks,
                        .keep_seed = c->seed};
}

/* ---- surrogates of a converted table ---- */

#define PART_ROWS ((size_t)16384)
#define STEP_ROWS ((size_t)512) /* rows whose etas stay in cache */

typedef struct {
    const predictor_draws *f;
    const rows *r;
    const double *w; /* mean parameters, as long as a row */
    double *out;
} surrogate_job;

/* Surrogates of `n` rows of a converted table: eta by one product, then the log likelihood. */
static void evaluate_step(const surrogate_job *t, size_t first, size_t n)
{
    const predictor_draws *f = t->f;
    const rows *r = t->r;
    double eta[STEP_ROWS], *out = t->out + first;
    const batch b = {
        .k = f->k, .n = n, .eta = eta, .y = r->y + first, .aux = f->aux, .pitch = n};
    rows_products(r, f->k, rows_from(first, n), t->w, NULL, eta, NULL);
    for (size_t i = 0; r->offset && i < n; i++) eta[i] += r->offset[first + i];
    f->model->predictor->loglik(&b, out);
    for (size_t i = 0; r->weight && i < n; i++) out[i] *= r->weight[first + i];
}

/* Surrogates of PART_ROWS rows: the task of a worker. */
static void evaluate_part(void *self, unsigned worker, size_t part)
{
    const surrogate_job *t = self;
    size_t end =
        (part + 1) * PART_ROWS < t->r->local_rows ? (part + 1) * PART_ROWS : t->r->local_rows;
    (void)worker;
    for (size_t i = part * PART_ROWS; i < end; i += STEP_ROWS)
        evaluate_step(t, i, end - i < STEP_ROWS ? end - i : STEP_ROWS);
}

/* Surrogates of all rows of a converted table, in memory order, on all threads. */
static sbps_status evaluate_table(void *self, const rows *r, sbps_error *err)
{
    loo_pass *p = self;
    double *w = new_doubles(r->stride);
    p->out->surrogate = malloc((r->local_rows + 1) * sizeof(double));
    p->out->places = r->local_rows;
    surrogate_job t = {.f = p->f, .r = r, .w = w, .out = p->out->surrogate};
    sbps_status status = w && t.out ? SBPS_OK : fail_memory(err);
    for (size_t j = 0; w && j < r->d; j++) w[j] = p->f->w[j];
    if (status == SBPS_OK)
        status = workers_run(p->threads, (r->local_rows + PART_ROWS - 1) / PART_ROWS,
                             evaluate_part, &t, err);
    free(w);
    return status;
}

/* True if the log likelihood of a row depends on a single linear predictor without effects. */
static bool has_plain_rows(const predictor_draws *f)
{
    return f->model->predictor && !f->effects && f->model->support != SUPPORT_PROPORTIONS;
}

/* ---- passes over the rows ---- */

/* The number of rows kept for the second pass; all if that is affordable. */
static size_t rows_kept(const predictor_draws *f, const loo_choice *c)
{
    if (c->sample != SIZE_MAX) return c->sample;
    size_t affordable = (size_t)(FULL_SCAN_MAX / (double)f->draws);
    size_t fitting = KEPT_BYTES / (sizeof(double) * (f->b->columns + 1));
    size_t limit = affordable < fitting ? affordable : fitting;
    return limit > SAMPLE_USUAL ? limit : SAMPLE_USUAL;
}

/* Evaluates all rows by all draws, in one reading. */
static sbps_status loo_in_one_pass(loo_pass *p, const char *data, const loo_choice *c,
                                   stream_count *count, sbps_error *err)
{
    const row_stream s = stream_of(p, data, c);
    sbps_status status = stream_rows(&s, count, err);
    p->out->places = count->rows;
    return status;
}

/* Evaluates surrogates of all rows by one draw, the mean, then a sample of rows by all
 * draws. */
static sbps_status loo_in_two_passes(loo_pass *p, const char *run, const char *data,
                                     const loo_choice *c, stream_count *count, sbps_error *err)
{
    predictor_draws *f;
    sbps_status status =
        predictor_draws_open(p->f->r, run, (predictor_options){.point = true}, &f, err);
    loo_pass first = {.f = f, .out = p->out, .first = true, .threads = p->threads};
    if (status == SBPS_OK) status = open_pass(&first, err);
    if (status == SBPS_OK) {
        const row_stream second = stream_of(p, data, c);
        row_stream s = stream_of(&first, data, c);
        s.table = has_plain_rows(f) ? evaluate_table : NULL;
        s.keep = rows_kept(p->f, c);
        s.sample = c->sample == SIZE_MAX ? SAMPLE_USUAL : c->sample;
        s.second_pass = &second;
        s.second_sample = c->second_sample;
        status = stream_rows(&s, count, err);
    }
    close_pass(&first);
    predictor_draws_close(f);
    return status;
}

sbps_status loo_make(const result *r, const char *run, const char *data,
                     const loo_choice *choice, loo *out, sbps_error *err)
{
    predictor_draws *f = NULL;
    stream_count count = {0};
    const uint16_t *encoding;
    *out = (loo){0};
    sbps_status status = text_encoding_read(choice->encoding, &encoding, err);
    if (status == SBPS_OK) status = refuse_prior_only(r, run, err);
    if (status != SBPS_OK) return status;
    if (choice->group) return loo_make_groups(r, run, data, choice, out, err);
    status = predictor_draws_open(r, run, (predictor_options){.max_draws = choice->max_draws},
                                  &f, err);
    if (status != SBPS_OK) return status;
    loo_pass p = {.f = f,
                  .out = out,
                  .threads = stream_threads(&(row_stream){.threads = choice->threads})};
    out->draws = f->draws;
    status = open_pass(&p, err);
    if (status == SBPS_OK)
        status = choice->sample == 0 ? loo_in_one_pass(&p, data, choice, &count, err)
                                     : loo_in_two_passes(&p, run, data, choice, &count, err);
    out->identity = count.identity;
    out->lacking = count.lacking + count.not_finite;
    out->rows = out->places - out->lacking;
    if (status == SBPS_OK && out->rows < 2)
        status = fail(err, SBPS_BAD_DATA, "%s: fewer than two rows have no missing cell", data);
    const row_stream from = stream_of(&p, data, choice);
    if (status == SBPS_OK)
        status = stream_origins(&from, out->count, out->index, &out->row, err);
    if (out->count == out->rows) {
        free(out->surrogate);
        out->surrogate = NULL;
    }
    close_pass(&p);
    predictor_draws_close(f);
    return status;
}

/* ---- totals ---- */

/* The sum of values of all rows. */
static loo_total sum_all(const loo *l, const double *value)
{
    running_sum sum = {0};
    double mean = 0.0;
    for (size_t j = 0; j < l->count; j++) mean += value[j] / (double)l->count;
    for (size_t j = 0; j < l->count; j++) running_add(&sum, value[j] - mean);
    return (loo_total){sum.sum + mean * sum.n, running_error(&sum), 0.0};
}

/* By (2) and (3). */
loo_total loo_sum(const loo *l, const double *value, const double *surrogate)
{
    double n = (double)l->rows, m = (double)l->count, all = 0.0, squares = 0.0, more = 0.0;
    running_sum difference = {0};
    if (!l->surrogate) return sum_all(l, value);
    for (size_t i = 0; surrogate && i < l->places; i++) {
        if (isnan(surrogate[i])) continue;
        all += surrogate[i];
        squares += surrogate[i] * surrogate[i];
    }
    for (size_t j = 0; j < l->count; j++) {
        double own = surrogate ? surrogate[l->index[j]] : 0.0;
        running_add(&difference, value[j] - own);
        more += (value[j] * value[j] - own * own) / m;
    }
    double rest = n * difference.sum / m, spread = running_error(&difference) / sqrt(m);
    double variance = n * n * (1.0 - m / n) * spread * spread / m, sum = all + rest;
    double of_rows =
        squares + n * more - (rest * rest - variance + 2.0 * all * sum - all * all) / n;
    return (loo_total){sum, sqrt(fmax(of_rows, 0.0)), sqrt(variance)};
}

sbps_status loo_compute_totals(const loo *l, loo_totals *out, sbps_error *err)
{
    double *p = new_doubles(l->count + 1);
    if (!p) return fail_memory(err);
    for (size_t j = 0; j < l->count; j++) p[j] = l->lpd[j] - l->elpd[j];
    out->elpd = loo_sum(l, l->elpd, l->surrogate);
    out->p = loo_sum(l, p, NULL);
    free(p);
    return SBPS_OK;
}

size_t loo_count_above(const loo *l)
{
    size_t count = 0;
    for (size_t j = 0; j < l->count; j++) count += !(l->k[j] <= PARETO_TRUSTED);
    return count;
}

size_t loo_find_worst(const loo *l, size_t worst[LOO_WORST_MAX])
{
    size_t count = 0;
    for (size_t j = 0; j < l->count; j++) {
        size_t at = count;
        while (at > 0 && l->k[worst[at - 1]] < l->k[j]) at--;
        if (at == LOO_WORST_MAX) continue;
        size_t last = count < LOO_WORST_MAX ? count++ : LOO_WORST_MAX - 1;
        memmove(worst + at + 1, worst + at, (last - at) * sizeof *worst);
        worst[at] = j;
    }
    return count;
}

loo_choice loo_choice_of(const sbps_scoring *how)
{
    return (loo_choice){.sample = how->rows,
                        .max_draws = how->max_draws,
                        .seed = how->seed,
                        .threads = how->threads,
                        .encoding = how->encoding,
                        .frame = how->frame,
                        .group = how->group};
}

void loo_clear(loo *l)
{
    free(l->index);
    free(l->row);
    free(l->elpd);
    free(l->lpd);
    free(l->k);
    free(l->surrogate);
    free_texts(l->level, l->count);
    free(l->size);
    free(l->group);
    *l = (loo){0};
}
