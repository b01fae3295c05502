/* Targets that are labels: yes and no, TRUE and FALSE, 1 and 2, names of classes. They are
 * numbered in order, numbers by value and texts as R sorts them, ignoring case:
 *
 *   label_0 < label_1 < ... :  y = 0, 1, ...;   of two labels, --success is 1. */
#include "ingest/design/design_matrix.h"

#include "core/memory.h"
#include "core/printable.h"
#include "core/text.h"
#include "ingest/schema/column_index.h"
#include "table/row_partition.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CLASSES_MAX 1000 /* classes, at most */
#define NAMED_MAX   10   /* labels in a message */
#define SCAN_ROWS   256  /* targets checked at a time */

static const char *target_name(const design *g)
{
    return g->schema->columns->name[g->schema->target];
}

/* Returns the first labels as a list; NULL: no memory. */
static char *list_labels(const rows *r)
{
    text list = {0};
    for (size_t k = 0; k < r->table.label_count && k < NAMED_MAX; k++)
        text_add(&list, "%s'%s'", k ? ", " : "", show_name(r->table.labels[k]).text);
    if (r->table.label_count > NAMED_MAX) text_add(&list, ", ... (%zu)", r->table.label_count);
    return text_take(&list);
}

static sbps_status fail_count(const design *g, sbps_error *err)
{
    char *list = list_labels(g->r);
    if (!list) return fail_memory(err);
    const char *requirement = g->spec->labels == LABELS_TWO
                                  ? "models of two outcomes need two labels, softmax takes more"
                                  : "these are too many classes";
    sbps_status status =
        fail(err, SBPS_BAD_DATA, "%s: target '%s' holds %s; %s", g->schema->path,
             show_name(target_name(g)).text, list, requirement);
    free(list);
    return status;
}

/* Returns whether the user gave the order of the labels. */
static bool is_listed(const design *g)
{
    const levels *l = g->schema->use[g->schema->target].levels;
    return g->schema->labelled || (l && l->listed);
}

/* Notes which label became which number. */
static sbps_status note_labels(const design *g, sbps_error *err)
{
    rows *r = g->r;
    bool ordered = g->spec->labels == LABELS_ORDERED;
    if (r->table.label_count == 2 && !ordered)
        return rows_note(r, err, "target '%s': '%s' is 1 and '%s' is 0%s",
                         show_name(target_name(g)).text, show_name(r->table.labels[1]).text,
                         show_name(r->table.labels[0]).text,
                         g->spec->success ? "" : " (--success chooses)");
    char *list = list_labels(r);
    if (!list) return fail_memory(err);
    sbps_status status =
        rows_note(r, err, "target '%s': the classes 0, 1, ... are %s%s",
                  show_name(target_name(g)).text, list, ordered ? ", in this order" : "");
    free(list);
    return status;
}

/* Makes --success the second of two labels; *swapped: it was the first. */
static sbps_status order_by_success(const design *g, bool *swapped, sbps_error *err)
{
    const rows *r = g->r;
    const char *success = nonblank_text(g->spec->success);
    *swapped = false;
    if (!success) return SBPS_OK;
    if (r->table.label_count != 2)
        return fail(err, SBPS_BAD_ARG,
                    "%s: --success is for a target with two labels; '%s' has %zu",
                    g->schema->path, show_name(target_name(g)).text, r->table.label_count);
    *swapped = !strcmp(r->table.labels[0], success);
    if (*swapped) {
        char *first = r->table.labels[0];
        r->table.labels[0] = r->table.labels[1];
        r->table.labels[1] = first;
    }
    if (!strcmp(r->table.labels[1], success)) return SBPS_OK;
    name_hint hint = nearest_or_all(success, (const char *const *)r->table.labels, 2);
    return fail(err, SBPS_BAD_ARG, "%s: --success: target '%s' has no label '%s'%s",
                g->schema->path, show_name(target_name(g)).text, show_name(success).text,
                hint.text);
}

/* ---- text ---- */

/* Compares two labels for qsort_r: ignoring case first. */
static int by_letters(const void *a, const void *b, void *self)
{
    const levels *l = self;
    size_t p = *(const size_t *)a, q = *(const size_t *)b;
    int sign = strcasecmp(l->item[p].text, l->item[q].text);
    return sign ? sign : strcmp(l->item[p].text, l->item[q].text);
}

static bool are_numbers(const levels *l, const size_t *order, size_t used, locale_t c_locale)
{
    for (size_t i = 0; i < used; i++) {
        const level *at = &l->item[order[i]];
        if (cell_type(at->text, at->text + at->length, false, c_locale) != TYPE_NUMBER)
            return false;
    }
    return true;
}

