/* JSON (RFC 8259): writing values into a text, and parsing a document into a tree. */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include "core/text.h"

/* Appends a quoted string. Bytes that are not valid UTF-8 become U+FFFD. */
void json_string(text *t, const char *string);
/* Appends a number from which the same double can be read back; null for NaN and infinities. */
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
    double number;                   /* of JSON_NUMBER */
    const char *text;                /* of JSON_TEXT; a zero byte inside ends it */
    const char *key;                 /* of a member of an object; else NULL */
    const struct json *first, *next; /* first element; next one in the same list or object */
    size_t count;                    /* elements of a list or an object */
} json;

typedef struct {
    json *value; /* all values in one allocation; the first is the root */
    char *strings;
} json_document;

/* Parses `source`. Returns SBPS_NO_MEM, or SBPS_OK with *wrong NULL for a valid document and a
 * static sentence otherwise. Call json_clear in every case. */
sbps_status json_parse(const char *source, json_document *out, const char **wrong,
                       sbps_error *err);
void json_clear(json_document *d);

/* Access to values. Each takes NULL for a value that does not exist. */
const json *json_member(const json *object, const char *key); /* NULL: no such member */
const char *json_text(const json *value);                     /* NULL: not a string */
double json_double(const json *value, double fallback);       /* fallback: not a number */
bool json_true(const json *value);

#endif
