/* Leave-one-out and comparisons, told. */
#include "output/predict/score.h"

#include "core/memory.h"
#include "core/printable.h"
#include "ingest/text/text_file.h"
#include "linalg/pareto.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOISE_MAX                                                                              \
    0.05 /* of the standard error: more than that by having looked at few rows is told */

/* ---- a total in words ---- */

void write_estimate(text *t, const char *name, double value, double error)
{
    char cell[64];
    decimal_print(cell, sizeof cell, "%-17s %12.4f +- %.4f\n", name, value, error);
    text_bytes(t, cell, strlen(cell));
}

void json_pair(text *t, const char *key, double value)
{
    text_add(t, ", ");
    json_string(t, key);
    text_add(t, ": ");
    json_number(t, value);
}

/* ---- Pareto k ---- */

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

static void write_pareto_k(text *t, const loo *l)
{
    size_t worst[LOO_WORST_MAX], count = loo_find_worst(l, worst), above = loo_count_above(l);
    char k[32];
    text_add(t, "\nPareto k          %zu of %zu rows above %.1f", above, l->count,
             PARETO_TRUSTED);
    text_add(t, above
                    ? ": for those the posterior without the row is too far to tell; worst: row"
                    : "; largest: row");
    for (size_t j = 0; j < count; j++) {
        decimal_print(k, sizeof k, "%.2f", l->k[worst[j]]);
        text_add(t, "%s %zu (%s)", j ? "," : "", loo_row(l, worst[j]), k);
    }
    text_add(t, "\n");
}

/* ---- loo ---- */

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

/* By having looked at some rows alone. */
static void write_sampling_error(text *t, const loo_totals *totals)
{
    char line[120];
    decimal_print(line, sizeof line, "by the sample     elpd_loo +- %.4f, p_loo +- %.4f\n",
                  totals->elpd.subsampling, totals->p.subsampling);
    text_bytes(t, line, strlen(line));
    if (totals->elpd.subsampling > NOISE_MAX * totals->elpd.error)
        text_add(t, "That is more than a twentieth of the error of elpd_loo: --rows takes more "
                    "rows.\n");
}

static void write_row_counts(text *t, const loo *l, const loo_totals *totals)
{
    text_add(t, "rows              %zu", l->rows);
    if (l->count < l->rows) text_add(t, ", of which %zu were looked at", l->count);
    text_add(t, "; %zu draws\n", l->draws);
    if (l->lacking > 0)
        text_add(t, "left out          %zu rows with missing cells\n", l->lacking);
    if (l->count < l->rows) write_sampling_error(t, totals);
}

static void loo_text(text *t, const loo *l, const loo_totals *totals)
{
    write_estimate(t, "elpd_loo", totals->elpd.sum, totals->elpd.error);
    write_estimate(t, "p_loo", totals->p.sum, totals->p.error);
    write_estimate(t, "looic", -2.0 * totals->elpd.sum, 2.0 * totals->elpd.error);
    write_row_counts(t, l, totals);
    write_pareto_k(t, l);
}

