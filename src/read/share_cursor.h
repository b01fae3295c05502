/* One rank's stretch of the text, read on and on. */
#ifndef READ_SHARE_CURSOR_H
#define READ_SHARE_CURSOR_H

#include "read/share_cut.h"

typedef struct {
    const file_list *files;
    const rows_spec *spec;
    column_types *found;
    const row_source *first;
    const share_cut *cut;
    plan *plan;     /* by which rows get their codes */
    size_t breaks;  /* line breaks before it, of the file that it begins in */
    bool learns;    /* a cell that contradicts has all to the end of its file looked at */
    size_t file;    /* being read */
    row_source now; /* it */
    bool open;
    size_t begin, at; /* positions: of the first record, behind the last one read */
    bool begun;       /* `begin` is known */
    bool broken;      /* the rows of some file do not end where they should */
    size_t kept, dropped;
    double told,
        more; /* of the way, for whoever watches: done before this look, and that it is */
} share_cursor;

/* Records that begin before the position `stop`; all of the stretch: SIZE_MAX. Close it also after a failure. */
sbps_status share_cursor_read(share_cursor *c, size_t stop, const row_taker *to,
                              sbps_error *err);
void share_cursor_close(share_cursor *c);

#endif
