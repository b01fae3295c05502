/* Expressions of parameters. The grammar, from the loosest operator to the tightest:
 *
 *   comparison   < <= > >= == !=     1 where it holds, else 0; at most one
 *   sum          + -
 *   product      * /
 *   sign         + - before an operand
 *   power        ^, from right to left
 *   operand      a number, a parameter, a function call, (expression)
 *
 * A recursive-descent parser emits the steps in the order in which a stack machine executes
 * them. A parameter is written as the summary spells it, with any characters (group=a, x1:x2,
 * log(x)): the longest name that matches is taken. A name that begins with a digit, or could be
 * read in two ways, is written in backticks. */
#include "output/contrast/expression.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- operators and functions; NaN in gives NaN out, so that such a draw is noticed ---- */

typedef enum { LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_POWER } operator_level;

/* An operator: its characters, its precedence and what it computes. */
typedef struct {
    const char *written;
    operator_level level;
    double (*two)(double x, double y);
} binary_operator;

typedef struct {
    const char *name;
    double (*one)(double x); /* a function of one argument, or NULL */
    double (*two)(
        double x,
        double y); /* applied from left to right to any number of arguments, or NULL */
} expression_function;

static double add(double x, double y)
{
    return x + y;
}

static double subtract(double x, double y)
{
    return x - y;
}

static double multiply(double x, double y)
{
    return x * y;
}

static double divide(double x, double y)
{
    return x / y;
}

/* A comparison: 1 or 0, NaN where either side is NaN. */
static double truth(int holds, double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : holds ? 1.0 : 0.0;
}

static double is_less(double x, double y)
{
    return truth(x < y, x, y);
}

static double is_at_most(double x, double y)
{
    return truth(x <= y, x, y);
}

static double is_greater(double x, double y)
{
    return truth(x > y, x, y);
}

static double is_at_least(double x, double y)
{
    return truth(x >= y, x, y);
}

static double is_equal(double x, double y)
{
    return truth(x == y, x, y);
}

static double is_other(double x, double y)
{
    return truth(x != y, x, y);
}

static double smaller_value(double x, double y)
{
    return isnan(x) || x < y ? x : y;
}

static double larger_value(double x, double y)
{
    return isnan(x) || x > y ? x : y;
}

static double inv_logit(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double logit(double x)
{
    return log(x / (1.0 - x));
}

static double negative(double x)
{
    return -x;
}

/* An operator that begins with another comes before it. */
static const binary_operator operators[] = {
    {"<=", LEVEL_COMPARISON, is_at_most},
    {">=", LEVEL_COMPARISON, is_at_least},
    {"==", LEVEL_COMPARISON, is_equal},
    {"!=", LEVEL_COMPARISON, is_other},
    {"<", LEVEL_COMPARISON, is_less},
    {">", LEVEL_COMPARISON, is_greater},
    {"+", LEVEL_SUM, add},
    {"-", LEVEL_SUM, subtract},
    {"*", LEVEL_PRODUCT, multiply},
    {"/", LEVEL_PRODUCT, divide},
    {"^", LEVEL_POWER, pow},
};

/* The operator at `at`, if it is of this level; else NULL. */
static const binary_operator *operator_at(const char *at, operator_level level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strncmp(at, operators[i].written, strlen(operators[i].written)))
            return operators[i].level == level ? &operators[i] : NULL;
    return NULL;
}

/* Name, function of one argument, operation on any number of arguments. */
#define FUNCTIONS(X)                                                                           \
    X("exp", exp, NULL)                                                                        \
    X("log", log, NULL)                                                                        \
    X("sqrt", sqrt, NULL)                                                                      \
    X("abs", fabs, NULL)                                                                       \
    X("logit", logit, NULL)                                                                    \
    X("inv_logit", inv_logit, NULL)                                                            \
    X("min", NULL, smaller_value)                                                              \
    X("max", NULL, larger_value)

