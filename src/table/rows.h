/* Rows: the design matrix and targets that a posterior is made of, shuffled once and immutable
 * afterwards. A table may be distributed: each rank (MPI process) then holds consecutive rows
 * of the shuffled order, and a `rows` describes those of one rank.
 *
 *   local_rows          rows on this rank
 *   total_rows(data)    rows of the table, over all ranks
 *
 * A plain loop over local_rows sees local rows only. Never branch on its result where ranks
 * have to do the same: they would diverge (use row_sums.h, or any_rank() and others of
 * row_partition.h). */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "core/kind_tables.h"
#include "linalg/kernels.h"
#include "sbps.h"

#include <stdint.h>

typedef struct storage_kind storage_kind;

/* Where a column of the design comes from. All NULL for the intercept. */
typedef struct {
    char *column; /* name in the source; NULL: none */
    char *level;  /* the level that the column is 1 for; NULL: the column holds numbers */
    char *
        reference; /* the level that has no column of its own; NULL: the column holds numbers */
    double mean, sd; /* removed by --standardize; 0 and 1 where nothing was */
} column_origin;

/* Address of a borrowed column. */
typedef struct {
    const unsigned char *first;
    ptrdiff_t step; /* bytes from one row to the next */
} column_place;

/* How the numbers of x are stored. The kind says which of the arrays are used. */
typedef struct {
    const storage_kind *kind;
    double *x;      /* storage double: local_rows * stride; else NULL */
    float *x_float; /* storage float: local_rows * stride; else NULL */
    /* storage sparse: entries other than 0, without the intercept's; else NULL */
    uint64_t *start;  /* local_rows + 1: row i has entries start[i] to start[i + 1] - 1 */
    uint32_t *column; /* of each entry; increasing within a row */
    double *value;    /* of each entry; NULL: 1 each */
    /* storage borrowed (gathered_rows.h); else NULL */
    column_place *place;  /* d: where each column is; the intercept's is unset */
    uint32_t *source_row; /* local_rows: the caller's row that row i is */
    /* storage generated (generated_rows.h); else NULL */
    struct row_recipe *recipe;
    size_t recipe_first;       /* the recipe's row that is row 0 here */
    struct table_file *mapped; /* file that holds the arrays; NULL: they are in memory */
    void *owner; /* freed with the table: memory that the arrays point into; NULL: none */
} row_storage;

/* What is the same on every rank: the columns, the target, and where the table came from. */
typedef struct {
    char **names; /* d: "intercept", column, column=level; with a formula as R names them */
    double *mean; /* d: of each column as stored */
    double *sd;   /* d: population sd of each column as stored; 0 for the intercept */
    column_origin *origin; /* d; NULL: unknown */
    char *target;          /* name of the target */
    char **labels;         /* that y = 0, 1, ... stand for; NULL: y holds numbers */
    size_t label_count;
    char *design;     /* saved schema (ingest/design/saved_schema.h), JSON; NULL: unknown */
    char *notes;      /* on how it was read, for the user, a line each; NULL: none */
    char *source;     /* file name; NULL: none */
    size_t dropped;   /* rows left out for missing cells; SIZE_MAX: unknown */
    uint64_t hash;    /* of the rows in their order, the columns and the target: rows_hash */
    uint64_t content; /* of the rows in any order: content_hash.h */
    unsigned char content_kind;
    uint64_t seed; /* of the shuffle */
    bool in_order; /* rows were not shuffled */
} row_table;

/* Which rows of a distributed table are on this rank: see row_partition.h. */
typedef struct {
    struct ranks *among;
    size_t first_row;      /* row of the table that is row 0 here: a multiple of ROW_BLOCK */
    size_t total_rows;     /* rows of the table */
    size_t min_local_rows; /* rows of the rank that has the fewest */
    double target_origin;  /* target less offset of the table's first row */
} row_partition;

