/* A text file, plain or packed, read through a buffer that slides over it. */
#ifndef INGEST_TEXT_FILE_H
#define INGEST_TEXT_FILE_H

#include "ingest/text/unpack.h"
#include <stdint.h>

#define TEXT_PAD 64 /* bytes after `limit` that may be read, with any value */

/* The origin of a text. */
typedef struct {
    const char *path; /* "-" is standard input; borrowed */
    int kept;         /* descriptor of a copy, if it is a pipe (file_list.h); else -1 */
} text_input;

/* Returns the name for messages. */
const char *text_input_name(const text_input *from);
/* Opens the text; the caller closes the descriptor. Returns -1 and sets errno on failure. */
int text_input_open(const text_input *from);

typedef struct {
    const char *path; /* borrowed */
    char *at, *limit; /* text read and not yet used; *limit is '\0', and no other byte is */
    bool finished;    /* the text ends at limit */
    size_t past_zero; /* bytes after a zero byte at limit; reading on fails. 0: none */
    size_t line;      /* line number of `at`, from 1; updated by code that moves `at` */
    size_t position;  /* bytes of the file before limit; packed bytes of a packed file */
    size_t reach;     /* of a view: bytes of the file that it may read; else SIZE_MAX */
    bool regular;     /* a file and not a pipe */
    char *buffer;
    size_t capacity;
    int file;
    const uint16_t *encoding;   /* of the file; the buffer is UTF-8. NULL: UTF-8 */
    bool returns;               /* lines end with CR alone, which becomes a newline */
    const unpack_kind *packing; /* NULL: plain */
    void *unpacker;             /* state of packing */
    unsigned char *packed;      /* buffer of packed bytes */
    const unsigned char *rest;  /* packed bytes not yet unpacked */
    size_t rest_size;
    bool member_ended; /* between two members of a packed file */
} text_file;

/* Opens the text, skips a UTF-8 byte order mark and reads the first block. `encoding` is from
 * encoding_find; NULL: UTF-8. Fails for files in a format that is not text. */
sbps_status text_file_open(const text_input *from, const uint16_t *encoding, text_file **out,
                           sbps_error *err);
/* Reads on. The bytes from `at` to `limit` are kept but move, so pointers to them become
 * invalid. */
sbps_status text_file_more(text_file *t, sbps_error *err);
/* Returns to the first byte; fails for a pipe. */
sbps_status text_file_rewind(text_file *t, sbps_error *err);
/* Closes the file; NULL is fine. */
void text_file_close(text_file *t);

/* ---- plain files in UTF-8, of which several threads can read parts ---- */

/* Returns whether the file is one. */
bool text_file_divides(const text_file *t);
/* Returns the position of `at` in the file, in bytes. */
size_t text_file_offset(const text_file *t);
/* Moves `at` to a byte of the file; reads nothing. */
void text_file_seek(text_file *t, size_t offset, size_t line);
/* Makes *out a second reader of the file, which must stay open. Returns false without memory.
 * Reading beyond out->reach fails without a message. */
bool text_view_open(const text_file *of, text_file *out);
/* Frees the buffer of a view. */
void text_view_close(text_file *view);

/* Fails if the first bytes of a file are those of a known format that is not read, such as
 * Parquet or Excel; the message names the format and how to convert it. */
sbps_status foreign_refuse(const char *path, const char *bytes, size_t size, sbps_error *err);

#endif
