/* The summary as CSV. */
#include "output/summary/grid.h"
#include "output/summary/summary.h"

void write_csv(text *t, const result *r, const sbps_parameter *parameters)
{
    grid_csv(t, &(grid){PARAMETER_GRID(parameters, r->dim)});
}
