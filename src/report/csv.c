/* The summary as CSV. */
#include "report/grid.h"
#include "report/summary.h"

void write_csv(text *t, const result *r, const sbps_parameter *parameters)
{
    grid_csv(t, &(grid){PARAMETER_GRID(parameters, r->dim)});
}
