/* JSON (RFC 8259), written and read. */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include "core/text.h"

/* Bytes of the UTF-8 character that starts here, 0 when it is none (overlong forms and surrogates included). */
size_t utf8_bytes(const unsigned char *s);
void json_string(text *t, const char *string);
/* Gives the same double back; null for what JSON cannot write. */
void json_number(text *t, double x);

typedef enum {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

typedef struct json {
    json_kind kind;
    double number;
    const char *text;                /* of a text; a zero inside cuts it off */
    const char *key;                 /* where it is a member of an object; else NULL */
    const struct json *first, *next; /* of what it holds; behind it in what holds it */
    size_t count;                    /* of what it holds */
} json;

typedef struct {
    json *value; /* the first is the whole */
    char *strings;
} json_document;

/* NULL in *wrong, or what is wrong with it, in words. Clear it also then. */
sbps_status json_parse(const char *source, json_document *out, const char **wrong,
                       sbps_error *err);
void json_clear(json_document *d);

/* They take NULL, as what is not there. */
const json *json_member(const json *object, const char *key);
const char *json_text(const json *value);               /* NULL: no text */
double json_double(const json *value, double fallback); /* no number: the fallback */
bool json_true(const json *value);

#endif
