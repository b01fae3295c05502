/* A memory stream that could not grow leaves the text short or NULL, and its closing may still
 * report success: the stream's error tells. */
#include "base/words.h"

#include "base/printable.h"

#include <stdlib.h>

bool words_open(word_stream *w)
{
    *w = (word_stream){0};
    w->stream = open_memstream(&w->text, &w->size);
    return w->stream;
}

char *words_close(word_stream *w)
{
    bool whole = fflush(w->stream) == 0 && !ferror(w->stream);
    if (fclose(w->stream) == 0 && whole) return w->text;
    free(w->text);
    return NULL;
}

void put_name(FILE *stream, const char *name)
{
    for (size_t bytes; *name; name += bytes)
        fputc(is_control(name, &bytes) ? '?' : *name, stream);
}
