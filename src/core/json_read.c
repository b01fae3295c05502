/* One pass. A value begins the text or follows [ { , or : so that their number bounds that of values, and a string is
 * never longer than it was written. */
#include "core/decimal.h"
#include "core/json.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

typedef struct {
    const char *at;
    json *next;    /* the first value that is not taken */
    char *strings; /* where the next one goes */
    const char *wrong;
} reader;

static json *read_value(reader *r, unsigned depth);

static void skip_whitespace(reader *r)
{
    while (*r->at && strchr(" \t\r\n", *r->at)) r->at++;
}

static bool is_next(reader *r, char c)
{
    skip_whitespace(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static json *set_error(reader *r, const char *wrong)
{
    if (!r->wrong) r->wrong = wrong;
    return NULL;
}

/* ---- strings ---- */

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

/* Behind the backslash and the u. */
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

static bool read_escape(reader *r)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char c = *r->at++;
    if (c == 'u') return read_code(r);
    const char *known = c ? strchr(names, c) : NULL;
    if (known) *r->strings++ = means[known - names];
    return known;
}

/* Behind the first quote. */
static const char *read_string(reader *r)
{
    const char *begin = r->strings;
    while (*r->at != '"') {
        bool fine = *r->at != '\0';
        if (*r->at == '\\') {
            r->at++;
            fine = read_escape(r);
        } else if (fine)
            *r->strings++ = *r->at++;
        if (!fine) {
            set_error(r, "a string does not end");
            return NULL;
        }
    }
    r->at++;
    *r->strings++ = '\0';
    return begin;
}

/* ---- values ---- */

static bool read_key(reader *r, const char **key)
{
    if (is_next(r, '"') && (*key = read_string(r)) && is_next(r, ':')) return true;
    set_error(r, "a member of an object has no name");
    return false;
}

static json *read_held(reader *r, json *v, char end, unsigned depth)
{
    const json **link = &v->first;
    if (is_next(r, end)) return v;
    do {
        const char *key = NULL;
        if (v->kind == JSON_OBJECT && !read_key(r, &key)) return NULL;
        json *held = read_value(r, depth + 1);
        if (!held) return NULL;
        held->key = key;
        *link = held;
        link = &held->next;
        v->count++;
    } while (is_next(r, ','));
    return is_next(r, end) ? v : set_error(r, "a list or an object does not end");
}

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

static json *read_value(reader *r, unsigned depth)
{
    if (depth > DEPTH_MAX) return set_error(r, "lists lie too deep in each other");
    json *v = r->next++;
    *v = (json){0};
    skip_whitespace(r);
    if (*r->at == '[' || *r->at == '{') {
        char end = *r->at++ == '[' ? ']' : '}';
        v->kind = end == ']' ? JSON_ARRAY : JSON_OBJECT;
        return read_held(r, v, end, depth);
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

/* ---- asking ---- */

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
