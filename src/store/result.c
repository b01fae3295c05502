/* Results: creation, selection of parameters, comparison, recognition of result files. */
#include "store/result.h"

#include "core/memory.h"
#include "store/layout.h"
#include "store/trailer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* *out = a * b * c; false: overflow. Factors may be 0: a run stopped at once has no draws. */
static bool product(size_t a, size_t b, size_t c, size_t *out)
{
    size_t ab;
    return !__builtin_mul_overflow(a, b, &ab) && !__builtin_mul_overflow(ab, c, out);
}

/* Allocates the arrays of a table, each of n doubles. */
static bool make_arrays(result *r, const array_field *fields, size_t count)
{
    for (const array_field *f = fields; f->name; f++)
        if (!(*array_slot(r, f) = new_doubles(count))) return false;
    return true;
}

/* Allocates the lists of labels. */
static bool make_labels(result *r)
{
    for (const label_field *f = layout_labels; f->name; f++)
        if (!(*label_slot(r, f) = calloc(r->dim ? r->dim : 1, sizeof(char *)))) return false;
    return true;
}

sbps_status result_create(size_t chains, size_t draws, size_t dim, result **out,
                          sbps_error *err)
{
    *out = NULL;
    size_t values, rows;
    if (!product(chains, draws, dim, &values) || !product(chains, draws, 1, &rows))
        return fail(err, SBPS_NO_MEM,
                    "%zu chains of %zu draws of %zu numbers do not fit in memory", chains,
                    draws, dim);
    result *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    *r = (result){.chains = chains, .draws = draws, .dim = dim};
    r->names = calloc(dim ? dim : 1, sizeof *r->names);
    r->w = new_doubles(values);
    if (!r->names || !r->w || !make_arrays(r, layout_path, dim) ||
        !make_arrays(r, layout_model, dim) || !make_arrays(r, layout_stats, rows) ||
        !make_labels(r)) {
        result_destroy(r);
        return fail_memory(err);
    }
    *out = r;
    return SBPS_OK;
}

/* Appends `extra` unknown numbers to each array. */
static bool widen_arrays(result *r, const array_field *fields, size_t dim)
{
    for (const array_field *f = fields; f->name; f++) {
        double *wide = new_doubles(dim), **slot = array_slot(r, f);
        if (!wide) return false;
        memcpy(wide, *slot, r->dim * sizeof *wide);
        for (size_t j = r->dim; j < dim; j++) wide[j] = NAN;
        free(*slot);
        *slot = wide;
    }
    return true;
}

static bool widen_texts(char ***texts, size_t from, size_t to)
{
    char **wide = *texts ? realloc(*texts, to * sizeof *wide) : NULL;
    if (!*texts) return true;
    if (!wide) return false;
    memset(wide + from, 0, (to - from) * sizeof *wide);
    *texts = wide;
    return true;
}

/* Appends `extra` parameters to the draws. */
static bool widen_draws(result *r, size_t dim)
{
    size_t rows;
    double *wide = product(r->chains, r->draws, dim, &rows) ? new_doubles(rows) : NULL;
    if (!wide) return false;
    for (size_t i = 0; i < r->chains * r->draws; i++)
        memcpy(wide + i * dim, r->w + i * r->dim, r->dim * sizeof *wide);
    free(r->w);
    r->w = wide;
    return true;
}

sbps_status result_widen(result *r, size_t extra, sbps_error *err)
{
    size_t dim = r->dim + extra;
    bool whole = widen_texts(&r->names, r->dim, dim) && widen_arrays(r, layout_path, dim) &&
                 widen_arrays(r, layout_model, dim);
    for (const label_field *f = layout_labels; f->name && whole; f++)
        whole = widen_texts(label_slot(r, f), r->dim, dim);
    whole = whole && widen_draws(r, dim);
    if (whole) r->dim = dim;
    return whole ? SBPS_OK
                 : fail(err, SBPS_NO_MEM,
                        "%zu parameters, %zu draws of each, do not fit in memory", dim,
                        r->chains * r->draws);
}

void result_narrow(result *r, size_t dim)
{
    for (size_t i = 1; i < r->chains * r->draws; i++)
        memmove(r->w + i * dim, r->w + i * r->dim, dim * sizeof *r->w);
    for (size_t j = dim; j < r->dim; j++) {
        free(r->names[j]);
        for (const label_field *f = layout_labels; f->name; f++) free(label_of(r, f)[j]);
    }
    r->dim = dim;
}

