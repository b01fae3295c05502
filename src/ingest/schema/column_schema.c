/* The plan of a table: which column is target, weight, offset, number or category. */
#include "ingest/schema/column_schema.h"

#include "core/printable.h"
#include "ingest/schema/number.h"
#include "ingest/schema/roles.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

sbps_status assign_role(column_schema *p, size_t column, const char *option, sbps_error *err)
{
    if (p->use[column].excluded)
        return fail(err, SBPS_BAD_ARG, "%s: --%s: column '%s' is left out%s", p->path, option,
                    show_name(p->columns->name[column]).text,
                    column == 0 && p->columns->row_names ? ": it names the rows"
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

sbps_status assign_named_role(column_schema *p, const column_index *x, const char *option,
                              const char *name, size_t *column, sbps_error *err)
{
    const char *list = nonblank_text(name), *begin, *end;
    size_t found;
    if (!list) return SBPS_OK;
    /* a name may hold commas, so it is trimmed as a whole */
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

sbps_status make_category(column_schema *p, size_t column, sbps_error *err)
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

/* Claims every column of a list as a feature; `category` when they are to be one-hot. A feature
 * may be named again as a category: that says what it is, not that it comes twice. */
static sbps_status assign_listed_feature(column_schema *p, const column_index *x,
                                         const char *option, const char *name, bool category,
                                         sbps_error *err)
{
    size_t column;
    if (!*name)
        return fail(err, SBPS_BAD_ARG, "%s: --%s: an empty name in the list", p->path, option);
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

/* Every named column not claimed so far becomes a feature, in file order. */
static sbps_status assign_other_features(column_schema *p, sbps_error *err)
{
    for (size_t i = 0; i < p->columns->count; i++) {
        const char *name = p->columns->name[i];
        if (!name || p->use[i].kind != USE_NONE || p->use[i].excluded) continue;
        if (!name[0])
            return fail(
                err, SBPS_BAD_FILE,
                "%s:1: column %zu has no name: name it, or list those to use in --features",
                p->path, i + 1);
        p->use[i].kind = USE_NUMBER;
        p->feature[p->features++] = i;
    }
    return SBPS_OK;
}

static void assign_slots(column_schema *p)
{
    size_t slot = 0;
    if (p->target == SIZE_MAX)
        slot++; /* stays 0 */
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

/* Numbers that cannot take the short way. */
static void resolve_number_kind(column_schema *p, size_t column)
{
    const columns *c = p->columns;
    column_use *use = &p->use[column];
    bool comma = c->types && c->types->of[column] == TYPE_DECIMAL;
    bool na_numbers = c->missing && c->missing->numbers;
    if (use->kind == USE_NUMBER && (comma || na_numbers || use->exact)) use->kind = USE_CAREFUL;
}

/* What the cells of a column are decides what it is, unless it was named a category. */
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

sbps_status resolve_types(column_schema *p, sbps_error *err)
{
    const size_t beside[] = {p->weight, p->offset, p->trials};
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++)
        if (beside[k] != SIZE_MAX) resolve_number_kind(p, beside[k]);
    sbps_status status = p->target == SIZE_MAX ? SBPS_OK : resolve_type(p, p->target, err);
    for (size_t f = 0; status == SBPS_OK && f < p->features; f++)
        status = resolve_type(p, p->feature[f], err);
    return status;
}

/* The column that `word`, column=level, begins with, and the level that is wanted; either may hold a = of its own. */
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
                    use->reference ? "named twice" : "no category: name it in --categorical");
    use->reference = strdup(level_name);
    return use->reference ? SBPS_OK : fail_memory(err);
}

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

static void find_numbers(column_schema *p)
{
    for (size_t i = p->columns->count; i-- > 0;) {
        p->slot[i] = p->use[i].slot;
        p->numbers[i] = p->use[i].kind == USE_NUMBER ? p->numbers[i + 1] + 1 : 0;
    }
}

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

static sbps_status find_target(column_schema *p, const column_index *x, const rows_spec *spec,
                               sbps_error *err)
{
    const char *name = nonblank_text(spec->target) ? spec->target : p->columns->target;
    if (spec->no_target && nonblank_text(spec->target))
        return fail(err, SBPS_BAD_ARG, "%s: --target: the model explains no column", p->path);
    if (header_is_numbers(p))
        return fail(err, SBPS_BAD_FILE,
                    "%s:1: the first line holds only numbers; it must name the columns, or say "
                    "--header no: they are then x1, x2, ...",
                    p->path);
    if (spec->no_target) return SBPS_OK;
    if (!name)
        return fail(err, SBPS_BAD_ARG,
                    "%s: no target: name its column with --target (the first is '%s')", p->path,
                    show_name(p->columns->name[0]).text);
    return assign_named_role(p, x, "target", name, &p->target, err);
}

/* With no features named, categories take their place in file order; else they follow the
 * features unless they are among them. */
static sbps_status find_features(column_schema *p, const column_index *x, const rows_spec *spec,
                                 sbps_error *err)
{
    const char *features = nonblank_text(spec->features);
    if (spec->no_columns && (features || nonblank_text(spec->categorical)))
        return fail(err, SBPS_BAD_ARG, "%s: --%s: the model uses no column but the target",
                    p->path, features ? "features" : "categorical");
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

static sbps_status find_trials(column_schema *p, const column_index *x, const rows_spec *spec,
                               sbps_error *err)
{
    sbps_status status = assign_named_role(p, x, "trials", spec->trials, &p->trials, err);
    if (status != SBPS_OK || p->trials == SIZE_MAX) return status;
    if (p->target == SIZE_MAX)
        return fail(err, SBPS_BAD_ARG, "%s: --trials: there is no target that counts successes",
                    p->path);
    if (p->weight == SIZE_MAX) p->weight = p->trials;
    return SBPS_OK;
}

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

static sbps_status fill_schema(column_schema *p, const rows_spec *spec, sbps_error *err)
{
    column_index x;
    sbps_status status = column_index_create(p->path, p->columns, &x, err);
    if (status != SBPS_OK) return status;
    if (p->columns->row_names) p->use[0].excluded = true;
    if ((status = schema_check_names(p, &x, spec, err)) != SBPS_OK) goto done;
    if ((status = exclude_listed(p, &x, nonblank_text(spec->exclude), err)) != SBPS_OK)
        goto done;
    if ((status = assign_all_roles(p, &x, spec, err)) != SBPS_OK) goto done;
    if ((status = resolve_types(p, err)) != SBPS_OK) goto done;
    if ((status = choose_references(p, &x, nonblank_text(spec->reference), err)) != SBPS_OK)
        goto done;
    assign_slots(p);
    find_numbers(p);
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