typedef struct rows {
    size_t local_rows; /* rows on this rank */
    size_t d;          /* coefficients per row, the intercept included */
    size_t stride;     /* doubles from row to row: d rounded up to KERNEL_LANES, zero padded */
    bool intercept;    /* column 0 is the constant 1 */
    double *y;         /* local_rows; NULL: generated with the rows */
    double *weight;    /* local_rows; NULL: 1 each */
    double *offset;    /* local_rows: added to the linear predictor; NULL: 0 each */
    row_storage storage;
    row_table table;
    row_partition *partition;  /* NULL: all rows of the table are on this rank */
    struct row_groups *groups; /* row_groups.h; NULL: rows are independent */
    struct rows *member_rows;  /* where these rows are groups (model/mixed/mixed.h): the rows of
                                    the groups; NULL: these are rows */
    struct row_workers
        *workers;         /* threads that visit the rows (row_sums.h); NULL: the caller's */
    size_t sum_part_rows; /* rows of a part of a sum (row_sums.h); 0: PART_ROWS */
    bool recompute_rows;  /* nothing is stored per row: values at a point are computed again */
} rows;

/* Some rows of a table: those listed, or `n` consecutive ones. */
typedef struct {
    const size_t *list; /* NULL: first, first + 1, ... */
    size_t first, n;
} row_range;

/* Returns the i-th row of a range. */
static inline size_t row_index(row_range r, size_t i)
{
    return r.list ? r.list[i] : r.first + i;
}

/* Returns the range of n rows from `first` on. */
static inline row_range rows_from(size_t first, size_t n)
{
    return (row_range){NULL, first, n};
}

/* A storage: products of rows with vectors, which are all that loops need of x. Vectors have
 * `stride` entries, zero past d. */
struct storage_kind {
    const char *name; /* value of --storage */
    /* eta[i] = x_i . p, deta[i] = x_i . q; q NULL: only eta. */
    void (*products)(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta);
    /* out += sum_i c[i] x_i */
    void (*combine)(const rows *data, const kernels *k, row_range r, const double *c,
                    double *out);
    /* Writes row i as `stride` doubles, zero past d. */
    void (*decode)(const rows *data, size_t i, double *out);
    /* Returns x_ij. */
    double (*cell)(const rows *data, size_t i, size_t j);
    /* Returns the memory or disk space of x, bytes. */
    double (*bytes)(const rows *data);
    /* Optional, both or neither: column sums in one pass over the entries. `sums` adds
     * x_ij - shift_j to sum[j], its square to square[j], for all entries of local rows, and the
     * number of rows without an entry to zeros[j]. `sum_rest` adds what those zeros contribute.
     * NULL: rows are decoded one by one. */
    void (*sums)(const rows *data, const double *shift, double *sum, double *square,
                 double *zeros);
    void (*sum_rest)(const rows *data, const double *shift, double *sum, double *square,
                     const double *zeros);
    /* Optional: out += sum_i c[i] x_i x_i' over n rows from `first`; lower triangle, `pitch`
     * doubles from row to row of out. NULL, or false where it would be slower: rows are decoded
     * and multiplied as matrices. */
    bool (*outer)(const rows *data, const kernels *k, size_t first, size_t n, const double *c,
                  size_t pitch, double *out);
    /* Optional, for rows that are not stored as doubles: writes them as `stride` doubles each,
     * and, where the table has no y and y is not NULL, their targets. NULL: rows are doubles,
     * or reading them as they are costs no more. See gathered_rows.h. */
    void (*gather_dense)(const rows *data, row_range r, double *x, double *y);
};

#define STORAGE_KINDS(X)                                                                       \
    X(storage, double) /* doubles, row after row */                                            \
    X(storage, float)  /* floats, row after row */                                             \
    X(storage, sparse) /* entries other than 0 */

STORAGE_KINDS(KIND_DECLARED)
extern const storage_kind storage_borrowed; /* columns in the caller's memory; never in files */
extern const storage_kind storage_generated; /* computed when read; never in files */

