/* A look that was read back. */
#include "path/observation.h"

#include <float.h>

void observation_inspect(const observation *o, inspection *x)
{
    inspect_finite(x, "a slope that was seen", &o->slope, 1);
    inspect_reals(x, "a variance that was seen", &o->variance, 1, 0.0, DBL_MAX);
    INSPECT_ANY(x, o->rows);
}
