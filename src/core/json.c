/* Writing and parsing JSON. The parser makes one pass over the source. Every value is at the
 * start or follows one of [ { , : so that counting these bounds the number of values; a decoded
 * string is never longer than its source. Both allocations are therefore made before
 * parsing. */
#include "core/json.h"

#include "core/decimal.h"
#include "core/printable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

void json_string(text *t, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    text_add(t, "\"");
    while (*s) {
        size_t bytes = utf8_length((const char *)s, SIZE_MAX);
        if (*s == '"' || *s == '\\')
            text_add(t, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F)
            text_add(t, "\\u%04x", (unsigned)*s);
        else if (bytes)
            text_add(t, "%.*s", (int)bytes, (const char *)s);
        else
            text_add(t, "\\ufffd");
        s += bytes ? bytes : 1;
    }
    text_add(t, "\"");
}

void json_number(text *t, double x)
{
    char digits[40];
    if (!isfinite(x)) {
        text_add(t, "null");
        return;
    }
    x += 0.0; /* turns -0 into 0 */
    decimal_print(digits, sizeof digits, "%.15g", x);
    if (decimal_read(digits, NULL) != x) decimal_print(digits, sizeof digits, "%.17g", x);
    text_add(t, "%s", digits);
}

/* ---- parsing ---- */

#define DEPTH_MAX 64 /* lists and objects inside each other */

typedef struct {
    const char *at;
    json *next;        /* the first value not yet used */
    char *strings;     /* the end of the strings decoded so far */
    const char *wrong; /* the first error; NULL: none */
} reader;

static json *read_value(reader *r, unsigned depth);

static void skip_whitespace(reader *r)
{
    while (*r->at && strchr(" \t\r\n", *r->at)) r->at++;
}

