/* A model as a function of R: log p and gradient of some rows, asked for on R's own thread. The function is called under
 * R_ToplevelExec: whatever it jumps to, the frames of the library are not jumped over. */
#include "sbps_r.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const own_model *model;
    const sbps_batch *batch;
    bool interrupted, reported;
    char text[256]; /* what went wrong */
} evaluation;

static void put_rows(const sbps_batch *b, double *to)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < b->columns; j++) to[j * b->n + i] = b->x[i * b->columns + j];
}

static SEXP call_of(const evaluation *t)
{
    const sbps_batch *b = t->batch;
    SEXP w = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)b->dim));
    SEXP x = PROTECT(Rf_allocMatrix(REALSXP, (int)b->n, (int)b->columns));
    SEXP y = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)b->n));
    memcpy(REAL(w), b->w, b->dim * sizeof(double));
    memcpy(REAL(y), b->y, b->n * sizeof(double));
    put_rows(b, REAL(x));
    SEXP call = Rf_lang4(t->model->guarded, w, x, y);
    UNPROTECT(3);
    return call;
}

static bool is_answer(const sbps_batch *b, SEXP answer)
{
    if (TYPEOF(answer) != VECSXP || Rf_xlength(answer) != 2) return false;
    SEXP loglik = VECTOR_ELT(answer, 0), gradient = VECTOR_ELT(answer, 1);
    return TYPEOF(loglik) == REALSXP && TYPEOF(gradient) == REALSXP &&
           (size_t)Rf_xlength(loglik) == b->n && (size_t)Rf_xlength(gradient) == b->n * b->dim;
}

/* An answer is a list of log densities and of gradients, row after row; a text where the function failed; NULL where an
 * interrupt came. */
static void take_answer(evaluation *t, SEXP answer)
{
    const sbps_batch *b = t->batch;
    t->interrupted = Rf_isNull(answer);
    if (Rf_isString(answer)) {
        snprintf(t->text, sizeof t->text, "%s", utf8(STRING_ELT(answer, 0)));
    } else if (!t->interrupted && !is_answer(b, answer)) {
        snprintf(t->text, sizeof t->text, "the answer has other lengths than the rows");
    } else if (!t->interrupted) {
        if (b->loglik) memcpy(b->loglik, REAL(VECTOR_ELT(answer, 0)), b->n * sizeof(double));
        if (b->gradient)
            memcpy(b->gradient, REAL(VECTOR_ELT(answer, 1)), b->n * b->dim * sizeof(double));
        t->reported = true;
    }
}

static void evaluate(void *self)
{
    evaluation *t = self;
    SEXP call = PROTECT(call_of(t));
    SEXP answer = PROTECT(Rf_eval(call, R_GlobalEnv));
    take_answer(t, answer);
    UNPROTECT(2);
}

/* A jump that the guard did not see is an interrupt that came before it was there or after it was gone. */
static bool is_interrupted(evaluation *t)
{
    return !R_ToplevelExec(evaluate, t) || t->interrupted;
}

/* After an interrupt the run ends at the end of its segment, which still needs this evaluation. */
static bool rows_of(void *self, const sbps_batch *batch)
{
    own_model *model = self;
    evaluation t = {.model = model, .batch = batch};
    bool interrupted = is_interrupted(&t);
    if (interrupted && model->heed(model->self)) {
        t = (evaluation){.model = model, .batch = batch};
        interrupted = is_interrupted(&t);
    }
    if (t.reported) return true;
    snprintf(batch->text, batch->text_size, "%s", interrupted ? "interrupted" : t.text);
    return false;
}

static const double *numbers_of(SEXP numbers, size_t dim, const char *name)
{
    if (!Rf_isReal(numbers)) return NULL;
    want_vector(numbers, REALSXP, dim, name);
    return REAL(numbers);
}

void read_model(SEXP model, own_model *out)
{
    want_vector(model, VECSXP, 6, "model");
    SEXP names = VECTOR_ELT(model, 2);
    size_t dim = (size_t)Rf_asReal(VECTOR_ELT(model, 5));
    out->guarded = VECTOR_ELT(model, 0);
    out->call =
        (sbps_model_function){.struct_size = sizeof out->call,
                              .name = only_text(VECTOR_ELT(model, 1)),
                              .data = out,
                              .rows = rows_of,
                              .dim = dim,
                              .start = numbers_of(VECTOR_ELT(model, 3), dim, "start"),
                              .prior_sd = numbers_of(VECTOR_ELT(model, 4), dim, "prior_sd")};
    if (!Rf_isString(names)) return;
    want_vector(names, STRSXP, dim, "names");
    const char **texts = (const char **)R_alloc(dim + 1, sizeof *texts);
    for (size_t k = 0; k < dim; k++) texts[k] = utf8(STRING_ELT(names, (R_xlen_t)k));
    out->call.names = texts;
}