static sbps_status name_labels(rows *r, const levels *l, const size_t *order, size_t used,
                               sbps_error *err)
{
    r->table.labels = calloc(used + 1, sizeof *r->table.labels);
    if (!r->table.labels) return fail_memory(err);
    r->table.label_count = used;
    for (size_t i = 0; i < used; i++) {
        const level *at = &l->item[order[i]];
        if (!(r->table.labels[i] = utf8_copy(at->text, at->length))) return fail_memory(err);
    }
    return SBPS_OK;
}

/* Returns the level with a label that some row has; NULL: none. */
static const level *find_label(const levels *l, const char *label, size_t *code)
{
    for (*code = 0; *code < l->count; ++*code)
        if (!strcmp(l->item[*code].text, label) && l->item[*code].rows > 0)
            return &l->item[*code];
    return NULL;
}

/* Fails for the first label that --levels does not list. */
static sbps_status fail_unlisted(const design *g, const levels *l, const size_t *order,
                                 size_t listed, sbps_error *err)
{
    for (size_t k = 0; k < l->count; k++) {
        bool known = l->item[k].rows == 0;
        for (size_t i = 0; i < listed; i++) known = known || order[i] == k;
        if (known) continue;
        return fail(err, SBPS_BAD_ARG,
                    "%s: --levels: target '%s' has the label '%s', which is not listed",
                    g->schema->path, show_name(target_name(g)).text,
                    show_name(l->item[k].text).text);
    }
    return SBPS_OK;
}

/* Orders labels as --levels; listed labels without rows are skipped. */
static sbps_status order_listed(const design *g, const levels *l, size_t *order, size_t *used,
                                sbps_error *err)
{
    const char *rest = g->spec->label_order;
    char *label = malloc(strlen(rest) + 1);
    bool *taken = calloc(l->count + 1, sizeof *taken);
    sbps_status status = label && taken ? SBPS_OK : fail_memory(err);
    for (*used = 0; status == SBPS_OK && next_in_list(&rest, label);) {
        size_t code;
        if (!find_label(l, label, &code)) continue;
        if (taken[code])
            status = fail(err, SBPS_BAD_ARG, "%s: --levels: '%s' is named twice",
                          g->schema->path, show_name(label).text);
        taken[code] = true;
        if (status == SBPS_OK) order[(*used)++] = code;
    }
    free(label);
    free(taken);
    return status == SBPS_OK ? fail_unlisted(g, l, order, *used, err) : status;
}

/* Fails because the order of texts is not known. */
static sbps_status fail_unordered(const design *g, sbps_error *err)
{
    char *list = list_labels(g->r);
    if (!list) return fail_memory(err);
    sbps_status status =
        fail(err, SBPS_BAD_ARG,
             "%s: target '%s': the order of the labels %s is not known; list them from lowest "
             "to highest with --levels A,B,..., or use numbers or an ordered factor",
             g->schema->path, show_name(target_name(g)).text, list);
    free(list);
    return status;
}

/* Orders labels: as --levels, as a factor's levels, as numbers, or as R sorts texts. */
static sbps_status order_labels(const design *g, levels *l, size_t *order, size_t *used,
                                sbps_error *err)
{
    if (g->schema->labelled) return order_listed(g, l, order, used, err);
    sbps_status status = levels_order(l, order, used, err);
    bool in_own_order = l->listed || g->spec->labels == LABELS_ORDERED;
    if (status == SBPS_OK && !in_own_order &&
        !are_numbers(l, order, *used, g->schema->c_locale))
        qsort_r(order, *used, sizeof *order, by_letters, l);
    return status;
}

static sbps_status place_ordered(design *g, levels *l, size_t *order, sbps_error *err)
{
    size_t used;
    bool swapped = false;
    sbps_status status = order_labels(g, l, order, &used, err);
    if (status == SBPS_OK) status = name_labels(g->r, l, order, used, err);
    if (status == SBPS_OK && g->spec->labels == LABELS_ORDERED && !is_listed(g) &&
        !are_numbers(l, order, used, g->schema->c_locale))
        status = fail_unordered(g, err);
    if (status == SBPS_OK && used > (g->spec->labels == LABELS_TWO ? 2 : CLASSES_MAX))
        status = fail_count(g, err);
    if (status == SBPS_OK) status = order_by_success(g, &swapped, err);
    for (size_t i = 0; status == SBPS_OK && i < used; i++)
        g->label[order[i]] = (double)(swapped ? 1 - i : i);
    return status == SBPS_OK ? note_labels(g, err) : status;
}

sbps_status labels_place(design *g, sbps_error *err)
{
    const column_schema *p = g->schema;
    levels *l = p->target == SIZE_MAX ? NULL : p->use[p->target].levels;
    if (!l) return SBPS_OK;
    size_t *order = malloc((l->count + 1) * sizeof *order);
    g->label = new_doubles(l->count + 1);
    sbps_status status = order && g->label ? place_ordered(g, l, order, err) : fail_memory(err);
    free(order);
    return status;
}

/* ---- numbers ---- */

typedef struct {
    double value[CLASSES_MAX + 1];
    size_t count;
} value_set;

