/* Part by part a file may be read by several at the same time: levels are the part's own, and where something is
 * wrong it is only said that it is. */
#include "ingest/text/part.h"

#include <string.h>

#define PART_REACH 4 /* parts, in which a record must end that was guessed */

size_t part_count(const part_layout *how)
{
    return (how->size - how->first + how->bytes - 1) / how->bytes;
}

size_t part_begin(const part_layout *how, size_t index)
{
    return how->first + index * how->bytes;
}

size_t part_stop(const part_layout *how, size_t index)
{
    size_t begin = part_begin(how, index);
    return how->size - begin < how->bytes ? how->size : begin + how->bytes;
}

bool part_open(const row_source *s, bool packed, part *p)
{
    *p = (part){0};
    chunks_init(&p->rows, s->schema->width, packed);
    return schema_fork(s->schema, &p->schema) && text_view_open(s->source, &p->view);
}

void part_close(part *p)
{
    chunks_clear(&p->rows);
    if (p->schema.columns) schema_close_fork(&p->schema);
    text_view_close(&p->view);
}

bool part_find_line(text_file *t, size_t begin, size_t stop)
{
    text_file_seek(t, begin - 1, 1);
    for (;;) {
        char *found = memchr(t->at, '\n', (size_t)(t->limit - t->at));
        t->at = found ? found + 1 : t->limit;
        if (found || text_file_offset(t) >= stop) return text_file_offset(t) < stop;
        if (text_file_more(t, NULL) != SBPS_OK || t->finished) return false;
    }
}

static bool read_records(part *p, const format_kind *kind, void *reader)
{
    row_fate fate = ROW_KEPT;
    while (fate != ROW_END && text_file_offset(&p->view) < p->stop) {
        double *row = chunks_next(&p->rows);
        if (!row || kind->next(reader, &p->schema, row, &fate, NULL) != SBPS_OK) return false;
        if (fate == ROW_KEPT && !chunks_keep(&p->rows)) return false;
        p->kept += fate == ROW_KEPT;
        p->dropped += fate == ROW_DROPPED;
    }
    p->end = text_file_offset(&p->view);
    p->lines = p->view.line - 1;
    return true;
}

void part_read(const row_source *s, const part_layout *how, size_t index, part *p)
{
    const format_kind *kind = s->kind;
    size_t begin = part_begin(how, index);
    p->stop = part_stop(how, index);
    p->view.reach = p->stop + PART_REACH * how->bytes;
    p->kept = p->dropped = 0;
    p->whole = false;
    schema_reset(&p->schema);
    if (index == 0)
        text_file_seek(&p->view, begin, 1);
    else if (!part_find_line(&p->view, begin, p->stop))
        return;
    p->begin = text_file_offset(&p->view);
    void *reader = kind->fork(s->self, &p->view);
    if (!reader) return; /* the source itself will say so */
    p->whole = read_records(p, kind, reader);
    kind->join(reader);
}
