/* A run as one page of HTML: no other file, no network, readable without its script. */
#ifndef OUTPUT_PAGE_H
#define OUTPUT_PAGE_H

#include "store/result.h"

/* What the run's own table says of it: see table.c. */
typedef struct page_table page_table;

/* `run` is the result's file, for sentences; `data` NULL: what can be said without. */
sbps_status page_table_open(const result *r, const char *run, const char *data,
                            const sbps_scoring *how, page_table **out, sbps_error *err);
void page_table_close(page_table *t); /* NULL is fine */

/* Of a page that is served while its run goes on. */
typedef struct {
    const char *message; /* where the run is */
    bool over;           /* no more will come */
} page_news;

typedef struct {
    const page_table *table; /* NULL: none was looked at */
    const page_news *news;   /* NULL: the page is a file */
} page_extras;

/* `*out` is malloced. */
sbps_status page_write(const result *r, page_extras more, char **out, sbps_error *err);
/* While there is nothing to show but the news. */
sbps_status page_wait(const page_news *news, char **out, sbps_error *err);

#endif
