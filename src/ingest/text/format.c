/* The registry of file formats. */
#include "ingest/text/format.h"

static const format_kind *const formats[] = {FORMAT_KINDS(KIND_LISTED) NULL};

const format_kind *format_of(const text_file *source)
{
    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->recognise(source->at, source->limit)) return formats[i];
    return &format_csv;
}
