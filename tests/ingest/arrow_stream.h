/* Converts a table of text cells to an Arrow stream: in batches, with rows before the offsets
 * that must not be read, and buffers of the smallest valid length. Include after fixture.h. */
#ifndef TESTS_INGEST_ARROW_STREAM_H
#define TESTS_INGEST_ARROW_STREAM_H

#include "ingest/schema/types.h"
#include <errno.h>

enum { PRODUCER_COLUMNS = 16, PRODUCER_LEVELS = 64 };

typedef struct {
    const char *name, *format;
    const char *codes; /* type of the codes of a dictionary of `format`; NULL: no dictionary */
    bool ordered;
} produced_column;

typedef struct {
    produced_column column[PRODUCER_COLUMNS];
    size_t columns, rows;
    const char *const *cell; /* rows * columns; NULL: null */
    size_t batch, pad;       /* rows of a batch; rows of each array before its offset */
    size_t batch_pad;        /* the same of the batch itself */
    size_t fails_at;         /* batch that fails; 0: none, 1: the schema, 2: the first */
    size_t next;             /* row */
    size_t schemas, arrays, streams; /* created and not yet released */
    size_t releases;                 /* of the stream */
} producer;

/* Buffers of Arrow are const to their readers, not to their producer. */
static void *own(const void *buffer)
{
    void *out;
    memcpy(&out, &buffer, sizeof out);
    return out;
}

static const char *cell_of(const producer *p, size_t row, size_t column)
{
    return p->cell[row * p->columns + column];
}

/* ---- values ---- */

static void put_bytes(void *at, long long value, size_t bytes)
{
    memcpy(at, &value, bytes); /* little-endian */
}

static size_t width_of(const char *format)
{
    const char *known = "cCsSiIlLefg";
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    const char *at = strchr(known, *format);
    if (!strcmp(format, "tdD")) return 4;
    if (*format == 'd') return 16;
    if (*format == 't') return 8;
    return at ? bytes[at - known] : 0;
}

static double unit_of(const char *format)
{
    char unit = format[2];
    return unit == 'm' ? 1e3 : unit == 'u' ? 1e6 : unit == 'n' ? 1e9 : 1.0;
}

static void put_time(const char *format, const char *text, unsigned char *at)
{
    double value;
    const char *end = text + strlen(text);
    if (format[1] == 'd' && date_read(text, end, &value))
        put_bytes(at, (long long)(format[2] == 'm' ? value * 86400e3 : value),
                  width_of(format));
    else if (format[1] == 's' && time_read(text, end, &value))
        put_bytes(at, llround(value * unit_of(format)), 8);
    else
        put_bytes(at, llround(strtod(text, NULL) * unit_of(format)), 8);
}

static void put_half(const char *text, unsigned char *at)
{
    int exponent;
    double value = strtod(text, NULL), fraction = frexp(fabs(value), &exponent);
    uint16_t bits = value == 0.0
                        ? 0
                        : (uint16_t)((exponent + 14) << 10 | ((int)ldexp(fraction, 11) & 1023));
    bits |= value < 0 ? 0x8000 : 0;
    memcpy(at, &bits, 2);
}

static void put_value(const char *format, const char *text, unsigned char *at)
{
    double number = strtod(text, NULL);
    float single = (float)number;
    if (*format == 't')
        put_time(format, text, at);
    else if (*format == 'g')
        memcpy(at, &number, 8);
    else if (*format == 'f')
        memcpy(at, &single, 4);
    else if (*format == 'e')
        put_half(text, at);
    else if (*format == 'd') { /* two decimals */
        put_bytes(at, llround(100 * number), 8);
        memset(at + 8, number < 0 ? 0xff : 0, 8);
    } else if (*format == 'L')
        memcpy(at, &(uint64_t){strtoull(text, NULL, 10)}, 8);
    else
        put_bytes(at, strtoll(text, NULL, 10), width_of(format));
}

/* ---- arrays ---- */

static void release_array(struct ArrowArray *a)
{
    producer *p = a->private_data;
    for (int64_t k = 0; k < a->n_children; k++) {
        if (a->children[k]->release) a->children[k]->release(a->children[k]);
        free(a->children[k]);
    }
    if (a->dictionary) {
        a->dictionary->release(a->dictionary);
        free(a->dictionary);
    }
    for (int64_t k = 0; k < a->n_buffers; k++) free(own(a->buffers[k]));
    free(a->buffers);
    free(a->children);
    a->release = NULL;
    p->arrays--;
}

