/* How group effects are sampled.
 *
 * With E effects of the factors that are not integrated over and n rows, a step with matrices
 * costs about E^2 plus n times the quadrature points per row. A step that samples all effects
 * costs about n, and two to four times as many steps are needed. If E^2 is below n/4,
 * mini-batches of groups are cheaper than either. Measured on ten tables, docs/groups.md. */
#include "inference/options/crossed_method.h"
#include "model/mixed/mixed.h"

#include <string.h>

#define JOINT_FROM                                                                             \
    ((size_t)500) /* effects from which dense matrices are more expensive for any table */
#define JOINT_MIN     ((size_t)50)    /* effects below which both are cheap */
#define JOINT_NUMBERS 0.25            /* E^2 per row from which joint sampling is cheaper */
#define SMALL_ROWS    ((size_t)20000) /* most rows for nuts: nested factors or few levels, */
#define CROSSED_ROWS  ((size_t)5000)  /* with crossed factors, */
#define FEW_LEVELS    ((size_t)5)     /* levels of a factor whose sd has long tails */
#define FEW_ROWS      ((size_t)1000)  /* and for linear models or non-normal data */
#define NESTED_GROUPS ((size_t)100)   /* levels of the outermost of nested factors, and */
#define NESTED_EACH   ((size_t)5)     /* rows per level of the innermost, for integrals */
#define COSTLY_FAMILY 4.0             /* cost of a likelihood with gamma functions */
#define COSTLY_LEVELS ((size_t)60)    /* levels up to which its integrals cost more than hmc */
#define COSTLY_FEW    ((size_t)10)    /* and up to which the sd's long tail needs nuts */

/* True if the options allow a full-data sampler with a metric and a start of its own. */
static bool left_open(const sbps_options *o, const char *sampler)
{
    static const char *const options[] = {
        "metric",          "start",     "band",     "batch-size",
        "control-variate", "minibatch", "skeleton", "trace"};
    if (o->paper || !(is_auto(o->sampler) || !strcmp(o->sampler, sampler))) return false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (option_given(o, options[i])) return false;
    return true;
}

/* True if any factor has at most this many levels. */
static bool has_few_levels(const row_groups *g, size_t most)
{
    for (size_t f = 0; f < g->factors; f++)
        if (g->factor[f].levels <= most) return true;
    return false;
}

/* True if each group of the factor that sorts the rows is within one level of factor f. */
static bool contains_groups(const row_groups *g, const group_factor *f)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t row = g->start[i] + 1; row < g->start[i + 1]; row++)
            if (f->of[row] != f->of[g->start[i]]) return false;
    return true;
}

/* True if the groups are nested in another factor. */
static bool has_nested_factors(const row_groups *g)
{
    if (g->nested > 0) return true;
    for (size_t f = 0; f < g->factors; f++)
        if (f != g->by && contains_groups(g, &g->factor[f])) return true;
    return false;
}

bool crossed_may_give_up_integrals(const sbps_options *o, const rows *data)
{
    return data->member_rows && !data->partition && is_auto(o->crossed) && left_open(o, "nuts");
}

/* True if the response is a count, a class or binary. */
static bool is_discrete(const sbps_options *o)
{
    const model_kind *model = options_model(o);
    return model && model->support >= SUPPORT_BINARY && model->support != SUPPORT_UNIT;
}

static bool is_linear(const sbps_options *o)
{
    const model_kind *model = options_model(o);
    return model && !strcmp(model->name, "linear");
}

bool crossed_prefers_nuts(const sbps_options *o, const rows *data, bool hmc)
{
    if (!crossed_may_give_up_integrals(o, data)) return false;
    size_t count = total_rows(data->member_rows);
    return (!is_linear(o) && count <= FEW_ROWS) ||
           (hmc && data->member_rows->groups->nested > 0 && count <= SMALL_ROWS);
}

/* True if a row's likelihood has gamma functions of an auxiliary parameter: quadrature points
 * are then expensive. */
static bool is_costly(const sbps_options *o)
{
    const model_kind *model = options_model(o);
    return model && model->predictor && model->auxiliary_count > 0 &&
           model->predictor->cost >= COSTLY_FAMILY;
}

/* True if all factors are nested in one with many levels and no part of a group is short: then
 * mini-batches of groups pay, and the search for the mode succeeds. */
static bool has_long_parts(const sbps_options *o, const row_groups *g)
{
    if (g->nested == 0 || g->nested + 1 < g->factors || is_costly(o)) return false;
    size_t parts = g->factor[g->nested_factor[g->nested - 1]].levels;
    return g->count >= NESTED_GROUPS && g->start[g->count] >= NESTED_EACH * parts;
}

/* Most rows for which sampling all effects is cheaper than integrals. Integrals of a linear
 * model are in closed form unless factors are nested. */
static size_t rows_for_nuts(const sbps_options *o, const row_groups *g)
{
    if (has_long_parts(o, g)) return 0;
    if (has_nested_factors(g) || (is_discrete(o) && has_few_levels(g, FEW_LEVELS)))
        return SMALL_ROWS;
    if (is_costly(o) && has_few_levels(g, COSTLY_FEW)) return SMALL_ROWS;
    if (g->factors > 1) return is_linear(o) ? FEW_ROWS : CROSSED_ROWS;
    return 0;
}

bool crossed_nuts(const sbps_options *o, const rows *data)
{
    if (o->no_integrals) return true;
    if (!data->member_rows || !strcmp(o->crossed, "integrate") || !left_open(o, "nuts"))
        return false;
    return total_rows(data->member_rows) <= rows_for_nuts(o, data->member_rows->groups);
}

/* True if hmc on all effects is cheaper than integrals of a costly likelihood. Smaller tables
 * are left to nuts. */
static bool has_costly_integrals(const sbps_options *o, const rows *data)
{
    size_t count = total_rows(data->member_rows);
    return is_costly(o) && count > FEW_ROWS && count <= SMALL_ROWS &&
           has_few_levels(data->member_rows->groups, COSTLY_LEVELS);
}

bool crossed_joint(const sbps_options *o, const rows *data, bool run)
{
    double effects = (double)mixed_explicit(data);
    if (o->no_integrals || (run && !strcmp(o->sampler, "sweep"))) return true;
    if (!is_auto(o->crossed)) return !strcmp(o->crossed, "joint");
    if (mixed_explicit(data) > JOINT_FROM || (run && crossed_nuts(o, data))) return true;
    if (!run || !left_open(o, "hmc")) return false;
    if (has_costly_integrals(o, data)) return true;
    if (mixed_explicit(data) < JOINT_MIN) return false;
    return effects * effects > JOINT_NUMBERS * (double)total_rows(data->member_rows);
}

sbps_status groups_check_levels(const model_kind *model, const rows *data, sbps_error *err)
{
    const row_groups *g = data->member_rows->groups;
    if (strcmp(model->name, "linear")) return SBPS_OK;
    for (size_t f = 0; f < g->factors; f++)
        if (g->factor[f].levels >= total_rows(data->member_rows))
            return fail(err, SBPS_BAD_DATA,
                        "(... | %s): each of its %zu levels has one row, so its standard "
                        "deviation cannot be distinguished from sigma: leave the term out",
                        g->factor[f].name, g->factor[f].levels);
    return SBPS_OK;
}
