/* Reports of predictive accuracy: scores of held-out rows, leave-one-out and comparisons.
 *
 * With p(y_i) = mean_s p(y_i | draw s) and m_i the mean of the response over all draws:
 *
 *   elpd    sum_i log p(y_i)
 *   dbar    -2 sum_i mean_s log p(y_i | draw s), the mean deviance
 *   brier   mean_i (y_i - m_i)^2; with several classes the sum over them
 *   crps    mean_i E|Y - y_i| - E|Y - Y'|/2, with Y drawn for each posterior draw;
 *           Gneiting, Raftery (2007), JASA 102, 359-378
 *
 * A row of weight w counts as w identical rows, in every sum and in the number of rows n =
 * sum_i w_i.
 *
 * Standard errors are those of a mean over rows; those of the root mean square and of R2 by the
 * delta method; those of AUC by DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845;
 * that of the calibration slope by its information. */
#include "output/predict/score.h"

#include "core/decimal.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/printable.h"
#include "core/rng.h"
#include "ingest/text/text_file.h"
#include "linalg/pareto.h"
#include "model/likelihood/model.h"
#include "output/predict/loo.h"
#include "output/predict/predict.h"
#include "output/predict/predictor_draws.h"
#include "output/predict/row_stream.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOISE_MAX                                                                              \
    0.05 /* sampling error over the standard error, above which a report mentions it */

/* ---- lines and members ---- */

/* A line "name   value +- error". */
static void write_estimate(text *t, const char *name, double value, double error)
{
    char cell[64];
    decimal_print(cell, sizeof cell, "%-17s %12.4f +- %.4f\n", name, value, error);
    text_bytes(t, cell, strlen(cell));
}

/* , "key": value */
static void json_pair(text *t, const char *key, double value)
{
    text_add(t, ", ");
    json_string(t, key);
    text_add(t, ": ");
    json_number(t, value);
}

/* ---- scores of rows ---- */

typedef struct {
    double lpd, loglik, mean, y, trials;
    double weight; /* the number of rows it stands for */
    double loss;   /* squared error of the mean; with classes summed over them */
    double crps;
    bool complete; /* no cell is missing */
    bool right;    /* the most probable class is that of the row */
} row_score;

typedef struct {
    const predictor_draws *f;
    row_score *slot; /* [block of the batch][row] */
    size_t *n;       /* [block of the batch]: rows */
    row_score *row;
    size_t rows, capacity;
    double weight; /* sum over rows */
    bool weighted; /* some weight is not 1 */
} scoring;

/* True if the response is a number with more than two values. */
static bool has_crps(const predictor_draws *f)
{
    target_support s = f->model->support;
    return !f->classes && s != SUPPORT_BINARY && s != SUPPORT_PROPORTIONS;
}

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
    double error = 0.0, spread = 0.0;
    qsort(draw, n, sizeof *draw, compare_doubles);
    for (size_t i = 0; i < n; i++) {
        error += fabs(draw[i] - y);
        spread += (2.0 * (double)i - (double)n + 1.0) * draw[i];
    }
    return error / (double)n - spread / ((double)n * (double)n);
}

/* Brier score of a row, and whether the most probable class is right. */
static void score_classes(const predictor_draws *f, const double *probability, row_score *to)
{
    size_t best = 0;
    double top = -1.0;
    size_t own = (size_t)(f->b->label ? to->y : to->y - f->lowest);
    to->loss = 0.0;
    for (size_t k = 0; k < f->classes; k++) {
        double p = mean_of_draws(f->draws, probability + k * f->draws), error = (k == own) - p;
        to->loss += error * error;
        if (p > top) best = k;
        top = fmax(top, p);
    }
    to->right = best == own;
}

