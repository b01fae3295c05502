/* Assigns each column its role: target, weight, offset, trials, or feature (number, category,
 * date).
 *
 *   check all names -> exclude -> assign roles, from a formula or from lists of columns
 *     -> types of cells decide numbers or categories -> reference levels -> slots of the row
 *
 * With a formula every column that it names gets a slot; a weight and an offset that it
 * computes get slots behind them. */
#include "ingest/schema/column_schema.h"

#include "core/printable.h"
#include "core/text.h"
#include "ingest/schema/number.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Unknown and missing names, collected so that one message lists them all. */
typedef struct {
    const column_schema *schema;
    const column_index *index;
    text list;
    size_t count;
} name_problems;

/* Adds `name`, given by --option, to the problems if no column has it. */
static void check_name(name_problems *w, const char *option, const char *name)
{
    size_t column;
    if (column_index_find(w->index, w->schema->path, option, name, &column, NULL) == SBPS_OK)
        return;
    text_add(&w->list, "%sno column is named '%s' (--%s)", w->count++ ? ", " : "",
             show_name(name).text, option);
}

/* Checks the names of an option. `list`: it is a comma list; else it is one name, which may
 * contain commas. */
static void check_option(name_problems *w, const char *option, const char *value, bool list)
{
    const char *rest = nonblank_text(value);
    char *name = rest ? malloc(strlen(rest) + 1) : NULL;
    if (rest && !name) w->list.failed = true;
    if (name && !list) check_name(w, option, rest);
    while (name && list && next_in_list(&rest, name)) check_name(w, option, name);
    free(name);
}

/* Fails if several names are wrong, and lists all. A single one is reported later, with the
 * nearest name, by the function that looks it up. */
static sbps_status check_all_names(const column_schema *p, const column_index *x,
                                   const rows_spec *spec, sbps_error *err)
{
    name_problems w = {.schema = p, .index = x};
    bool blanks = spec->target && strspn(spec->target, " \t") > 0;
    if (!blanks) check_option(&w, "target", spec->target, false);
    check_option(&w, "features", spec->features, true);
    check_option(&w, "categorical", spec->categorical, true);
    check_option(&w, "exclude", spec->exclude, true);
    if (!nonblank_text(spec->features) && !spec->formula && !spec->no_columns) {
        /* Columns that have no name. */
        const columns *c = w.schema->columns;
        for (size_t i = c->row_names; i < c->count; i++)
            if (c->name[i] && !c->name[i][0])
                text_add(&w.list, "%scolumn %zu has no name", w.count++ ? ", " : "", i + 1);
    }
    char *all = text_take(&w.list);
    sbps_status status = all ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK && w.count > 1)
        status = fail(err, SBPS_BAD_ARG, "%s:1: %s", p->path, all);
    free(all);
    return status;
}

/* ---- roles ---- */

/* Marks a column as used. Fails if it is excluded or has a role already; `option` is for the
 * message. */
static sbps_status assign_role(column_schema *p, size_t column, const char *option,
                               sbps_error *err)
{
    if (p->use[column].excluded)
        return fail(err, SBPS_BAD_ARG, "%s: --%s: column '%s' is left out%s", p->path, option,
                    show_name(p->columns->name[column]).text,
                    column == 0 && p->columns->row_names ? ": it holds row names"
                                                         : " by --exclude");
    if (p->use[column].kind == USE_NONE) {
        p->use[column].kind = USE_NUMBER;
        return SBPS_OK;
    }
    const char *as = column == p->target   ? "the target"
                     : column == p->trials ? "the trials"
                     : column == p->weight ? "the weights"
                     : column == p->offset ? "the offset"
                                           : "a feature";
    return fail(err, SBPS_BAD_ARG, "%s: --%s: column '%s' is already %s", p->path, option,
                show_name(p->columns->name[column]).text, as);
}

/* Finds the one column that `option` names, gives it a role and sets *column. Does nothing if
 * `name` is NULL or blank. */
