#include "linalg/dense_cost.h"

#include "core/memory.h"

double dense_bytes(double columns)
{
    return sizeof(double) * columns * columns;
}

double setup_bytes(double columns)
{
    return SETUP_MATRICES * dense_bytes(columns);
}

bool setup_fits(double columns)
{
    return setup_bytes(columns) <= MEMORY_REQUEST_FRACTION * machine_memory();
}
