/* Scores of rows that are held out. With p(y_i) = mean_s p(y_i | draw s) and m_i the mean of the response over all draws:
 *
 *   elpd    sum_i log p(y_i)
 *   dbar    -2 sum_i mean_s log p(y_i | draw s), the mean deviance
 *   brier   mean_i (y_i - m_i)^2; of classes the sum over all of them
 *   crps    mean_i E|Y - y_i| - E|Y - Y'|/2, Y drawn for each draw; Gneiting, Raftery (2007), JASA 102, 359-378
 *
 * A row of weight w counts as w rows alike, in every sum and in the number of rows n = sum_i w_i.
 *
 * Standard errors are those of a mean over rows; of the root mean square and of R2 by the delta method; of AUC DeLong,
 * DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845; of the calibration slope by its information. */
#include "output/predict/score.h"
#include "output/predict/predict.h"

#include "core/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double lpd, loglik, mean, y, trials;
    double weight; /* rows that it stands for */
    double loss;   /* of the mean: squared; of classes summed over them */
    double crps;
    bool there, right; /* right: the likeliest class */
} row_score;

typedef struct {
    const predictor_draws *f;
    row_score *slot; /* [block at hand][row] */
    size_t *n;
    row_score *row;
    size_t rows, capacity;
    double weight; /* sum over rows */
    bool weighted; /* some weight is not 1 */
} scoring;

static bool wants_crps(const predictor_draws *f)
{
    target_support s = f->model->support;
    return !f->classes && s != SUPPORT_BINARY && s != SUPPORT_PROPORTIONS;
}

/* ---- rows ---- */

