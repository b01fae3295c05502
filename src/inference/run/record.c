/* What a run was made of, for its file: data, columns and levels, priors in force, and how much of the
 * posterior the priors alone hold. */
#include "core/memory.h"
#include "core/text.h"
#include "inference/run/run.h"
#include "model/prior/prior_shrinkage.h"
#include "posterior/full/log_prior.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define WIDE     0.3 /* sd over that of the prior: below it the share is small, not worked out */
#define MAX_WORK 2e9 /* products for the shares; what is left out is NAN */

static bool is_rowless(const sbps_run *run)
{
    return run->plan->model->facts.rowless;
}

/* ---- columns ---- */

static void add_category(text *t, const column_origin *of, size_t count)
{
    text_add(t, " + %s (%s", of->column, of->reference);
    for (size_t i = 0; i < count; i++) text_add(t, " | %s", of[i].level);
    text_add(t, ")");
}

/* target ~ 1 + number + category (reference | level | ...) */
static sbps_status write_formula(const rows *data, char **out, sbps_error *err)
{
    text t = {0};
    text_add(&t, "%s ~ %d", data->table.target ? data->table.target : "", data->intercept);
    for (size_t j = data->intercept, next; j < data->d; j = next) {
        const column_origin *of = data->table.origin ? &data->table.origin[j] : NULL;
        next = j + 1;
        if (!of || !of->level) {
            text_add(&t, " + %s", data->table.names[j]);
            continue;
        }
        while (next < data->d && data->table.origin[next].level &&
               !strcmp(data->table.origin[next].column, of->column))
            next++;
        add_category(&t, of, next - j);
    }
    return text_give(&t, out, err);
}

static bool label(char **slot, const char *value)
{
    *slot = copy_text(value ? value : "");
    return *slot;
}

static sbps_status record_column(const sbps_run *run, result *r, size_t j, sbps_error *err)
{
    const rows *data = run->table->data;
    size_t c = posterior_column(run->target, j);
    bool known = c < data->d, scaled = known && run->options->standardize && data->table.origin;
    column_origin from = {0};
    if (known && data->table.origin)
        from = data->table.origin[c];
    else if (known && !(data->intercept && c == 0))
        from.column = data->table.names[c];
    r->column_mean[j] = known ? data->table.mean[c] : NAN;
    r->column_sd[j] = known ? data->table.sd[c] : NAN;
    r->standardize_mean[j] = scaled ? from.mean : NAN;
    r->standardize_sd[j] = scaled ? from.sd : NAN;
    bool whole = label(&r->column[j], from.column) && label(&r->level[j], from.level) &&
                 label(&r->reference[j], from.reference);
    return whole ? SBPS_OK : fail_memory(err);
}

static sbps_status record_data(const sbps_run *run, result *r, sbps_error *err)
{
    const rows *data = run->table->data;
    if (data->table.design && !(r->design = copy_text(data->table.design)))
        return fail_memory(err);
    r->info.rows_dropped = data->table.dropped == SIZE_MAX ? NAN : (double)data->table.dropped;
    if (data->table.source && !(r->info.data = copy_text(data->table.source)))
        return fail_memory(err);
    sbps_status status = SBPS_OK;
    const char *formula_text = run->options->formula;
    if (formula_text && *formula_text)
        status = (r->info.formula = copy_text(formula_text)) ? SBPS_OK : fail_memory(err);
    else if (!is_rowless(run))
        status = write_formula(data, &r->info.formula, err);
    for (size_t j = 0; j < r->dim && status == SBPS_OK; j++)
        status = record_column(run, r, j, err);
    return status;
}

/* ---- priors ---- */

/* Posterior mean and sd of what prior j sees: of a centred intercept from the stored draws. */
static void record_seen(const posterior *u, result *r, size_t j)
{
    size_t count = r->chains * r->draws;
    double sum = 0.0, square = 0.0, middle = 0.0;
    r->seen_mean[j] = r->mean[j];
    r->seen_sd[j] = r->sd[j];
    if (!log_prior_centred(u, j)) return;
    for (size_t i = 0; i < count; i++) {
        double seen = log_prior_argument(u, r->w + i * r->dim, j);
        if (i == 0) middle = seen;
        sum += seen - middle;
        square += (seen - middle) * (seen - middle);
    }
    double mean = sum / (double)count;
    r->seen_mean[j] = count ? middle + mean : NAN;
    r->seen_sd[j] = count ? sqrt(fmax(square / (double)count - mean * mean, 0.0)) : NAN;
}

static bool of_means(const posterior *u, size_t j)
{
    model_derived of;
    return posterior_derived(u, j, &of) && of.at_means;
}

static sbps_status record_prior(const sbps_run *run, result *r, size_t j, sbps_error *err)
{
    const posterior *u = run->target;
    const prior *p = &u->priors[j];
    const prior reported = posterior_reported_prior(u, j);
    char of[256];
    prior_format(&reported, sizeof of, of);
    bool one = !prior_shrinks(&reported);
    r->prior_mean[j] = one && p->kind->mean ? p->kind->mean(p->theta) : NAN;
    r->prior_sd[j] = one && p->kind->sd ? p->kind->sd(p->theta) : NAN;
    record_seen(u, r, j);
    bool means = log_prior_centred(u, j) || of_means(u, j);
    bool whole = label(&r->prior[j], of) &&
                 label(&r->prior_of[j], means && u->model->row_model && j >= u->data->d
                                            ? "the parameter at the means of the columns"
                                        : means ? "the predictor at the means of the columns"
                                                : "the parameter");
    return whole ? SBPS_OK : fail_memory(err);
}

/* Where it can be told: a softmax has directions that are the priors' by its nature. */
static sbps_status record_prior_share(const sbps_run *run, result *r, sbps_error *err)
{
    size_t d = r->dim;
    double work = 0.0, *x = new_doubles(2 * d);
    if (!x) return fail_memory(err);
    for (size_t j = 0; j < d; j++) {
        bool wide = r->seen_sd[j] > WIDE * r->prior_sd[j];
        bool can = run->target->model->facts.regression && work <= MAX_WORK;
        r->prior_share[j] = wide && can ? log_prior_fraction(run->target, run->reference->w,
                                                             run->factor, j, x, x + d)
                                        : NAN;
        if (can && wide) work += 2.0 * (double)d * (double)d;
    }
    free(x);
    return SBPS_OK;
}

sbps_status run_record(const sbps_run *run, result *r, sbps_error *err)
{
    sbps_status status = record_data(run, r, err);
    for (size_t j = 0; j < r->dim && status == SBPS_OK; j++)
        status = record_prior(run, r, j, err);
    return status == SBPS_OK ? record_prior_share(run, r, err) : status;
}
