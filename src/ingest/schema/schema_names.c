/* All that is wrong with the names of columns at once: those asked for that no column has, and columns that
 * have none. */
#include "ingest/schema/roles.h"

#include "core/printable.h"
#include "core/text.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const column_schema *schema;
    const column_index *index;
    text sentence;
    size_t count;
} name_problems;

static void check_name(name_problems *w, const char *option, const char *name)
{
    size_t column;
    if (column_index_find(w->index, w->schema->path, option, name, &column, NULL) == SBPS_OK)
        return;
    text_add(&w->sentence, "%sno column is named '%s' (--%s)", w->count++ ? ", " : "",
             show_name(name).text, option);
}

/* A name alone may hold commas. */
static void check_option(name_problems *w, const char *option, const char *value, bool list)
{
    const char *rest = nonblank_text(value);
    char *name = rest ? malloc(strlen(rest) + 1) : NULL;
    if (rest && !name) w->sentence.failed = true;
    if (name && !list) check_name(w, option, rest);
    while (name && list && next_in_list(&rest, name)) check_name(w, option, name);
    free(name);
}

static void check_nameless(name_problems *w)
{
    const columns *c = w->schema->columns;
    for (size_t i = c->row_names; i < c->count; i++)
        if (c->name[i] && !c->name[i][0])
            text_add(&w->sentence, "%scolumn %zu has no name", w->count++ ? ", " : "", i + 1);
}

sbps_status schema_check_names(const column_schema *p, const column_index *x,
                               const rows_spec *spec, sbps_error *err)
{
    name_problems w = {.schema = p, .index = x};
    bool blanks = spec->target && strspn(spec->target, " \t") > 0;
    if (!blanks) check_option(&w, "target", spec->target, false);
    check_option(&w, "features", spec->features, true);
    check_option(&w, "categorical", spec->categorical, true);
    check_option(&w, "exclude", spec->exclude, true);
    if (!nonblank_text(spec->features) && !spec->formula && !spec->no_columns)
        check_nameless(&w);
    char *all = text_take(&w.sentence);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && w.count > 1)
        status = fail(err, SBPS_BAD_ARG, "%s:1: %s", p->path, all);
    free(all);
    return status;
}