static sbps_status assign_named_role(column_schema *p, const column_index *x,
                                     const char *option, const char *name, size_t *column,
                                     sbps_error *err)
{
    const char *list = nonblank_text(name), *begin, *end;
    size_t found;
    if (!list) return SBPS_OK;
    /* A name may contain commas, so it is trimmed as a whole. */
    for (begin = list; *begin == ' ' || *begin == '\t'; begin++) {}
    for (end = begin + strlen(begin); end[-1] == ' ' || end[-1] == '\t'; end--) {}
    char *trimmed = strndup(begin, (size_t)(end - begin));
    sbps_status status = trimmed ? column_index_find(x, p->path, option, trimmed, &found, err)
                                 : fail_memory(err);
    free(trimmed);
    if (status == SBPS_OK) status = assign_role(p, found, option, err);
    if (status == SBPS_OK) *column = found;
    return status;
}

/* Makes the column a category with an empty set of levels; fails if it is one already. */
static sbps_status make_category(column_schema *p, size_t column, sbps_error *err)
{
    column_use *use = &p->use[column];
    if (use->levels)
        return fail(err, SBPS_BAD_ARG, "%s: --categorical: column '%s' is named twice", p->path,
                    show_name(p->columns->name[column]).text);
    use->levels = levels_create();
    use->kind = USE_CATEGORY;
    p->categories++;
    return use->levels ? SBPS_OK : fail_memory(err);
}

/* ---- with a formula ---- */

/* Fails for options that contradict --formula. */
static sbps_status refuse_options(const column_schema *p, const rows_spec *spec,
                                  sbps_error *err)
{
    const struct {
        const char *name, *value;
    } options[] = {{"target", spec->target}, {"features", spec->features}};
    for (size_t k = 0; k < 2; k++)
        if (nonblank_text(options[k].value))
            return fail(
                err, SBPS_BAD_ARG,
                "%s: --%s cannot be combined with --formula, which names the target and "
                "the features",
                p->path, options[k].name);
    if (spec->no_columns || spec->no_target)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --formula: this model has no target, or no features", p->path);
    if (!spec->intercept)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --no-intercept cannot be combined with --formula; write y ~ 0 + x",
                    p->path);
    return SBPS_OK;
}

/* Connects the formula's names to columns. The dot of `y ~ .` stands for all columns that are
 * neither excluded nor have a role. */
static sbps_status bind_names(column_schema *p, sbps_error *err)
{
    size_t count = p->columns->count;
    bool *not_dot = calloc(count + 1, sizeof *not_dot);
    if (!not_dot) return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        not_dot[i] = p->use[i].excluded || p->use[i].kind != USE_NONE;
    sbps_status status = formula_bind(p->formula, p->columns->name, not_dot, count, err);
    free(not_dot);
    return status;
}

/* Makes the response the target if it is a plain column and not computed from columns. */
static sbps_status assign_response(column_schema *p, sbps_error *err)
{
    size_t k = formula_column_of(p->formula, p->formula->response);
    if (k == SIZE_MAX || p->formula->failures) return SBPS_OK;
    size_t column = p->formula->column[k].source;
    sbps_status status = assign_role(p, column, "formula", err);
    if (status == SBPS_OK) p->target = column;
    return status;
}

/* Makes every other column of the formula a feature. */
static sbps_status assign_formula_features(column_schema *p, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < p->formula->columns; k++) {
        const formula_column *c = &p->formula->column[k];
        column_use *use = &p->use[c->source];
        if (use->kind != USE_NONE) continue;
        status = assign_role(p, c->source, "formula", err);
        p->feature[p->features++] = c->source;
        use->group = c->group;
        use->exact = c->factor || c->group;
        use->number = c->plain || c->number;
        if (status == SBPS_OK && c->group && !c->bare && !c->number)
            status = make_category(p, c->source, err);
    }
    return status;
}

/* Makes the columns of --categorical categories; the formula must contain them. */
static sbps_status assign_categories(column_schema *p, const column_index *x, const char *list,
                                     sbps_error *err)
{
    if (!list) return SBPS_OK;
    char *name = malloc(strlen(list) + 1);
    sbps_status status = name ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&list, name)) {
        size_t column = 0;
        status = column_index_find(x, p->path, "categorical", name, &column, err);
        if (status == SBPS_OK && p->use[column].kind == USE_NONE)
            status =
                fail(err, SBPS_BAD_ARG, "%s: --categorical: the formula has no column '%s'",
                     p->path, show_name(name).text);
        if (status == SBPS_OK && !p->use[column].group) status = make_category(p, column, err);
    }
    free(name);
    return status;
}

