/* Whether a run may be written to a file: never over the data, nor over what is no run. */
#include "sbps_r.h"

#include <string.h>
#include <sys/stat.h>

static bool is_same_file(const char *path, const char *other)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(other, &b) != 0) return false;
    return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_one_of(const char *path, SEXP names)
{
    for (R_xlen_t k = 0; k < Rf_xlength(names); k++) {
        const char *name = utf8(STRING_ELT(names, k));
        if (!strcmp(path, name) || is_same_file(path, name)) return true;
    }
    return false;
}

/* "data": it is one of the files of the data; "other": one of the others; "strange": there is a file that is no run;
 * "free": none of these. */
SEXP r_output_state(SEXP path, SEXP data, SEXP others)
{
    struct stat about;
    want_vector(path, STRSXP, 1, "path");
    want_vector(data, STRSXP, 0, "data");
    want_vector(others, STRSXP, 0, "others");
    const char *name = utf8(STRING_ELT(path, 0));
    if (is_one_of(name, data)) return text_of("data");
    if (is_one_of(name, others)) return text_of("other");
    bool there = stat(name, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    return text_of(there && !sbps_result_recognise(name) ? "strange" : "free");
}
