/* The table of effects of groups: the same columns as those of parameters where the run keeps
 * draws of effects, mean and sd where it keeps only these. */
#include "output/summary/summary.h"

#include "core/decimal.h"
#include "core/json.h"
#include "output/summary/run_checks.h"

#include <math.h>
#include <stdlib.h>

/* An effect of which only mean and sd are kept. */
typedef struct {
    const char *name;
    double mean, sd;
} kept_moments;

static const column moment_columns[] = {
    {.name = "mean", .kind = CELL_VALUE, .offset = offsetof(kept_moments, mean)},
    {.name = "sd", .kind = CELL_VALUE, .offset = offsetof(kept_moments, sd)},
    {0},
};

static void write_json(text *t, const grid *g)
{
    text_add(t, "{\n  \"effects\": [\n");
    for (size_t i = 0; i < g->count; i++) {
        text_add(t, "    {\"name\": ");
        json_string(t, grid_name(g, i));
        grid_json_row(t, g, i);
        text_add(t, i + 1 < g->count ? "},\n" : "}\n");
    }
    text_add(t, "  ]\n}\n");
}

static sbps_status write_grid(const grid *g, sbps_format format, char **out, sbps_error *err)
{
    text t = {0};
    number_locale locale;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    if (format == SBPS_JSON)
        write_json(&t, g);
    else
        (format == SBPS_CSV ? grid_csv : grid_table)(&t, g);
    numbers_end(&locale);
    return text_give(&t, out, err);
}

/* The table of means and sds. */
static sbps_status report_moments(const result *r, sbps_format format, char **out,
                                  sbps_error *err)
{
    kept_moments *all = calloc(r->effects, sizeof *all);
    if (!all) return fail_memory(err);
    for (size_t i = 0; i < r->effects; i++)
        all[i] = (kept_moments){r->effect_names[i], r->effect_mean[i], r->effect_sd[i]};
    const grid g = {.heading = "name",
                    .columns = moment_columns,
                    .rows = all,
                    .count = r->effects,
                    .stride = sizeof *all,
                    .name = offsetof(kept_moments, name),
                    .sd = offsetof(kept_moments, sd)};
    sbps_status status = write_grid(&g, format, out, err);
    free(all);
    return status;
}

size_t count_parameters(const result *r)
{
    size_t count = r->dim;
    while (count > 0 && is_group_effect(r, r->names[count - 1])) count--;
    return count;
}

sbps_status report_effects(const result *r, sbps_format format, char **out, sbps_error *err)
{
    size_t first = count_parameters(r);
    sbps_parameter *parameters;
    *out = NULL;
    if (format != SBPS_TEXT && format != SBPS_CSV && format != SBPS_JSON)
        return fail(err, SBPS_BAD_ARG,
                    "a table of effects has no format %d: use text, CSV or JSON", (int)format);
    if (r->effects > 0) return report_moments(r, format, out, err);
    if (first == r->dim)
        return fail(err, SBPS_BAD_DATA,
                    "the run keeps no effects of groups: they need a term such as (1 | g) in "
                    "the formula, and --ranef auto or all");
    sbps_status status = summarize_range(r, first, r->dim - first, &parameters, err);
    if (status != SBPS_OK) return status;
    const grid g = {PARAMETER_GRID(parameters, r->dim - first)};
    status = write_grid(&g, format, out, err);
    free(parameters);
    return status;
}
