/* The grammar of expression.h, from the loosest operator to the tightest; steps are made on the way. */
#include "output/contrast/expression.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "output/contrast/operators.h"
#include "output/contrast/parameter_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 100 /* parentheses and signs: the parser calls itself */

typedef struct {
    const char *text, *at; /* blanks are behind it */
    name_set names;
    expression *out;
    size_t depth, stack;
    sbps_status status;
    sbps_error *err;
} parser;

/* The first failure stands. Always false. */
static bool fail_here(parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail_here(parser *p, const char *at, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (p->status == SBPS_OK)
        p->status = fail_pointing(p->err, "expression", p->text, (size_t)(at - p->text), format,
                                  values);
    va_end(values);
    return false;
}

static void advance(parser *p, size_t bytes)
{
    p->at = skip_blanks(p->at + bytes);
}

static bool emit(parser *p, expression_step step)
{
    expression *e = p->out;
    if (e->steps == e->capacity) {
        size_t capacity = 2 * e->capacity + 16;
        expression_step *grown = realloc(e->step, capacity * sizeof *grown);
        if (!grown) p->status = fail_memory(p->err);
        if (!grown) return false;
        e->step = grown;
        e->capacity = capacity;
    }
    e->step[e->steps++] = step;
    p->stack += step.kind == STEP_NUMBER || step.kind == STEP_PARAMETER;
    p->stack -= step.kind == STEP_TWO;
    if (p->stack > e->deepest) e->deepest = p->stack;
    return true;
}

static bool emit_two(parser *p, double (*two)(double x, double y))
{
    return emit(p, (expression_step){.kind = STEP_TWO, .two = two});
}

static bool parse_level(parser *p, operator_level level);

/* What stands in parentheses or between commas. */
static bool parse_inside(parser *p)
{
    if (++p->depth > DEEPEST) return fail_here(p, p->at, "the expression is nested too deeply");
    bool fine = parse_level(p, LEVEL_COMPARISON);
    p->depth--;
    return fine;
}

static bool close_parenthesis(parser *p, const char *opened)
{
    if (!*p->at) return fail_here(p, opened, "the parenthesis that opens here is not closed");
    if (*p->at != ')')
        return fail_here(p, p->at,
                         "an operator or a closing parenthesis is missing before this");
    advance(p, 1);
    return true;
}

static bool parse_number(parser *p)
{
    char *end;
    double value = decimal_read(p->at, &end);
    if (word_length(end))
        return fail_here(p, p->at, "a name that begins with a digit stands in `backticks`");
    if (!isfinite(value)) return fail_here(p, p->at, "the number is too large");
    advance(p, (size_t)(end - p->at));
    return emit(p, (expression_step){.kind = STEP_NUMBER, .number = value});
}

static bool unknown_parameter(parser *p, const char *name)
{
    name_hint hint =
        did_you_mean(",", name, (const char *const *)p->names.names, p->names.count);
    return fail_here(p, p->at, "there is no parameter '%s'%s", show_name(name).text,
                     *hint.text ? hint.text : "; `sbps summary` lists them");
}

static bool parse_unknown(parser *p)
{
    char name[64];
    size_t length = name_length(p->at);
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, p->at, length);
    name[length] = '\0';
    if (*skip_blanks(p->at + length) != '(') return unknown_parameter(p, name);
    name_hint hint = nearest_or_all(name, function_names, function_count);
    return fail_here(p, p->at, "there is no function '%s'%s", show_name(name).text, hint.text);
}

static bool emit_parameter(parser *p, size_t index)
{
    return emit(p, (expression_step){.kind = STEP_PARAMETER, .parameter = index});
}

static bool parse_quoted(parser *p)
{
    const char *end = strchr(p->at + 1, '`');
    size_t index, length = end ? (size_t)(end - p->at - 1) : 0;
    if (!end) return fail_here(p, p->at, "the name that begins here does not end");
    char *name = copy_text(p->at + 1);
    if (!name) p->status = fail_memory(p->err);
    if (!name) return false;
    name[length] = '\0';
    bool found = parameter_named(&p->names, name, &index);
    if (!found) unknown_parameter(p, name);
    free(name);
    if (!found) return false;
    advance(p, length + 2);
    return emit_parameter(p, index);
}

