/* Reads all rows of a source in the order of its text; several threads read parts of a plain
 * file. */
#ifndef INGEST_PARTS_H
#define INGEST_PARTS_H

#include "ingest/schema/chunks.h"
#include "ingest/schema/column_schema.h"
#include "ingest/text/text_file.h"

struct row_source;
struct file_list;

/* ---- one part of a plain file ---- */

/* Default bytes per part: four buffers of text hold a part and its last record. */
#define PART_BYTES ((size_t)4 * 256 * 1024 - 8192)

/* How a file is divided. */
typedef struct {
    size_t first; /* byte where the first row begins */
    size_t size;  /* byte where the last part ends */
    size_t bytes; /* of a part */
} part_layout;

typedef struct {
    text_file view;
    column_schema schema; /* a fork: the levels of this part */
    chunks rows;
    size_t begin; /* byte of its first record */
    size_t end;   /* byte after its last record */
    size_t stop;  /* byte after its range */
    size_t lines, kept, dropped;
    bool ready; /* it has been read, or given up */
    bool whole; /* it was read without an error */
} text_part;

/* Returns the number of parts. */
size_t part_count(const part_layout *how);
/* Returns the first byte of part `index`. */
size_t part_begin(const part_layout *how, size_t index);
/* Returns the byte after part `index`. */
size_t part_stop(const part_layout *how, size_t index);
/* Moves t to the first line that begins in [begin, stop); returns whether there is one. */
bool part_find_line(text_file *t, size_t begin, size_t stop);
/* Prepares *p for reading parts of s; `packed`: its rows are packed. Returns false without
 * memory; close it also then. */
bool part_open(const struct row_source *s, bool packed, text_part *p);
/* Reads the records that begin in part `index` into p->rows, which must be empty. The first
 * record of a part but the first is assumed to begin after the first line break, which the
 * caller has to verify by p->begin. */
void part_read(const struct row_source *s, const part_layout *how, size_t index, text_part *p);
/* Frees the part. */
void part_close(text_part *p);

/* ---- all rows ---- */

/* Receives the rows that were read. */
typedef struct row_taker {
    /* Takes the rows away (chunks_move), or has finished with them when it returns. */
    sbps_status (*take)(void *self, chunks *read, sbps_error *err);
    void *self;
    bool packed; /* rows are packed: see chunks.h */
} row_taker;

/* Reads all rows of `s`. Rows, levels, counts and the first error do not depend on the number
 * of threads. */
sbps_status parts_read(struct row_source *s, const rows_spec *spec, const row_taker *to,
                       sbps_error *err);
/* Reads the records that begin before the byte `stop` of a file that can be divided
 * (text_file_divides); `s` is then at the record after them. */
sbps_status parts_read_to(struct row_source *s, const rows_spec *spec, size_t stop,
                          const row_taker *to, sbps_error *err);
/* Returns the number of reading threads: spec->threads, or one per processor. */
unsigned reading_threads(const rows_spec *spec);

/* ---- several files with the same columns, read one after another as one table ---- */

/* Opens the first file, whose schema is used for all, after the first rows of every file have
 * been used to infer types. Close *first also after a failure. */
sbps_status table_files_open(const struct file_list *files, const rows_spec *spec,
                             column_types *types, struct row_source *first, sbps_error *err);
/* Opens one of several files with a schema of its own. Fails unless its columns have the names
 * of those of `first`; NULL: it is the first. Close *s also after a failure. */
sbps_status table_file_open(const text_input *from, const rows_spec *spec, column_types *types,
                            const struct row_source *first, struct row_source *s,
                            sbps_error *err);
/* Reads the rows of all files; `first` counts those kept and dropped. */
sbps_status table_files_read(const struct file_list *files, const rows_spec *spec,
                             column_types *types, struct row_source *first, const row_taker *to,
                             sbps_error *err);

#endif
