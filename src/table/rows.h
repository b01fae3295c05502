/* Rows: the design matrix a posterior is made of, shuffled once, immutable afterwards. */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "core/kind_tables.h"
#include "core/status.h"
#include "linalg/kernels.h"
#include <stdint.h>

typedef struct storage_kind storage_kind;

/* Where a column of the design comes from. The intercept comes from none. */
typedef struct {
    char *column;    /* of the source; NULL: none */
    char *level;     /* that the column is 1 for; NULL: it holds numbers */
    char *reference; /* level that has no column of its own; NULL likewise */
    double mean, sd; /* that --standardize took out; 0 and 1: nothing */
} column_origin;

/* The rows are one rank's of a table: consecutive ones of its shuffled order, see share.h. */
typedef struct {
    struct ranks *among;
    size_t first;    /* row of the table that comes first here: a multiple of ROW_BLOCK */
    size_t whole;    /* rows of the table */
    size_t rows_min; /* rows of the rank that has fewest */
    double origin;   /* target less offset of the table's first row */
} row_partition;

/* Where a caller has the numbers of a column. */
typedef struct {
    const unsigned char *first;
    ptrdiff_t step; /* bytes from row to row */
} column_place;

typedef struct rows {
    const storage_kind *storage; /* how the numbers of x lie in memory */
    size_t n, d;    /* rows; coefficients per row, the intercept's 1 (first) included */
    size_t stride;  /* doubles from row to row: d rounded up to KERNEL_LANES, zero padded */
    bool intercept; /* column 0 is the constant 1, named "intercept" */
    double *x;      /* n * stride where storage is double; else NULL */
    float *x_float; /* n * stride where it is float; else NULL */
    /* where it is sparse, else NULL: entries that are not 0, the intercept's 1 not among them */
    uint64_t *start;  /* n + 1: row i has the entries start[i] to start[i + 1] - 1 */
    uint32_t *column; /* increasing within a row */
    double *value;    /* NULL: 1 each */
    /* where it is the caller's, else NULL, see given.c: columns (d, the intercept's unset), and the caller's row that row i
     * is (n) */
    column_place *place;
    uint32_t *from;
    struct row_recipe *recipe; /* rows are made on the fly, see generated.h, from row */
    size_t made_from;          /* of the recipe on; NULL: they lie somewhere */
    double *y;                 /* n; NULL: made with the rows */
    double *weight;            /* n, or NULL: 1 each */
    double *offset;            /* n, or NULL: 0 each; added to the linear predictor */
    char **names;              /* d: "intercept", column, or column=level */
    double *sd;    /* d: population sd of each column as stored (0 for the intercept) */
    double *mean;  /* d */
    char *target;  /* name of the target */
    char **labels; /* that y = 0, 1, ... stand for; NULL: y holds numbers */
    size_t label_count;
    char *
        design; /* how rows to come are treated as these were, see ingest/design/saved_schema.h; NULL: unknown */
    char *notes;    /* on how it was read, for the user, a line each; NULL: nothing to tell */
    char *source;   /* name of the file; NULL: none */
    size_t dropped; /* rows left out for missing cells; SIZE_MAX: unknown */
    column_origin *origin; /* d, or NULL: unknown */
    uint64_t hash;         /* of everything above but where it comes from */
    uint64_t content;      /* whatever the order of the rows, see content.h, and of what kind */
    unsigned char content_kind;
    uint64_t seed; /* of the shuffle */
    bool in_order; /* there was none */
    struct rows *
        member_rows; /* the rows whose groups these are, see model/mixed/mixed.h; NULL: these are rows */
    size_t part;               /* rows of a part of a sum; 0: the usual */
    void *kept;                /* by whoever made the table, and freed with it; NULL: nothing */
    struct row_groups *groups; /* see groups.h; NULL: every row stands for itself */
    struct table_file
        *mapped; /* the file x or entries, y, weight and offset lie in; NULL: in memory */
    bool
        recompute_rows; /* nothing is kept of each row: what was known at a point is asked again */
    struct row_workers *workers; /* who goes through them, see row_sums.h; NULL: the caller */
    row_partition *partition;    /* NULL: all rows of the table are here */
} rows;

/* Some rows of a table: those listed, or `n` consecutive ones. */
typedef struct {
    const size_t *list; /* NULL: first, first + 1, ... */
    size_t first, n;
} row_range;

static inline size_t row_index(row_range r, size_t i)
{
    return r.list ? r.list[i] : r.first + i;
}

/* The products of rows with vectors: all that anybody needs of x in a loop. Vectors have `stride`
 * entries, zero past d. */