static bool parse_arguments(parser *p, const expression_function *f)
{
    const char *opened = p->at;
    advance(p, 1);
    if (!parse_inside(p)) return false;
    while (*p->at == ',') {
        if (!f->two) return fail_here(p, p->at, "%s takes one argument", f->name);
        advance(p, 1);
        if (!parse_inside(p) || !emit_two(p, f->two)) return false;
    }
    if (!close_parenthesis(p, opened)) return false;
    return !f->one || emit(p, (expression_step){.kind = STEP_ONE, .one = f->one});
}

/* The function that is called here, if one is. */
static const expression_function *called(const parser *p)
{
    size_t length = word_length(p->at);
    return *skip_blanks(p->at + length) == '(' ? function_named(p->at, length) : NULL;
}

static bool parse_parenthesis(parser *p)
{
    const char *opened = p->at;
    advance(p, 1);
    return parse_inside(p) && close_parenthesis(p, opened);
}

/* A parameter may be called as a function is, or as what a formula made of its column: exp, log(x), `2nd`. */
static bool parse_name(parser *p)
{
    const expression_function *f = called(p);
    size_t index, length = parameter_at(&p->names, p->at, &index);
    if (f && length <= strlen(f->name)) {
        advance(p, strlen(f->name));
        return parse_arguments(p, f);
    }
    advance(p, length);
    return emit_parameter(p, index);
}

static bool parse_operand(parser *p)
{
    size_t index;
    bool digit = *p->at >= '0' && *p->at <= '9';
    if (digit || (*p->at == '.' && p->at[1] >= '0' && p->at[1] <= '9')) return parse_number(p);
    if (called(p) || parameter_at(&p->names, p->at, &index)) return parse_name(p);
    if (*p->at == '`') return parse_quoted(p);
    if (*p->at == '(') return parse_parenthesis(p);
    if (word_length(p->at)) return parse_unknown(p);
    return fail_here(p, p->at,
                     *p->at ? "a parameter or a number is missing before this"
                            : "the expression ends where a parameter or a number should stand");
}

static bool parse_signed(parser *p);

static bool parse_power(parser *p)
{
    if (!parse_operand(p)) return false;
    const binary_operator *power = operator_at(p->at, LEVEL_POWER);
    if (!power) return true;
    advance(p, 1);
    return parse_signed(p) && emit_two(p, power->two);
}

/* -x^2 is -(x^2), and 2^-x stands for itself. */
static bool parse_signed(parser *p)
{
    const char sign = *p->at;
    if (++p->depth > DEEPEST) return fail_here(p, p->at, "the expression is nested too deeply");
    bool fine;
    if (sign == '-' || sign == '+') {
        advance(p, 1);
        fine = parse_signed(p);
        if (fine && sign == '-')
            fine = emit(p, (expression_step){.kind = STEP_ONE, .one = negative});
    } else
        fine = parse_power(p);
    p->depth--;
    return fine;
}

static bool parse_level(parser *p, operator_level level)
{
    if (level == LEVEL_POWER) return parse_signed(p);
    if (!parse_level(p, level + 1)) return false;
    for (const binary_operator *o; (o = operator_at(p->at, level));) {
        advance(p, strlen(o->written));
        if (!parse_level(p, level + 1) || !emit_two(p, o->two)) return false;
        if (level == LEVEL_COMPARISON && operator_at(p->at, level))
            return fail_here(p, p->at,
                             "one comparison cannot follow another: (a < b) * (b < c)");
    }
    return true;
}

sbps_status expression_parse(const char *text, char *const *names, size_t count,
                             expression *out, sbps_error *err)
{
    parser p = {
        .text = text, .at = skip_blanks(text), .names = {names, count}, .out = out, .err = err};
    *out = (expression){0};
    if (parse_level(&p, LEVEL_COMPARISON) && *p.at)
        fail_here(&p, p.at,
                  *p.at == ')'   ? "a parenthesis closes here that was never opened"
                  : *p.at == '=' ? "= is part of a name or, written ==, compares"
                                 : "an operator is missing before this");
    if (p.status != SBPS_OK) expression_free(out);
    return p.status;
}
