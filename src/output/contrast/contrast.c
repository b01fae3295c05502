/* An expression g of the parameters w is evaluated at every stored draw, and the draws of g are
 * summarised like those of a parameter, by the definitions of R's package posterior. P(g > 0)
 * is the mean of an indicator.
 *
 * The bias of E g: if the stated bias of the means of w is b, draws without it would be at w -
 * b, so the bias is
 *
 *   (E g(w) - E g(w - b)) / sd of g                                              (1) */
#include "output/contrast/contrast.h"

#include "core/decimal.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/printable.h"
#include "estimate/diagnostics.h"
#include "output/contrast/expression.h"
#include "output/summary/report_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The summary of one expression: a row of the report. */
typedef struct {
    const char *expression;
    draw_summary of;
    double positive, positive_mcse; /* P(> 0) */
    double bias;                    /* of the mean, in sd of the expression */
} contrast;

/* A column from the summary of the draws of g. */
#define DRAWN(field) .name = #field, .offset = offsetof(contrast, of.field)

/* The same names as in a summary; p_positive is P(g > 0). */
static const column contrast_columns[] = {
    {DRAWN(mean), .kind = CELL_VALUE},
    {.name = "mcse", .offset = offsetof(contrast, of.mcse_mean), .kind = CELL_ERROR},
    {DRAWN(sd), .kind = CELL_VALUE},
    {DRAWN(q5), .kind = CELL_VALUE},
    {DRAWN(q50), .kind = CELL_VALUE},
    {DRAWN(q95), .kind = CELL_VALUE},
    {.name = "p_positive", .offset = offsetof(contrast, positive), .kind = CELL_RATIO},
    {.name = "p_positive_mcse",
     .offset = offsetof(contrast, positive_mcse),
     .kind = CELL_ERROR},
    {DRAWN(ess_bulk), .kind = CELL_COUNT},
    {DRAWN(ess_tail), .kind = CELL_COUNT},
    {DRAWN(rhat), .kind = CELL_RATIO},
    {.name = "bias", .offset = offsetof(contrast, bias), .kind = CELL_RATIO},
    {0},
};

/* Buffers, used by one expression after the other. */
typedef struct {
    double *values, *scratch; /* one number per draw: g, and its indicator */
    double *shift;            /* b of (1), dim */
    double *moved;            /* dim: w - b */
} workspace;

static size_t all_draws(const result *r)
{
    return r->chains * r->draws;
}

static void workspace_free(workspace *s)
{
    free(s->values);
    free(s->scratch);
    free(s->shift);
    free(s->moved);
}

/* Allocates the buffers, and sets the biases. */
static sbps_status workspace_open(const result *r, workspace *s, sbps_error *err)
{
    *s = (workspace){new_doubles(all_draws(r) + 1), new_doubles(all_draws(r) + 1),
                     new_doubles(r->dim + 1), new_doubles(r->dim + 1)};
    if (!s->values || !s->scratch || !s->shift || !s->moved) {
        workspace_free(s);
        return fail_memory(err);
    }
    for (size_t j = 0; j < r->dim; j++) s->shift[j] = r->bias[j] * r->sd[j];
    return SBPS_OK;
}

/* SBPS_BAD_DATA if a value is not finite. */
static sbps_status check_finite(size_t draws, const double *values, const char *of,
                                sbps_error *err)
{
    size_t bad = 0, first = 0;
    for (size_t i = draws; i-- > 0;) {
        if (isfinite(values[i])) continue;
        bad++;
        first = i;
    }
    if (bad == 0) return SBPS_OK;
    return fail(err, SBPS_BAD_DATA, "'%s' is %s at %zu of %zu draws, first at draw %zu",
                show_name(of).text, isnan(values[first]) ? "not a number" : "infinite", bad,
                draws, first + 1);
}