/* Returns the index of the first value that is not below y. */
static size_t lower_bound(const value_set *s, double y)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->value[middle] < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns whether all targets are one of the first two values, as most are; without branches,
 * which the processor would mispredict. */
static bool are_known(const value_set *s, size_t n, const double *y)
{
    uint64_t known = 0;
    double first = s->value[0], second = s->value[1];
    if (s->count < 2) return false;
    for (size_t i = 0; i < n; i++)
        known += (uint64_t)(y[i] == first) | (uint64_t)(y[i] == second);
    return known == n;
}

/* Inserts a value; false: there would be more than `limit`. */
static bool take_value(value_set *s, size_t limit, double y)
{
    size_t at = lower_bound(s, y);
    if (at < s->count && s->value[at] == y) return true;
    if (s->count == limit) return false;
    memmove(s->value + at + 1, s->value + at, (s->count++ - at) * sizeof *s->value);
    s->value[at] = y;
    return true;
}

/* Collects the distinct local targets in order; false: more than `limit`. */
static bool collect(const rows *r, size_t limit, value_set *s)
{
    *s = (value_set){0};
    for (size_t first = 0, n; first < r->local_rows; first += n) {
        n = r->local_rows - first < SCAN_ROWS ? r->local_rows - first : SCAN_ROWS;
        if (are_known(s, n, r->y + first)) continue;
        for (size_t i = first; i < first + n; i++)
            if (!take_value(s, limit, r->y[i])) return false;
    }
    return true;
}

/* Collects the distinct targets of all ranks. */
static bool collect_all(const rows *r, size_t limit, value_set *s)
{
    ranks *among = r->partition ? r->partition->among : NULL;
    bool fits = collect(r, limit, s);
    if (!among) return fits;
    if (any_rank(r, !fits)) return false;
    value_set own = *s, theirs;
    *s = (value_set){0};
    for (size_t i = 0; i < among->size; i++) {
        theirs = own;
        ranks_broadcast(among, i, &theirs, sizeof theirs);
        for (size_t k = 0; fits && k < theirs.count; k++)
            fits = take_value(s, limit, theirs.value[k]);
    }
    return fits;
}

/* Returns whether the values are 0, 1, ..., as models need them. */
static bool are_counted(const value_set *s, bool two)
{
    if (two && s->count == 1) return true; /* the model's message is better */
    for (size_t k = 0; k < s->count; k++)
        if (s->value[k] != (double)k) return false;
    return true;
}

static bool are_whole(const value_set *s)
{
    for (size_t k = 0; k < s->count; k++)
        if (s->value[k] != floor(s->value[k])) return false;
    return true;
}

static sbps_status name_values(rows *r, const value_set *s, sbps_error *err)
{
    r->table.labels = calloc(s->count + 1, sizeof *r->table.labels);
    if (!r->table.labels) return fail_memory(err);
    r->table.label_count = s->count;
    for (size_t k = 0; k < s->count; k++)
        if (asprintf(&r->table.labels[k], "%.15g", s->value[k]) < 0) {
            r->table.labels[k] = NULL;
            return fail_memory(err);
        }
    return SBPS_OK;
}

static sbps_status number_values(const design *g, const value_set *s, sbps_error *err)
{
    rows *r = g->r;
    bool swapped;
    sbps_status status = name_values(r, s, err);
    if (status == SBPS_OK) status = order_by_success(g, &swapped, err);
    if (status != SBPS_OK) return status;
    for (size_t i = 0; i < r->local_rows; i++) {
        size_t k = lower_bound(s, r->y[i]);
        r->y[i] = (double)(swapped ? 1 - k : k);
    }
    return note_labels(g, err);
}

sbps_status labels_number(const design *g, sbps_error *err)
{
    target_labels labels = g->spec->labels;
    bool two = labels == LABELS_TWO, success_given = nonblank_text(g->spec->success);
    value_set found;
    if ((labels == LABELS_NONE || labels == LABELS_ORDERED) && !g->label && success_given)
        return fail(err, SBPS_BAD_ARG, "%s: --success is for models of two outcomes",
                    g->schema->path);
    if (labels == LABELS_NONE && nonblank_text(g->spec->label_order))
        return fail(err, SBPS_BAD_ARG,
                    "%s: --levels is for models of classes, such as ordinal and softmax",
                    g->schema->path);
    if (g->label || g->schema->target == SIZE_MAX || labels == LABELS_NONE) return SBPS_OK;
    if (labels == LABELS_ORDERED) return SBPS_OK;
    if (labels == LABELS_TEXT && !success_given) return SBPS_OK;
    if (!collect_all(g->r, labels == LABELS_CLASSES ? CLASSES_MAX : 2, &found)) return SBPS_OK;
    if (!success_given && are_counted(&found, two)) return SBPS_OK;
    if (!are_whole(&found)) return SBPS_OK;
    return number_values(g, &found, err);
}
