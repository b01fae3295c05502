/* Names that users misspell: one sentence for all of them. */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <stddef.h>

/* The name in `names` nearest to `word` by edit distance, or NULL when none is near. */
const char *nearest_name(const char *misspelt, const char *const *names, size_t count);

/* How a sentence goes on that began with an unknown word. */
typedef struct {
    char text[320];
} name_hint;

/* ", did you mean 'band'?", or nothing when no name is near. `mark` is the comma. */
name_hint did_you_mean(const char *separator, const char *misspelt, const char *const *names,
                       size_t count);
/* "; did you mean 'normal'?", or "; there are normal, cauchy, ..." */
name_hint nearest_or_all(const char *misspelt, const char *const *names, size_t count);

#endif
