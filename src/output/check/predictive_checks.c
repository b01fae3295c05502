/* Runs the checks that fit the target of a model, and decides which of them fail.
 *
 * A check fails at p < CHECK_LEVEL. The p of a panel is that of its worst cell, that of
 * residuals that of the worst cell of all columns (Bonferroni). With too few replicates for
 * such a small p, |z| > FAR fails a check. One fault of the model can make several checks
 * fail. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include "output/predict/loo.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calibration of probabilities, or the distribution and the spread of numbers. */
static sbps_status check_shapes(const row_sample *s, predictive_checks *c, sbps_error *err)
{
    target_support support = s->f->model->support;
    bool has_probabilities =
        s->classes || support == SUPPORT_BINARY || support == SUPPORT_PROPORTIONS;
    if (has_probabilities) return compare_calibration(s, &c->calibration, err);
    sbps_status status = support == SUPPORT_COUNTS ? compare_rootogram(s, &c->rootogram, err)
                                                   : compare_density(s, &c->density, err);
    return status == SBPS_OK ? compare_spread(s, &c->spread, err) : status;
}

/* All checks that need the rows. */
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
    if (status == SBPS_OK && !c->prior_only &&
        s->identity != ROWS_OTHER) /* leave-one-out needs the rows of the run */
        status = compare_pit(s, &c->pit, err);
    return status;
}

/* ---- which checks failed ---- */

#define FAR 5.0 /* z that fails a check with too few replicates for a small p */

/* Is the dispersion too small? That of the rows is reduced by the fitted coefficients, that of
 * replicated tables is not. */
static bool varies_less(const predictive_checks *c, const check_statistic *s)
{
    double n = (double)c->checked, left = fmax(n - (double)c->coefficients, 1.0);
    return s->observed * n / left < s->mean - 3.0 * s->sd;
}

/* Whether the check of a statistic fails; too little dispersion only beyond the effect of the
 * fit. */
static bool statistic_fails(const predictive_checks *c, const check_statistic *s)
{
    double z = s->sd > 0.0 ? (s->observed - s->mean) / s->sd : 0.0;
    bool outside = s->observed < s->low || s->observed > s->high;
    if (isnan(s->p) || !(s->p < CHECK_LEVEL || (outside && fabs(z) > FAR))) return false;
    return strcmp(s->name, "dispersion") != 0 || s->observed > s->mean || varies_less(c, s);
}

/* `panels`: the number of tests that p has to be adjusted for. */
static void flag_panels(check_panels *all, double panels)
{
    for (size_t k = 0; k < all->count; k++) {
        check_panel *p = &all->panel[k];
        p->off = p->p * panels < CHECK_LEVEL || fabs(p->cell[p->worst].z) > FAR;
    }
}

/* Sets `off` of every check that fails. */
static void flag_checks(predictive_checks *c)
{
    for (size_t k = 0; k < c->statistics; k++)
        c->statistic[k].off = statistic_fails(c, &c->statistic[k]);
    flag_panels(&c->calibration, (double)c->calibration.count);
    flag_panels(&c->rootogram, 1.0);
    flag_panels(&c->density, 1.0);
    flag_panels(&c->spread, 1.0);
    for (size_t k = 0; k < c->spread.count; k++)
        c->spread.panel[k].off |= fabs(c->spread.panel[k].trend_z) > CHECK_TREND;
    for (size_t k = 0; k < c->residuals.count; k++)
        c->residuals.panel[k].off = c->residuals.panel[k].p < CHECK_LEVEL;
    c->pit.off = c->pit.rows > 0 && c->pit.p < CHECK_LEVEL;
}

bool is_sensitive(const check_sensitivity *s)
{
    return strcmp(s->diagnosis, "-") != 0;
}

static size_t failed_panels(const check_panels *all)
{
    size_t count = 0;
    for (size_t k = 0; k < all->count; k++) count += all->panel[k].off;
    return count;
}

size_t checks_failed(const predictive_checks *c)
{
    size_t count = failed_panels(&c->calibration) + failed_panels(&c->rootogram) +
                   failed_panels(&c->density) + failed_panels(&c->spread) +
                   failed_panels(&c->residuals) + c->pit.off;
    for (size_t k = 0; k < c->statistics; k++) count += c->statistic[k].off;
    for (size_t k = 0; k < c->sensitivities; k++) count += is_sensitive(&c->sensitivity[k]);
    return count;
}

size_t checks_count(const predictive_checks *c)
{
    return c->calibration.count + c->rootogram.count + c->density.count + c->spread.count +
           c->residuals.count + c->statistics + (c->pit.rows > 0) + c->sensitivities;
}

/* ---- the whole ---- */

sbps_status checks_make(const result *r, const char *run, const char *data,
                        const sbps_scoring *how, loo *left_out, predictive_checks *out,
                        sbps_error *err)
{
    row_sample s = {0};
    *out = (predictive_checks){.model = copy_text(r->info.model ? r->info.model : ""),
                               .target = copy_text(r->info.target ? r->info.target : ""),
                               .prior_only = result_prior_only(r),
                               .negative_binomial_zeros = NAN};
    sbps_status status = out->model && out->target ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && data) status = sample_make(r, run, data, how, left_out, &s, err);
    if (status == SBPS_OK && data) status = check_rows(&s, out, err);
    if (status == SBPS_OK && !out->prior_only) {
        status = measure_sensitivity(r, out, err);
        if (status == SBPS_OK) flag_checks(out);
        if (status == SBPS_OK) status = checks_diagnose(data ? &s : NULL, out, err);
    }
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
