/* Names in UTF-8, whatever the file was written in. */
#ifndef CORE_ENCODING_H
#define CORE_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The characters of bytes 0x80 to 0x9f in an encoding of a byte a character whose others are those of Unicode; 0: none.
 * NULL for UTF-8, and for any other name. */
const uint16_t *encoding_find(const char *name);
#define ENCODED_MAX ((size_t)3) /* bytes of UTF-8 that a byte may become */
/* `size` bytes as UTF-8 at `to`, behind which ENCODED_MAX * size bytes have room and at whose end they may lie
 * themselves. Returns its end. */
char *encoding_decode(const uint16_t *high, const char *bytes, size_t size, char *to);

bool is_utf8(const char *bytes, size_t length);
/* A copy that is UTF-8: bytes that are not are taken for Windows' Latin-1. NULL: no memory. */
char *utf8_copy(const char *bytes, size_t length);

#endif
