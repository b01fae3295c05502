/* What the file of a run says. Each call opens it and closes it again: R's objects hold bytes, no handles, and can be
 * saved and sent. */
#include "sbps_r.h"

#include <string.h>

static sbps_status open_run(SEXP run, sbps_result **out, sbps_error *err)
{
    return sbps_result_read(only_text(run), out, err);
}

/* Draws in the layout of R's posterior: iteration, chain, parameter. */
static void put_draws(const sbps_result *r, double *to)
{
    size_t dim = sbps_result_dim(r), chains = sbps_result_chains(r), n = sbps_result_draws(r);
    const double *from = sbps_result_values(r);
    for (size_t c = 0; c < chains; c++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < dim; j++) to[(j * chains + c) * n + i] = *from++;
}

SEXP r_draws(SEXP run)
{
    sbps_error err = {0};
    sbps_result *r = NULL;
    if (open_run(run, &r, &err) != SBPS_OK) return failure_of(&err);
    SEXP out = PROTECT(Rf_alloc3DArray(REALSXP, (int)sbps_result_draws(r),
                                       (int)sbps_result_chains(r), (int)sbps_result_dim(r)));
    put_draws(r, REAL(out));
    sbps_result_destroy(r);
    UNPROTECT(1);
    return out;
}

#define FIGURES 13

static void put_figures(const sbps_parameter *w, double *to, size_t rows)
{
    const double figures[FIGURES] = {w->mean,    w->mcse,     w->sd,        w->q5,   w->q50,
                                     w->q95,     w->ess_bulk, w->ess_tail,  w->rhat, w->bias,
                                     w->bias_se, w->sd_bias,  w->sd_bias_se};
    for (size_t k = 0; k < FIGURES; k++) to[k * rows] = figures[k];
}

static SEXP dimnames_of(SEXP rows)
{
    static const char *const figures[FIGURES] = {
        "mean",     "mcse", "sd",   "q5",      "q50",     "q95",       "ess_bulk",
        "ess_tail", "rhat", "bias", "bias_se", "sd_bias", "sd_bias_se"};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2)), columns = Rf_allocVector(STRSXP, FIGURES);
    SET_VECTOR_ELT(out, 0, rows);
    SET_VECTOR_ELT(out, 1, columns);
    for (int k = 0; k < FIGURES; k++) SET_STRING_ELT(columns, k, Rf_mkChar(figures[k]));
    UNPROTECT(1);
    return out;
}

/* A matrix: a row for each parameter; attribute "part": what each is, see sbps_parameter. */
SEXP r_parameters(SEXP run)
{
    sbps_error err = {0};
    sbps_result *r = NULL;
    if (open_run(run, &r, &err) != SBPS_OK) return failure_of(&err);
    size_t dim = sbps_result_dim(r);
    sbps_status status = SBPS_OK;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)dim, FIGURES));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)dim));
    SEXP parts = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)dim));
    for (size_t j = 0; status == SBPS_OK && j < dim; j++) {
        sbps_parameter w = {.struct_size = sizeof w};
        status = sbps_result_parameter(r, j, &w, &err);
        if (status != SBPS_OK) break;
        put_figures(&w, REAL(out) + j, dim);
        SET_STRING_ELT(names, (R_xlen_t)j, Rf_mkCharCE(w.name, CE_UTF8));
        SET_STRING_ELT(parts, (R_xlen_t)j, Rf_mkChar(w.part ? w.part : ""));
    }
    sbps_result_destroy(r);
    if (status == SBPS_OK) {
        Rf_setAttrib(out, R_DimNamesSymbol, dimnames_of(names));
        Rf_setAttrib(out, Rf_install("part"), parts);
    }
    UNPROTECT(3);
    return status == SBPS_OK ? out : failure_of(&err);
}

/* ---- texts ---- */

typedef struct {
    const sbps_result *result;
    const char *run, *data;
    sbps_scoring how;
} text_request;

typedef sbps_status text_maker(const text_request *q, char **out, sbps_error *err);

static sbps_status text_summary(const text_request *q, char **out, sbps_error *err)
{
    return sbps_result_summary(q->result, SBPS_TEXT, out, err);
}

static sbps_status text_effects(const text_request *q, char **out, sbps_error *err)
{
    return sbps_result_text(q->result, SBPS_SHOW_EFFECTS, out, err);
}

static sbps_status text_run(const text_request *q, char **out, sbps_error *err)
{
    return sbps_result_text(q->result, SBPS_SHOW_RUN, out, err);
}

static sbps_status text_whole(const text_request *q, char **out, sbps_error *err)
{
    return sbps_result_text(q->result, SBPS_SHOW_EFFECTS | SBPS_SHOW_RUN, out, err);
}

