/* Names as a terminal may see them. */
#include "base/printable.h"

#include <string.h>

shown show(const char *begin, const char *end)
{
    shown s;
    size_t length = (size_t)(end - begin), most = 40;
    size_t keep = length <= most ? length : most;
    /* do not cut through a UTF-8 character */
    while (length > most && keep > 0 && ((unsigned char)begin[keep] & 0xc0) == 0x80) keep--;
    for (size_t i = 0; i < keep; i++) {
        unsigned char c = (unsigned char)begin[i];
        s.text[i] = c < 32 || c == 127 ? '?' : (char)c;
    }
    strcpy(s.text + keep, length > most ? "..." : "");
    return s;
}

shown show_name(const char *name)
{
    return show(name, name + strlen(name));
}
