/* Which checks a model's target asks for. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include <math.h>
#include <stdlib.h>

static sbps_status check_shapes(const row_sample *s, predictive_checks *c, sbps_error *err)
{
    target_support support = s->f->model->support;
    bool has_probabilities =
        s->classes || support == SUPPORT_BINARY || support == SUPPORT_PROPORTIONS;
    if (has_probabilities) return calibrate(s, &c->calibration, err);
    sbps_status status = support == SUPPORT_COUNTS ? hang_rootogram(s, &c->rootogram, err)
                                                   : compare_density(s, &c->density, err);
    return status == SBPS_OK ? compare_spread(s, &c->spread, err) : status;
}

static sbps_status check_rows(const row_sample *s, predictive_checks *c, sbps_error *err)
{
    c->rows = s->all;
    c->checked = s->rows;
    c->counted = s->counted;
    c->lacking = s->lacking;
    c->identity = s->identity;
    c->draws = s->f->draws;
    c->replicates = s->replicates;
    c->coefficients = s->f->b->names * s->f->outputs;
    sbps_status status = check_shapes(s, c, err);
    if (status == SBPS_OK && !s->classes) status = compare_statistics(s, c, err);
    if (status == SBPS_OK) status = compare_residuals(s, &c->residuals, err);
    if (status == SBPS_OK && s->identity != ROWS_OTHER) /* leave-one-out is of the run's rows */
        status = transform_rows(s, &c->pit, err);
    return status;
}

sbps_status checks_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, loo *left_out, predictive_checks *out,
                        sbps_error *err)
{
    row_sample s = {0};
    *out = (predictive_checks){.model = copy_text(r->info.model ? r->info.model : ""),
                               .target = copy_text(r->info.target ? r->info.target : ""),
                               .negative_binomial_zeros = NAN};
    sbps_status status = out->model && out->target ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && data) status = sample_make(r, run, data, how, left_out, &s, err);
    if (status == SBPS_OK && data) status = check_rows(&s, out, err);
    if (status == SBPS_OK) status = measure_sensitivity(r, out, err);
    if (status == SBPS_OK) status = checks_diagnose(r, data ? &s : NULL, out, err);
    sample_clear(&s);
    return status;
}

void checks_clear(predictive_checks *c)
{
    panels_clear(&c->calibration);
    panels_clear(&c->rootogram);
    panels_clear(&c->density);
    panels_clear(&c->spread);
    panels_clear(&c->residuals);
    for (size_t k = 0; k < c->sensitivities; k++) {
        free(c->sensitivity[k].name);
        free(c->sensitivity[k].prior);
    }
    for (size_t k = 0; k < c->findings; k++) {
        free(c->finding[k].seen);
        free(c->finding[k].remedy);
    }
    free(c->sensitivity);
    free(c->finding);
    free(c->model);
    free(c->target);
    *c = (predictive_checks){0};
}

sbps_status check_report(const result *r, const char *run, const char *data,
                         const sbps_scoring *how, sbps_format format, char **out,
                         sbps_error *err)
{
    predictive_checks c;
    text t = {0};
    *out = NULL;
    sbps_status status = checks_make(r, run, data, how, NULL, &c, err);
    if (status == SBPS_OK) checks_write(&c, format, &t);
    checks_clear(&c);
    return status == SBPS_OK ? text_give(&t, out, err) : status;
}
