/* What the run's own table says of it. */
#ifndef OUTPUT_PAGE_TABLE_H
#define OUTPUT_PAGE_TABLE_H

#include "output/check/predictive_checks.h"
#include "output/page/sections.h"
#include "output/predict/pointwise.h"

struct page_table {
    bool rows; /* false: there is no table, and of the checks sensitivities alone */
    loo left_out;
    loo_totals totals;
    predictive_checks checks;
    double seconds; /* that this took */
};

#endif