static struct ArrowArray *new_array(producer *p, size_t length, size_t offset, size_t buffers)
{
    struct ArrowArray *a = calloc(1, sizeof *a);
    *a = (struct ArrowArray){.length = (int64_t)length,
                             .offset = (int64_t)offset,
                             .n_buffers = (int64_t)buffers,
                             .null_count = -1,
                             .buffers = calloc(buffers + 1, sizeof *a->buffers),
                             .release = release_array,
                             .private_data = p};
    p->arrays++;
    return a;
}

/* Arbitrary bits before `pad`, so that a read there is detected. */
static void fill_validity(struct ArrowArray *a, const char *const *cell, size_t n, size_t pad)
{
    uint8_t *bits = calloc((n + pad + 7) / 8 + 1, 1);
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        all = all && cell[i];
        if (cell[i]) bits[(i + pad) / 8] |= (uint8_t)(1 << (i + pad) % 8);
    }
    a->buffers[0] = bits;
    if (!all) return;
    free(bits); /* no missing cells: no buffer */
    a->buffers[0] = NULL;
    a->null_count = 0;
}

static void fill_texts(struct ArrowArray *a, const char *const *cell, size_t n, size_t pad,
                       bool large)
{
    size_t bytes = large ? 8 : 4, size = pad ? 4 : 0;
    unsigned char *ends = calloc(n + pad + 1, bytes);
    for (size_t i = 0; i < n; i++) size += cell[i] ? strlen(cell[i]) : 0;
    char *heap = malloc(size + 1), *to = heap;
    if (pad) to = stpcpy(to, "junk");
    for (size_t i = 0; i <= n; i++) {
        put_bytes(ends + (i + pad) * bytes, to - heap, bytes);
        if (i < n && cell[i]) to = stpcpy(to, cell[i]);
    }
    a->buffers[1] = ends;
    a->buffers[2] = realloc(heap, size ? size : 1);
}

static void fill_views(struct ArrowArray *a, const char *const *cell, size_t n, size_t pad)
{
    unsigned char *views = calloc(n + pad, 16);
    size_t size = 0;
    for (size_t i = 0; i < n; i++) size += cell[i] ? strlen(cell[i]) : 0;
    char *heap = malloc(size + 1), *to = heap;
    for (size_t i = 0; i < n; i++) {
        unsigned char *view = views + (i + pad) * 16;
        size_t length = cell[i] ? strlen(cell[i]) : 0;
        put_bytes(view, (long long)length, 4);
        if (length == 0) continue;
        memcpy(view + 4, cell[i], length <= 12 ? length : 4);
        if (length <= 12) continue;
        put_bytes(view + 8, 1, 4); /* the second buffer */
        put_bytes(view + 12, to - heap, 4);
        to = stpcpy(to, cell[i]);
    }
    a->buffers[1] = views;
    a->buffers[2] = malloc(1);
    a->buffers[3] = heap;
    a->buffers[4] = calloc(2, 8);
}

static struct ArrowArray *make_values(producer *p, const char *format, const char *const *cell,
                                      size_t n, size_t pad)
{
    bool texts = *format == 'u' || *format == 'U', views = *format == 'v';
    size_t buffers = *format == 'n' ? 0 : views ? 5 : texts ? 3 : 2;
    struct ArrowArray *a = new_array(p, n, pad, buffers);
    if (*format == 'n') return a;
    fill_validity(a, cell, n, pad);
    if (texts)
        fill_texts(a, cell, n, pad, *format == 'U');
    else if (views)
        fill_views(a, cell, n, pad);
    else if (*format == 'b') {
        uint8_t *bits = calloc((n + pad + 7) / 8 + 1, 1);
        for (size_t i = 0; i < n; i++)
            if (cell[i] && !strcmp(cell[i], "TRUE"))
                bits[(i + pad) / 8] |= (uint8_t)(1 << (i + pad) % 8);
        a->buffers[1] = bits;
    } else {
        size_t bytes = width_of(format);
        unsigned char *values = malloc((n + pad) * bytes + 1);
        memset(values, 0x7f, (n + pad) * bytes);
        for (size_t i = 0; i < n; i++)
            if (cell[i]) put_value(format, cell[i], values + (i + pad) * bytes);
        a->buffers[1] = values;
    }
    return a;
}

/* Levels in reverse order of appearance, so that codes carry no information; in order of
 * appearance if they are ordered. */
