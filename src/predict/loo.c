/* Pareto-smoothed importance sampling: with l_s = log p(y_i | draw s), weights of draws from the posterior without row i are
 * exp(-l_s), smoothed (base/pareto.c), and
 *
 *   elpd_i = log sum_s w_s exp(l_s) / sum_s w_s,   lpd_i = log mean_s exp(l_s).                                    (1)
 *
 * Vehtari, Gelman, Gabry (2017), Statistics and Computing 27, 1413-1432.
 *
 * Of many rows a random sample of m is looked at, and all have a surrogate, log p(y_i | mean of the parameters); with
 * e_j = elpd_j - surrogate_j
 *
 *   sum = sum_i surrogate_i + N mean e,   variance N^2 (1 - m/N) var(e) / m,                                        (2)
 *   N var(elpd) = sum s_i^2 + N mean(elpd^2 - s^2) - (T^2 - v + 2 S sum - S^2) / N,  S = sum s_i, T = N mean e       (3)
 *
 * Magnusson, Andersen, Jonasson, Vehtari (2020), Leave-one-out cross-validation for Bayesian model comparison in large data,
 * AISTATS, PMLR 108. */
#include "predict/pointwise.h"

#include "base/memory.h"
#include "base/pareto.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHEAP        4e7 /* rows x draws: all rows are looked at */
#define SAMPLE_USUAL ((size_t)1000)

/* ---- rows ---- */

void row_loglik(const forecast *f, const row_block *b, size_t i, double *out)
{
    double weight = b->trials[i] > 0.0 ? b->weight[i] / b->trials[i] : 0.0;
    bool counted = f->model->support == SUPPORT_SHARES;
    if (!counted) weight = b->weight[i];
    forecast_loglik(f, b, i, out);
    for (size_t s = 0; weight != 1.0 && s < f->draws; s++) out[s] *= weight;
}

double log_mean_exp(size_t n, const double *x)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; i++) top = fmax(top, x[i]);
    if (!isfinite(top)) return top;
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - top);
    return top + log(sum / (double)n);
}

double running_error(const running_sum *s)
{
    double mean = s->sum / s->n;
    return s->n > 1.0 ? sqrt(s->n * (s->square - s->n * mean * mean) / (s->n - 1.0)) : NAN;
}

/* ---- passes ---- */

typedef struct {
    double loglik; /* surrogate, or elpd */
    double lpd, k;
    bool there;
} row_told;

typedef struct {
    const forecast *f;
    const size_t *sample; /* rows that are wanted, increasing; NULL: all */
    size_t sampled;
    row_told *slot;       /* [block at hand][row] */
    size_t *at;           /* [block at hand][row]: its place in the file */
    size_t *n;            /* [block at hand] */
    double **log_weight;  /* a thread */
    ranked_weight **room; /* likewise */
    unsigned threads;
    loo *out;
    size_t capacity;
    double **all; /* where surrogates of all rows go; NULL: this pass is (1) */
    size_t *rows;
} pass;

