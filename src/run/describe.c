/* What was chosen, in a few lines. */
#include "base/words.h"
#include "run/run.h"
#include "run/target.h"
#include "store/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Four digits are enough to read; the file keeps them all. */
static void short_prior(const prior *p, size_t size, char *text)
{
    size_t used = (size_t)snprintf(text, size, "%s", p->kind->name);
    for (size_t i = 0; i < p->kind->numbers && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.4g", i ? ", " : "(", p->theta[i]);
    if (p->kind->numbers && used < size) snprintf(text + used, size - used, ")");
}

/* One line for each run of parameters with the same prior. */
static void describe_priors(const sbps_run *run, FILE *out)
{
    char text[128], next[128];
    size_t d = run->target->dim;
    for (size_t j = 0; j < d;) {
        size_t end = j + 1;
        short_prior(&run->target->priors[j], sizeof text, text);
        for (; end < d; end++) {
            short_prior(&run->target->priors[end], sizeof next, next);
            if (strcmp(text, next)) break;
        }
        if (end - j == 1)
            fprintf(out, "  prior     %s ~ %s\n", run->names[j], text);
        else
            fprintf(out, "  prior     %s .. %s (%zu) ~ %s\n", run->names[j],
                    run->names[end - 1], end - j, text);
        j = end;
    }
}

static bool is_rowless(const sbps_run *run)
{
    return run->plan.model->general && run->plan.model->general->rowless;
}

static void describe_steps(const sbps_run *run, FILE *out)
{
    double h = run->chains->s.settings->step_size;
    if (!isnan(h)) fprintf(out, "  steps     of size %.4g\n", h);
    if (run->plan.sampler->unmetered)
        fprintf(out, "  bias      this sampler cannot say how biased it is\n");
}

#define NAMED_MOST ((size_t)6)

static void describe_bends(const sbps_run *run, FILE *out)
{
    if (!run->bent) return;
    fprintf(out, "  bent      a wall at one side:");
    for (size_t i = 0; i < run->bent->count && i < NAMED_MOST; i++)
        fprintf(out, "%s %s", i ? "," : "", run->names[run->bent->list[i].j]);
    if (run->bent->count > NAMED_MOST)
        fprintf(out, " and %zu more", run->bent->count - NAMED_MOST);
    fprintf(out, "\n");
}

static void describe_sampler(const sbps_run *run, FILE *out)
{
    const run_plan *p = &run->plan;
    fprintf(out, "  sampler   %s%s, %s metric", p->sampler->name,
            run->options->paper ? " as published" : "", p->metric->name);
    if (p->metric->describe) {
        char kept[96];
        p->metric->describe(run->a, sizeof kept, kept);
        fprintf(out, " (%s)", kept);
    }
    if (!p->sampler->discrete) fprintf(out, ", refresh rate %.3g", p->settings.refresh_rate);
    fprintf(out, "\n");
    if (!is_rowless(run))
        fprintf(out, "  batches   %zu of %zu rows: %s; control variate %s\n", p->batch,
                run->table->data->n, p->minibatch->summary, p->control_variate);
    describe_bends(run, out);
    if (*p->why) fprintf(out, "  chosen    %s\n", p->why);
    if (p->sampler->bounded) return;
    if (p->sampler->discrete)
        describe_steps(run, out);
    else if (p->choose_band)
        fprintf(out, "  band      chosen in warm-up for a bias within %g posterior sd\n",
                run->options->bias_budget);
    else
        fprintf(out, "  band      k = %g\n", p->settings.band);
}

static void describe_size(const sbps_run *run, FILE *out)
{
    const rows *data = run->table->data;
    double chains = 0.0;
    for (size_t i = 0; i < run->chain_count; i++) chains += (double)run->chains[i].memory.size;
    if (is_rowless(run))
        fprintf(out, "  size      %zu parameters; %zu chains, %.3g MB\n", run->target->dim,
                run->chain_count, chains / 1e6);
    else
        fprintf(out, "  data      %zu rows, %zu parameters, %.3g MB %s; %zu chains, %.3g MB\n",
                data->n, run->target->dim, rows_bytes(data) / 1e6, data->storage->name,
                run->chain_count, chains / 1e6);
    if (run->start_hash)
        fprintf(out, "  start     %s%s: U = %.8g, gradient %.1e\n", run->options->start,
                run->start_metric ? " with its covariance" : "", run->reference->value,
                run->reference->gradient_norm);
    else
        fprintf(out, "  mode      found in %zu steps, U = %.8g, gradient %.1e\n",
                run->reference->iterations, run->reference->value,
                run->reference->gradient_norm);
}

static void describe_model(const sbps_run *run, FILE *out)
{
    const char *name = run->options->model, *target = run->table->data->target;
    if (is_rowless(run))
        fprintf(out, "%s density\n", name);
    else if (target && !*target)
        fprintf(out, "%s model\n", name);
    else {
        fprintf(out, "%s %s of '", name, run->plan.model->general ? "model" : "regression");
        put_name(out, target ? target : "label");
        fprintf(out, "'\n");
    }
}

/* The parameters' names as a terminal may see them; NULL: no memory. */
static char **printable_names(const sbps_run *run)
{
    size_t d = run->target->dim;
    char **names = calloc(d, sizeof *names);
    bool whole = names;
    for (size_t j = 0; whole && j < d; j++) {
        word_stream w;
        if ((whole = words_open(&w))) {
            put_name(w.stream, run->names[j]);
            whole = (names[j] = words_close(&w));
        }
    }
    if (whole) return names;
    names_free(names, d);
    return NULL;
}

sbps_status sbps_run_describe(const sbps_run *run, char **out, sbps_error *err)
{
    word_stream w;
    number_locale locale;
    sbps_run shown; /* the same run, its names fit to be seen */
    *out = NULL;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    memcpy(&shown, run, sizeof shown);
    shown.names = printable_names(run);
    if (shown.names && words_open(&w)) {
        describe_model(&shown, w.stream);
        describe_size(&shown, w.stream);
        describe_priors(&shown, w.stream);
        describe_sampler(&shown, w.stream);
        *out = words_close(&w);
    }
    names_free(shown.names, run->target->dim);
    numbers_end(&locale);
    return *out ? SBPS_OK : fail_memory(err);
}