/* Skips white space and, if the next character is `c`, that one too; returns whether it was. */
static bool skip_character(reader *r, char c)
{
    skip_whitespace(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

/* Records the first error; returns NULL. */
static json *set_error(reader *r, const char *wrong)
{
    if (!r->wrong) r->wrong = wrong;
    return NULL;
}

/* ---- strings ---- */

/* Reads four hexadecimal digits. */
static bool read_hex(reader *r, unsigned *code)
{
    static const char digits[] = "0123456789abcdef";
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char lower = *r->at >= 'A' && *r->at <= 'F' ? (char)(*r->at + 32) : *r->at;
        const char *digit = lower ? strchr(digits, lower) : NULL;
        if (!digit) return false;
        *code = 16 * *code + (unsigned)(digit - digits);
    }
    return true;
}

/* Appends a character to the decoded string. */
static void put_utf8(reader *r, unsigned code)
{
    if (code < 0x80) {
        *r->strings++ = (char)code;
        return;
    }
    unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned first_byte[] = {0, 0xC0, 0xE0, 0xF0};
    *r->strings++ = (char)(first_byte[more] | code >> 6 * more);
    while (more-- > 0) *r->strings++ = (char)(0x80 | (code >> 6 * more & 0x3F));
}

/* Reads the character after \u, which may be a surrogate pair. */
static bool read_code(reader *r)
{
    unsigned code, low;
    if (!read_hex(r, &code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        if (!read_hex(r, &low)) return false;
        code = 0x10000 + ((code - 0xD800) << 10) + ((low - 0xDC00) & 0x3FF);
    }
    put_utf8(r, code);
    return true;
}

/* Reads the character after a backslash. */
static bool read_escape(reader *r)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char c = *r->at++;
    if (c == 'u') return read_code(r);
    const char *known = c ? strchr(names, c) : NULL;
    if (known) *r->strings++ = means[known - names];
    return known;
}

/* Reads a string after its first quote; NULL: it does not end, or has a wrong escape. */
static const char *read_string(reader *r)
{
    const char *begin = r->strings;
    while (*r->at != '"') {
        bool valid = *r->at != '\0';
        if (*r->at == '\\') {
            r->at++;
            valid = read_escape(r);
        } else if (valid)
            *r->strings++ = *r->at++;
        if (!valid) {
            set_error(r, "a string does not end");
            return NULL;
        }
    }
    r->at++;
    *r->strings++ = '\0';
    return begin;
}

/* ---- values ---- */

/* Reads the name of a member and the colon. */
static bool read_key(reader *r, const char **key)
{
    if (skip_character(r, '"') && (*key = read_string(r)) && skip_character(r, ':'))
        return true;
    set_error(r, "a member of an object has no name");
    return false;
}

/* Reads the elements of a list or an object up to `end`. */
static json *read_elements(reader *r, json *v, char end, unsigned depth)
{
    const json **link = &v->first;
    if (skip_character(r, end)) return v;
    do {
        const char *key = NULL;
        if (v->kind == JSON_OBJECT && !read_key(r, &key)) return NULL;
        json *element = read_value(r, depth + 1);
        if (!element) return NULL;
        element->key = key;
        *link = element;
        link = &element->next;
        v->count++;
    } while (skip_character(r, ','));
    return skip_character(r, end) ? v : set_error(r, "a list or an object does not end");
}

/* Reads null, false or true. */
static json *read_literal(reader *r, json *v)
{
    static const struct {
        const char *name;
        json_kind kind;
    } literals[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(literals[i].name);
        if (strncmp(r->at, literals[i].name, length) != 0) continue;
        r->at += length;
        v->kind = literals[i].kind;
        return v;
    }
    return set_error(r, "a value is neither text, number, list nor object");
}

/* Reads any value; NULL: an error was recorded. */
static json *read_value(reader *r, unsigned depth)
{
    if (depth > DEPTH_MAX) return set_error(r, "lists lie too deep in each other");
    json *v = r->next++;
    *v = (json){0};
    skip_whitespace(r);
    if (*r->at == '[' || *r->at == '{') {
        char end = *r->at++ == '[' ? ']' : '}';
        v->kind = end == ']' ? JSON_ARRAY : JSON_OBJECT;
        return read_elements(r, v, end, depth);
    }
    if (*r->at == '"') {
        r->at++;
        v->kind = JSON_TEXT;
        v->text = read_string(r);
        return v->text ? v : NULL;
    }
    if (*r->at != '-' && (*r->at < '0' || *r->at > '9')) return read_literal(r, v);
    char *end;
    v->kind = JSON_NUMBER;
    v->number = decimal_read(r->at, &end);
    if (end == r->at) return set_error(r, "a number has no digits");
    r->at = end;
    return v;
}

/* An upper bound of the number of values. */
static size_t count_values(const char *source)
{
    size_t count = 1;
    for (const char *c = source; *c; c++)
        count += *c == '[' || *c == '{' || *c == ',' || *c == ':';
    return count;
}

sbps_status json_parse(const char *source, json_document *out, const char **wrong,
                       sbps_error *err)
{
    *out = (json_document){.value = calloc(count_values(source) + 1, sizeof *out->value),
                           .strings = malloc(strlen(source) + 1)};
    *wrong = NULL;
    if (!out->value || !out->strings) return fail_memory(err);
    reader r = {.at = source, .next = out->value, .strings = out->strings};
    if (read_value(&r, 0)) {
        skip_whitespace(&r);
        if (*r.at) set_error(&r, "something follows its end");
    }
    *wrong = r.wrong;
    return SBPS_OK;
}

void json_clear(json_document *d)
{
    free(d->value);
    free(d->strings);
    *d = (json_document){0};
}

/* ---- access ---- */

const json *json_member(const json *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (const json *v = object->first; v; v = v->next)
        if (strcmp(v->key, key) == 0) return v;
    return NULL;
}

const char *json_text(const json *value)
{
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}

double json_double(const json *value, double fallback)
{
    return value && value->kind == JSON_NUMBER ? value->number : fallback;
}

bool json_true(const json *value)
{
    return value && value->kind == JSON_TRUE;
}
