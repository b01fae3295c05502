/* What is computed from the table of a run. */
#ifndef OUTPUT_PAGE_TABLE_H
#define OUTPUT_PAGE_TABLE_H

#include "output/check/predictive_checks.h"
#include "output/page/page_view.h"
#include "output/predict/loo.h"

struct page_table {
    bool rows; /* false: no table was given, and `checks` has sensitivities only */
    loo left_out;
    loo_totals totals;
    predictive_checks checks;
    double seconds; /* spent on it */
};

#endif