/* Checks that --trials and --weights do not repeat what the formula has. Without weights the
 * trials are the weight. */
static sbps_status assign_trials(column_schema *p, const rows_spec *spec, sbps_error *err)
{
    const formula *f = p->formula;
    if (nonblank_text(spec->trials) && (f->trials || f->failures || p->target == SIZE_MAX))
        return fail(err, SBPS_BAD_ARG,
                    "%s: --trials: the formula already specifies the trials, or computes the "
                    "response",
                    p->path);
    if (nonblank_text(spec->weights) && f->weights)
        return fail(err, SBPS_BAD_ARG, "%s: --weights: the formula already has weights()",
                    p->path);
    if (p->trials != SIZE_MAX && p->weight == SIZE_MAX && !f->weights) p->weight = p->trials;
    return SBPS_OK;
}

/* Parses spec->formula and gives the columns that it names their roles. */
static sbps_status assign_formula_roles(column_schema *p, const column_index *x,
                                        const rows_spec *spec, sbps_error *err)
{
    sbps_status status = refuse_options(p, spec, err);
    if (status == SBPS_OK) status = formula_parse(spec->formula, &p->formula, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "weights", spec->weights, &p->weight, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "offset", spec->offset, &p->offset, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "trials", spec->trials, &p->trials, err);
    if (status == SBPS_OK) status = bind_names(p, err);
    if (status == SBPS_OK) status = assign_response(p, err);
    if (status == SBPS_OK) status = assign_trials(p, spec, err);
    if (status == SBPS_OK) status = assign_formula_features(p, err);
    if (status == SBPS_OK)
        status = assign_categories(p, x, nonblank_text(spec->categorical), err);
    return status;
}

/* Adds slots for a computed weight and offset, passes the slots to the formula and resolves its
 * terms. */
static sbps_status bind_formula_slots(column_schema *p, sbps_error *err)
{
    formula *f = p->formula;
    if (!f) return SBPS_OK;
    if (f->weights || f->trials || f->failures) p->weight_slot = p->width++;
    if (f->offsets > 0) p->offset_slot = p->width++;
    for (size_t k = 0; k < f->columns; k++) {
        const column_use *use = &p->use[f->column[k].source];
        f->column[k].slot = use->slot;
        f->column[k].category = use->kind == USE_CATEGORY;
    }
    return formula_resolve(f, err);
}

/* ---- with lists of columns ---- */

/* Makes the column `name` a feature; `category`: a one-hot one. A feature may be named again as
 * a category: it then becomes one and is not added twice. */
static sbps_status assign_listed_feature(column_schema *p, const column_index *x,
                                         const char *option, const char *name, bool category,
                                         sbps_error *err)
{
    size_t column;
    if (!*name)
        return fail(err, SBPS_BAD_ARG, "%s: --%s: the list contains an empty name", p->path,
                    option);
    sbps_status status = column_index_find(x, p->path, option, name, &column, err);
    if (status != SBPS_OK) return status;
    bool feature = column != p->target && column != p->weight && column != p->offset &&
                   column != p->trials && p->use[column].kind != USE_NONE;
    if (!category || !feature) {
        if ((status = assign_role(p, column, option, err)) != SBPS_OK) return status;
        p->feature[p->features++] = column;
    }
    return category ? make_category(p, column, err) : SBPS_OK;
}

/* Makes every column of a comma list a feature; `list` may be NULL. */
static sbps_status assign_feature_list(column_schema *p, const column_index *x,
                                       const char *option, const char *list, bool category,
                                       sbps_error *err)
{
    if (!list) return SBPS_OK;
    char *name = malloc(strlen(list) + 1);
    sbps_status status = name ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&list, name))
        status = assign_listed_feature(p, x, option, name, category, err);
    free(name);
    return status;
}

