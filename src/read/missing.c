/* Missing cells: a byte decides for nearly every other cell. */
#include "read/missing.h"

#include "base/memory.h"
#include "read/columns.h"
#include "read/types.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static sbps_status add_word(missing_words *w, const char *word, locale_t c_locale,
                            sbps_error *err)
{
    char **all = realloc(w->word, (w->count + 1) * sizeof *all);
    if (!all) return fail_memory(err);
    w->word = all;
    if (!(all[w->count] = copy_text(word))) return fail_memory(err);
    w->count++;
    w->begins[(unsigned char)*word] = true;
    if (cell_type(word, word + strlen(word), false, c_locale) == TYPE_NUMBER) w->numbers = true;
    return SBPS_OK;
}

sbps_status missing_words_create(const char *list, missing_words *out, sbps_error *err)
{
    *out = (missing_words){0};
    const char *rest = list ? given_text(list) : MISSING_WORDS;
    if (!rest) return SBPS_OK;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *word = malloc(strlen(rest) + 1);
    sbps_status status = word && c_locale ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&rest, word))
        if (*word) status = add_word(out, word, c_locale, err);
    free(word);
    if (c_locale) freelocale(c_locale);
    return status;
}

void missing_words_clear(missing_words *w)
{
    free_texts(w->word, w->count);
    *w = (missing_words){0};
}

static bool is_word(const char *begin, size_t length, const char *word)
{
    return strncmp(begin, word, length) == 0 && !word[length];
}

static bool is_nan(const char *begin, size_t length)
{
    size_t sign = *begin == '-' || *begin == '+';
    return length == sign + 3 && strncasecmp(begin + sign, "nan", 3) == 0;
}

bool is_missing(const missing_words *w, const char *begin, const char *end)
{
    size_t length = (size_t)(end - begin);
    if (length == 0 || is_nan(begin, length)) return true;
    if (!w) return is_word(begin, length, "NA");
    if (!w->begins[(unsigned char)*begin]) return false;
    for (size_t k = 0; k < w->count; k++)
        if (is_word(begin, length, w->word[k])) return true;
    return false;
}
