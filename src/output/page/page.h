/* A run as one page of HTML. It needs no other file and no network, and is readable without its
 * script. */
#ifndef OUTPUT_PAGE_H
#define OUTPUT_PAGE_H

#include "store/result.h"

/* What is computed from the table of the run: leave-one-out and checks. */
typedef struct page_table page_table;

/* Computes it. `run` is the name of the run's file in messages; with `data` NULL only
 * sensitivities are computed. */
sbps_status page_table_open(const result *r, const char *run, const char *data,
                            const sbps_scoring *how, page_table **out, sbps_error *err);
void page_table_close(page_table *t); /* NULL is fine */

/* The state of a run that is shown while it is running. */
typedef struct {
    const char *message; /* the progress of the run */
    bool over;           /* this page is the last */
} page_news;

typedef struct {
    const page_table *table; /* NULL: none */
    const page_news *news;   /* NULL: the page is a file */
} page_extras;

/* Writes the page of a run to *out, which the caller frees. */
sbps_status page_write(const result *r, page_extras more, char **out, sbps_error *err);
/* Writes a page that shows the progress alone, while there are no draws. */
sbps_status page_wait(const page_news *news, char **out, sbps_error *err);

#endif