/* (1). Only the biases of parameters that the expression uses need to be known. */
static double stated_bias(const result *r, const expression *e, const workspace *s, double sd,
                          double *stack)
{
    double sum = 0.0;
    for (size_t i = 0; i < all_draws(r); i++) {
        const double *w = r->w + i * r->dim;
        for (size_t k = 0; k < e->steps; k++)
            if (e->step[k].kind == STEP_PARAMETER)
                s->moved[e->step[k].parameter] =
                    w[e->step[k].parameter] - s->shift[e->step[k].parameter];
        sum += s->values[i] - expression_value(e, s->moved, stack);
    }
    return sd > 0.0 ? sum / (double)all_draws(r) / sd : NAN;
}

/* P(g > 0) and its Monte Carlo error. */
static sbps_status summarise_positive(const result *r, const workspace *s, contrast *out,
                                      sbps_error *err)
{
    draw_summary indicator;
    for (size_t i = 0; i < all_draws(r); i++) s->scratch[i] = s->values[i] > 0.0;
    sbps_status status = summarize_draws(r->chains, r->draws, s->scratch, &indicator, err);
    out->positive = indicator.mean;
    out->positive_mcse = indicator.mcse_mean;
    return status;
}

/* Fills *out from a parsed expression. */
static sbps_status summarize(const result *r, const expression *e, const workspace *s,
                             contrast *out, sbps_error *err)
{
    double *stack = new_doubles(e->deepest);
    if (!stack) return fail_memory(err);
    for (size_t i = 0; i < all_draws(r); i++)
        s->values[i] = expression_value(e, r->w + i * r->dim, stack);
    sbps_status status = check_finite(all_draws(r), s->values, out->expression, err);
    if (status == SBPS_OK)
        status = summarize_draws(r->chains, r->draws, s->values, &out->of, err);
    if (status == SBPS_OK) status = summarise_positive(r, s, out, err);
    if (status == SBPS_OK) out->bias = stated_bias(r, e, s, out->of.sd, stack);
    free(stack);
    return status;
}

/* Parses and summarises out->expression. */
static sbps_status evaluate_contrast(const result *r, const workspace *s, contrast *out,
                                     sbps_error *err)
{
    expression e;
    sbps_status status = expression_parse(out->expression, r->names, r->dim, &e, err);
    if (status != SBPS_OK) return status;
    status = summarize(r, &e, s, out, err);
    expression_free(&e);
    return status;
}

/* The report as JSON. */
static void write_contrasts_json(text *t, const result *r, const grid *g)
{
    text_add(t, "{\n  \"chains\": %zu,\n  \"draws\": %zu,\n  \"contrasts\": [\n", r->chains,
             r->draws);
    for (size_t i = 0; i < g->count; i++) {
        text_add(t, "    {\"expression\": ");
        json_string(t, grid_name(g, i));
        grid_json_row(t, g, i);
        text_add(t, i + 1 < g->count ? "},\n" : "}\n");
    }
    text_add(t, "  ]\n}\n");
}

/* The report in a format. */
static sbps_status write_all(const result *r, const contrast *all, size_t count,
                             sbps_format format, char **out, sbps_error *err)
{
    text t = {0};
    number_locale locale;
    const grid g = {.heading = "expression",
                    .columns = contrast_columns,
                    .rows = all,
                    .count = count,
                    .stride = sizeof *all,
                    .name = offsetof(contrast, expression),
                    .sd = offsetof(contrast, of.sd)};
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    if (format == SBPS_JSON)
        write_contrasts_json(&t, r, &g);
    else
        (format == SBPS_CSV ? grid_csv : grid_table)(&t, &g);
    numbers_end(&locale);
    return text_give(&t, out, err);
}

sbps_status contrast_report(const result *r, const char *const *expressions, size_t count,
                            sbps_format format, char **out, sbps_error *err)
{
    workspace s;
    contrast *all = calloc(count + 1, sizeof *all);
    *out = NULL;
    if (!all) return fail_memory(err);
    sbps_status status = workspace_open(r, &s, err);
    if (status != SBPS_OK) goto done;
    for (size_t i = 0; i < count && status == SBPS_OK; i++) {
        all[i].expression = expressions[i];
        status = evaluate_contrast(r, &s, &all[i], err);
    }
    if (status == SBPS_OK) status = write_all(r, all, count, format, out, err);
    workspace_free(&s);
done:
    free(all);
    return status;
}
