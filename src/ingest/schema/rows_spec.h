/* Options for reading a table from files or memory: which columns, which rows, how they are
 * stored. */
#ifndef INGEST_ROWS_SPEC_H
#define INGEST_ROWS_SPEC_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the cells of the target become numbers. */
typedef enum {
    LABELS_NONE,    /* numbers only; text is an error */
    LABELS_TEXT,    /* text becomes 0, 1, 2, ...; numbers stay */
    LABELS_TWO,     /* two texts or two numbers become 0 and 1 */
    LABELS_ORDERED, /* ordered text becomes 0, 1, 2, ...; numbers stay */
    LABELS_CLASSES  /* several texts or whole numbers become 0, 1, 2, ... */
} target_labels;

/* What a caller requests of a table. All strings are borrowed; NULL means "not given". */
typedef struct {
    const char *formula;      /* replaces target and features */
    const char *target;       /* NULL: the label of a libsvm file; an error for other files */
    const char *features;     /* comma list; NULL: every column without another role */
    const char *categorical;  /* comma list of columns to one-hot, first level dropped */
    const char *exclude;      /* comma list of columns to leave out */
    const char *reference;    /* comma list of COLUMN=LEVEL: levels to drop instead */
    const char *success;      /* the label that becomes 1; NULL: the second in order */
    const char *label_order;  /* comma list of labels; NULL: sorted */
    target_labels labels;     /* what the model accepts as a target */
    const char *weights;      /* column of case weights */
    const char *offset;       /* column added to the linear predictor */
    const char *trials;       /* column of numbers of trials: the target counts successes */
    bool intercept;           /* the design has a first column of ones */
    bool standardize;         /* columns are centred and scaled to unit variance */
    bool drop_missing;        /* drop rows with a missing cell; false: they are an error */
    const char *na;           /* comma list of strings for a missing cell; NULL: NA_STRINGS */
    const uint16_t *encoding; /* from encoding_find; NULL: UTF-8 */
    bool no_header;           /* CSV without a header: columns are x1, x2, ... */
    bool no_columns;          /* read the target and the weights, no features */
    bool no_target;           /* every column is a feature; y is 0 */
    const char *storage;      /* double, float or sparse; NULL or auto: the cheapest */
    bool real_target;         /* labels -1 and +1 are numbers, not classes */
    bool dense;               /* the model needs a columns x columns matrix */
    bool needs_doubles;       /* the model reads x directly: only storage double is accepted */
    uint64_t seed;            /* of the shuffle */
    bool in_order;            /* no shuffle */
    size_t partitions;        /* ranks that divide a mapped table; 0: not divided */
    struct ranks *among;      /* ranks that may read text in stretches; NULL: read it whole */
    size_t distribute_min_bytes; /* smallest text that ranks divide; 0: the default */
    unsigned threads;            /* reading threads; 0: one per processor */
    size_t part_bytes;           /* text that a thread reads at a time; 0: PART_BYTES */
    sbps_convert_watch watch;    /* progress callback in the caller's thread, or NULL; it
                                    returns false to stop */
    void *watcher;               /* first argument of watch */
} rows_spec;

#endif