/* ---- some of them ---- */

/* Keeps the selected entries of each array. */
static void select_arrays(result *r, const array_field *fields, const size_t *order,
                          size_t count, double *scratch)
{
    for (const array_field *f = fields; f->name; f++) {
        double *values = *array_slot(r, f);
        for (size_t i = 0; i < count; i++) scratch[i] = values[order[i]];
        memcpy(values, scratch, count * sizeof *scratch);
    }
}

static void select_texts(char **texts, size_t dim, const size_t *order, size_t count,
                         char **scratch)
{
    for (size_t i = 0; i < count; i++) {
        scratch[i] = texts[order[i]];
        texts[order[i]] = NULL;
    }
    for (size_t j = 0; j < dim; j++) free(texts[j]);
    memcpy(texts, scratch, count * sizeof *texts);
}

sbps_status result_select(result *r, const size_t *order, size_t count, sbps_error *err)
{
    double *scratch = new_doubles(count);
    char **texts = calloc(count + 1, sizeof *texts);
    bool whole = scratch && texts;
    if (whole) {
        /* Moves the selected parameters of every draw together, in place. */
        for (size_t i = 0; i < r->chains * r->draws; i++) {
            for (size_t j = 0; j < count; j++) scratch[j] = r->w[i * r->dim + order[j]];
            memcpy(r->w + i * count, scratch, count * sizeof *scratch);
        }
        select_arrays(r, layout_path, order, count, scratch);
        select_arrays(r, layout_model, order, count, scratch);
        select_texts(r->names, r->dim, order, count, texts);
        for (const label_field *f = layout_labels; f->name; f++)
            select_texts(label_of(r, f), r->dim, order, count, texts);
        r->dim = count;
    }
    free(scratch);
    free(texts);
    return whole ? SBPS_OK : fail_memory(err);
}

static void free_arrays(result *r, const array_field *fields)
{
    for (const array_field *f = fields; f->name; f++) free(*array_slot(r, f));
}

/* ---- effects of which only mean and sd are kept ---- */

/* Doubles the capacity. */
static bool grow_effects(result *r)
{
    size_t capacity = r->effect_capacity ? 2 * r->effect_capacity : 256;
    char **names = realloc(r->effect_names, capacity * sizeof *names);
    if (names) r->effect_names = names;
    double *mean = realloc(r->effect_mean, capacity * sizeof *mean);
    if (mean) r->effect_mean = mean;
    double *sd = realloc(r->effect_sd, capacity * sizeof *sd);
    if (sd) r->effect_sd = sd;
    if (!names || !mean || !sd) return false;
    r->effect_capacity = capacity;
    return true;
}

sbps_status result_add_effect(result *r, const char *name, double mean, double sd,
                              sbps_error *err)
{
    if (r->effects == r->effect_capacity && !grow_effects(r)) return fail_memory(err);
    char *copy = copy_text(name);
    if (!copy) return fail_memory(err);
    r->effect_names[r->effects] = copy;
    r->effect_mean[r->effects] = mean;
    r->effect_sd[r->effects++] = sd;
    return SBPS_OK;
}

void result_drop_effects(result *r, size_t count)
{
    while (r->effects > count) free(r->effect_names[--r->effects]);
}

void result_destroy(result *r)
{
    if (!r) return;
    free_texts(r->effect_names, r->effects);
    free(r->effect_mean);
    free(r->effect_sd);
    free_texts(r->names, r->dim);
    for (const label_field *f = layout_labels; f->name; f++) free_texts(label_of(r, f), r->dim);
    free(r->w);
    free_arrays(r, layout_path);
    free_arrays(r, layout_model);
    free_arrays(r, layout_stats);
    for (const info_field *f = layout_texts; f->name; f++) free(*info_text(&r->info, f));
    for (size_t i = 0; i < r->option_count; i++) {
        free(r->options[i].name);
        free(r->options[i].value);
    }
    free(r->options);
    free(r->design);
    free(r);
}

/* ---- comparing ---- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_texts(char *const *a, char *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!same_text(a[i], b[i])) return false;
    return true;
}

/* True if the arrays of a table are equal bit by bit. */
static bool same_arrays(const result *a, const result *b, const array_field *fields,
                        size_t count)
{
    for (const array_field *f = fields; f->name; f++)
        if (memcmp(array_of(a, f), array_of(b, f), count * sizeof(double)) != 0) return false;
    return true;
}

