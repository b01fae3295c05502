/* Words that stand for a missing cell. */
#ifndef READ_MISSING_H
#define READ_MISSING_H

#include "base/status.h"

#define MISSING_WORDS "NA,N/A,n/a,na,#N/A,NULL,null,?,."

typedef struct {
    char **word;
    size_t count;
    bool begins[256]; /* some word begins with this byte */
    bool numbers;     /* some word is a number */
} missing_words;

/* A comma list; NULL: MISSING_WORDS. Clear it also after a failure. */
sbps_status missing_words_create(const char *list, missing_words *out, sbps_error *err);
void missing_words_clear(missing_words *w);
/* Whether [begin, end) is one of them; empty cells and nan, in any case and sign, always are. NULL: these
 * and NA. */
bool is_missing(const missing_words *w, const char *begin, const char *end);

#endif
