/* All that is wrong with the names of columns at once: those asked for that no column has, and columns that
 * have none. */
#include "read/claims.h"

#include "base/printable.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const plan *plan;
    const column_index *index;
    text sentence;
    size_t count;
} name_problems;

static void check_word(name_problems *w, const char *option, const char *word)
{
    size_t column;
    if (column_index_find(w->index, w->plan->path, option, word, &column, NULL) == SBPS_OK)
        return;
    text_add(&w->sentence, "%sno column is named '%s' (--%s)", w->count++ ? ", " : "",
             show_name(word).text, option);
}

/* A name alone may hold commas. */
static void check_option(name_problems *w, const char *option, const char *value, bool list)
{
    const char *rest = given_text(value);
    char *word = rest ? malloc(strlen(rest) + 1) : NULL;
    if (rest && !word) w->sentence.failed = true;
    if (word && !list) check_word(w, option, rest);
    while (word && list && next_in_list(&rest, word)) check_word(w, option, word);
    free(word);
}

static void check_nameless(name_problems *w)
{
    const columns *c = w->plan->columns;
    for (size_t i = c->row_names; i < c->count; i++)
        if (c->name[i] && !c->name[i][0])
            text_add(&w->sentence, "%scolumn %zu has no name", w->count++ ? ", " : "", i + 1);
}

sbps_status plan_check_names(const plan *p, const column_index *x, const rows_spec *spec,
                             sbps_error *err)
{
    name_problems w = {.plan = p, .index = x};
    bool blanks = spec->target && strspn(spec->target, " \t") > 0;
    if (!blanks) check_option(&w, "target", spec->target, false);
    check_option(&w, "features", spec->features, true);
    check_option(&w, "categorical", spec->categorical, true);
    check_option(&w, "exclude", spec->exclude, true);
    if (!given_text(spec->features) && !spec->formula && !spec->no_columns) check_nameless(&w);
    char *all = text_take(&w.sentence);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && w.count > 1)
        status = fail(err, SBPS_BAD_ARG, "%s:1: %s", p->path, all);
    free(all);
    return status;
}