static const expression_function functions[] = {
#define FUNCTION(name, one, two) {name, one, two},
    FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const char *const function_names[] = {
#define FUNCTION_NAME(name, one, two) name,
    FUNCTIONS(FUNCTION_NAME)
#undef FUNCTION_NAME
};
static const size_t function_count = sizeof functions / sizeof *functions;

/* The function whose name is these `length` bytes; NULL: there is none. */
static const expression_function *function_named(const char *name, size_t length)
{
    for (size_t i = 0; i < function_count; i++)
        if (strlen(functions[i].name) == length && !strncmp(functions[i].name, name, length))
            return &functions[i];
    return NULL;
}

/* ---- where names end ---- */

typedef struct {
    char *const *names;
    size_t count;
} name_set;

/* Letters, digits, . and _; bytes beyond ASCII count as letters. */
static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || (unsigned char)c >= 0x80;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Bytes of the word that begins at `at`. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word_char(at[length])) length++;
    return length;
}

/* Whether = or : joins two parts of a name here; == is an operator. */
static bool joins(const char *at)
{
    return (at[0] == '=' && at[1] != '=') || at[0] == ':';
}

/* Bytes of everything that looks like a name at `at`, with its = and : parts. */
static size_t name_length(const char *at)
{
    size_t length = word_length(at);
    while (length > 0 && joins(at + length)) length += 1 + word_length(at + length + 1);
    return length;
}

/* Whether a name may end here: x1 is not part of x12, nor group of group=a. */
static bool ends(const char *name, size_t length, const char *at)
{
    return !(is_word_char(name[length - 1]) && is_word_char(at[length])) && !joins(at + length);
}

/* Bytes of the longest parameter name that begins at `at`, and its index; 0: none does. */
static size_t parameter_at(const name_set *s, const char *at, size_t *index)
{
    size_t longest = 0;
    for (size_t j = 0; j < s->count; j++) {
        size_t length = strlen(s->names[j]);
        if (length <= longest || strncmp(at, s->names[j], length) != 0) continue;
        if (!ends(s->names[j], length, at)) continue;
        longest = length;
        *index = j;
    }
    return longest;
}

/* Finds the parameter with exactly this name; false: there is none. */
static bool parameter_named(const name_set *s, const char *name, size_t *index)
{
    for (size_t j = 0; j < s->count; j++) {
        if (strcmp(s->names[j], name) != 0) continue;
        *index = j;
        return true;
    }
    return false;
}

/* ---- parser ---- */

#define DEEPEST 100 /* nested parentheses and signs, because the parser is recursive */

typedef struct {
    const char *text, *at; /* the whole text, and the next character that is not blank */
    name_set names;
    expression *out;
    size_t depth, stack; /* of the recursion; numbers on the stack at this step */
    sbps_status status;
    sbps_error *err;
} parser;

/* Reports a mistake at `at`, unless there is an earlier one. Returns false. */
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

/* Skips bytes and the blanks after them. */
static void advance(parser *p, size_t bytes)
{
    p->at = skip_blanks(p->at + bytes);
}

/* Appends a step; false when memory runs out. */
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

/* Appends a binary operation. */
static bool emit_two(parser *p, double (*two)(double x, double y))
{
    return emit(p, (expression_step){.kind = STEP_TWO, .two = two});
}

static bool parse_level(parser *p, operator_level level);

/* Parses the expression within parentheses or between commas. */
static bool parse_inside(parser *p)
{
    if (++p->depth > DEEPEST) return fail_here(p, p->at, "the expression is nested too deeply");
    bool fine = parse_level(p, LEVEL_COMPARISON);
    p->depth--;
    return fine;
}

/* Parses ); `opened` is its opening parenthesis. */
static bool close_parenthesis(parser *p, const char *opened)
{
    if (!*p->at) return fail_here(p, opened, "this parenthesis is not closed");
    if (*p->at != ')')
        return fail_here(p, p->at, "an operator or a closing parenthesis is missing here");
    advance(p, 1);
    return true;
}

static bool parse_number(parser *p)
{
    char *end;
    double value = decimal_read(p->at, &end);
    if (word_length(end))
        return fail_here(p, p->at, "write a name that begins with a digit in `backticks`");
    if (!isfinite(value)) return fail_here(p, p->at, "the number is too large");
    advance(p, (size_t)(end - p->at));
    return emit(p, (expression_step){.kind = STEP_NUMBER, .number = value});
}

