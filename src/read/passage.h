/* Rows as read on their way through the shuffle, without their zeros where those are many, and counted
 * on the way. */
#ifndef READ_PASSAGE_H
#define READ_PASSAGE_H

#include "data/shuffle.h"
#include "read/design.h"
#include "read/kept_values.h"
#include "read/source.h"

typedef struct {
    const plan *plan; /* borrowed */
    bool packed;      /* rows go without their zeros */
    bool counted;     /* how the table is stored depends on its entries */
    double *row;      /* a packed one as it was read */
    size_t numbers;   /* cells of features that are numbers and not 0 */
    bool ones;        /* all of those are 1 */
    shuffle *order;
    kept_values kept; /* for a formula */
} passage;

/* `beside` and `memory` as in shuffle_create. Close it also after a failure. */
sbps_status passage_open(const row_source *s, const rows_spec *spec, const char *beside,
                         size_t memory, passage *w, sbps_error *err);
/* Rows go in, packed as w says. */
sbps_status passage_send(passage *w, const chunks *read, sbps_error *err);
/* The row that a record of the shuffle is; valid until the next. */
const double *passage_row(const passage *w, const double *record);
/* Entries of the table that the rows will be, the intercept left out; all rows have been read. */
size_t passage_entries(const passage *w, const design *g);
/* Cells of a row as read that are numbers and not 0; *ones is false where some of them are not 1. */
size_t count_numbers(const plan *p, const double *row, bool *ones);
/* Entries that categories make: one a row unless its level is the first. */
size_t category_entries(const design *g);
void passage_close(passage *w);

#endif