/* Marks the columns of --exclude. */
static sbps_status exclude_listed(column_schema *p, const column_index *x, const char *list,
                                  sbps_error *err)
{
    if (!list) return SBPS_OK;
    size_t column;
    char *name = malloc(strlen(list) + 1);
    sbps_status status = name ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&list, name)) {
        status = column_index_find(x, p->path, "exclude", name, &column, err);
        if (status == SBPS_OK) p->use[column].excluded = true;
    }
    free(name);
    return status;
}

/* Makes every column without a role a feature, in file order. */
static sbps_status assign_other_features(column_schema *p, sbps_error *err)
{
    for (size_t i = 0; i < p->columns->count; i++) {
        const char *name = p->columns->name[i];
        if (!name || p->use[i].kind != USE_NONE || p->use[i].excluded) continue;
        if (!name[0])
            return fail(err, SBPS_BAD_FILE,
                        "%s:1: column %zu has no name; name it, or list the columns to use in "
                        "--features",
                        p->path, i + 1);
        p->use[i].kind = USE_NUMBER;
        p->feature[p->features++] = i;
    }
    return SBPS_OK;
}

/* Fixes the layout of a row: see column_schema.h. */
static void assign_slots(column_schema *p)
{
    size_t slot = 0;
    if (p->target == SIZE_MAX)
        slot++; /* always 0 */
    else
        p->use[p->target].slot = slot++;
    if (p->weight != SIZE_MAX) p->use[p->weight].slot = slot++;
    if (p->offset != SIZE_MAX) p->use[p->offset].slot = slot++;
    if (p->trials != SIZE_MAX && p->trials != p->weight) p->use[p->trials].slot = slot++;
    p->first = slot;
    for (size_t f = 0; f < p->features; f++) p->use[p->feature[f]].slot = slot++;
    p->width = slot;
    if (p->weight != SIZE_MAX) p->weight_slot = p->use[p->weight].slot;
    if (p->offset != SIZE_MAX) p->offset_slot = p->use[p->offset].slot;
}

/* Makes a number USE_CAREFUL if the fast path (number_short) could misread its cells. */
static void resolve_number_kind(column_schema *p, size_t column)
{
    const columns *c = p->columns;
    column_use *use = &p->use[column];
    bool comma = c->types && c->types->of[column] == TYPE_DECIMAL;
    bool na_numbers = c->missing && c->missing->numbers;
    if (use->kind == USE_NUMBER && (comma || na_numbers || use->exact)) use->kind = USE_CAREFUL;
}

/* Makes the column a number, date, time or category by its inferred type, unless it is a
 * category by name. */
static sbps_status resolve_type(column_schema *p, size_t column, sbps_error *err)
{
    column_use *use = &p->use[column];
    const column_types *types = p->columns->types;
    if (column == p->target && p->labelled) return make_category(p, column, err);
    resolve_number_kind(p, column);
    if (!types || use->kind == USE_CATEGORY) return SBPS_OK;
    if (types->of[column] == TYPE_DATE) use->kind = USE_DATE;
    if (types->of[column] == TYPE_TIME) use->kind = USE_TIME;
    if (types->of[column] != TYPE_TEXT) return SBPS_OK;
    if (column == p->target && p->labels == LABELS_NONE) return SBPS_OK;
    use->inferred = true;
    return make_category(p, column, err);
}

/* Resolves the types of target and features. Weight, offset and trials are always numbers. */
static sbps_status resolve_types(column_schema *p, sbps_error *err)
{
    const size_t numbers[] = {p->weight, p->offset, p->trials};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (numbers[k] != SIZE_MAX) resolve_number_kind(p, numbers[k]);
    sbps_status status = p->target == SIZE_MAX ? SBPS_OK : resolve_type(p, p->target, err);
    for (size_t f = 0; status == SBPS_OK && f < p->features; f++)
        status = resolve_type(p, p->feature[f], err);
    return status;
}

/* Splits `item`, COLUMN=LEVEL, into a column and a level name. Both may contain a =, so the
 * first split that gives a known column counts. */
