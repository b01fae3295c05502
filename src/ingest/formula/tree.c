/* Trees as text, in the way R writes them: blanks around + - * %in% and comparisons, none
 * around / ^ and :, a comma and a blank between arguments. */
#include "ingest/formula/tree.h"

#include "core/decimal.h"
#include "core/printable.h"
#include "core/text.h"

#include <ctype.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const node *without_parens(const node *n)
{
    while (n->kind == NODE_PAREN) n = n->first;
    return n;
}

bool is_call(const node *n, const char *name)
{
    return n->kind == NODE_CALL && strcmp(n->name, name) == 0;
}

bool is_operator(const node *n, operator_kind op)
{
    return n->kind == NODE_BINARY && n->op == op;
}

bool is_condition(const node *n)
{
    return (n->kind == NODE_BINARY || n->kind == NODE_UNARY) && n->op >= OP_AND &&
           n->op <= OP_GREATER_EQUAL;
}

static const char *const written[] = {
    [OP_EQUAL] = " == ",      [OP_UNEQUAL] = " != ", [OP_LESS] = " < ",
    [OP_LESS_EQUAL] = " <= ", [OP_GREATER] = " > ",  [OP_GREATER_EQUAL] = " >= ",
    [OP_AND] = " & ",         [OP_NOT] = "!",        [OP_TILDE] = " ~ ",
    [OP_BARS] = " || ",       [OP_BAR] = " | ",      [OP_PLUS] = " + ",
    [OP_MINUS] = " - ",       [OP_TIMES] = " * ",    [OP_DIVIDE] = "/",
    [OP_IN] = " %in% ",       [OP_COLON] = ":",      [OP_POWER] = "^",
    [OP_NONE] = "",
};

static bool is_name_byte(unsigned char c)
{
    return isalnum(c) || c == '.' || c == '_' || c >= 0x80;
}

/* Returns whether a name is syntactic in R; one that begins with a dot and a digit is a
 * number. */
static bool is_plain_name(const char *name)
{
    static const char *const reserved[] = {"TRUE", "FALSE", "NULL", "NA", "NaN",  "Inf",
                                           "if",   "else",  "for",  "in", "while"};
    unsigned char first = (unsigned char)name[0];
    if (!(isalpha(first) || first == '.' || first >= 0x80)) return false;
    if (first == '.' && isdigit((unsigned char)name[1])) return false;
    for (const char *c = name; *c; c++)
        if (!is_name_byte((unsigned char)*c)) return false;
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        if (strcmp(name, reserved[k]) == 0) return false;
    return true;
}

static void write_name(text *t, const char *name, bool quoted)
{
    if (!quoted || is_plain_name(name)) {
        text_bytes(t, name, strlen(name));
        return;
    }
    text_bytes(t, "`", 1);
    for (const char *c = name; *c; c++) {
        if (*c == '`' || *c == '\\') text_bytes(t, "\\", 1);
        text_bytes(t, c, 1);
    }
    text_bytes(t, "`", 1);
}

static void write_string(text *t, const char *string)
{
    text_bytes(t, "\"", 1);
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\') text_bytes(t, "\\", 1);
        text_bytes(t, c, 1);
    }
    text_bytes(t, "\"", 1);
}

static void write_node(text *t, const node *n)
{
    number_shown number;
    switch (n->kind) {
    case NODE_NAME:
        write_name(t, n->name, n->quoted);
        break;
    case NODE_NUMBER:
        number = number_as_written(n->value, 15);
        text_add(t, "%s", number.text);
        break;
    case NODE_TEXT:
        write_string(t, n->name);
        break;
    case NODE_CALL:
        write_name(t, n->name, n->quoted);
        text_bytes(t, "(", 1);
        for (const node *a = n->first; a; a = a->next) {
            if (a->tag) text_add(t, "%s = ", a->tag);
            write_node(t, a);
            if (a->next) text_bytes(t, ", ", 2);
        }
        text_bytes(t, ")", 1);
        break;
    case NODE_PAREN:
        text_bytes(t, "(", 1);
        write_node(t, n->first);
        text_bytes(t, ")", 1);
        break;
    case NODE_UNARY:
        text_add(t, "%s", n->op == OP_MINUS ? "-" : n->op == OP_NOT ? "!" : "+");
        write_node(t, n->first);
        break;
    case NODE_BINARY:
    case NODE_SUM:
        for (const node *a = n->first; a; a = a->next) {
            if (a != n->first)
                text_add(t, "%s", written[n->kind == NODE_SUM ? a->sign : n->op]);
            write_node(t, a);
        }
        break;
    }
}