static void loo_json(text *t, const loo *l, const loo_totals *totals)
{
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

loo_choice loo_choice_of(const sbps_scoring *how)
{
    return (loo_choice){.sample = how->rows,
                        .max_draws = how->max_draws,
                        .seed = how->seed,
                        .threads = how->threads,
                        .encoding = how->encoding,
                        .frame = how->frame};
}

/* Leave-one-out is of rows that the run has seen. */
static sbps_status need_own_rows(const loo *l, const char *run, const char *data,
                                 sbps_error *err)
{
    if (l->identity != ROWS_OTHER) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA,
                "%s: not the table of %s, or changed since the run; leave-one-out needs the "
                "rows of the run: name that table, or use `score`, which takes other rows",
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
    loo_total elpd, less; /* less: this one less the best */
} contender;

static int by_elpd(const void *a, const void *b)
{
    double x = ((const contender *)a)->elpd.sum, y = ((const contender *)b)->elpd.sum;
    return (x < y) - (x > y);
}

static bool same_rows(const loo *a, const loo *b)
{
    return a->places == b->places && a->rows == b->rows && a->count == b->count &&
           memcmp(a->index, b->index, a->count * sizeof *a->index) == 0;
}

static sbps_status subtract(contender *c, const contender *best, sbps_error *err)
{
    bool sampled = c->l.surrogate && best->l.surrogate;
    double *value = new_doubles(c->l.count + 1);
    double *surrogate = sampled ? new_doubles(c->l.places + 1) : NULL;
    sbps_status status = SBPS_OK;
    if (!value || (sampled && !surrogate))
        status = fail_memory(err);
    else if (!same_rows(&c->l, &best->l))
        status = fail(err, SBPS_BAD_DATA,
                      "%s and %s: they cannot be compared: other rows have all that they need",
                      best->name, c->name);
    for (size_t j = 0; status == SBPS_OK && j < c->l.count; j++)
        value[j] = c->l.elpd[j] - best->l.elpd[j];
    for (size_t i = 0; status == SBPS_OK && sampled && i < c->l.places; i++)
        surrogate[i] = c->l.surrogate[i] - best->l.surrogate[i];
    if (status == SBPS_OK) c->less = loo_sum(&c->l, value, surrogate);
    free(value);
    free(surrogate);
    return status;
}

static void compare_text(text *t, const contender *c, size_t count)
{
    char line[160];
    size_t wide = 5;
    for (size_t k = 0; k < count; k++) {
        size_t own = display_columns(c[k].name, strlen(c[k].name));
        if (own > wide) wide = own;
    }
    text_add(t, "%-*s    elpd_diff      se_diff     elpd_loo  se_elpd_loo  khat_above\n",
             (int)wide, "run");
    for (size_t k = 0; k < count; k++) {
        size_t own = display_columns(c[k].name, strlen(c[k].name));
        text_name(t, c[k].name);
        text_spaces(t, wide - own);
        decimal_print(line, sizeof line, " %12.4f %12.4f %12.4f %12.4f %11zu\n", c[k].less.sum,
                      c[k].less.error, c[k].elpd.sum, c[k].elpd.error,
                      loo_count_above(&c[k].l));
        text_bytes(t, line, strlen(line));
    }
}

static void compare_json(text *t, const contender *c, size_t count)
{
    text_add(t, "[");
    for (size_t k = 0; k < count; k++) {
        text_add(t, "%s{\"run\": ", k ? ",\n " : "");
        json_string(t, c[k].name);
        json_pair(t, "elpd_diff", c[k].less.sum);
        json_pair(t, "se_diff", c[k].less.error);
        json_pair(t, "se_subsampling", c[k].less.subsampling);
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

static sbps_status check_targets(const result *const *r, const char *const *run, size_t count,
                                 sbps_error *err)
{
    for (size_t k = 1; k < count; k++) {
        const char *one = target_of(r[0]), *other = target_of(r[k]);
        if (strcmp(one, other) != 0)
            return fail(
                err, SBPS_BAD_DATA,
                "%s and %s: they explain other targets and cannot be compared: '%s' and '%s'",
                run[0], run[k], show_name(one).text, show_name(other).text);
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
        status =
            fail(err, SBPS_BAD_ARG, "%s: each run reads the table, and %s can be read once",
                 data, how->frame ? "a stream" : "standard input");
    for (size_t k = 0; status == SBPS_OK && k < count; k++) {
        c[k].name = run[k];
        status = loo_make(r[k], run[k], data, &choice, &c[k].l, err);
        if (status == SBPS_OK) status = need_own_rows(&c[k].l, run[k], data, err);
        if (status == SBPS_OK) c[k].elpd = loo_sum(&c[k].l, c[k].l.elpd, c[k].l.surrogate);
    }
    if (status == SBPS_OK) qsort(c, count, sizeof *c, by_elpd);
    for (size_t k = 1; status == SBPS_OK && k < count; k++)
        status = subtract(&c[k], &c[0], err);
    if (status == SBPS_OK) (format == SBPS_JSON ? compare_json : compare_text)(&t, c, count);
    for (size_t k = 0; c && k < count; k++) loo_clear(&c[k].l);
    free(c);
    return status == SBPS_OK ? text_give(&t, out, err) : status;
}
