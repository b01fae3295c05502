/* Are the units of all parameters within what estimates can hold? ESS and R-hat of squares need fourth powers of
 * distances from the mode, which leave the range of a double where a posterior sd is beyond 1e+-77. */
#include "core/printable.h"
#include "inference/run/run.h"

#include <math.h>

#define UNIT_MAX 1e72
#define UNIT_MIN 1e-72
/* A column's sd beyond is why. */
#define COLUMN_MAX 1e30
#define COLUMN_MIN 1e-30

/* Is it the prior that makes it so small? */
static bool priors_decide(const posterior *u, size_t j, double unit)
{
    return prior_curvature(&u->priors[j], u->scale[j], 0.0) * unit * unit < -0.5;
}

static sbps_status explain_unit(const posterior *u, size_t j, double unit, sbps_error *err)
{
    static const char *const why = "which is out of range for the estimates of its spread";
    const rows *data = u->data;
    size_t column = posterior_named_column(u, j);
    char name[81];
    posterior_name(u, j, sizeof name, name);
    double spread = column < data->d ? data->table.sd[column] : 0.0;
    if (spread > 0.0 && (spread < COLUMN_MIN || spread > COLUMN_MAX))
        return fail(err, SBPS_BAD_DATA,
                    "column '%s' has mean %.3g and sd %.3g, so that its coefficient is of the "
                    "order of %.1g, %s: divide the column by a power of ten, take its "
                    "logarithm, or use --standardize",
                    show_name(data->table.names[column]).text, data->table.mean[column], spread,
                    unit, why);
    if (!u->model->facts.scales_with_target || priors_decide(u, j, unit))
        return fail(
            err, SBPS_BAD_DATA,
            "the parameter '%s' is of the order of %.1g, %s: give it a prior of another "
            "scale",
            show_name(name).text, unit, why);
    return fail(err, SBPS_BAD_DATA,
                "the parameter '%s' is of the order of %.1g, %s: divide the target%s%s%s by a "
                "power of ten",
                show_name(name).text, unit, why, data->table.target ? " '" : "",
                data->table.target ? show_name(data->table.target).text : "",
                data->table.target ? "'" : "");
}

sbps_status run_check_units(const sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    const double *hessian = run->reference->hessian;
    for (size_t j = 0; hessian && j < u->dim; j++) {
        double unit = 1.0 / sqrt(hessian[j * u->dim + j]);
        if (unit < UNIT_MIN || unit > UNIT_MAX) return explain_unit(u, j, unit, err);
    }
    return SBPS_OK;
}
