/* A run as one page of HTML: no other file, no network, readable without its script. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "store/result.h"

/* `*out` is malloced. */
sbps_status page_write(const result *r, char **out, sbps_error *err);

#endif
