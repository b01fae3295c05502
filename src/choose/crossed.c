/* With E effects of the factors that are not integrated over and n rows, a step with matrices costs about E^2 beside n times
 * the quadrature points of a row; one of all effects together costs about n, and needs two to four times as many. Where
 * E^2 is below n/4, mini-batches of groups are cheaper than either. Measured on ten tables, docs/groups.md. */
#include "choose/crossed.h"
#include "mixed/mixed.h"

#include <string.h>

#define JOINT_FROM                                                                             \
    ((size_t)500) /* effects: dense matrices are dearer from there on, whatever the rows */
#define JOINT_LEAST   ((size_t)50) /* below, either way is cheap */
#define JOINT_NUMBERS 0.25         /* of a matrix of them, to a row */

/* May the run take hmc with a metric of its own, from where it likes? */
static bool left_open(const sbps_options *o)
{
    static const char *const options[] = {
        "metric",          "start",     "band",     "batch-size",
        "control-variate", "minibatch", "skeleton", "trace"};
    if (o->paper || !(is_auto(o->sampler) || !strcmp(o->sampler, "hmc"))) return false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (option_given(o, options[i])) return false;
    return true;
}

bool crossed_joint(const sbps_options *o, const rows *data, bool run)
{
    double effects = (double)mixed_explicit(data);
    if (!is_auto(o->crossed)) return !strcmp(o->crossed, "joint");
    if (mixed_explicit(data) > JOINT_FROM) return true;
    if (!run || mixed_explicit(data) < JOINT_LEAST || !left_open(o)) return false;
    return effects * effects > JOINT_NUMBERS * (double)rows_all(data->members);
}