/* Computes all scores of a row. */
static void score_row(const predictor_draws *f, const row_block *b, size_t i, row_score *to)
{
    rng r = rng_stream(f->seed, b->index[i], RNG_PREDICT);
    *to = (row_score){
        .y = b->y[i], .trials = b->trials[i], .weight = row_weight(f, b, i), .complete = true};
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
    if (!has_crps(f)) return;
    predictor_draws_row(f, PREDICTION_OUTCOME, b, i, &r, b->value);
    to->crps = crps_of(f->draws, b->value, to->y);
}

/* Scores the rows of a block, on any thread. */
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

/* Appends the scores of a batch, in the order of the file. */
static sbps_status store_scores(void *self, size_t blocks, sbps_error *err)
{
    scoring *j = self;
    for (size_t k = 0; k < blocks; k++)
        for (size_t i = 0; i < j->n[k]; i++) {
            const row_score *from = &j->slot[k * BLOCK_ROWS + i];
            if (!from->complete) continue;
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

/* ---- totals of scores ---- */

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

/* R2 = 1 - A/B with A the mean loss and B the variance of y; its error by the delta method. */
static void add_numbers(const scoring *j, estimates *e)
{
    estimate loss = mean_over(j, offsetof(row_score, loss), "mse"),
             y = mean_over(j, offsetof(row_score, y), "y");
    double root = sqrt(loss.value), variance = 0.0;
    running_sum of = {0};
    for (size_t i = 0; i < j->rows; i++)
        variance +=
            j->row[i].weight * (j->row[i].y - y.value) * (j->row[i].y - y.value) / j->weight;
    for (size_t i = 0; i < j->rows; i++) {
        double error = j->row[i].y - y.value;
        weighted_add(&of, (j->row[i].loss - loss.value / variance * error * error) / variance,
                     j->row[i].weight);
    }
    add_estimate(e, "rmse", root, loss.error / (2.0 * root));
    add_estimate(e, "r2", 1.0 - loss.value / variance, running_error(&of) / of.n);
    e->of[e->count++] = mean_over(j, offsetof(row_score, crps), "crps");
}

static int by_mean(const void *a, const void *b)
{
    double x = ((const row_score *)a)->mean, y = ((const row_score *)b)->mean;
    return (x > y) - (x < y);
}

/* Adds rows i to k - 1, which have one mean: the fraction of the other outcome that is ranked
 * below (for y = 1) or above (for y = 0) the row, ties counting half. */
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

/* Area under the ROC curve; left out with fewer than two rows of an outcome. */
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

/* Logistic regression of y on the log odds of the prediction, by Newton's method: its slope. */
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

/* True for binary outcomes, also those of a model of proportions where each row is one
 * trial. */
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

/* Brier score and accuracy. */
static void add_classes(const scoring *j, estimates *e)
{
    double n = j->weight, right = 0.0;
    for (size_t i = 0; i < j->rows; i++) right += j->row[i].right ? j->row[i].weight : 0.0;
    e->of[e->count++] = mean_over(j, offsetof(row_score, loss), "brier");
    add_estimate(e, "accuracy", right / n, sqrt(right / n * (1.0 - right / n) / n));
}

/* ---- report of scores ---- */

/* Writes all estimates as text or JSON. */
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
    } else {
        char sum[32];
        text_add(t, "rows              %zu", j->rows);
        decimal_print(sum, sizeof sum, "%.10g", j->weight);
        if (j->weighted) text_add(t, ", whose weights sum to %s", sum);
        text_add(t, "; %zu draws\n", j->f->draws);
    }
    if (lacking > 0 && format != SBPS_JSON)
        text_add(t, "left out          %zu rows with missing cells\n", lacking);
}