struct storage_kind {
    const char *name; /* as --storage says it */
    /* eta[i] = x_i . p, deta[i] = x_i . q (q NULL: only eta) */
    void (*products)(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta);
    /* out += sum_i c[i] x_i */
    void (*combine)(const rows *data, const kernels *k, row_range r, const double *c,
                    double *out);
    /* Row i as `stride` doubles, zero past d. */
    void (*decode)(const rows *data, size_t i, double *out);
    double (*cell)(const rows *data, size_t i, size_t j);
    /* What x takes, in bytes. */
    double (*bytes)(const rows *data);
    /* Optional, both or none: sum[j] += sum_i (x_ij - shift_j), square[j] of its square, but for zeros[j] rows, by which
     * that number grows; and what those add. NULL: rows are decoded one by one. */
    void (*sums)(const rows *data, const double *shift, double *sum, double *square,
                 double *zeros);
    void (*sum_rest)(const rows *data, const double *shift, double *sum, double *square,
                     const double *zeros);
    /* Optional: out += sum_i c[i] x_i x_i' over n rows from `first`, lower triangle, `pitch`
     * doubles from row to row of out. NULL, or false for rows that are not worth it: rows are
     * decoded and multiplied as matrices. */
    bool (*outer)(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                  size_t pitch, double *out);
    /* Optional, for rows that are not doubles side by side: they become that, `stride` of them each; and, where the table
     * has no y and y is not NULL, their targets. NULL: they are, or it takes no longer. See laid.h. */
    void (*gather_dense)(const rows *data, row_range r, double *x, double *y);
};

#define STORAGE_KINDS(X)                                                                       \
    X(storage, double) /* doubles, row after row */                                            \
    X(storage, float)  /* floats, likewise */                                                  \
    X(storage, sparse) /* entries that are not 0 */

STORAGE_KINDS(KIND_DECLARED)
extern const storage_kind storage_borrowed;  /* not of files: where a caller has them */
extern const storage_kind storage_generated; /* or nowhere */

/* Columns up to which outer products of rows are made by a kernel of ours; OpenBLAS has more cache in view. */
#define OUTER_COLUMNS ((size_t)160)

/* Rows of the table, wherever they are. */
static inline size_t rows_all(const rows *data)
{
    return data->partition ? data->partition->whole : data->n;
}

/* That every rank has. */
static inline size_t rows_min_per_rank(const rows *data)
{
    return data->partition ? data->partition->rows_min : data->n;
}

/* Of how many rows of the table one that is here is an example. */
static inline double rows_factor(const rows *data)
{
    return data->partition ? (double)data->partition->whole / (double)data->n : 1.0;
}

/* Entries of rows that are sparse. */
static inline size_t rows_entries(const rows *data)
{
    return data->start[data->n] - data->start[0];
}

/* Numbers of x that a product with one row multiplies, on average. */
static inline double rows_numbers(const rows *data)
{
    return data->start ? (double)rows_entries(data) / (double)data->n + 1.0 : (double)data->d;
}

/* read_ahead.c: somebody goes through a mapped table and is at these rows. */
void rows_sweep(const rows *data, size_t first, size_t n);

#define SWEEP_ROWS ((size_t)256) /* more at a time than a window has */

static inline void rows_products(const rows *data, const kernels *k, row_range r,
                                 const double *p, const double *q, double *eta, double *deta)
{
    if (data->mapped && !r.list && r.n >= SWEEP_ROWS) rows_sweep(data, r.first, r.n);
    data->storage->products(data, k, r, p, q, eta, deta);
}

static inline void rows_combine(const rows *data, const kernels *k, row_range r,
                                const double *c, double *out)
{
    data->storage->combine(data, k, r, c, out);
}

static inline row_range rows_from(size_t first, size_t n)
{
    return (row_range){NULL, first, n};
}

/* From row to row of x, where it is not sparse. */
static inline size_t rows_stride_bytes(const rows *data)
{
    return data->stride * (data->x_float ? sizeof *data->x_float : sizeof *data->x);
}

/* What a row of x takes, on average. */
static inline size_t rows_row_bytes(const rows *data)
{
    if (!data->start) return rows_stride_bytes(data);
    return (size_t)(data->storage->bytes(data) / (double)data->n);
}

/* What the table takes in memory. */
static inline double rows_bytes(const rows *data)
{
    size_t beside = (data->y != NULL) + (data->weight != NULL) + (data->offset != NULL);
    return data->storage->bytes(data) + (double)(data->n * beside * sizeof(double));
}

/* Targets of some rows: where they lie, or in `room`. */
const double *rows_targets(const rows *data, row_range r, double *buffer);

/* One row without columns or target: for densities that need no table. */
sbps_status rows_none(rows **out, sbps_error *err);
void rows_destroy(rows *r);
/* r->hash of everything else in r. */
uint64_t rows_hash(const rows *r);
/* Adds a line to the notes. */
sbps_status rows_note(rows *r, sbps_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