static double mean_of_draws(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* E|Y - Y'| = 2/n^2 sum_i (2 i - n + 1) y_(i), i from 0. */
static double crps_of(size_t n, double *draw, double y)
{
    double off = 0.0, apart = 0.0;
    qsort(draw, n, sizeof *draw, compare_doubles);
    for (size_t i = 0; i < n; i++) {
        off += fabs(draw[i] - y);
        apart += (2.0 * (double)i - (double)n + 1.0) * draw[i];
    }
    return off / (double)n - apart / ((double)n * (double)n);
}

static void score_classes(const predictor_draws *f, const double *probability, row_score *to)
{
    size_t best = 0;
    double top = -1.0;
    size_t own = (size_t)(f->b->label ? to->y : to->y - f->lowest);
    to->loss = 0.0;
    for (size_t k = 0; k < f->classes; k++) {
        double p = mean_of_draws(f->draws, probability + k * f->draws), off = (k == own) - p;
        to->loss += off * off;
        if (p > top) best = k;
        top = fmax(top, p);
    }
    to->right = best == own;
}

static void score_row(const predictor_draws *f, const row_block *b, size_t i, row_score *to)
{
    rng r = rng_stream(f->seed, b->index[i], RNG_PREDICT);
    *to = (row_score){
        .y = b->y[i], .trials = b->trials[i], .weight = row_weight(f, b, i), .there = true};
    predictor_draws_loglik(f, b, i, b->value);
    to->lpd = log_mean_exp(f->k, f->draws, b->value);
    to->loglik = mean_of_draws(f->draws, b->value);
    predictor_draws_row(f, PREDICTION_MEAN, b, i, &r, b->value);
    if (f->classes) {
        score_classes(f, b->value, to);
        return;
    }
    to->mean = mean_of_draws(f->draws, b->value);
    to->loss = (to->y - to->mean) * (to->y - to->mean);
    if (!wants_crps(f)) return;
    predictor_draws_row(f, PREDICTION_OUTCOME, b, i, &r, b->value);
    to->crps = crps_of(f->draws, b->value, to->y);
}

static sbps_status score_block(void *self, unsigned worker, size_t slot, row_block *b,
                               sbps_error *err)
{
    const scoring *j = self;
    (void)worker;
    (void)err;
    j->n[slot] = b->n;
    for (size_t i = 0; i < b->n; i++) {
        row_score *to = &j->slot[slot * BLOCK_ROWS + i];
        if (b->state[i] == ROW_WHOLE)
            score_row(j->f, b, i, to);
        else
            *to = (row_score){0};
    }
    return SBPS_OK;
}

static sbps_status store_scores(void *self, size_t blocks, sbps_error *err)
{
    scoring *j = self;
    for (size_t k = 0; k < blocks; k++)
        for (size_t i = 0; i < j->n[k]; i++) {
            const row_score *from = &j->slot[k * BLOCK_ROWS + i];
            if (!from->there) continue;
            if (j->rows == j->capacity) {
                j->capacity = j->capacity ? 2 * j->capacity : 4096;
                row_score *grown = realloc(j->row, j->capacity * sizeof *grown);
                if (!grown) return fail_memory(err);
                j->row = grown;
            }
            j->row[j->rows++] = *from;
            j->weight += from->weight;
            j->weighted |= from->weight != 1.0;
        }
    return SBPS_OK;
}

/* ---- what they say together ---- */

typedef struct {
    const char *name;
    double value, error;
} estimate;

#define ESTIMATES_MAX 8

typedef struct {
    estimate of[ESTIMATES_MAX];
    size_t count;
} estimates;

static void add_estimate(estimates *e, const char *name, double value, double error)
{
    e->of[e->count++] = (estimate){name, value, error};
}

/* Mean and standard error of a member of all rows. */
static estimate mean_over(const scoring *j, size_t offset, const char *name)
{
    running_sum sum = {0};
    for (size_t i = 0; i < j->rows; i++)
        weighted_add(&sum, *(const double *)((const char *)&j->row[i] + offset),
                     j->row[i].weight);
    return (estimate){name, sum.sum / sum.n, running_error(&sum) / sum.n};
}

static void add_density(const scoring *j, estimates *e)
{
    double n = j->weight;
    estimate lpd = mean_over(j, offsetof(row_score, lpd), "elpd"),
             loglik = mean_over(j, offsetof(row_score, loglik), "dbar");
    add_estimate(e, "elpd", n * lpd.value, n * lpd.error);
    add_estimate(e, "mean_deviance", -2.0 * n * loglik.value, 2.0 * n * loglik.error);
}

/* R2 = 1 - A/B with A the mean loss and B the variance of y; by the delta method. */
static void add_numbers(const scoring *j, estimates *e)
{
    estimate loss = mean_over(j, offsetof(row_score, loss), "mse"),
             y = mean_over(j, offsetof(row_score, y), "y");
    double root = sqrt(loss.value), about = 0.0;
    running_sum of = {0};
    for (size_t i = 0; i < j->rows; i++)
        about +=
            j->row[i].weight * (j->row[i].y - y.value) * (j->row[i].y - y.value) / j->weight;
    for (size_t i = 0; i < j->rows; i++) {
        double off = j->row[i].y - y.value;
        weighted_add(&of, (j->row[i].loss - loss.value / about * off * off) / about,
                     j->row[i].weight);
    }
    add_estimate(e, "rmse", root, loss.error / (2.0 * root));
    add_estimate(e, "r2", 1.0 - loss.value / about, running_error(&of) / of.n);
    e->of[e->count++] = mean_over(j, offsetof(row_score, crps), "crps");
}

static int by_mean(const void *a, const void *b)
{
    double x = ((const row_score *)a)->mean, y = ((const row_score *)b)->mean;
    return (x > y) - (x < y);
}

/* Share of the other outcome below a row, ties as a half, for rows i to k - 1 of one mean. */
static void add_ties(const row_score *row, size_t i, size_t k, double below[2], double of[2],
                     running_sum place[2])
{
    double tied[2] = {0.0, 0.0};
    for (size_t l = i; l < k; l++) tied[row[l].y > 0.5] += row[l].weight;
    double up = (below[0] + 0.5 * tied[0]) / of[0];
    double down = 1.0 - (below[1] + 0.5 * tied[1]) / of[1];
    for (size_t l = i; l < k; l++)
        weighted_add(&place[row[l].y > 0.5], row[l].y > 0.5 ? up : down, row[l].weight);
    below[0] += tied[0];
    below[1] += tied[1];
}

static void add_auc(scoring *j, estimates *e)
{
    double below[2] = {0.0, 0.0}, of[2] = {0.0, 0.0};
    running_sum place[2] = {0};
    qsort(j->row, j->rows, sizeof *j->row, by_mean);
    for (size_t i = 0; i < j->rows; i++) of[j->row[i].y > 0.5] += j->row[i].weight;
    if (of[0] < 2.0 || of[1] < 2.0) return;
    for (size_t i = 0, k; i < j->rows; i = k) {
        for (k = i + 1; k < j->rows && j->row[k].mean == j->row[i].mean;) k++;
        add_ties(j->row, i, k, below, of, place);
    }
    double up = running_error(&place[1]) / of[1], down = running_error(&place[0]) / of[0];
    add_estimate(e, "auc", place[1].sum / of[1], sqrt(up * up + down * down));
}

/* y on the log odds of the prediction: intercept and slope by Newton's method. */
static void add_calibration(const scoring *j, estimates *e)
{
    double a = 0.0, b = 1.0, s = 0.0;
    for (int round = 0; round < 50; round++) {
        double ga = 0.0, gb = 0.0, aa = 0.0, ab = 0.0, bb = 0.0;
        for (size_t i = 0; i < j->rows; i++) {
            double x = log(j->row[i].mean) - log1p(-j->row[i].mean),
                   n = j->row[i].trials * j->row[i].weight;
            if (!isfinite(x)) continue;
            double p = 1.0 / (1.0 + exp(-a - b * x)), h = n * p * (1.0 - p);
            ga += n * (j->row[i].y - p);
            gb += n * (j->row[i].y - p) * x;
            aa += h;
            ab += h * x;
            bb += h * x * x;
        }
        double det = aa * bb - ab * ab, da = (bb * ga - ab * gb) / det,
               db = (aa * gb - ab * ga) / det;
        s = sqrt(aa / det);
        if (!isfinite(da) || !isfinite(db)) return;
        a += da;
        b += db;
        if (fabs(da) + fabs(db) < 1e-10) break;
    }
    add_estimate(e, "calibration_slope", b, s);
}

/* Also of a model of shares, where each row is one trial. */
static bool has_two_outcomes(const scoring *j)
{
    if (j->f->model->support == SUPPORT_BINARY) return true;
    for (size_t i = 0; i < j->rows; i++) {
        const row_score *r = &j->row[i];
        if (!(r->weight > 0.0)) continue;
        if (r->trials != 1.0 || (r->y != 0.0 && r->y != 1.0)) return false;
    }
    return true;
}

static void add_binary(scoring *j, estimates *e)
{
    e->of[e->count++] = mean_over(j, offsetof(row_score, loss), "brier");
    if (has_two_outcomes(j)) add_auc(j, e);
    add_calibration(j, e);
}

static void add_classes(const scoring *j, estimates *e)
{
    double n = j->weight, right = 0.0;
    for (size_t i = 0; i < j->rows; i++) right += j->row[i].right ? j->row[i].weight : 0.0;
    e->of[e->count++] = mean_over(j, offsetof(row_score, loss), "brier");
    add_estimate(e, "accuracy", right / n, sqrt(right / n * (1.0 - right / n) / n));
}

/* ---- all of it ---- */

static void write_rows(const scoring *j, text *t)
{
    char sum[32];
    text_add(t, "rows              %zu", j->rows);
    decimal_print(sum, sizeof sum, "%.10g", j->weight);
    if (j->weighted) text_add(t, ", whose weights sum to %s", sum);
    text_add(t, "; %zu draws\n", j->f->draws);
}

static void write_scores(const scoring *j, const estimates *e, const stream_count *count,
                         sbps_format format, text *t)
{
    size_t lacking = count->lacking + count->not_finite;
    if (format == SBPS_JSON)
        text_add(t, "{\"rows\": %zu, \"rows_left_out\": %zu, \"draws\": %zu", j->rows, lacking,
                 j->f->draws);
    if (format == SBPS_JSON) json_pair(t, "weight", j->weight);
    if (format != SBPS_JSON) text_add(t, "rows: %s\n", identity_text(count->identity));
    for (size_t k = 0; k < e->count; k++) {
        char key[40];
        if (format != SBPS_JSON) {
            write_estimate(t, e->of[k].name, e->of[k].value, e->of[k].error);
            continue;
        }
        snprintf(key, sizeof key, "se_%s", e->of[k].name);
        json_pair(t, e->of[k].name, e->of[k].value);
        json_pair(t, key, e->of[k].error);
    }
    if (format == SBPS_JSON) {
        identity_json(t, count->identity);
        text_add(t, "}\n");
    } else
        write_rows(j, t);
    if (lacking > 0 && format != SBPS_JSON)
        text_add(t, "left out          %zu rows with missing cells\n", lacking);
}

static sbps_status score_rows(scoring *j, const char *data, const sbps_scoring *how,
                              stream_count *count, sbps_error *err)
{
    const uint16_t *encoding;
    sbps_status status = text_encoding_read(how->encoding, &encoding, err);
    if (status != SBPS_OK) return status;
    const row_stream s = {.f = j->f,
                          .data = data,
                          .frame = how->frame,
                          .wants = {.target = true, .trials = true, .encoding = encoding},
                          .threads = how->threads,
                          .batch_bytes = sizeof(row_score),
                          .self = j,
                          .block = score_block,
                          .finish_blocks = store_scores};
    j->slot = calloc(SLOTS_MAX * BLOCK_ROWS, sizeof *j->slot);
    j->n = calloc(SLOTS_MAX, sizeof *j->n);
    if (!j->slot || !j->n) return fail_memory(err);
    status = stream_rows(&s, count, err);
    if (status == SBPS_OK && (j->rows < 2 || !(j->weight > 1.0)))
        status = fail(err, SBPS_BAD_DATA, "%s: too few rows have all that is needed", data);
    return status;
}

sbps_status score_report(const result *r, const char *run, const char *data,
                         const sbps_scoring *how, sbps_format format, char **out,
                         sbps_error *err)
{
    const predictor_options choice = {.seed = how->seed, .max_draws = how->max_draws};
    predictor_draws *f;
    stream_count count = {0};
    estimates e = {.count = 0};
    text t = {0};
    *out = NULL;
    sbps_status status = predictor_draws_open(r, run, choice, &f, err);
    scoring j = {.f = f};
    if (status == SBPS_OK) status = score_rows(&j, data, how, &count, err);
    if (status == SBPS_OK) {
        add_density(&j, &e);
        if (f->classes)
            add_classes(&j, &e);
        else if (wants_crps(f))
            add_numbers(&j, &e);
        else
            add_binary(&j, &e);
        write_scores(&j, &e, &count, format, &t);
        status = text_give(&t, out, err);
    }
    free(j.slot);
    free(j.n);
    free(j.row);
    predictor_draws_close(f);
    return status;
}