static bool same_numbers(const result *a, const result *b)
{
    size_t rows = a->chains * a->draws;
    return memcmp(a->w, b->w, rows * a->dim * sizeof *a->w) == 0 &&
           same_arrays(a, b, layout_path, a->dim) && same_arrays(a, b, layout_model, a->dim) &&
           same_arrays(a, b, layout_stats, rows);
}

static bool same_labels(const result *a, const result *b)
{
    for (const label_field *f = layout_labels; f->name; f++)
        if (!same_texts(label_of(a, f), label_of(b, f), a->dim)) return false;
    return same_texts(a->names, b->names, a->dim);
}

static bool same_info(result_info a, result_info b)
{
    for (const info_field *f = layout_texts; f->name; f++)
        if (!same_text(*info_text(&a, f), *info_text(&b, f))) return false;
    for (const info_field *f = layout_numbers; f->name; f++)
        if (memcmp(info_number(&a, f), info_number(&b, f), sizeof(double)) != 0) return false;
    for (const info_field *f = layout_switches; f->name; f++)
        if (*info_switch(&a, f) != *info_switch(&b, f)) return false;
    return true;
}

static bool same_options(const result *a, const result *b)
{
    if (a->option_count != b->option_count) return false;
    for (size_t i = 0; i < a->option_count; i++)
        if (!same_text(a->options[i].name, b->options[i].name) ||
            !same_text(a->options[i].value, b->options[i].value))
            return false;
    return true;
}

static bool same_effects(const result *a, const result *b)
{
    size_t bytes = a->effects * sizeof(double);
    return a->effects == b->effects &&
           (a->effects == 0 || (!memcmp(a->effect_mean, b->effect_mean, bytes) &&
                                !memcmp(a->effect_sd, b->effect_sd, bytes) &&
                                same_texts(a->effect_names, b->effect_names, a->effects)));
}

bool result_same(const result *a, const result *b)
{
    return a->chains == b->chains && a->draws == b->draws && a->dim == b->dim &&
           same_numbers(a, b) && same_labels(a, b) && same_info(a->info, b->info) &&
           same_options(a, b) && same_text(a->design, b->design) && same_effects(a, b);
}

double result_path_ess(const result *r, size_t j)
{
    bool means_suffice = r->info.sampler && !strcmp(r->info.sampler, "nuts");
    return means_suffice ? r->ess_mean[j] : fmin(r->ess_mean[j], r->ess_square[j]);
}

/* ---- recognising result files, so that no other file is overwritten ---- */

#define HEAD 2048 /* bytes that contain the comments of a CmdStan file */

static bool begins(const char *head, const char *with)
{
    return !strncmp(head, with, strlen(with));
}

/* True if the file ends with our trailer. */
static bool has_trailer(FILE *stream)
{
    unsigned char tail[TRAILER_SIZE];
    return fseeko(stream, -(off_t)sizeof tail, SEEK_END) == 0 &&
           fread(tail, 1, sizeof tail, stream) == sizeof tail && trailer_begins(tail);
}

bool result_recognise(const char *path)
{
    char head[HEAD + 1] = "";
    FILE *stream = fopen(path, "re");
    if (!stream) return false;
    head[fread(head, 1, HEAD, stream)] = '\0';
    bool ours = begins(head, "chain,draw,") || begins(head, "chain,draw\n") ||
                (begins(head, "# stan_version_major") && strstr(head, "# written_by = sbps")) ||
                (begins(head, "\x89HDF\r\n\x1a\n") && has_trailer(stream));
    fclose(stream);
    return ours;
}

/* ---- layout.h: the members of a result as tables ---- */

#define ARRAY(member, text, unit)                                                              \
    {                                                                                          \
#member, offsetof(result, member), text, unit, false                                   \
    }
#define LATER(member, text, unit)                                                              \
    {                                                                                          \
#member, offsetof(result, member), text, unit, true                                    \
    }
#define INFO(member)                                                                           \
    {                                                                                          \
#member, offsetof(result_info, member)                                                 \
    }
#define END                                                                                    \
    {                                                                                          \
        NULL, 0                                                                                \
    }

