/* A model of your own for sbps: compile a file that defines `sbps_model` to a shared object and name
 * it on the command line, `sbps sample table.csv --model ./mine.so --target y`.
 *
 * A row is its columns x[0..columns-1], the intercept's 1 first unless --no-intercept was given,
 * and its target y. Functions see one row at a time, may be called from several threads at once,
 * and must give the same numbers for the same arguments: no mutable globals. */
#ifndef SBPS_MODEL_H
#define SBPS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SBPS_MODEL_ABI 1

typedef struct {
    uint32_t abi;   /* SBPS_MODEL_ABI */
    uint32_t flags; /* 0 */
    size_t
        struct_size; /* sizeof(sbps_model_table): tells later versions which members are there */

    /* Number of parameters for rows with this many columns; 0: the model cannot use such rows. */
    size_t (*dim)(size_t columns);
    /* log p(y | x, w); constants may be left out. */
    double (*loglik)(size_t dim, const double *w, size_t columns, const double *x, double y);
    /* out[0..dim-1] = its gradient in w. */
    void (*gradient)(size_t dim, const double *w, size_t columns, const double *x, double y,
                     double *out);

    /* Members from here on are optional: they may be NULL. */

    /* Derivative along u. NULL: the gradient times u, which costs as much as a gradient. */
    double (*slope)(size_t dim, const double *w, const double *u, size_t columns,
                    const double *x, double y);
    /* out[0..dim-1] = second derivatives times v. NULL: differences of gradients. */
    void (*hessian_vector)(size_t dim, const double *w, const double *v, size_t columns,
                           const double *x, double y, double *out);
    /* Name of parameter j into text[0..size-1]. NULL: the columns' names where there is a
     * parameter a column, else w1, w2, ... */
    void (*name)(size_t columns, size_t j, size_t size, char *text);
    /* Default prior of parameter j: normal(0, this), INFINITY: flat. NULL: flat. */
    double (*prior_sd)(size_t columns, size_t j);
    /* Where the search for the mode begins. NULL: at 0. */
    void (*start)(size_t columns, double *w);
    /* What is wrong with a row, a short text without a full stop; NULL: nothing. */
    const char *(*check)(size_t columns, const double *x, double y);
    /* As `name`, with the names of the columns; used in place of it. NULL: `name` is used. */
    void (*name_by_columns)(size_t columns, const char *const *column_names, size_t j,
                            size_t size, char *text);
} sbps_model_table;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const sbps_model_table sbps_model;

#ifdef __cplusplus
}
#endif

#endif