static sbps_status text_diagnosis(const text_request *q, char **out, sbps_error *err)
{
    size_t findings;
    return sbps_result_diagnose(q->result, out, &findings, err);
}

static sbps_status text_page(const text_request *q, char **out, sbps_error *err)
{
    return sbps_result_page(q->result, q->run, q->data, &q->how, out, err);
}

static sbps_status text_loo(const text_request *q, char **out, sbps_error *err)
{
    return sbps_loo(q->result, q->run, q->data, &q->how, SBPS_TEXT, out, err);
}

static sbps_status text_loo_json(const text_request *q, char **out, sbps_error *err)
{
    return sbps_loo(q->result, q->run, q->data, &q->how, SBPS_JSON, out, err);
}

static sbps_status text_score(const text_request *q, char **out, sbps_error *err)
{
    return sbps_score(q->result, q->run, q->data, &q->how, SBPS_TEXT, out, err);
}

static sbps_status text_score_json(const text_request *q, char **out, sbps_error *err)
{
    return sbps_score(q->result, q->run, q->data, &q->how, SBPS_JSON, out, err);
}

static sbps_status text_check(const text_request *q, char **out, sbps_error *err)
{
    return sbps_check(q->result, q->run, q->data, &q->how, SBPS_TEXT, out, err);
}

static sbps_status text_check_json(const text_request *q, char **out, sbps_error *err)
{
    return sbps_check(q->result, q->run, q->data, &q->how, SBPS_JSON, out, err);
}

static const struct {
    const char *name;
    text_maker *make;
} makers[] = {{"summary", text_summary},
              {"summary-ranef", text_effects},
              {"summary-verbose", text_run},
              {"summary-ranef-verbose", text_whole},
              {"diagnose", text_diagnosis},
              {"page", text_page},
              {"loo", text_loo},
              {"loo-json", text_loo_json},
              {"score", text_score},
              {"score-json", text_score_json},
              {"check", text_check},
              {"check-json", text_check_json}};

static text_maker *find_maker(const char *name)
{
    for (size_t k = 0; k < sizeof makers / sizeof *makers; k++)
        if (!strcmp(makers[k].name, name)) return makers[k].make;
    return NULL;
}

/* what: one of the above, and the grouping factor of leave-one-group-out ("": none); data: rows or NULL; how: seed,
 * threads. */
SEXP r_text(SEXP run, SEXP what, SEXP data, SEXP how)
{
    sbps_error err = {0};
    sbps_result *r = NULL;
    char *text = NULL;
    want_vector(what, STRSXP, 2, "what");
    want_vector(how, REALSXP, 2, "how");
    text_maker *make = find_maker(utf8(STRING_ELT(what, 0)));
    const char *group = utf8(STRING_ELT(what, 1));
    row_set rows;
    rows_given(data, &rows);
    text_request q = {.run = only_text(run), .data = rows.name};
    q.how = (sbps_scoring){.struct_size = sizeof q.how,
                           .seed = (uint64_t)REAL(how)[0],
                           .threads = (unsigned)REAL(how)[1],
                           .frame = rows.in_memory ? &rows.frame : NULL,
                           .group = *group ? group : NULL};
    if (!make) Rf_error("no text is called '%s'", only_text(what));
    sbps_status status = open_run(run, &r, &err);
    q.result = r;
    if (status == SBPS_OK) status = make(&q, &text, &err);
    SEXP out = PROTECT(status == SBPS_OK ? text_of(text) : failure_of(&err));
    sbps_free(text);
    sbps_result_destroy(r);
    UNPROTECT(1);
    return out;
}

/* Posteriors of expressions of the library's names of parameters, as CSV. */
SEXP r_contrast(SEXP run, SEXP expressions)
{
    sbps_error err = {0};
    sbps_result *r = NULL;
    char *text = NULL;
    want_vector(expressions, STRSXP, 1, "expressions");
    size_t count = (size_t)Rf_xlength(expressions);
    const char **expression = (const char **)R_alloc(count, sizeof *expression);
    for (size_t k = 0; k < count; k++)
        expression[k] = utf8(STRING_ELT(expressions, (R_xlen_t)k));
    sbps_status status = open_run(run, &r, &err);
    if (status == SBPS_OK)
        status = sbps_result_contrast(r, expression, count, SBPS_CSV, &text, &err);
    SEXP out = PROTECT(status == SBPS_OK ? text_of(text) : failure_of(&err));
    sbps_free(text);
    sbps_result_destroy(r);
    UNPROTECT(1);
    return out;
}
