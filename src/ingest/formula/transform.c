/* The list of transforms, the one of conditions, and the arguments of calls. */
#include "ingest/formula/transform.h"
#include "core/status.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const transform_kind *transform_find(const char *name)
{
    static const transform_kind *const all[] = {TRANSFORM_KINDS(KIND_LISTED)};
    if (strcmp(name, "as.factor") == 0) return &transform_factor;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->name, name) == 0) return all[k];
    return NULL;
}

sbps_status fail_call(const call *c, const char *message)
{
    return fail_at(c->text, c->of->at, c->err, "%s(): %s", c->of->name, message);
}

int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

sbps_status fail_recall(const call *c)
{
    return fail_call(c, "the numbers learned from the run's rows are incomplete");
}

/* ---- arguments ---- */

static sbps_status fail_argument(const call *c, const node *at, const char *message)
{
    return fail_at(c->text, at->at, c->err, "%s(): %s", c->of->name, message);
}

static sbps_status match_named(const call *c, const char *const *formal, const node **given)
{
    for (const node *a = c->of->first; a; a = a->next) {
        if (!a->tag) continue;
        size_t k = 0;
        while (formal[k] && strcmp(formal[k], a->tag) != 0) k++;
        if (!formal[k])
            return fail_at(c->text, a->at, c->err, "%s() has no argument '%.40s' here",
                           c->of->name, a->tag);
        if (given[k]) return fail_argument(c, a, "an argument is given twice");
        given[k] = a;
    }
    return SBPS_OK;
}

sbps_status call_match(const call *c, const char *const *formal, const node **given)
{
    for (size_t k = 0; formal[k]; k++) given[k] = NULL;
    sbps_status status = match_named(c, formal, given);
    size_t next = 0;
    for (const node *a = c->of->first; status == SBPS_OK && a; a = a->next) {
        if (a->tag) continue;
        while (formal[next] && given[next]) next++;
        if (!formal[next]) return fail_argument(c, a, "it has too many arguments");
        given[next] = a;
    }
    if (status == SBPS_OK && !given[0])
        status = fail_argument(c, c->of, "a column is missing between the parentheses");
    return status;
}

const node *first_argument(const node *n)
{
    const node *a = n->first;
    while (a && a->tag && strcmp(a->tag, "x") != 0) a = a->next;
    return a;
}

/* Reads a number with or without a sign, or an infinity; false: it is neither. */
static bool read_number(const node *n, double *out)
{
    n = without_parens(n);
    bool minus = n->kind == NODE_UNARY && n->op == OP_MINUS;
    if (n->kind == NODE_UNARY) n = without_parens(n->first);
    if (n->kind == NODE_NUMBER)
        *out = n->value;
    else if (n->kind == NODE_NAME && strcmp(n->name, "Inf") == 0)
        *out = INFINITY;
    else
        return false;
    if (minus) *out = -*out;
    return true;
}

sbps_status call_count(const call *c, const node *given, size_t min, size_t max, size_t *out)
{
    double value = 0.0;
    if (!given) return SBPS_OK;
    if (!read_number(given, &value) || value != floor(value) || value < (double)min ||
        value > (double)max)
        return fail_at(c->text, given->at, c->err,
                       "%s(): expected a whole number from %zu to %zu", c->of->name, min, max);
    *out = (size_t)value;
    return SBPS_OK;
}

sbps_status call_flag(const call *c, const node *given, bool *out)
{
    if (!given) return SBPS_OK;
    const char *literal = given->kind == NODE_NAME ? given->name : "";
    bool yes = !strcmp(literal, "TRUE") || !strcmp(literal, "T");
    bool no = !strcmp(literal, "FALSE") || !strcmp(literal, "F");
    if (!yes && !no) return fail_argument(c, given, "expected TRUE or FALSE");
    *out = yes;
    return SBPS_OK;
}

sbps_status call_list(const call *c, const node *given, double **out, size_t *count)
{
    if (!given) return SBPS_OK;
    bool several = is_call(given, "c");
    size_t length = several ? 0 : 1;
    for (const node *a = several ? given->first : NULL; a; a = a->next) length++;
    double *values = pool_array(c->pool, length + 1, sizeof *values);
    if (!values) return fail_memory(c->err);
    const node *a = several ? given->first : given;
    for (size_t k = 0; k < length; k++, a = a->next)
        if (!read_number(a, &values[k])) return fail_argument(c, a, "expected a number");
    *out = values;
    *count = length;
    return SBPS_OK;
}

sbps_status call_numbers(const call *c, const node *given, double **out, size_t *count)
{
    sbps_status status = call_list(c, given, out, count);
    if (given && status == SBPS_OK) qsort(*out, *count, sizeof **out, by_number);
    return status;
}

/* ---- logical ---- */

static size_t logical_width(const void *self)
{
    (void)self;
    return 2;
}

static size_t logical_level(const void *self, double x)
{
    (void)self;
    return isnan(x) ? SIZE_MAX : x != 0.0;
}

static const char *logical_level_name(const void *self, size_t level, pool *p)
{
    (void)self;
    (void)p;
    return level ? "TRUE" : "FALSE";
}

const transform_kind transform_logical = {
    .name = "logical",
    .levels = true,
    .width = logical_width,
    .level = logical_level,
    .level_name = logical_level_name,
};

/* ---- scale() ----
 *
 * scale(): (x - mean) / sd as in R, sd with n - 1. With center = FALSE the divisor is the root
 * mean square (with n - 1, too). */

typedef struct {
    bool centred, scaled;
    double centre, unit;
} scaling;

static sbps_status scale_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", "center", "scale", NULL};
    scaling *s = *self = pool_take(c->pool, sizeof *s);
    if (!s) return fail_memory(c->err);
    *s = (scaling){.centred = true, .scaled = true, .unit = 1.0};
    sbps_status status = call_match(c, formal, given);
    if (status == SBPS_OK) status = call_flag(c, given[1], &s->centred);
    return status == SBPS_OK ? call_flag(c, given[2], &s->scaled) : status;
}

static sbps_status scale_fit(const call *c, void *self, double *value, size_t n)
{
    scaling *s = self;
    long double sum = 0.0L, squares = 0.0L;
    for (size_t i = 0; i < n; i++) sum += value[i];
    if (s->centred) s->centre = (double)(sum / (long double)n);
    for (size_t i = 0; i < n; i++) {
        double from = value[i] - s->centre;
        squares += (long double)from * from;
    }
    if (!s->scaled) return SBPS_OK;
    s->unit = sqrt((double)(squares / (long double)(n > 1 ? n - 1 : 1)));
    return s->unit > 0.0 ? SBPS_OK : fail_call(c, "all values are the same");
}

static size_t scale_learned(const void *self, double *out)
{
    const scaling *s = self;
    if (out) {
        out[0] = s->centre;
        out[1] = s->unit;
    }
    return 2;
}

static sbps_status scale_recall(const call *c, void *self, const double *learned, size_t n)
{
    scaling *s = self;
    if (n != 2) return fail_recall(c);
    s->centre = learned[0];
    s->unit = learned[1];
    return SBPS_OK;
}

static size_t scale_width(const void *self)
{
    (void)self;
    return 1;
}

static void scale_numbers(const void *self, double x, double *out)
{
    const scaling *s = self;
    *out = (x - s->centre) / s->unit;
}

const transform_kind transform_scale = {
    .name = "scale",
    .open = scale_open,
    .fit = scale_fit,
    .learned = scale_learned,
    .recall = scale_recall,
    .width = scale_width,
    .numbers = scale_numbers,
};
