/* The second look at a text that ranks read in shares: from what they have agreed on to this rank's part of the table. */
#ifndef READ_SHARE_TABLE_H
#define READ_SHARE_TABLE_H

#include "read/share_agree.h"
#include "read/share_cursor.h"

typedef struct {
    const file_list *files;
    const rows_spec *spec;
    ranks *among;
    column_types *found;
    row_source first; /* whose plan is that of all */
    share_cut cut;
    size_t breaks; /* line breaks before the stretch, once they were counted */
    share_report report;
    share_verdict verdict;
} sharing;

#define HALF_WAY 0.5 /* as it is told: each of the two looks */

/* At the first record of the stretch; `by`: the plan that gives rows their codes. */
share_cursor share_cursor_of(const sharing *s, plan *by);

/* All ranks have read their stretches without trouble, and the plan has the levels of all. */
sbps_status share_table(const sharing *s, rows **out, sbps_error *err);

#endif