static size_t find_levels(const producer *p, size_t column, const char **level)
{
    size_t count = 0;
    for (size_t i = 0; i < p->rows; i++) {
        const char *text = cell_of(p, i, column);
        bool known = !text;
        for (size_t k = 0; k < count && !known; k++) known = !strcmp(level[k], text);
        if (!known) level[count++] = text;
    }
    for (size_t k = 0; !p->column[column].ordered && k < count / 2; k++) {
        const char *other = level[k];
        level[k] = level[count - 1 - k];
        level[count - 1 - k] = other;
    }
    return count;
}

static struct ArrowArray *make_coded(producer *p, size_t column, const char *const *cell,
                                     size_t n, size_t pad)
{
    const char *level[PRODUCER_LEVELS];
    char text[PRODUCER_LEVELS][24];
    const char **code = calloc(n + 1, sizeof *code);
    const produced_column *c = &p->column[column];
    size_t count = find_levels(p, column, level);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; cell[i] && k < count; k++)
            if (!strcmp(level[k], cell[i])) {
                snprintf(text[k], sizeof text[k], "%zu", k);
                code[i] = text[k];
            }
    struct ArrowArray *a = make_values(p, c->codes, code, n, pad);
    a->dictionary = make_values(p, c->format, level, count, pad);
    free(code);
    return a;
}

/* ---- the stream ---- */

static void release_schema(struct ArrowSchema *s)
{
    producer *p = s->private_data;
    for (int64_t k = 0; k < s->n_children; k++) {
        free(s->children[k]->dictionary);
        free(s->children[k]);
    }
    free(s->children);
    s->release = NULL;
    p->schemas--;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    producer *p = stream->private_data;
    if (p->fails_at == 1) return EIO;
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = (int64_t)p->columns,
                                .children = calloc(p->columns + 1, sizeof *out->children),
                                .release = release_schema,
                                .private_data = p};
    for (size_t k = 0; k < p->columns; k++) {
        const produced_column *c = &p->column[k];
        struct ArrowSchema *s = out->children[k] = calloc(1, sizeof *s);
        s->name = c->name;
        s->format = c->codes ? c->codes : c->format;
        s->flags = ARROW_FLAG_NULLABLE | (c->ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
        if (!c->codes) continue;
        s->dictionary = calloc(1, sizeof *s);
        s->dictionary->format = c->format;
    }
    p->schemas++;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *p = stream->private_data;
    size_t n = p->rows - p->next < p->batch ? p->rows - p->next : p->batch;
    *out = (struct ArrowArray){0};
    if (p->fails_at > 1 && p->next >= (p->fails_at - 2) * p->batch) return EIO;
    if (n == 0) return 0;
    struct ArrowArray *all = new_array(p, n, p->batch_pad, 1);
    all->null_count = 0;
    all->n_children = (int64_t)p->columns;
    all->children = calloc(p->columns + 1, sizeof *all->children);
    size_t made = n + p->batch_pad;
    const char **cell = calloc(made, sizeof *cell);
    for (size_t c = 0; c < p->columns; c++) {
        for (size_t i = 0; i < n; i++) cell[p->batch_pad + i] = cell_of(p, p->next + i, c);
        all->children[c] = p->column[c].codes
                               ? make_coded(p, c, cell, made, p->pad)
                               : make_values(p, p->column[c].format, cell, made, p->pad);
    }
    free(cell);
    *out = *all;
    free(all);
    p->next += n;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the disk is on fire";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    producer *p = stream->private_data;
    p->releases++;
    stream->release = NULL;
}

static struct ArrowArrayStream stream_of(producer *p)
{
    p->next = p->schemas = p->arrays = p->releases = 0;
    return (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = last_error,
                                     .release = release_stream,
                                     .private_data = p};
}

/* True if all arrays were released, and the stream once. */
static bool all_released(const producer *p)
{
    return p->schemas == 0 && p->arrays == 0 && p->releases == 1;
}

/* The same table as a CSV file. */
static const char *csv_of(const producer *p)
{
    static char text[1 << 20];
    char *to = text;
    for (size_t c = 0; c < p->columns; c++)
        to += sprintf(to, "%s%s", c ? "," : "", p->column[c].name);
    for (size_t i = 0; i < p->rows; i++)
        for (size_t c = 0; c < p->columns; c++)
            to += sprintf(to, "%s%s", c ? "," : "\n", cell_of(p, i, c) ? cell_of(p, i, c) : "");
    strcpy(to, "\n");
    return text;
}

#endif
