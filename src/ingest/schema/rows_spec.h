/* What a caller wants read from files or memory, and how. */
#ifndef INGEST_ROWS_SPEC_H
#define INGEST_ROWS_SPEC_H

#include "table/rows.h"

/* What a target may hold that is no number to be explained. */
typedef enum {
    LABELS_NONE,    /* numbers alone */
    LABELS_TEXT,    /* text becomes 0, 1, 2, ...; numbers stay */
    LABELS_TWO,     /* two texts or numbers become 0 and 1 */
    LABELS_ORDERED, /* text becomes 0, 1, 2, ... in an order that matters; numbers stay */
    LABELS_CLASSES  /* several texts or whole numbers become 0, 1, 2, ... */
} target_labels;

/* What is asked of a table. */
typedef struct {
    const char *formula;     /* in the place of target and features; NULL: those say it */
    const char *target;      /* NULL: for libsvm the label; else an error */
    const char *features;    /* comma list; NULL: every column not named elsewhere */
    const char *categorical; /* comma list of columns to one-hot, first level dropped */
    const char *exclude;     /* comma list of columns to leave out */
    const char *reference;   /* comma list of column=level: levels to drop instead */
    const char *success;     /* the label that becomes 1; NULL: the second in order */
    const char *label_order; /* comma list of labels; NULL: as they sort */
    target_labels labels;
    const char *weights, *offset; /* column names or NULL */
    const char *trials;           /* likewise: the target counts successes of so many */
    bool intercept, standardize;
    bool drop_missing;        /* rows with a missing cell: dropped, else an error */
    const char *na;           /* comma list of words that stand for one; NULL: usual ones */
    const uint16_t *encoding; /* encoding.h; NULL: UTF-8 */
    bool no_header;           /* of CSV: columns are x1, x2, ... */
    bool no_columns;          /* only the target is wanted, and weights */
    bool no_target;           /* every column is a feature; y is 0 */
    const char *storage;      /* double, float, sparse; NULL or auto: what is cheapest */
    bool real_target;         /* labels -1 and +1 are numbers, not classes */
    bool dense;               /* a model will make matrices of columns x columns numbers */
    bool needs_doubles;       /* the model reads x itself: auto is double, others are refused */
    uint64_t seed;            /* of the shuffle */
    bool in_order;            /* there is none */
    size_t partitions;        /* ranks that a mapped table is shared out over; 0: none */
    struct ranks *among;      /* ranks that may read text in shares; NULL: it is read whole */
    size_t
        distribute_min_bytes; /* bytes of it from which they do; 0: as many as are worth it */
    unsigned threads;         /* that read; 0: as many as there are processors */
    size_t part_bytes;        /* of the text that one reads at a time; 0: what is best */
    sbps_convert_watch
        watch; /* is told how far it is, by the caller's thread; NULL: nobody is */
    void *watcher;
} rows_spec;

#endif
