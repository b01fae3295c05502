/* Text that grows as it is printed. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stdbool.h>
#include <stdio.h>

/* Must not move while it is open. */
typedef struct {
    FILE *stream; /* print here */
    char *text;
    size_t size; /* once closed, its NUL not counted */
} word_stream;

bool words_open(word_stream *w); /* false: no memory */
/* A name, its control characters as '?'. */
void put_name(FILE *stream, const char *name);
/* The text, to be freed; NULL unless all of it is there. */
char *words_close(word_stream *w);

#endif
