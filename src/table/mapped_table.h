/* A converted table: its file, mapped into memory instead of read. docs/files.md describes the
 * bytes. */
#ifndef TABLE_MAPPED_TABLE_H
#define TABLE_MAPPED_TABLE_H

#include "table/rows.h"
#include <stddef.h>

#define TABLE_MAGIC   "\x89SBPS\r\n\x1a" /* as PNG's: detects text tools that changed line ends */
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
    uint64_t at, size; /* bytes; size 0: there is no such section */
} table_section;

/* Sections of sparse rows, from version 2 on; they take the place of x. */
typedef enum {
    ENTRIES_START,  /* rows + 1 of 64 bits */
    ENTRIES_COLUMN, /* of 32 bits */
    ENTRIES_VALUE,  /* doubles; no section: 1 each */
    ENTRIES
} entries_name;

enum { TABLE_INTERCEPT = 1, TABLE_STANDARDIZED = 2 };

/* The first bytes of the file, little-endian. */
typedef struct {
    unsigned char magic[8];
    uint32_t version;
    uint32_t crc;   /* of the header of this version, with this field 0 (CRC-32 of zlib) */
    uint64_t bytes; /* of the whole file */
    uint64_t rows, columns, stride;
    uint64_t flags;
    uint64_t hash; /* of the table (content_hash.h), by which checkpoints recognise it */
    uint64_t seed; /* of the shuffle */
    char storage[16];
    table_section section[SECTIONS];
    uint32_t tail_crc;              /* of means, sds and text */
    uint32_t design_crc;            /* of the design */
    table_section entries[ENTRIES]; /* version 1 ends before them */
    table_section groups;           /* from version 4 on: row_groups.h */
    table_section design; /* version 5: JSON (ingest/design/saved_schema.h), ends in NUL */
} table_header;

/* Earlier versions, which are still read. */
#define TABLE_VERSION_DENSE  1 /* without sparse rows */
#define TABLE_VERSION_SPARSE 2 /* without notes and labels */
#define TABLE_VERSION_NOTES  3 /* without groups */
#define TABLE_VERSION_GROUPS 4 /* without its design */
#define TABLE_VERSION_DESIGN 5
#define TABLE_HEADER_DENSE   offsetof(table_header, entries)
#define TABLE_HEADER_SPARSE  offsetof(table_header, groups)
#define TABLE_HEADER_GROUPS  offsetof(table_header, design)

/* The text section: strings that end in NUL. These come first, then the names of the columns,
 * and from version 3 on notes and the labels of the target. They are the options that the table
 * was made with, so that a run with other options is refused. */
typedef enum {
    TEXT_TARGET,
    TEXT_FEATURES,    /* as named in the option, "" when it was not given */
    TEXT_COLUMNS,     /* the features used, separated by commas */
    TEXT_CATEGORICAL, /* as named in the option */
    TEXT_WEIGHTS,
    TEXT_OFFSET,
    TEXTS
} table_text_name;

/* How a table was made. */
typedef struct {
    const char *texts[TEXTS]; /* valid as long as the rows */
    bool standardized;
    const char *formula; /* of a table with groups; NULL: it has none */
} table_making;

/* A mapped file. */
struct table_file {
    int file;            /* -1: the descriptor belongs to the caller */
    unsigned char *base; /* NULL: not mapped yet */
    size_t size;
    struct reader_list *readers; /* read_ahead.h; NULL while the file is written */
};

/* Appends a section of `size` bytes to the file described by the header; returns where it
 * is. */
table_section table_add_section(table_header *h, uint64_t size);
/* Return the checksums that the header stores: of itself, of means, sds and text, of the
 * design. */
uint32_t table_crc(const table_header *h);
uint32_t table_tail_crc(const table_header *h, const unsigned char *base);
uint32_t table_design_crc(const char *design);
/* Returns the numbers of a section of doubles; NULL if there is no such section. */
double *table_at(const table_header *h, unsigned char *base, section_name k);
/* Points start, column and value of r to the sections of sparse rows. */
void table_show_entries(const table_header *h, unsigned char *base, rows *r);

/* Returns whether a regular file begins like a converted table. */
bool table_recognise(const char *path);
/* Maps a file; *how receives the options that it was made with. */
sbps_status table_map(const char *path, rows **out, table_making *how, sbps_error *err);
/* Releases the mapping, if there is one; pointers into it become NULL. */
void table_unmap(rows *r);

#endif
