/* The mode and Laplace's approximation for a caller. */
#include "api/arguments.h"
#include "inference/run/approximate.h"
#include "output/summary/approximation.h"

#include <math.h>

sbps_status sbps_mode_find(const sbps_table *table, const sbps_options *options,
                           sbps_mode **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    if (!table)
        return fail(err, SBPS_BAD_ARG,
                    "there is no table; sbps_table_none makes one for models without rows");
    REQUIRE(options);
    return approximate_find(table, options, out, err);
}

void sbps_mode_destroy(sbps_mode *found)
{
    approximate_destroy(found);
}

void sbps_mode_describe(const sbps_mode *found, sbps_mode_info *out)
{
    if (!found || !out) return;
    sbps_mode_info full = {.method = found->m->method,
                           .potential = found->m->value,
                           .nll = found->nll.nll,
                           .gradient_norm = found->m->plain_norm,
                           .distance = found->m->gradient_norm,
                           .ridge = found->m->ridge,
                           .iterations = found->m->iterations,
                           .epochs = found->m->epochs > 0.0 ? found->m->epochs : NAN};
    sized_give(&full, sizeof full, out);
}

size_t sbps_mode_dim(const sbps_mode *found)
{
    return found ? found->dim : 0;
}

const char *sbps_mode_name(const sbps_mode *found, size_t index)
{
    return found && index < found->dim ? found->names[index] : NULL;
}

const double *sbps_mode_values(const sbps_mode *found)
{
    return found ? found->values : NULL;
}

static approximation figures(const sbps_mode *found)
{
    approximation a = {.model = found->options->model,
                       .target = found->target,
                       .rows = found->nll.rows,
                       .dim = found->dim,
                       .names = (const char *const *)found->names,
                       .values = found->values,
                       .info.struct_size = sizeof a.info};
    sbps_mode_describe(found, &a.info);
    return a;
}

sbps_status sbps_mode_report(const sbps_mode *found, sbps_format format, char **out,
                             sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(found);
    approximation a = figures(found);
    return report_approximation(&a, format, out, err);
}

sbps_status sbps_laplace_create(const sbps_mode *found, sbps_laplace **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(found);
    return approximate_normal(found, out, err);
}

const char *sbps_laplace_name(const sbps_laplace *laplace, size_t index)
{
    return laplace && index < laplace->of->dim ? laplace->of->coordinates[index] : NULL;
}

const double *sbps_laplace_mean(const sbps_laplace *laplace)
{
    return laplace ? laplace->of->m->w : NULL;
}

const double *sbps_laplace_sd(const sbps_laplace *laplace)
{
    return laplace ? laplace->sd : NULL;
}

const double *sbps_laplace_covariance(const sbps_laplace *laplace)
{
    return laplace ? laplace->covariance : NULL;
}

double sbps_laplace_nll(const sbps_laplace *laplace, double p)
{
    return laplace && p > 0.0 && p < 1.0 ? nll_quantile(&laplace->of->nll, p) : NAN;
}

sbps_status sbps_laplace_report(const sbps_laplace *laplace, sbps_format format, char **out,
                                sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(laplace);
    const sbps_mode *found = laplace->of;
    approximation a = figures(found);
    a.names = (const char *const *)found->coordinates;
    a.values = found->m->w;
    a.sd = laplace->sd;
    a.covariance = laplace->covariance;
    a.nll = (nll_figures){.mean = nll_mean(&found->nll),
                          .sd = nll_sd(&found->nll),
                          .q5 = nll_quantile(&found->nll, 0.05),
                          .q50 = nll_quantile(&found->nll, 0.5),
                          .q95 = nll_quantile(&found->nll, 0.95)};
    return report_approximation(&a, format, out, err);
}

void sbps_laplace_destroy(sbps_laplace *laplace)
{
    approximate_normal_destroy(laplace);
}