/* Moves a text into the pool; NULL: no memory. */
static const char *into_pool(text *t, pool *p)
{
    char *made = text_take(t);
    const char *kept = made ? pool_text(p, made, strlen(made)) : NULL;
    free(made);
    return kept;
}

const char *tree_text(const node *n, pool *p)
{
    text t = {0};
    write_node(&t, n);
    return into_pool(&t, p);
}

const char *name_as_written(const char *name, pool *p)
{
    text t = {0};
    write_name(&t, name, true);
    return into_pool(&t, p);
}

/* ---- errors ---- */

sbps_status fail_at(const char *source, size_t at, sbps_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    sbps_status status = fail_pointing(err, "formula", source, at, format, values);
    va_end(values);
    return status;
}

/* ---- pool ----
 *
 * The pool: blocks used from the front. When a block is full another one follows. The map: open
 * addressing; FNV-1a, mixed once more because its low bits choose the slot. */

#define BLOCK ((size_t)4096)

struct pool_block {
    pool_block *before;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

static pool_block *add_pool_block(pool *p, size_t bytes)
{
    size_t capacity = bytes > BLOCK ? bytes : BLOCK;
    pool_block *made = malloc(sizeof *made + capacity);
    if (!made) return NULL;
    made->before = p->last;
    made->used = 0;
    made->capacity = capacity;
    return p->last = made;
}

void *pool_take(pool *p, size_t bytes)
{
    const size_t unit = alignof(max_align_t);
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + unit - 1) / unit * unit;
    pool_block *b = p->last;
    if (!b || b->capacity - b->used < bytes) b = add_pool_block(p, bytes);
    if (!b) return NULL;
    void *at = b->bytes + b->used;
    b->used += bytes;
    return memset(at, 0, bytes);
}

void *pool_array(pool *p, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size) return NULL;
    return pool_take(p, count * size);
}

char *pool_text(pool *p, const char *begin, size_t length)
{
    char *made = pool_take(p, length + 1);
    return made ? memcpy(made, begin, length) : NULL;
}

void pool_clear(pool *p)
{
    while (p->last) {
        pool_block *before = p->last->before;
        free(p->last);
        p->last = before;
    }
}

/* ---- map ---- */

static uint64_t hash_of(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

/* Returns the slot that has the bytes, or the free one where they belong. */
static byte_key *slot_of(const byte_map *m, const void *bytes, size_t length, uint64_t hash)
{
    for (size_t k = hash & (m->slots - 1);; k = (k + 1) & (m->slots - 1)) {
        byte_key *s = &m->slot[k];
        if (!s->bytes) return s;
        if (s->hash == hash && s->length == length && !memcmp(s->bytes, bytes, length))
            return s;
    }
}

size_t byte_map_find(const byte_map *m, const void *bytes, size_t length)
{
    if (m->slots == 0) return NOT_THERE;
    const byte_key *s = slot_of(m, bytes, length, hash_of(bytes, length));
    return s->bytes ? s->index : NOT_THERE;
}

/* Quadruples the slots; false: no memory. */
static bool more_slots(byte_map *m, pool *p)
{
    byte_map wide = {.slots = m->slots ? 4 * m->slots : 16, .count = m->count};
    wide.slot = pool_array(p, wide.slots, sizeof *wide.slot);
    if (!wide.slot) return false;
    for (size_t k = 0; k < m->slots; k++) {
        const byte_key *s = &m->slot[k];
        if (s->bytes) *slot_of(&wide, s->bytes, s->length, s->hash) = *s;
    }
    *m = wide;
    return true;
}

bool byte_map_add(byte_map *m, pool *p, const void *bytes, size_t length, size_t index)
{
    if (2 * (m->count + 1) > m->slots && !more_slots(m, p)) return false;
    uint64_t hash = hash_of(bytes, length);
    *slot_of(m, bytes, length, hash) = (byte_key){bytes, length, index, hash};
    m->count++;
    return true;
}