static sbps_status find_reference(const column_schema *p, const column_index *x, char *item,
                                  size_t *column, char **level_name, sbps_error *err)
{
    for (char *at = strchr(item, '='); at; at = strchr(at + 1, '=')) {
        *at = '\0';
        sbps_status status = column_index_find(x, p->path, "reference", item, column, NULL);
        *at = '=';
        *level_name = at + 1;
        if (status == SBPS_OK) return SBPS_OK;
    }
    char *first = strchr(item, '=');
    if (!first)
        return fail(err, SBPS_BAD_ARG, "%s: --reference: '%s' is not COLUMN=LEVEL", p->path,
                    show_name(item).text);
    *first = '\0';
    return column_index_find(x, p->path, "reference", item, column, err);
}

/* Sets the reference level of one column from an item of --reference. */
static sbps_status choose_reference(column_schema *p, const column_index *x, char *item,
                                    sbps_error *err)
{
    char *level_name = NULL;
    size_t column;
    sbps_status status = find_reference(p, x, item, &column, &level_name, err);
    if (status != SBPS_OK) return status;
    column_use *use = &p->use[column];
    if (use->kind != USE_CATEGORY || use->reference)
        return fail(err, SBPS_BAD_ARG, "%s: --reference: column '%s' is %s", p->path,
                    show_name(p->columns->name[column]).text,
                    use->reference ? "named twice"
                                   : "not a category; name it in --categorical");
    use->reference = strdup(level_name);
    return use->reference ? SBPS_OK : fail_memory(err);
}

/* Sets the reference levels of --reference. */
static sbps_status choose_references(column_schema *p, const column_index *x, const char *list,
                                     sbps_error *err)
{
    if (!list) return SBPS_OK;
    char *item = malloc(strlen(list) + 1);
    sbps_status status = item ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && next_in_list(&list, item))
        status = choose_reference(p, x, item, err);
    free(item);
    return status;
}

/* Returns whether all column names are numbers: the file then probably has no header. */
static bool header_is_numbers(const column_schema *p)
{
    double value;
    for (size_t i = 0; i < p->columns->count; i++) {
        const char *name = p->columns->name[i];
        const char *end = name ? number_read(name, p->c_locale, &value) : NULL;
        if (!end || *end) return false;
    }
    return true;
}

/* Assigns the target: that of --target or the format's default. */
static sbps_status find_target(column_schema *p, const column_index *x, const rows_spec *spec,
                               sbps_error *err)
{
    const char *name = nonblank_text(spec->target) ? spec->target : p->columns->target;
    if (spec->no_target && nonblank_text(spec->target))
        return fail(err, SBPS_BAD_ARG, "%s: --target: this model has no target", p->path);
    if (header_is_numbers(p))
        return fail(err, SBPS_BAD_FILE,
                    "%s:1: the first line holds only numbers; it must name the columns. For a "
                    "file without a header use --header no: columns are then x1, x2, ...",
                    p->path);
    if (spec->no_target) return SBPS_OK;
    if (!name)
        return fail(err, SBPS_BAD_ARG,
                    "%s: no target; name its column with --target (the first column is '%s')",
                    p->path, show_name(p->columns->name[0]).text);
    return assign_named_role(p, x, "target", name, &p->target, err);
}

/* Assigns the features. Without --features, categories are in file order among the others; with
 * it, they follow the features unless they are among them. */
static sbps_status find_features(column_schema *p, const column_index *x, const rows_spec *spec,
                                 sbps_error *err)
{
    const char *features = nonblank_text(spec->features);
    if (spec->no_columns && (features || nonblank_text(spec->categorical)))
        return fail(err, SBPS_BAD_ARG,
                    "%s: --%s: this model uses no columns besides the target", p->path,
                    features ? "features" : "categorical");
    if (spec->no_columns) return SBPS_OK;
    sbps_status status = features ? assign_feature_list(p, x, "features", features, false, err)
                                  : assign_other_features(p, err);
    if (status == SBPS_OK)
        status = assign_feature_list(p, x, "categorical", nonblank_text(spec->categorical),
                                     true, err);
    if (status == SBPS_OK && p->features == 0 && !spec->intercept)
        status = fail(err, SBPS_BAD_ARG,
                      "%s: no features and no intercept: nothing to estimate", p->path);
    return status;
}

