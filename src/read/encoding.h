/* Names in UTF-8, whatever the file was written in. */
#ifndef READ_ENCODING_H
#define READ_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

bool is_utf8(const char *bytes, size_t length);
/* A copy that is UTF-8: bytes that are not are taken for Windows' Latin-1. NULL: no memory. */
char *utf8_copy(const char *bytes, size_t length);

#endif
