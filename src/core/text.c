/* Strings that grow by doubling, notes and names. */
#include "core/text.h"

#include "core/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Makes room for `more` bytes and the closing zero; returns false if memory ran out. */
static bool reserve(text *t, size_t more)
{
    size_t needed = t->length + more + 1, capacity = t->capacity ? t->capacity : 256;
    if (t->failed) return false;
    if (needed <= t->capacity) return true;
    while (capacity < needed) capacity *= 2;
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_bytes(text *t, const char *bytes, size_t count)
{
    if (!reserve(t, count)) return;
    memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = '\0';
}

void text_add_list(text *t, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    int need = vsnprintf(NULL, 0, format, values);
    if (need >= 0 && reserve(t, (size_t)need)) {
        vsnprintf(t->data + t->length, (size_t)need + 1, format, again);
        t->length += (size_t)need;
    }
    va_end(again);
}

void text_add(text *t, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    text_add_list(t, format, values);
    va_end(values);
}

void text_name(text *t, const char *name)
{
    for (size_t bytes; *name; name += bytes)
        text_bytes(t, is_control(name, &bytes) ? "?" : name, 1);
}

void text_csv_field(text *t, const char *field)
{
    if (!field[strcspn(field, ",\"\r\n")]) {
        text_bytes(t, field, strlen(field));
        return;
    }
    text_bytes(t, "\"", 1);
    for (; *field; field++) text_bytes(t, *field == '"' ? "\"\"" : field, 1 + (*field == '"'));
    text_bytes(t, "\"", 1);
}

void text_spaces(text *t, size_t count)
{
    for (size_t i = 0; i < count; i++) text_bytes(t, " ", 1);
}

void text_cut(text *t, size_t length)
{
    if (!t->data || length >= t->length) return;
    t->length = length;
    t->data[length] = '\0';
}

char *text_take(text *t)
{
    text_bytes(t, "", 0);
    char *bytes = t->failed ? NULL : t->data;
    if (t->failed) free(t->data);
    *t = (text){0};
    return bytes;
}

sbps_status text_give(text *t, char **out, sbps_error *err)
{
    *out = text_take(t);
    return *out ? SBPS_OK : fail_memory(err);
}

void text_free(text *t)
{
    free(t->data);
    *t = (text){0};
}

const char *name_format(name_buffer *to, const char *format, ...)
{
    va_list values;
    name_buffer_clear(to);
    va_start(values, format);
    int length = vsnprintf(to->brief, sizeof to->brief, format, values);
    va_end(values);
    if (length < 0) return NULL;
    if ((size_t)length < sizeof to->brief) return to->brief;
    va_start(values, format);
    if (vasprintf(&to->longer, format, values) < 0) to->longer = NULL;
    va_end(values);
    return to->longer;
}

void name_buffer_clear(name_buffer *of)
{
    free(of->longer);
    of->longer = NULL;
}

sbps_status notes_add(char **notes, const char *format, va_list values, sbps_error *err)
{
    char *sentence, *all;
    int made = vasprintf(&sentence, format, values);
    if (made < 0) return fail_memory(err);
    made = asprintf(&all, "%s%s\n", *notes ? *notes : "", sentence);
    free(sentence);
    if (made < 0) return fail_memory(err);
    free(*notes);
    *notes = all;
    return SBPS_OK;
}

bool is_truth(const char *word, bool value)
{
    return !strcasecmp(word, value ? "true" : "false");
}
