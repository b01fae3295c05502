#include "output/contrast/parameter_names.h"

#include <string.h>

/* A byte past ASCII is a letter. */
static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || (unsigned char)c >= 0x80;
}

const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word_char(at[length])) length++;
    return length;
}

/* = within a name, which == is not. */
static bool joins(const char *at)
{
    return (at[0] == '=' && at[1] != '=') || at[0] == ':';
}

size_t name_length(const char *at)
{
    size_t length = word_length(at);
    while (length > 0 && joins(at + length)) length += 1 + word_length(at + length + 1);
    return length;
}

/* Whether a name may end so: x1 does not stand in x12, nor group in group=a. */
static bool ends(const char *name, size_t length, const char *at)
{
    return !(is_word_char(name[length - 1]) && is_word_char(at[length])) && !joins(at + length);
}

size_t parameter_at(const name_set *s, const char *at, size_t *index)
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

bool parameter_named(const name_set *s, const char *name, size_t *index)
{
    for (size_t j = 0; j < s->count; j++) {
        if (strcmp(s->names[j], name) != 0) continue;
        *index = j;
        return true;
    }
    return false;
}