/* Reports an unknown parameter, with a suggestion. */
static bool unknown_parameter(parser *p, const char *name)
{
    name_hint hint =
        did_you_mean(",", name, (const char *const *)p->names.names, p->names.count);
    return fail_here(p, p->at, "there is no parameter '%s'%s", show_name(name).text,
                     *hint.text ? hint.text : "; `sbps summary` lists them");
}

/* Reports an unknown name: of a function if a parenthesis follows. */
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

/* Parses a parameter in backticks. */
static bool parse_quoted(parser *p)
{
    const char *end = strchr(p->at + 1, '`');
    size_t index, length = end ? (size_t)(end - p->at - 1) : 0;
    if (!end) return fail_here(p, p->at, "the closing backtick of this name is missing");
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

/* Parses the arguments of a call. */
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

/* The function that is called at this position; NULL: none is. */
static const expression_function *called(const parser *p)
{
    size_t length = word_length(p->at);
    return *skip_blanks(p->at + length) == '(' ? function_named(p->at, length) : NULL;
}

/* A parameter, or a call of a function. A parameter may have the name of a function, or of a
 * formula term: exp, log(x), `2nd`. The longer reading is taken. */
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

/* Parses a number, a parameter, a call or a parenthesis. */
static bool parse_operand(parser *p)
{
    size_t index;
    bool digit = *p->at >= '0' && *p->at <= '9';
    if (digit || (*p->at == '.' && p->at[1] >= '0' && p->at[1] <= '9')) return parse_number(p);
    if (called(p) || parameter_at(&p->names, p->at, &index)) return parse_name(p);
    if (*p->at == '`') return parse_quoted(p);
    if (*p->at == '(') {
        const char *opened = p->at;
        advance(p, 1);
        return parse_inside(p) && close_parenthesis(p, opened);
    }
    if (word_length(p->at)) return parse_unknown(p);
    return fail_here(p, p->at,
                     *p->at ? "a parameter or a number is missing here"
                            : "a parameter or a number is missing at the end");
}

static bool parse_signed(parser *p);

/* Parses an operand, and a power of it. */
static bool parse_power(parser *p)
{
    if (!parse_operand(p)) return false;
    const binary_operator *power = operator_at(p->at, LEVEL_POWER);
    if (!power) return true;
    advance(p, 1);
    return parse_signed(p) && emit_two(p, power->two);
}

/* -x^2 is -(x^2), and 2^-x is allowed. */
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

/* Parses operators of this level and of all tighter ones. */
static bool parse_level(parser *p, operator_level level)
{
    if (level == LEVEL_POWER) return parse_signed(p);
    if (!parse_level(p, level + 1)) return false;
    for (const binary_operator *o; (o = operator_at(p->at, level));) {
        advance(p, strlen(o->written));
        if (!parse_level(p, level + 1) || !emit_two(p, o->two)) return false;
        if (level == LEVEL_COMPARISON && operator_at(p->at, level))
            return fail_here(p, p->at,
                             "a comparison cannot follow another: write (a < b) * (b < c)");
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
                  *p.at == ')'   ? "this parenthesis was never opened"
                  : *p.at == '=' ? "to compare, write =="
                                 : "an operator is missing here");
    if (p.status != SBPS_OK) expression_free(out);
    return p.status;
}

/* ---- evaluation ---- */

double expression_value(const expression *e, const double *w, double *stack)
{
    double *top = stack; /* the first free element */
    for (size_t i = 0; i < e->steps; i++) {
        const expression_step *s = &e->step[i];
        switch (s->kind) {
        case STEP_NUMBER:
            *top++ = s->number;
            break;
        case STEP_PARAMETER:
            *top++ = w[s->parameter];
            break;
        case STEP_ONE:
            top[-1] = s->one(top[-1]);
            break;
        case STEP_TWO:
            top[-2] = s->two(top[-2], top[-1]);
            top--;
            break;
        }
    }
    return stack[0];
}

void expression_free(expression *e)
{
    free(e->step);
    *e = (expression){0};
}
