/* Reports of `sbps map` (the mode) and `sbps laplace` (the normal approximation there): text,
 * CSV or JSON. CSV has 17 digits, so that `--start` reads back the same doubles. */
#include "output/summary/approximation.h"
#include "core/decimal.h"
#include "core/json.h"
#include "output/summary/report_text.h"

#include <math.h>
#include <string.h>

#define COVARIANCE_MAX 8 /* parameters up to which the text shows the covariance */

/* ---- text ---- */

/* Lines on the model, the data and the search. */
static void add_heading(text *t, const approximation *a)
{
    const sbps_mode_info *info = &a->info;
    text_add(t, "model         %s", a->model);
    if (a->target && *a->target) {
        text_add(t, ", target ");
        text_name(t, a->target);
    }
    if (a->rows > 1.0) text_add(t, "\nrows          %.0f", a->rows);
    text_add(t, "\nparameters    %zu\nmethod        %s, ", a->dim, info->method);
    if (isnan(info->epochs))
        text_add(t, "%zu iterations", info->iterations);
    else
        text_add(t, "%.0f epochs", info->epochs);
    text_add(t, "\npotential U   %.10g\ngradient norm %.3g, %.2g posterior sd from the mode\n",
             info->potential, info->gradient_norm, info->distance);
    if (info->ridge > 0.0)
        text_add(t,
                 "note          the curvature was singular: %.1e of its diagonal was added\n",
                 info->ridge);
}

/* The distribution of the negative log-likelihood per row: that at the mode plus chi^2(dim) / 2
 * rows. */
static void add_nll(text *t, const approximation *a)
{
    const nll_figures *f = &a->nll;
    text_add(t,
             "NLL per row   mean %.8g, sd %.3g; 5%% %.8g, 50%% %.8g, 95%% %.8g\n"
             "              (%.8g at the mode, plus chi^2(%zu) / %.0f)\n",
             f->mean, f->sd, f->q5, f->q50, f->q95, a->info.nll / a->rows, a->dim,
             2.0 * a->rows);
}

/* Display columns of the widest name. */
static size_t name_width(const approximation *a)
{
    size_t width = strlen("name");
    for (size_t j = 0; j < a->dim; j++) {
        size_t own = text_columns(a->names[j]);
        if (own > width) width = own;
    }
    return width;
}

/* The lower triangle. */
static void add_covariance(text *t, const approximation *a, size_t width)
{
    text_add(t, "\ncovariance\n");
    for (size_t i = 0; i < a->dim; i++) {
        text_padded_name(t, a->names[i], width);
        for (size_t j = 0; j <= i; j++)
            text_add(t, "  %11.4g", a->covariance[i * a->dim + j] + 0.0);
        text_add(t, "\n");
    }
}

static void write_approximation_text(text *t, const approximation *a)
{
    size_t width = name_width(a);
    add_heading(t, a);
    if (a->sd) add_nll(t, a);
    text_add(t, "\n");
    text_padded_name(t, "name", width);
    text_add(t, a->sd ? "  %14s  %11s\n" : "  %14s\n", a->sd ? "mean" : "value", "sd");
    for (size_t j = 0; j < a->dim; j++) {
        text_padded_name(t, a->names[j], width);
        text_add(t, "  %14.8g", a->values[j] + 0.0);
        if (a->sd) text_add(t, "  %11.4g", a->sd[j]);
        text_add(t, "\n");
    }
    if (a->sd && a->dim <= COVARIANCE_MAX) add_covariance(t, a, width);
}

/* ---- CSV ---- */

/* name,mean,sd,cov:NAME,... or name,value. */
static void write_csv_header(text *t, const approximation *a)
{
    text heading = {0};
    text_add(t, a->sd ? "name,mean,sd" : "name,value");
    for (size_t j = 0; a->sd && j < a->dim; j++) {
        text_cut(&heading, 0);
        text_add(&heading, "cov:%s", a->names[j]);
        text_add(t, ",");
        if (heading.failed)
            t->failed = true;
        else
            text_csv_field(t, heading.data);
    }
    text_add(t, "\n");
    text_free(&heading);
}

