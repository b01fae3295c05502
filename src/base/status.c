/* Errors are a code and a sentence; names the user misspelt get a suggestion by edit distance.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH_MAX 63 /* longer words are not misspelt names */

const char *sbps_status_text(sbps_status status)
{
    static const char *const texts[] = {
#define STATUS_TEXT(name, text) [name] = text,
        SBPS_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    };
    size_t index = (size_t)status;
    return index < sizeof texts / sizeof *texts ? texts[index] : "unknown status";
}

void sbps_free(char *text)
{
    free(text);
}

sbps_status fail(sbps_error *err, sbps_status status, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    if (vsnprintf(err->text, sizeof err->text, format, arguments) < 0) err->text[0] = '\0';
    va_end(arguments);
    return status;
}

sbps_status fail_memory(sbps_error *err)
{
    return fail(err, SBPS_NO_MEM, "%s", sbps_status_text(SBPS_NO_MEM));
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein's distance, one row of the table at a time; b is at most NAME_LENGTH_MAX long. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_LENGTH_MAX + 1], length = strlen(b);
    for (size_t j = 0; j <= length; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    if (strlen(word) > NAME_LENGTH_MAX) return NULL;
    /* One slip in four letters, and one more so that two swapped letters of four are near. */
    size_t best = 2 + strlen(word) / 4;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(names[i], word);
        if (distance >= best || distance >= strlen(word)) continue;
        best = distance;
        nearest = names[i];
    }
    return nearest;
}
