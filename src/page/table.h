/* What the run's own table says of it. */
#ifndef PAGE_TABLE_H
#define PAGE_TABLE_H

#include "check/check.h"
#include "page/sections.h"
#include "predict/pointwise.h"

struct page_table {
    bool rows; /* false: there is no table, and of the checks sensitivities alone */
    loo left_out;
    loo_told told;
    predictive_checks checks;
    double seconds; /* that this took */
};

#endif
