/* A text file, plain or packed, seen through a buffer that slides over it. */
#ifndef INGEST_TEXT_FILE_H
#define INGEST_TEXT_FILE_H

#include "ingest/text/unpack.h"
#include <stdint.h>

#define TEXT_PAD 64 /* bytes behind the limit that may be looked at, whatever they are */

/* Where a text comes from. */
typedef struct {
    const char *path; /* - is standard input; borrowed */
    int kept;         /* all that it gave, where it was a pipe (spool.h); -1: it is a file */
} text_input;

/* What sentences call it. */
const char *text_input_name(const text_input *from);
/* A file of the caller's; -1 and errno. */
int text_input_open(const text_input *from);

typedef struct {
    const char *path; /* borrowed */
    char *at, *limit; /* what is read and not yet used; *limit is '\0', and no other byte is */
    bool finished;    /* nothing follows limit */
    size_t past_zero; /* bytes read that a zero byte at the limit cuts off: reading on fails */
    size_t line;      /* of `at`, from 1; kept by whoever moves `at` */
    size_t position;  /* bytes of the file before the limit; packed ones of a packed file */
    size_t reach;     /* a view's: bytes of the file that it may see; else SIZE_MAX */
    bool regular;     /* a file, not a pipe */
    char *buffer;
    size_t capacity;
    int file;
    const uint16_t *encoding; /* what the text is written in, and given as UTF-8; NULL: that */
    bool returns;             /* lines end with a return alone, and are given with a newline */
    const unpack_kind *packing; /* NULL for a plain file */
    void *unpacker;
    unsigned char *packed;     /* its input */
    const unsigned char *rest; /* of that, not yet unpacked */
    size_t rest_size;
    bool member_ended; /* between two members of a packed file */
} text_file;

/* Opens it, as encoding_find has its encoding, skips a UTF-8 byte order mark and reads the first block. */
sbps_status text_file_open(const text_input *from, const uint16_t *encoding, text_file **out,
                           sbps_error *err);
/* Reads on. What lies between `at` and `limit` is kept but moves: pointers into it are void. */
sbps_status text_file_more(text_file *t, sbps_error *err);
/* Whether several may read parts of it at a time: a plain file. The following are for such files. */
bool text_file_divides(const text_file *t);
/* Where `at` stands in the file. */
size_t text_file_offset(const text_file *t);
/* Goes there; nothing is read yet. */
void text_file_seek(text_file *t, size_t offset, size_t line);
/* Another look at the file, which must stay open; false: no memory. It fails without a sentence where it
 * would have to read on beyond `reach`. */
bool text_view_open(const text_file *of, text_file *out);
void text_view_close(text_file *view);
/* Back to the first byte; fails for a pipe that is not kept. */
sbps_status text_file_rewind(text_file *t, sbps_error *err);
void text_file_close(text_file *t);

#endif
