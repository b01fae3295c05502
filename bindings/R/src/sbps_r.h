/* What the routines share. Nothing here lets R jump over a frame of the library: R is asked for
 * memory only where none is on the stack, and for interrupts under R_tryCatch. */
#ifndef SBPS_R_H
#define SBPS_R_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <sbps.h>

/* A sentence with its status, which the R side makes a condition of. */
SEXP failure_of(const sbps_error *err);
SEXP failure_called(const char *word, const char *sentence);
/* The text of a CHARSXP, translated; R frees it after the call. */
const char *utf8(SEXP text);
/* The only string of a character vector; NULL where there is none. */
const char *only_text(SEXP texts);
SEXP text_of(const char *text);
bool interrupt_is_pending(void);
/* An error of R unless it is a vector of this type and of this length or more. To be called before there is anything to
 * release. */
void want_vector(SEXP x, SEXPTYPE type, size_t length, const char *name);

/* ---- columns.c ---- */

/* Columns of a list, of a double matrix, or of a sparse one and a list beside it (sparse.R); values are borrowed from R. */
typedef struct {
    size_t rows, count;
    sbps_column *column;
    bool has_sparse;
    sbps_sparse sparse;
} column_set;

/* Every vector is looked at before it is borrowed: an error of R where one is of another length or type than it must be. */
column_set columns_of(SEXP data, SEXP names);

/* Rows that are looked at one by one: the name of a file, columns, or nothing. */
typedef struct {
    const char *name; /* of the file, or what sentences call the columns */
    bool in_memory;
    column_set columns;
    sbps_frame frame;
} row_set;

void rows_given(SEXP data, row_set *out);

/* ---- model.c ---- */

/* A model as a function of R. `heed` is notified of an interrupt; true: the run ends soon, but still needs this evaluation. */
typedef struct {
    SEXP guarded;
    sbps_model_function call;
    bool (*heed)(void *self);
    void *self;
} own_model;

/* model: the list that model.R makes. All is borrowed from it. */
void read_model(SEXP model, own_model *out);

/* ---- routines ---- */

SEXP r_sample(SEXP data, SEXP names, SEXP options, SEXP command, SEXP output, SEXP progress,
              SEXP model);
SEXP r_draws(SEXP run);
SEXP r_parameters(SEXP run);
SEXP r_text(SEXP run, SEXP what, SEXP data, SEXP how);
SEXP r_output_state(SEXP path, SEXP data, SEXP others);
SEXP r_predict(SEXP run, SEXP data, SEXP words, SEXP numbers);
SEXP r_contrast(SEXP run, SEXP expressions);
SEXP r_memory_open(SEXP bytes);
SEXP r_memory_close(SEXP file);

#endif
