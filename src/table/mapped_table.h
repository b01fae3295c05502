/* A table on disk as it lies in memory: mapped instead of read. docs/files.md describes the bytes. */
#ifndef TABLE_MAPPED_TABLE_H
#define TABLE_MAPPED_TABLE_H

#include "table/rows.h"
#include <stddef.h>

#define TABLE_MAGIC   "\x89SBPS\r\n\x1a" /* as PNG's: text tools that mangle it are found out */
#define TABLE_VERSION 5
#define TABLE_PAGE    ((uint64_t)4096) /* sections begin at multiples of it */

typedef enum {
    SECTION_X,
    SECTION_Y,
    SECTION_WEIGHT,
    SECTION_OFFSET,
    SECTION_MEAN,
    SECTION_SD,
    SECTION_TEXT,
    SECTIONS
} section_name;

typedef struct {
    uint64_t at, size; /* bytes; size 0: not there */
} table_section;

/* Sections of sparse rows, in version 2; they take the place of x. */
typedef enum {
    ENTRIES_START,  /* rows + 1 of 64 bits */
    ENTRIES_COLUMN, /* of 32 bits */
    ENTRIES_VALUE,  /* doubles; not there: 1 each */
    ENTRIES
} entries_name;

enum { TABLE_INTERCEPT = 1, TABLE_STANDARDIZED = 2 };

/* The first bytes of the file, little-endian. */
typedef struct {
    unsigned char magic[8];
    uint32_t version;
    uint32_t
        crc; /* of the header as its version has it, this field taken as 0 (CRC-32 of zlib) */
    uint64_t bytes; /* of the whole file */
    uint64_t rows, columns, stride;
    uint64_t flags;
    uint64_t hash; /* of the table, as a checkpoint wants it */
    uint64_t seed; /* of the shuffle */
    char storage[16];
    table_section section[SECTIONS];
    uint32_t tail_crc;              /* of means, sds and text */
    uint32_t design_crc;            /* of the design */
    table_section entries[ENTRIES]; /* version 1 ends before them */
    table_section groups;           /* of version 4, see groups_bytes.h */
    table_section
        design; /* of version 5: text, see ingest/design/saved_schema.h; ends in NUL */
} table_header;

/* What tables said before there was more. */
#define TABLE_VERSION_DENSE  1 /* without sparse rows */
#define TABLE_VERSION_SPARSE 2 /* without notes and labels */
#define TABLE_VERSION_NOTES  3 /* without groups */
#define TABLE_VERSION_GROUPS 4 /* without its design */
#define TABLE_VERSION_DESIGN 5
#define TABLE_HEADER_DENSE   offsetof(table_header, entries)
#define TABLE_HEADER_SPARSE  offsetof(table_header, groups)
#define TABLE_HEADER_GROUPS  offsetof(table_header, design)

/* What the text section holds: strings that end in NUL, these first, then the names of the columns, and from
 * version 3 on notes and the labels of the target.
 * They are the options the table was made with, so that others are refused. */
typedef enum {
    TEXT_TARGET,
    TEXT_FEATURES,    /* as named in the option, "" when it was not given */
    TEXT_COLUMNS,     /* the features taken, comma between them */
    TEXT_CATEGORICAL, /* as named in the option */
    TEXT_WEIGHTS,
    TEXT_OFFSET,
    TEXTS
} table_text_name;

/* How a table was made. */
typedef struct {
    const char *texts[TEXTS]; /* these texts, valid as long as the rows */
    bool standardized;
    const char *formula; /* of a table with groups; NULL: it has none */
} table_making;

/* A mapped file. */
struct table_file {
    int file;            /* -1: somebody else's */
    unsigned char *base; /* NULL: not mapped yet */
    size_t size;
    struct reader_list *readers; /* NULL while it is written */
};

/* The next section, of so many bytes, at the end of the file so far. */
table_section table_add_section(table_header *h, uint64_t size);
uint32_t table_crc(const table_header *h);
uint32_t table_tail_crc(const table_header *h, const unsigned char *base);
uint32_t table_design_crc(const char *design);
/* Numbers of a section that holds doubles; NULL when it is not there. */
double *table_at(const table_header *h, unsigned char *base, section_name k);
/* Makes the sections of sparse rows those of r. */
void table_show_entries(const table_header *h, unsigned char *base, rows *r);

/* reader.c */
struct reader_list *readers_create(void); /* NULL: no memory */
void readers_destroy(struct reader_list *l);

/* Whether a file, which must be regular, begins like a table. */
bool table_recognise(const char *path);
/* Maps the file, and tells how it was made. */
sbps_status table_map(const char *path, rows **out, table_making *how, sbps_error *err);
/* Releases the mapping, if there is one; what lay in it is NULL afterwards. */
void table_unmap(rows *r);

#endif