static bool is_sampled(const void *self, size_t index)
{
    const pass *p = self;
    size_t low = 0, high = p->sampled;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->sample[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->sampled && p->sample[low] == index;
}

/* (1) */
static row_told look_at(const pass *p, unsigned worker, const double *l)
{
    size_t n = p->f->draws;
    double *weight = p->log_weight[worker], top = -INFINITY, sum = 0.0, of_weights = 0.0;
    for (size_t s = 0; s < n; s++) weight[s] = -l[s];
    row_told told = {.lpd = log_mean_exp(n, l), .there = true};
    told.k = pareto_smooth(n, weight, p->room[worker]);
    for (size_t s = 0; s < n; s++) top = fmax(top, weight[s]);
    for (size_t s = 0; s < n; s++) {
        double w = exp(weight[s] - top);
        of_weights += w;
        sum += w * exp(l[s] - told.lpd);
    }
    told.loglik = told.lpd + log(sum / of_weights);
    return told;
}

static sbps_status do_block(void *self, unsigned worker, size_t slot, row_block *b,
                            sbps_error *err)
{
    const pass *p = self;
    (void)err;
    p->n[slot] = b->n;
    for (size_t i = 0; i < b->n; i++) {
        row_told *to = &p->slot[slot * BLOCK_ROWS + i];
        p->at[slot * BLOCK_ROWS + i] = b->index[i];
        *to = (row_told){0};
        if (b->state[i] != ROW_WHOLE) continue;
        row_loglik(p->f, b, i, b->value);
        if (p->all)
            *to = (row_told){.loglik = b->value[0], .there = true};
        else
            *to = look_at(p, worker, b->value);
    }
    return SBPS_OK;
}

static bool make_room(loo *l, size_t *capacity)
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

static bool keep_surrogate(pass *p, double value)
{
    if (*p->rows == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 65536;
        double *grown = realloc(*p->all, p->capacity * sizeof *grown);
        if (!grown) return false;
        *p->all = grown;
    }
    (*p->all)[(*p->rows)++] = value;
    return true;
}

static bool keep_row(pass *p, const row_told *told, size_t index)
{
    loo *l = p->out;
    if (!make_room(l, &p->capacity)) return false;
    l->index[l->count] = index;
    l->elpd[l->count] = told->loglik;
    l->lpd[l->count] = told->lpd;
    l->k[l->count++] = told->k;
    return true;
}

static sbps_status tell_blocks(void *self, size_t blocks, sbps_error *err)
{
    pass *p = self;
    for (size_t k = 0; k < blocks; k++)
        for (size_t i = 0; i < p->n[k]; i++) {
            const row_told *told = &p->slot[k * BLOCK_ROWS + i];
            bool kept = p->all        ? keep_surrogate(p, told->there ? told->loglik : NAN)
                        : told->there ? keep_row(p, told, p->at[k * BLOCK_ROWS + i])
                                      : true;
            if (!kept) return fail_memory(err);
        }
    return SBPS_OK;
}

static sbps_status open_pass(pass *p, sbps_error *err)
{
    size_t slots = SLOTS_MOST * BLOCK_ROWS;
    p->slot = calloc(slots, sizeof *p->slot);
    p->at = calloc(slots, sizeof *p->at);
    p->n = calloc(SLOTS_MOST, sizeof *p->n);
    p->log_weight = calloc(p->threads, sizeof *p->log_weight);
    p->room = calloc(p->threads, sizeof *p->room);
    bool ready = p->slot && p->at && p->n && p->log_weight && p->room;
    for (unsigned w = 0; ready && w < p->threads; w++) {
        p->log_weight[w] = new_doubles(p->f->draws);
        p->room[w] = calloc(p->f->draws, sizeof **p->room);
        ready = p->log_weight[w] && p->room[w];
    }
    return ready ? SBPS_OK : fail_memory(err);
}

static void close_pass(pass *p)
{
    for (unsigned w = 0; p->log_weight && p->room && w < p->threads; w++) {
        free(p->log_weight[w]);
        free(p->room[w]);
    }
    free(p->log_weight);
    free(p->room);
    free(p->slot);
    free(p->at);
    free(p->n);
}

static sbps_status run_pass(pass *p, const char *data, const loo_choice *c, size_t *lacking,
                            sbps_error *err)
{
    row_stream s = {.f = p->f,
                    .data = data,
                    .wants = {.target = true, .trials = true},
                    .threads = c->threads,
                    .batch_bytes = 64,
                    .self = p,
                    .wanted = p->sample ? is_sampled : NULL,
                    .block = do_block,
                    .told = tell_blocks};
    stream_count count;
    p->threads = stream_threads(&s);
    sbps_status status = open_pass(p, err);
    if (status == SBPS_OK) status = stream_rows(&s, &count, err);
    if (status == SBPS_OK) *lacking = count.lacking + count.not_finite;
    close_pass(p);
    return status;
}

/* ---- samples ---- */

static int by_place(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* m rows of those that have a surrogate, every choice as likely as any other. */
static sbps_status choose_rows(const loo *l, size_t m, uint64_t seed, size_t **out,
                               sbps_error *err)
{
    rng r = rng_stream(seed, 0, RNG_PREDICT);
    size_t *list = malloc((l->rows + 1) * sizeof *list), n = 0;
    if (!list) return fail_memory(err);
    for (size_t i = 0; i < l->places; i++)
        if (!isnan(l->surrogate[i])) list[n++] = i;
    rng_choose(&r, n, m, list);
    qsort(list, m, sizeof *list, by_place);
    *out = list;
    return SBPS_OK;
}

/* A first look with one draw, the mean: how many rows there are, and what they are worth. */
static sbps_status look_first(const result *r, const char *run, const char *data,
                              const loo_choice *c, loo *out, sbps_error *err)
{
    forecast *f;
    sbps_status status = forecast_open(r, run, (forecast_choice){.point = true}, &f, err);
    pass p = {.f = f, .out = out, .all = &out->surrogate, .rows = &out->places};
    if (status == SBPS_OK) status = run_pass(&p, data, c, &out->lacking, err);
    forecast_close(f);
    out->rows = out->places - out->lacking;
    if (status == SBPS_OK && out->rows < 2)
        status = fail(err, SBPS_BAD_DATA, "%s: too few rows have all that is needed", data);
    return status;
}

static size_t sample_size(const loo *l, const loo_choice *c, size_t draws)
{
    bool cheap = (double)l->rows * (double)draws <= CHEAP;
    size_t m = c->sample == SIZE_MAX ? (cheap ? 0 : SAMPLE_USUAL) : c->sample;
    return m >= l->rows ? 0 : m;
}

sbps_status loo_make(const result *r, const char *run, const char *data,
                     const loo_choice *choice, loo *out, sbps_error *err)
{
    forecast *f = NULL;
    size_t *sample = NULL, m = 0, again;
    *out = (loo){0};
    if (strcmp(data, "-") == 0)
        return fail(err, SBPS_BAD_ARG,
                    "-: the table is read twice, which standard input cannot be");
    sbps_status status =
        forecast_open(r, run, (forecast_choice){.max_draws = choice->max_draws}, &f, err);
    if (status == SBPS_OK) status = look_first(r, run, data, choice, out, err);
    if (status == SBPS_OK && (m = sample_size(out, choice, f->draws)) > 0)
        status = choose_rows(out, m, choice->seed, &sample, err);
    if (status == SBPS_OK) {
        pass p = {.f = f, .out = out, .sample = sample, .sampled = sample ? m : 0};
        out->draws = f->draws;
        status = run_pass(&p, data, choice, &again, err);
    }
    if (status == SBPS_OK && !sample) {
        free(out->surrogate);
        out->surrogate = NULL;
    }
    free(sample);
    forecast_close(f);
    return status;
}

/* ---- totals ---- */

/* All rows: a plain sum. */
static loo_total sum_all(const loo *l, const double *value)
{
    running_sum sum = {0};
    double mean = 0.0;
    for (size_t j = 0; j < l->count; j++) mean += value[j] / (double)l->count;
    for (size_t j = 0; j < l->count; j++) running_add(&sum, value[j] - mean);
    return (loo_total){sum.sum + mean * sum.n, running_error(&sum), 0.0};
}

/* (2) and (3) */
loo_total loo_sum(const loo *l, const double *value, const double *surrogate)
{
    double n = (double)l->rows, m = (double)l->count, all = 0.0, squares = 0.0, more = 0.0;
    running_sum off = {0};
    if (!l->surrogate) return sum_all(l, value);
    for (size_t i = 0; surrogate && i < l->places; i++) {
        if (isnan(surrogate[i])) continue;
        all += surrogate[i];
        squares += surrogate[i] * surrogate[i];
    }
    for (size_t j = 0; j < l->count; j++) {
        double of = surrogate ? surrogate[l->index[j]] : 0.0;
        running_add(&off, value[j] - of);
        more += (value[j] * value[j] - of * of) / m;
    }
    double rest = n * off.sum / m, spread = running_error(&off) / sqrt(m);
    double variance = n * n * (1.0 - m / n) * spread * spread / m, sum = all + rest;
    double of_rows =
        squares + n * more - (rest * rest - variance + 2.0 * all * sum - all * all) / n;
    return (loo_total){sum, sqrt(fmax(of_rows, 0.0)), sqrt(variance)};
}

void loo_clear(loo *l)
{
    free(l->index);
    free(l->elpd);
    free(l->lpd);
    free(l->k);
    free(l->surrogate);
    *l = (loo){0};
}
