/* Registration, and what all routines need. */
#include "sbps_r.h"

#include <R_ext/Rdynload.h>

SEXP failure_of(const sbps_error *err)
{
    static const char *const names[] = {
#define STATUS_WORD(name, text) #name,
        SBPS_STATUSES(STATUS_WORD)
#undef STATUS_WORD
    };
    return failure_called(names[err->status], err->text);
}

SEXP failure_called(const char *word, const char *sentence)
{
    SEXP out = PROTECT(text_of(sentence));
    SEXP status = PROTECT(text_of(word));
    SEXP class = PROTECT(text_of("sbps_failure"));
    Rf_setAttrib(out, Rf_install("status"), status);
    Rf_setAttrib(out, R_ClassSymbol, class);
    UNPROTECT(3);
    return out;
}

const char *utf8(SEXP text)
{
    return Rf_translateCharUTF8(text);
}

const char *only_text(SEXP texts)
{
    return Rf_isString(texts) && Rf_length(texts) == 1 ? utf8(STRING_ELT(texts, 0)) : NULL;
}

void want_vector(SEXP x, SEXPTYPE type, size_t length, const char *name)
{
    if (TYPEOF(x) == type && (size_t)Rf_xlength(x) >= length) return;
    Rf_error("%s: expected a vector of type %s and %.0f values, got type %s and %.0f values",
             name, Rf_type2char(type), (double)length, Rf_type2char(TYPEOF(x)),
             Rf_isVector(x) ? (double)Rf_xlength(x) : 0.0);
}

SEXP text_of(const char *text)
{
    return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
}

static SEXP check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
    return Rf_ScalarLogical(FALSE);
}

static SEXP tell_interrupt(SEXP condition, void *unused)
{
    (void)condition;
    (void)unused;
    return Rf_ScalarLogical(TRUE);
}

/* Not R_ToplevelExec: a script that R runs would end there. */
bool interrupt_is_pending(void)
{
    SEXP class = PROTECT(text_of("interrupt"));
    SEXP came = R_tryCatch(check_interrupt, NULL, class, tell_interrupt, NULL, NULL, NULL);
    bool pending = Rf_asLogical(came) == TRUE;
    UNPROTECT(1);
    return pending;
}

#define ROUTINE(name, arguments)                                                               \
    {                                                                                          \
#name, (DL_FUNC)&name, arguments                                                       \
    }

static const R_CallMethodDef routines[] = {
    ROUTINE(r_sample, 7), ROUTINE(r_draws, 1),   ROUTINE(r_parameters, 1),
    ROUTINE(r_text, 4),   ROUTINE(r_predict, 4), ROUTINE(r_output_state, 3),
    ROUTINE(r_memory_open, 1), ROUTINE(r_memory_close, 1), ROUTINE(r_contrast, 2),
    {NULL, NULL, 0},
};

void R_init_sbps(DllInfo *library);

void R_init_sbps(DllInfo *library)
{
    R_registerRoutines(library, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
    R_forceSymbols(library, TRUE);
}