static void write_approximation_csv(text *t, const approximation *a)
{
    write_csv_header(t, a);
    for (size_t i = 0; i < a->dim; i++) {
        text_csv_field(t, a->names[i]);
        text_add(t, ",%.17g", a->values[i] + 0.0);
        if (a->sd) text_add(t, ",%.17g", a->sd[i]);
        for (size_t j = 0; a->sd && j < a->dim; j++)
            text_add(t, ",%.17g", a->covariance[i * a->dim + j] + 0.0);
        text_add(t, "\n");
    }
}

/* ---- JSON ---- */

/* A JSON member and a comma. */
static void add_key(text *t, const char *key, double value)
{
    text_add(t, "    \"%s\": ", key);
    json_number(t, value);
    text_add(t, ",\n");
}

static void add_string(text *t, const char *key, const char *value)
{
    text_add(t, "    \"%s\": ", key);
    if (value)
        json_string(t, value);
    else
        text_add(t, "null");
    text_add(t, ",\n");
}

/* The member "run" of JSON. */
static void add_search(text *t, const approximation *a)
{
    const sbps_mode_info *info = &a->info;
    text_add(t, "  \"run\": {\n");
    add_string(t, "model", a->model);
    add_string(t, "target", a->target);
    add_key(t, "rows", a->rows);
    add_key(t, "dim", (double)a->dim);
    add_string(t, "method", info->method);
    add_key(t, "iterations", (double)info->iterations);
    add_key(t, "epochs", info->epochs);
    add_key(t, "potential", info->potential);
    add_key(t, "nll", info->nll);
    add_key(t, "gradient_norm", info->gradient_norm);
    add_key(t, "distance", info->distance);
    add_key(t, "ridge", info->ridge);
    text_add(t, "    \"version\": \"%s\"\n  },\n", SBPS_VERSION);
}

static void add_parameters(text *t, const approximation *a)
{
    text_add(t, "  \"parameters\": [\n");
    for (size_t j = 0; j < a->dim; j++) {
        text_add(t, "    {\"name\": ");
        json_string(t, a->names[j]);
        text_add(t, ", \"%s\": ", a->sd ? "mean" : "value");
        json_number(t, a->values[j]);
        if (a->sd) {
            text_add(t, ", \"sd\": ");
            json_number(t, a->sd[j]);
        }
        text_add(t, j + 1 < a->dim ? "},\n" : "}\n");
    }
    text_add(t, "  ]");
}

/* The member "covariance", all rows. */
static void add_matrix(text *t, const approximation *a)
{
    text_add(t, ",\n  \"covariance\": [\n");
    for (size_t i = 0; i < a->dim; i++) {
        for (size_t j = 0; j < a->dim; j++) {
            text_add(t, j ? ", " : "    [");
            json_number(t, a->covariance[i * a->dim + j]);
        }
        text_add(t, i + 1 < a->dim ? "],\n" : "]\n");
    }
    text_add(t, "  ]");
}

static void write_approximation_json(text *t, const approximation *a)
{
    text_add(t, "{\n");
    add_search(t, a);
    if (a->sd) {
        text_add(t, "  \"nll_per_row\": {\n");
        add_key(t, "mean", a->nll.mean);
        add_key(t, "sd", a->nll.sd);
        add_key(t, "q5", a->nll.q5);
        add_key(t, "q50", a->nll.q50);
        add_key(t, "q95", a->nll.q95);
        add_key(t, "at_mode", a->info.nll / a->rows);
        text_add(t, "    \"chi_squared_dim\": %zu\n  },\n", a->dim);
    }
    add_parameters(t, a);
    if (a->sd) add_matrix(t, a);
    text_add(t, "\n}\n");
}

static void (*const writers[])(text *t, const approximation *a) = {
    [SBPS_TEXT] = write_approximation_text,
    [SBPS_CSV] = write_approximation_csv,
    [SBPS_JSON] = write_approximation_json,
};

sbps_status report_approximation(const approximation *a, sbps_format format, char **out,
                                 sbps_error *err)
{
    text t = {0};
    number_locale locale;
    *out = NULL;
    if ((size_t)format >= sizeof writers / sizeof *writers)
        return fail(err, SBPS_BAD_ARG, "a report has no format %d: use text, CSV or JSON",
                    (int)format);
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    writers[format](&t, a);
    numbers_end(&locale);
    return text_give(&t, out, err);
}
