/* A text file, plain or gzip, seen through a buffer that slides over it. */
#ifndef READ_TEXT_FILE_H
#define READ_TEXT_FILE_H

#include "base/status.h"

struct z_stream_s;

typedef struct {
    const char *path; /* borrowed */
    char *at, *limit; /* what is read and not yet used; *limit is '\0', and no other byte is */
    bool finished;    /* nothing follows limit */
    size_t line;      /* of `at`, from 1; kept by whoever moves `at` */
    char *buffer;
    size_t capacity;
    int file;
    struct z_stream_s *gzip; /* NULL for a plain file */
    unsigned char *packed;   /* gzip's input */
    bool member_ended;       /* between two members of a gzip file */
} text_file;

/* Opens `path`, skips a UTF-8 byte order mark and reads the first block. */
sbps_status text_file_open(const char *path, text_file **out, sbps_error *err);
/* Reads on. What lies between `at` and `limit` is kept but moves: pointers into it are void. */
sbps_status text_file_more(text_file *t, sbps_error *err);
/* Back to the first byte; fails for a pipe. */
sbps_status text_file_rewind(text_file *t, sbps_error *err);
void text_file_close(text_file *t);

#endif
