/* Rows: the design matrix a posterior is made of, shuffled once, immutable afterwards. */
#ifndef DATA_ROWS_H
#define DATA_ROWS_H

#include "base/kernels.h"
#include "base/status.h"
#include <stdint.h>

typedef struct storage_kind storage_kind;

typedef struct {
    const storage_kind *storage; /* how the numbers of x lie in memory */
    size_t n, d;    /* rows; coefficients per row, the intercept's 1 (first) included */
    size_t stride;  /* doubles from row to row: d rounded up to KERNEL_LANES, zero padded */
    bool intercept; /* column 0 is the constant 1, named "intercept" */
    double *x;      /* n * stride where storage is dense; else NULL */
    double *y;      /* n */
    double *weight; /* n, or NULL: 1 each */
    double *offset; /* n, or NULL: 0 each; added to the linear predictor */
    char **names;   /* d: "intercept", column, or column=level */
    double *sd;     /* d: population sd of each column as stored (0 for the intercept) */
    double *mean;   /* d */
    char *target;   /* name of the target */
    uint64_t hash;  /* of everything above */
    struct table_file *mapped; /* the file x, y, weight and offset lie in; NULL: in memory */
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
    const char *name;
    /* eta[i] = x_i . p, deta[i] = x_i . q (q NULL: only eta) */
    void (*products)(const rows *data, const kernels *k, row_range r, const double *p,
                     const double *q, double *eta, double *deta);
    /* out += sum_i c[i] x_i */
    void (*combine)(const rows *data, const kernels *k, row_range r, const double *c,
                    double *out);
    /* Row i as `stride` doubles, zero past d. */
    void (*decode)(const rows *data, size_t i, double *out);
};

extern const storage_kind storage_dense; /* doubles, row after row */

static inline void rows_products(const rows *data, const kernels *k, row_range r,
                                 const double *p, const double *q, double *eta, double *deta)
{
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

typedef struct {
    const char *target;           /* NULL: for libsvm the label; else an error */
    const char *features;         /* comma list; NULL: every column not named elsewhere */
    const char *categorical;      /* comma list of columns to one-hot, first level dropped */
    const char *weights, *offset; /* column names or NULL */
    bool intercept, standardize;
    bool drop_missing; /* rows with an empty or NA cell: dropped, else an error */
    bool no_columns;   /* only the target is wanted, and weights */
    bool no_target;    /* every column is a feature; y is 0 */
    uint64_t seed;     /* of the shuffle */
} rows_spec;

/* CSV with header (quotes, CRLF, gzip) or libsvm text, told apart by the first line. */
sbps_status rows_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err);
/* From numbers in memory: x is n * columns, row-major, without the intercept. weight and offset
 * may be NULL; names may be NULL (x1, x2, ...). */
sbps_status rows_copy(size_t n, size_t columns, const double *x, const char *const *names,
                      const double *y, const double *weight, const double *offset,
                      const rows_spec *spec, rows **out, sbps_error *err);
/* One row without columns or target: for densities that need no table. */
sbps_status rows_none(rows **out, sbps_error *err);
void rows_destroy(rows *r);

#endif