/* Assigns the column of --trials. Without weights it is the weight, too. */
static sbps_status find_trials(column_schema *p, const column_index *x, const rows_spec *spec,
                               sbps_error *err)
{
    sbps_status status = assign_named_role(p, x, "trials", spec->trials, &p->trials, err);
    if (status != SBPS_OK || p->trials == SIZE_MAX) return status;
    if (p->target == SIZE_MAX)
        return fail(err, SBPS_BAD_ARG, "%s: --trials: needs a target that counts successes",
                    p->path);
    if (p->weight == SIZE_MAX) p->weight = p->trials;
    return SBPS_OK;
}

/* Assigns all roles, from a formula or from lists of columns. */
static sbps_status assign_all_roles(column_schema *p, const column_index *x,
                                    const rows_spec *spec, sbps_error *err)
{
    if (nonblank_text(spec->formula)) return assign_formula_roles(p, x, spec, err);
    sbps_status status = find_target(p, x, spec, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "weights", spec->weights, &p->weight, err);
    if (status == SBPS_OK)
        status = assign_named_role(p, x, "offset", spec->offset, &p->offset, err);
    if (status == SBPS_OK) status = find_trials(p, x, spec, err);
    return status == SBPS_OK ? find_features(p, x, spec, err) : status;
}

/* Fills the schema in the order given at the head of this file. */
static sbps_status fill_schema(column_schema *p, const rows_spec *spec, sbps_error *err)
{
    column_index x;
    sbps_status status = column_index_create(p->path, p->columns, &x, err);
    if (status != SBPS_OK) return status;
    if (p->columns->row_names) p->use[0].excluded = true;
    if ((status = check_all_names(p, &x, spec, err)) != SBPS_OK) goto done;
    if ((status = exclude_listed(p, &x, nonblank_text(spec->exclude), err)) != SBPS_OK)
        goto done;
    if ((status = assign_all_roles(p, &x, spec, err)) != SBPS_OK) goto done;
    if ((status = resolve_types(p, err)) != SBPS_OK) goto done;
    if ((status = choose_references(p, &x, nonblank_text(spec->reference), err)) != SBPS_OK)
        goto done;
    assign_slots(p);
    /* by these arrays, runs of number cells are read at once */
    for (size_t i = p->columns->count; i-- > 0;) {
        p->slot[i] = p->use[i].slot;
        p->numbers[i] = p->use[i].kind == USE_NUMBER ? p->numbers[i + 1] + 1 : 0;
    }
    status = bind_formula_slots(p, err);
done:
    free(x.entry);
    return status;
}

sbps_status schema_create(const char *path, const columns *c, const rows_spec *spec,
                          column_schema **out, sbps_error *err)
{
    *out = NULL;
    column_schema *p = calloc(1, sizeof *p);
    if (!p) return fail_memory(err);
    *p = (column_schema){.path = path,
                         .columns = c,
                         .use = calloc(c->count + 1, sizeof *p->use),
                         .slot = calloc(c->count + 1, sizeof *p->slot),
                         .numbers = calloc(c->count + 1, sizeof *p->numbers),
                         .feature = calloc(c->count + 1, sizeof *p->feature),
                         .target = SIZE_MAX,
                         .weight = SIZE_MAX,
                         .offset = SIZE_MAX,
                         .trials = SIZE_MAX,
                         .labels = spec->labels,
                         .labelled =
                             nonblank_text(spec->label_order) && spec->labels != LABELS_NONE,
                         .weight_slot = SIZE_MAX,
                         .offset_slot = SIZE_MAX,
                         .drop_missing = spec->drop_missing,
                         .c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    bool ready = p->use && p->slot && p->numbers && p->feature && p->c_locale;
    sbps_status status = ready ? fill_schema(p, spec, err) : fail_memory(err);
    if (status == SBPS_OK)
        *out = p;
    else
        schema_destroy(p);
    return status;
}

void schema_destroy(column_schema *p)
{
    if (!p) return;
    for (size_t i = 0; p->use && i < p->columns->count; i++) {
        levels_destroy(p->use[i].levels);
        free(p->use[i].reference);
    }
    if (p->c_locale) freelocale(p->c_locale);
    formula_destroy(p->formula);
    free(p->use);
    free(p->slot);
    free(p->numbers);
    free(p->feature);
    free(p);
}