/* Reads and scores all rows. */
static sbps_status score_rows(scoring *j, const char *data, const sbps_scoring *how,
                              stream_count *count, sbps_error *err)
{
    const uint16_t *encoding;
    sbps_status status = text_encoding_read(how->encoding, &encoding, err);
    if (status != SBPS_OK) return status;
    const row_stream s = {.f = j->f,
                          .data = data,
                          .frame = how->frame,
                          .request = {.target = true, .trials = true, .encoding = encoding},
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
        status = fail(err, SBPS_BAD_DATA, "%s: fewer than two rows have no missing cell", data);
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
    sbps_status status = refuse_prior_only(r, run, err);
    if (status != SBPS_OK) return status;
    status = predictor_draws_open(r, run, choice, &f, err);
    scoring j = {.f = f};
    if (status == SBPS_OK) status = score_rows(&j, data, how, &count, err);
    if (status == SBPS_OK) {
        double n = j.weight;
        estimate lpd = mean_over(&j, offsetof(row_score, lpd), "elpd"),
                 loglik = mean_over(&j, offsetof(row_score, loglik), "dbar");
        add_estimate(&e, "elpd", n * lpd.value, n * lpd.error);
        add_estimate(&e, "mean_deviance", -2.0 * n * loglik.value, 2.0 * n * loglik.error);
        if (f->classes)
            add_classes(&j, &e);
        else if (has_crps(f))
            add_numbers(&j, &e);
        else {
            e.of[e.count++] = mean_over(&j, offsetof(row_score, loss), "brier");
            if (has_two_outcomes(&j)) add_auc(&j, &e);
            add_calibration(&j, &e);
        }
        write_scores(&j, &e, &count, format, &t);
        status = text_give(&t, out, err);
    }
    free(j.slot);
    free(j.n);
    free(j.row);
    predictor_draws_close(f);
    return status;
}

/* ---- leave-one-out ---- */

/* The line on Pareto k, with the rows that have the largest. */
static void write_pareto_k(text *t, const loo *l)
{
    size_t worst[LOO_WORST_MAX], count = loo_find_worst(l, worst), above = loo_count_above(l);
    char k[32];
    text_add(t, "\nPareto k          %zu of %zu rows above %.1f", above, l->count,
             PARETO_TRUSTED);
    text_add(t, above ? ": their leave-one-out densities are unreliable; worst: row"
                      : "; largest: row");
    for (size_t j = 0; j < count; j++) {
        decimal_print(k, sizeof k, "%.2f", l->k[worst[j]]);
        text_add(t, "%s %zu (%s)", j ? "," : "", loo_row(l, worst[j]), k);
    }
    text_add(t, "\n");
}

/* The standard errors of the totals by evaluating a sample of the rows only. */
static void write_sampling_error(text *t, const loo_totals *totals)
{
    char line[120];
    decimal_print(line, sizeof line, "sampling error    elpd_loo +- %.4f, p_loo +- %.4f\n",
                  totals->elpd.subsampling, totals->p.subsampling);
    text_bytes(t, line, strlen(line));
    if (totals->elpd.subsampling > NOISE_MAX * totals->elpd.error)
        text_add(
            t, "This is more than a twentieth of the standard error of elpd_loo: evaluate more "
               "rows with --rows.\n");
}

/* The lines on evaluated and omitted rows. */
static void write_row_counts(text *t, const loo *l, const loo_totals *totals)
{
    text_add(t, "rows              %zu", l->rows);
    if (l->count < l->rows)
        text_add(t, ", of which a random sample of %zu was evaluated", l->count);
    text_add(t, "; %zu draws\n", l->draws);
    if (l->lacking > 0)
        text_add(t, "left out          %zu rows with missing cells\n", l->lacking);
    if (l->count < l->rows) write_sampling_error(t, totals);
}

/* The lines of leave-one-group-out after the estimates. */
static void write_groups(text *t, const loo *l)
{
    size_t worst[LOO_WORST_MAX], count = loo_find_worst(l, worst), above = loo_count_above(l);
    char number[32];
    text_add(t, "left out          one of %zu groups of ", l->rows);
    text_name(t, l->group);
    text_add(t, " at a time, its effects integrated out; %zu rows, %zu draws\n", l->table_rows,
             l->draws);
    if (l->lacking > 0) text_add(t, "missing cells     %zu rows are not used\n", l->lacking);
    if (l->integral_error > 0.0) {
        decimal_print(number, sizeof number, "%.1g", l->integral_error);
        text_add(t, "integrals         by Monte Carlo; error of a log density about %s\n",
                 number);
    }
    text_add(t, "\nPareto k          %zu of %zu groups above %.1f%s", above, l->count,
             PARETO_TRUSTED, above ? ": their densities are unreliable; worst:" : "; largest:");
    for (size_t j = 0; j < count; j++) {
        decimal_print(number, sizeof number, "%.2f", l->k[worst[j]]);
        text_add(t, "%s ", j ? "," : "");
        text_name(t, l->level[worst[j]]);
        text_add(t, " (%s)", number);
    }
    text_add(t, "\n");
}

static void loo_text(text *t, const loo *l, const loo_totals *totals)
{
    if (l->group) {
        write_estimate(t, "elpd_logo", totals->elpd.sum, totals->elpd.error);
        write_estimate(t, "p_logo", totals->p.sum, totals->p.error);
        write_estimate(t, "logoic", -2.0 * totals->elpd.sum, 2.0 * totals->elpd.error);
        write_groups(t, l);
        return;
    }
    write_estimate(t, "elpd_loo", totals->elpd.sum, totals->elpd.error);
    write_estimate(t, "p_loo", totals->p.sum, totals->p.error);
    write_estimate(t, "looic", -2.0 * totals->elpd.sum, 2.0 * totals->elpd.error);
    write_row_counts(t, l, totals);
    write_pareto_k(t, l);
}

/* Leave-one-group-out as JSON, with every group. */
static void group_json(text *t, const loo *l, const loo_totals *totals)
{
    text_add(t, "{\"group\": ");
    json_string(t, l->group);
    text_add(t, ", \"groups\": %zu, \"rows\": %zu, \"rows_left_out\": %zu, \"draws\": %zu",
             l->rows, l->table_rows, l->lacking, l->draws);
    json_pair(t, "elpd_logo", totals->elpd.sum);
    json_pair(t, "se_elpd_logo", totals->elpd.error);
    json_pair(t, "p_logo", totals->p.sum);
    json_pair(t, "se_p_logo", totals->p.error);
    json_pair(t, "logoic", -2.0 * totals->elpd.sum);
    json_pair(t, "se_logoic", 2.0 * totals->elpd.error);
    json_pair(t, "khat_above", (double)loo_count_above(l));
    json_pair(t, "khat_threshold", PARETO_TRUSTED);
    json_pair(t, "integral_error", l->integral_error);
    text_add(t, ", \"by_group\": [");
    for (size_t j = 0; j < l->count; j++) {
        text_add(t, "%s{\"level\": ", j ? ",\n  " : "\n  ");
        json_string(t, l->level[j]);
        json_pair(t, "rows", (double)l->size[j]);
        json_pair(t, "elpd", l->elpd[j]);
        json_pair(t, "p", l->lpd[j] - l->elpd[j]);
        json_pair(t, "khat", l->k[j]);
        text_add(t, "}");
    }
    text_add(t, "]");
    identity_json(t, l->identity);
    text_add(t, "}\n");
}

static void loo_json(text *t, const loo *l, const loo_totals *totals)
{
    if (l->group) {
        group_json(t, l, totals);
        return;
    }
    size_t worst[LOO_WORST_MAX], count = loo_find_worst(l, worst);
    text_add(t,
             "{\"rows\": %zu, \"rows_looked_at\": %zu, \"rows_left_out\": %zu, \"draws\": %zu",
             l->rows, l->count, l->lacking, l->draws);
    json_pair(t, "elpd_loo", totals->elpd.sum);
    json_pair(t, "se_elpd_loo", totals->elpd.error);
    json_pair(t, "p_loo", totals->p.sum);
    json_pair(t, "se_p_loo", totals->p.error);
    json_pair(t, "looic", -2.0 * totals->elpd.sum);
    json_pair(t, "se_looic", 2.0 * totals->elpd.error);
    json_pair(t, "khat_above", (double)loo_count_above(l));
    json_pair(t, "khat_threshold", PARETO_TRUSTED);
    json_pair(t, "se_subsampling", totals->elpd.subsampling);
    json_pair(t, "se_subsampling_p_loo", totals->p.subsampling);
    text_add(t, ", \"worst\": [");
    for (size_t j = 0; j < count; j++) {
        text_add(t, "%s{\"row\": %zu", j ? ", " : "", loo_row(l, worst[j]));
        json_pair(t, "khat", l->k[worst[j]]);
        text_add(t, "}");
    }
    text_add(t, "]");
    identity_json(t, l->identity);
    text_add(t, "}\n");
}

/* Leave-one-out needs the rows of the run. */
static sbps_status need_own_rows(const loo *l, const char *run, const char *data,
                                 sbps_error *err)
{
    if (l->identity != ROWS_OTHER) return SBPS_OK;
    return fail(
        err, SBPS_BAD_DATA,
        "%s: not the table of %s, or changed since the run. Leave-one-out needs the rows "
        "of the run: give that table, or use `score`, which takes other rows",
        text_input_name(&(text_input){.path = data}), run ? run : "the run");
}

sbps_status loo_report(const result *r, const char *run, const char *data,
                       const sbps_scoring *how, sbps_format format, char **out, sbps_error *err)
{
    loo l;
    loo_totals totals;
    text t = {0};
    const loo_choice choice = loo_choice_of(how);
    *out = NULL;
    sbps_status status = loo_make(r, run, data, &choice, &l, err);
    if (status == SBPS_OK) status = need_own_rows(&l, run, data, err);
    if (status == SBPS_OK) status = loo_compute_totals(&l, &totals, err);
    if (status == SBPS_OK) (format == SBPS_JSON ? loo_json : loo_text)(&t, &l, &totals);
    loo_clear(&l);
    return status == SBPS_OK ? text_give(&t, out, err) : status;
}

/* ---- comparison ---- */

typedef struct {
    const char *name;
    loo l;
    loo_total elpd, difference; /* difference: to the best run */
} contender;

static int by_elpd(const void *a, const void *b)
{
    double x = ((const contender *)a)->elpd.sum, y = ((const contender *)b)->elpd.sum;
    return (x < y) - (x > y);
}

/* True if two runs evaluated the same rows. */
static bool same_rows(const loo *a, const loo *b)
{
    return a->places == b->places && a->rows == b->rows && a->count == b->count &&
           memcmp(a->index, b->index, a->count * sizeof *a->index) == 0;
}

/* Estimates the difference in elpd to the best run, row by row. */
static sbps_status subtract_best(contender *c, const contender *best, sbps_error *err)
{
    bool sampled = c->l.surrogate && best->l.surrogate;
    double *value = new_doubles(c->l.count + 1);
    double *surrogate = sampled ? new_doubles(c->l.places + 1) : NULL;
    sbps_status status = SBPS_OK;
    if (!value || (sampled && !surrogate))
        status = fail_memory(err);
    else if (!same_rows(&c->l, &best->l))
        status =
            fail(err, SBPS_BAD_DATA,
                 "%s and %s: they cannot be compared, because their rows without missing cells "
                 "differ",
                 best->name, c->name);
    for (size_t j = 0; status == SBPS_OK && j < c->l.count; j++)
        value[j] = c->l.elpd[j] - best->l.elpd[j];
    for (size_t i = 0; status == SBPS_OK && sampled && i < c->l.places; i++)
        surrogate[i] = c->l.surrogate[i] - best->l.surrogate[i];
    if (status == SBPS_OK) c->difference = loo_sum(&c->l, value, surrogate);
    free(value);
    free(surrogate);
    return status;
}

/* The table of a comparison, best run first. */
static void compare_text(text *t, const contender *c, size_t count)
{
    char line[160];
    size_t width = 5;
    for (size_t k = 0; k < count; k++) {
        size_t own = display_columns(c[k].name, strlen(c[k].name));
        if (own > width) width = own;
    }
    text_add(t, "%-*s    elpd_diff      se_diff     elpd_loo  se_elpd_loo  khat_above\n",
             (int)width, "run");
    for (size_t k = 0; k < count; k++) {
        size_t own = display_columns(c[k].name, strlen(c[k].name));
        text_name(t, c[k].name);
        text_spaces(t, width - own);
        decimal_print(line, sizeof line, " %12.4f %12.4f %12.4f %12.4f %11zu\n",
                      c[k].difference.sum, c[k].difference.error, c[k].elpd.sum,
                      c[k].elpd.error, loo_count_above(&c[k].l));
        text_bytes(t, line, strlen(line));
    }
}

static void compare_json(text *t, const contender *c, size_t count)
{
    text_add(t, "[");
    for (size_t k = 0; k < count; k++) {
        text_add(t, "%s{\"run\": ", k ? ",\n " : "");
        json_string(t, c[k].name);
        json_pair(t, "elpd_diff", c[k].difference.sum);
        json_pair(t, "se_diff", c[k].difference.error);
        json_pair(t, "se_subsampling", c[k].difference.subsampling);
        json_pair(t, "elpd_loo", c[k].elpd.sum);
        json_pair(t, "se_elpd_loo", c[k].elpd.error);
        json_pair(t, "khat_above", (double)loo_count_above(&c[k].l));
        text_add(t, "}");
    }
    text_add(t, "]\n");
}

static const char *target_of(const result *r)
{
    return r->info.target ? r->info.target : "";
}

/* Fails if the runs have different targets. */
static sbps_status check_targets(const result *const *r, const char *const *run, size_t count,
                                 sbps_error *err)
{
    for (size_t k = 1; k < count; k++) {
        const char *first = target_of(r[0]), *other = target_of(r[k]);
        if (strcmp(first, other) != 0)
            return fail(err, SBPS_BAD_DATA,
                        "%s and %s: they cannot be compared, because their targets differ: "
                        "'%s' and '%s'",
                        run[0], run[k], show_name(first).text, show_name(other).text);
    }
    return SBPS_OK;
}

sbps_status compare_report(const result *const *r, const char *const *run, size_t count,
                           const char *data, const sbps_scoring *how, sbps_format format,
                           char **out, sbps_error *err)
{
    text t = {0};
    const loo_choice choice = loo_choice_of(how);
    contender *c = calloc(count, sizeof *c);
    *out = NULL;
    sbps_status status = c ? check_targets(r, run, count, err) : fail_memory(err);
    bool stream = how->frame ? how->frame->stream != NULL : strcmp(data, "-") == 0;
    if (status == SBPS_OK && stream)
        status = fail(err, SBPS_BAD_ARG,
                      "%s: every run reads the table again, and %s can be read only once", data,
                      how->frame ? "a stream" : "standard input");
    for (size_t k = 0; status == SBPS_OK && k < count; k++) {
        c[k].name = run[k];
        status = loo_make(r[k], run[k], data, &choice, &c[k].l, err);
        if (status == SBPS_OK) status = need_own_rows(&c[k].l, run[k], data, err);
        if (status == SBPS_OK) c[k].elpd = loo_sum(&c[k].l, c[k].l.elpd, c[k].l.surrogate);
    }
    if (status == SBPS_OK) qsort(c, count, sizeof *c, by_elpd);
    for (size_t k = 1; status == SBPS_OK && k < count; k++)
        status = subtract_best(&c[k], &c[0], err);
    if (status == SBPS_OK) (format == SBPS_JSON ? compare_json : compare_text)(&t, c, count);
    for (size_t k = 0; c && k < count; k++) loo_clear(&c[k].l);
    free(c);
    return status == SBPS_OK ? text_give(&t, out, err) : status;
}