const array_field layout_path[] = {
    ARRAY(mean, "posterior mean, integrated along the path", "as w"),
    ARRAY(sd, "posterior standard deviation, integrated along the path", "as w"),
    ARRAY(mcse, "Monte Carlo standard error of the mean", "as w"),
    ARRAY(bias, "stated bias of the mean", "posterior sd"),
    LATER(bias_se, "standard error of the stated bias of the mean", "posterior sd"),
    LATER(sd_bias, "stated bias of the standard deviation, relative", "1"),
    LATER(sd_bias_se, "standard error of the stated bias of the standard deviation", "1"),
    ARRAY(ess_mean, "effective sample size of the mean, from the path", "1"),
    ARRAY(ess_square, "effective sample size of the squared deviation, from the path", "1"),
    {NULL, 0, NULL, NULL, false},
};

const array_field layout_model[] = {
    LATER(prior_mean, "mean of the prior", "as w"),
    LATER(prior_sd, "standard deviation of the prior", "as w"),
    LATER(seen_mean, "posterior mean of what the prior is of", "as w"),
    LATER(seen_sd, "posterior standard deviation of what the prior is of", "as w"),
    LATER(prior_share, "share of the posterior variance that the priors alone hold", "1"),
    LATER(column_mean, "mean of the column as the model sees it", "1"),
    LATER(column_sd, "standard deviation of the column as the model sees it", "1"),
    LATER(standardize_mean, "mean that --standardize took out of the column", "1"),
    LATER(standardize_sd, "standard deviation that --standardize divided by", "1"),
    {NULL, 0, NULL, NULL, false},
};

#define LABEL(member, text)                                                                    \
    {                                                                                          \
#member, offsetof(result, member), text                                                \
    }

const label_field layout_labels[] = {
    LABEL(prior, "prior in force"),
    LABEL(prior_of, "what the prior is of"),
    LABEL(column, "column of the table"),
    LABEL(level, "level that the column is 1 for"),
    LABEL(reference, "level of the category that is 0 in all its columns"),
    {NULL, 0, NULL},
};

const array_field layout_stats[] = {
    ARRAY(proposals, "proposals since the draw before", "1"),
    ARRAY(bounces, "bounces since the draw before", "1"),
    ARRAY(missing, "estimated bounces that did not happen since the draw before", "1"),
    ARRAY(k, "width of the band in force, in standard errors", "1"),
    ARRAY(potential, "estimate of the potential, minus log posterior", "nat"),
    ARRAY(potential_sd, "standard deviation of the estimate of the potential", "nat"),
    LATER(log_prior, "log density of the priors, at the coordinates that are flown in", "nat"),
    LATER(log_likelihood,
          "log likelihood; as exact as the potential is: its sd is potential_sd", "nat"),
    LATER(seconds, "seconds of sampling when it was made, by the clock between rounds", "s"),
    {NULL, 0, NULL, NULL, false},
};

const info_field layout_texts[] = {
    INFO(sampler),         INFO(model),
    INFO(control_variate), INFO(metric),
    INFO(minibatch),       INFO(created_at),
    INFO(target),          INFO(data),
    INFO(formula),         INFO(influential_rows),
    INFO(replanned),       INFO(command),
    INFO(made_by),         INFO(effects_rhat_of),
    INFO(effects_ess_of),  INFO(table_hash),
    INFO(rows_content),    END,
};

const info_field layout_numbers[] = {
    INFO(seed),
    INFO(rows),
    INFO(rows_dropped),
    INFO(batch_size),
    INFO(band),
    INFO(bias_budget),
    INFO(refresh_rate),
    INFO(proposals),
    INFO(bounces),
    INFO(refreshments),
    INFO(violations),
    INFO(expected_violations),
    INFO(missing_bounces),
    INFO(rows_touched),
    INFO(bias_estimate),
    INFO(bias_estimate_se),
    INFO(min_ess),
    INFO(passes_setup),
    INFO(ranks),
    INFO(rank_error),
    INFO(rank_bias),
    INFO(rank_rhat),
    INFO(pareto_k),
    INFO(seconds_setup),
    INFO(seconds_warmup),
    INFO(seconds_sampling),
    INFO(ess_goal),
    INFO(eta),
    INFO(eta_unmet),
    INFO(refreshments_per_sd),
    INFO(reference_distance),
    INFO(effects_checked),
    INFO(effects_undefined),
    INFO(effects_rhat),
    INFO(effects_ess),
    INFO(effects_mean_ess),
    END,
};

const info_field layout_switches[] = {
    INFO(paper),       INFO(interrupted),       INFO(unsettled),
    INFO(band_capped), INFO(needs_refreshment), END};
