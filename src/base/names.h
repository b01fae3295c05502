/* Names that users misspell: one sentence for all of them. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>

/* The name in `names` nearest to `word` by edit distance, or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

/* How a sentence goes on that began with an unknown word. */
typedef struct {
    char text[320];
} name_hint;

/* ", did you mean 'band'?", or nothing when no name is near. `mark` is the comma. */
name_hint did_you_mean(const char *mark, const char *word, const char *const *names,
                       size_t count);
/* "; did you mean 'normal'?", or "; there are normal, cauchy, ..." */
name_hint nearest_or_all(const char *word, const char *const *names, size_t count);

#endif
