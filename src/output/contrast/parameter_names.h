/* Where names end in an expression.
 *
 * A parameter stands there as the summary spells it, odd letters and all (group=a, x1:x2, log(x)): the longest
 * name that fits is meant. What begins with a digit or could be read in two ways stands in backticks. */
#ifndef OUTPUT_PARAMETER_NAMES_H
#define OUTPUT_PARAMETER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *const *names;
    size_t count;
} name_set;

/* Bytes of the longest parameter that begins at `at`, and which it is; 0: none does. */
size_t parameter_at(const name_set *s, const char *at, size_t *index);
/* The parameter whose name these bytes are; false: there is none. */
bool parameter_named(const name_set *s, const char *name, size_t *index);
/* Bytes of the word that begins at `at`; of all that looks like a name there, = and : included. */
size_t word_length(const char *at);
size_t name_length(const char *at);
const char *skip_blanks(const char *at);

#endif
