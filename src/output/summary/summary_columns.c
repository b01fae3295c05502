/* Where a column stands is a promise: one more goes behind those of its kind. */
#include "output/summary/summary_columns.h"

#include "estimate/diagnostics.h"

#define PATH(field)                                                                            \
    .name = #field, .source = offsetof(result, field), .offset = offsetof(sbps_parameter, field)
#define DRAWS(field)                                                                           \
    .name = #field, .from_draws = true, .source = offsetof(draw_summary, field),               \
    .offset = offsetof(sbps_parameter, field)

const column table_columns[] = {
    {PATH(mean), .kind = CELL_VALUE, .summary = "posterior mean, from the whole path"},
    {PATH(mcse), .kind = CELL_ERROR, .summary = "Monte Carlo standard error of the mean"},
    {PATH(sd), .kind = CELL_VALUE,
     .summary = "posterior standard deviation, from the whole path"},
    {DRAWS(q5), .kind = CELL_VALUE, .summary = "quantile at 5 %, from the stored draws"},
    {DRAWS(q50), .kind = CELL_VALUE, .summary = "median, from the stored draws"},
    {DRAWS(q95), .kind = CELL_VALUE, .summary = "quantile at 95 %, from the stored draws"},
    {DRAWS(ess_bulk), .kind = CELL_COUNT,
     .summary = "effective sample size of the draws' ranks"},
    {DRAWS(ess_tail), .kind = CELL_COUNT,
     .summary = "the smaller effective sample size of the quantiles at 5 % and 95 %"},
    {DRAWS(rhat), .kind = CELL_RATIO,
     .summary = "R-hat, split and by ranks: 1 where chains agree"},
    {PATH(bias), .kind = CELL_RATIO,
     .summary = "stated bias of the mean in posterior standard deviations"},
    {0},
};
_Static_assert(sizeof table_columns / sizeof *table_columns <= MAX_COLUMNS, "room for widths");

/* In JSON alone, behind the others. */
static const column further_columns[] = {
    {PATH(bias_se), .kind = CELL_RATIO,
     .summary = "standard error of the stated bias; JSON alone"},
    {PATH(sd_bias), .kind = CELL_RATIO, .summary = "stated bias of sd, relative; JSON alone"},
    {PATH(sd_bias_se), .kind = CELL_RATIO, .summary = "standard error of that; JSON alone"},
    {0},
};

double column_value(const column *c, const void *row)
{
    return *(const double *)((const char *)row + c->offset);
}

const column *column_at(size_t index)
{
    const column *c = table_columns;
    for (; c->name; c++)
        if (index-- == 0) return c;
    for (c = further_columns; c->name; c++)
        if (index-- == 0) return c;
    return NULL;
}
