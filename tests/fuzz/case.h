/* One fuzz case: any bytes, read under a spec chosen by the first byte, become a valid table or
 * an error message. */
#ifndef TESTS_FUZZ_CASE_H
#define TESTS_FUZZ_CASE_H

#include "ingest/ingest.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const rows_spec fuzz_specs[] = {
    {.target = "y", .intercept = true},
    {.intercept = true, .drop_missing = true},
    {.target = "y", .categorical = "c", .weights = "w", .offset = "o", .standardize = true},
    {.target = "y", .features = "a,b", .categorical = "c", .drop_missing = true, .seed = 3},
    {.target = "f1", .categorical = "f2", .intercept = true, .standardize = true},
    {.weights = "f3", .features = "f1", .drop_missing = true},
    {.target = "y", .labels = LABELS_TWO, .success = "yes", .exclude = "b", .na = "x,-1"},
    {.target = "y", .labels = LABELS_CLASSES, .intercept = true, .drop_missing = true},
    {.target = "y", .labels = LABELS_TEXT, .intercept = true, .reference = "c=red"},
    {.formula = "y ~ a*c + poly(b, 2) - 1 + (a | c)", .intercept = true, .drop_missing = true},
    {.formula = "y ~ log(a + 9) + cut(b, 3) + offset(a)", .intercept = true},
};

enum { FUZZ_SPECS = sizeof fuzz_specs / sizeof *fuzz_specs };

/* NULL if a table is valid, else the invariant that it violates. */
static const char *violated_invariant(const rows *r, const rows_spec *spec)
{
    if (r->local_rows < 2 || r->d < 1 || r->stride < r->d || r->stride % 4) return "shape";
    bool intercept = spec->intercept && !(spec->formula && strstr(spec->formula, "- 1"));
    if (r->intercept != intercept || !r->table.target || !r->table.names) return "names";
    bool offset = spec->offset || (spec->formula && strstr(spec->formula, "offset"));
    if (!r->weight != !spec->weights || !r->offset != !offset) return "weights";
    for (size_t i = 0; i < r->local_rows; i++) {
        const double *x = r->storage.x + i * r->stride;
        for (size_t j = 0; j < r->stride; j++)
            if (!isfinite(x[j]) || (j >= r->d && x[j] != 0)) return "x";
        if (r->intercept && x[0] != 1) return "intercept";
        if (!isfinite(r->y[i])) return "y";
        if (r->weight && !(r->weight[i] >= 0 && isfinite(r->weight[i]))) return "weight";
        if (r->offset && !isfinite(r->offset[i])) return "offset";
    }
    for (size_t j = 0; j < r->d; j++)
        if (!r->table.names[j] || !isfinite(r->table.mean[j]) || !isfinite(r->table.sd[j]))
            return "moments";
    return NULL;
}

/* NULL, or what went wrong; *accepted: the bytes were a table. */
static const char *fuzz_case(size_t spec_index, const void *bytes, size_t size, bool *accepted)
{
    const rows_spec *spec = &fuzz_specs[spec_index % FUZZ_SPECS];
    sbps_error err = {0};
    rows *r = NULL;
    char path[64];
    int file = memfd_create("fuzz", 0);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size) return "no memory file";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    sbps_status status = rows_read(path, spec, &r, &err);
    close(file);
    const char *wrong = NULL;
    *accepted = status == SBPS_OK;
    if (status == SBPS_OK)
        wrong = r ? violated_invariant(r, spec) : "no rows";
    else if (r)
        wrong = "rows beside an error";
    else if (err.status != status || !memchr(err.text, '\0', sizeof err.text))
        wrong = "error";
    else if (strncmp(err.text, "formula, column ", 16) == 0)
        wrong = spec->formula && strchr(err.text, '^') ? NULL : "place";
    else if (!strstr(err.text, path) || strlen(err.text) < strlen(path) + 8)
        wrong = "sentence";
    rows_destroy(r);
    return wrong;
}

#endif
