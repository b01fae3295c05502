/* Words that stand for a missing cell. */
#ifndef INGEST_NA_STRINGS_H
#define INGEST_NA_STRINGS_H

#include "core/status.h"

#define NA_STRINGS "NA,N/A,n/a,na,#N/A,NULL,null,?,."

typedef struct {
    char **string;
    size_t count;
    bool begins[256]; /* some word begins with this byte */
    bool numbers;     /* some word is a number */
} na_strings;

/* A comma list; NULL: NA_STRINGS. Clear it also after a failure. */
sbps_status na_strings_create(const char *list, na_strings *out, sbps_error *err);
void na_strings_clear(na_strings *w);
/* Whether [begin, end) is one of them; empty cells and nan, in any case and sign, always are. NULL: these
 * and NA. */
bool is_missing(const na_strings *w, const char *begin, const char *end);

#endif
