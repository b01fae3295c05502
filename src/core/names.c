/* Names the user misspelt get a suggestion by edit distance. */
#include "core/names.h"

#include "core/printable.h"
#include "sbps.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_LENGTH_MAX 63 /* longer words are not misspelt names */

static size_t smallest_of(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Damerau's distance: letters put in, left out, replaced, or two neighbours exchanged. Three rows
 * of the table at a time; b is at most NAME_LENGTH_MAX long. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_LENGTH_MAX + 1], *older = rows[0], *old = rows[1], *row = rows[2];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) old[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] =
                smallest_of(old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1]));
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged && older[j - 2] + 1 < row[j]) row[j] = older[j - 2] + 1;
        }
        size_t *spare = older;
        older = old;
        old = row;
        row = spare;
    }
    return old[length];
}

/* batch of batch-size */
static bool is_leading_part(const char *part, const char *name)
{
    size_t length = strlen(part);
    return length > 1 && !strncmp(name, part, length) && name[length] == '-';
}

const char *nearest_name(const char *misspelt, const char *const *names, size_t count)
{
    if (strlen(misspelt) > NAME_LENGTH_MAX) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(names[i], misspelt)) return names[i];
    for (size_t i = 0; i < count; i++)
        if (is_leading_part(misspelt, names[i])) return names[i];
    size_t best = 2 + strlen(misspelt) / 4; /* one slip, and one more in four letters */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(names[i], misspelt);
        if (distance >= best || distance >= strlen(misspelt)) continue;
        best = distance;
        nearest = names[i];
    }
    for (size_t i = 0; !nearest && strlen(misspelt) > 1 && i < count; i++) /* an abbreviation */
        if (!strncmp(names[i], misspelt, strlen(misspelt))) nearest = names[i];
    return nearest;
}

name_hint did_you_mean(const char *separator, const char *misspelt, const char *const *names,
                       size_t count)
{
    name_hint hint = {""};
    const char *near = nearest_name(misspelt, names, count);
    if (near)
        snprintf(hint.text, sizeof hint.text, "%s did you mean '%s'?", separator,
                 show_name(near).text);
    return hint;
}

name_hint nearest_or_all(const char *misspelt, const char *const *names, size_t count)
{
    name_hint hint = did_you_mean(";", misspelt, names, count);
    if (*hint.text) return hint;
    size_t size = sizeof hint.text;
    size_t used = (size_t)snprintf(hint.text, size, "; there are ");
    for (size_t i = 0; i < count && used < size; i++)
        used +=
            (size_t)snprintf(hint.text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    return hint;
}