/* Columns up to which outer products of rows use our kernel; beyond, OpenBLAS uses more
 * cache. */
#define OUTER_COLUMNS ((size_t)160)

/* Returns the number of rows of the table, over all ranks. */
static inline size_t total_rows(const rows *data)
{
    return data->partition ? data->partition->total_rows : data->local_rows;
}

/* Returns the number of rows of the rank that has the fewest: the same on every rank. */
static inline size_t min_local_rows(const rows *data)
{
    return data->partition ? data->partition->min_local_rows : data->local_rows;
}

/* Returns total_rows / local_rows, the factor from a sum over local rows to one over all. */
static inline double rows_factor(const rows *data)
{
    if (!data->partition) return 1.0;
    return (double)data->partition->total_rows / (double)data->local_rows;
}

/* Returns the number of local entries; the storage is sparse. */
static inline size_t rows_entries(const rows *data)
{
    return data->storage.start[data->local_rows] - data->storage.start[0];
}

/* Returns how many multiplications a product with one row takes, on average. */
static inline double rows_numbers(const rows *data)
{
    return data->storage.start ? (double)rows_entries(data) / (double)data->local_rows + 1.0
                               : (double)data->d;
}

/* Notifies the read-ahead of a mapped table that rows first, ..., first + n - 1 are being read
 * in order (read_ahead.c). */
void rows_sweep(const rows *data, size_t first, size_t n);

#define SWEEP_ROWS ((size_t)256) /* rows at a time from which a range counts as a sweep */

/* eta[i] = x_i . p, deta[i] = x_i . q for the rows of a range; q NULL: only eta. */
static inline void rows_products(const rows *data, const kernels *k, row_range r,
                                 const double *p, const double *q, double *eta, double *deta)
{
    if (data->storage.mapped && !r.list && r.n >= SWEEP_ROWS) rows_sweep(data, r.first, r.n);
    data->storage.kind->products(data, k, r, p, q, eta, deta);
}

/* out += sum over the range of c[i] x_i. */
static inline void rows_combine(const rows *data, const kernels *k, row_range r,
                                const double *c, double *out)
{
    data->storage.kind->combine(data, k, r, c, out);
}

/* Returns the bytes from row to row of x; the storage is not sparse. */
static inline size_t rows_stride_bytes(const rows *data)
{
    const row_storage *s = &data->storage;
    return data->stride * (s->x_float ? sizeof *s->x_float : sizeof *s->x);
}

/* Returns the bytes of a row of x, on average. */
static inline size_t rows_row_bytes(const rows *data)
{
    if (!data->storage.start) return rows_stride_bytes(data);
    return (size_t)(data->storage.kind->bytes(data) / (double)data->local_rows);
}

/* Returns the bytes of x, y, weights and offsets together. */
static inline double rows_bytes(const rows *data)
{
    size_t vectors = (data->y != NULL) + (data->weight != NULL) + (data->offset != NULL);
    return data->storage.kind->bytes(data) +
           (double)(data->local_rows * vectors * sizeof(double));
}

/* Returns the targets of a range: a pointer into y, or `buffer` (r.n doubles) filled. */
const double *rows_targets(const rows *data, row_range r, double *buffer);

/* Creates one row without columns or target, for densities that need no table. */
sbps_status rows_none(rows **out, sbps_error *err);
/* Frees a table; NULL is fine. */
void rows_destroy(rows *r);
/* Returns the hash of a table that is not distributed; the caller stores it in table.hash. */
uint64_t rows_hash(const rows *r);
/* Adds a line to table.notes. */
sbps_status rows_note(rows *r, sbps_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Converts storage double to float in place: x becomes NULL and x_float holds local_rows *
 * stride floats. The caller computes column moments and hash anew. */
void floats_from_doubles(rows *r);

#endif
