/* Missing cells: a byte decides for nearly every other cell. */
#include "ingest/schema/na_strings.h"

#include "core/memory.h"
#include "ingest/schema/column_index.h"
#include "ingest/schema/types.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static sbps_status add_na_string(na_strings *w, const char *string, locale_t c_locale,
                                 sbps_error *err)
{
    char **all = realloc(w->string, (w->count + 1) * sizeof *all);
    if (!all) return fail_memory(err);
    w->string = all;
    if (!(all[w->count] = copy_text(string))) return fail_memory(err);
    w->count++;
    w->begins[(unsigned char)*string] = true;
    if (cell_type(string, string + strlen(string), false, c_locale) == TYPE_NUMBER)
        w->numbers = true;
    return SBPS_OK;
}

sbps_status na_strings_create(const char *list, na_strings *out, sbps_error *err)
{
    *out = (na_strings){0};
    const char *rest = list ? nonblank_text(list) : NA_STRINGS;
    if (!rest) return SBPS_OK;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *string = malloc(strlen(rest) + 1);
    sbps_status status = string && c_locale ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&rest, string))
        if (*string) status = add_na_string(out, string, c_locale, err);
    free(string);
    if (c_locale) freelocale(c_locale);
    return status;
}

void na_strings_clear(na_strings *w)
{
    free_texts(w->string, w->count);
    *w = (na_strings){0};
}

static bool equals_string(const char *begin, size_t length, const char *string)
{
    return strncmp(begin, string, length) == 0 && !string[length];
}

static bool is_nan(const char *begin, size_t length)
{
    size_t sign = *begin == '-' || *begin == '+';
    return length == sign + 3 && strncasecmp(begin + sign, "nan", 3) == 0;
}

bool is_missing(const na_strings *w, const char *begin, const char *end)
{
    size_t length = (size_t)(end - begin);
    if (length == 0 || is_nan(begin, length)) return true;
    if (!w) return equals_string(begin, length, "NA");
    if (!w->begins[(unsigned char)*begin]) return false;
    for (size_t k = 0; k < w->count; k++)
        if (equals_string(begin, length, w->string[k])) return true;
    return false;
}
