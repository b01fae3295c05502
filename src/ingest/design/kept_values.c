/* A number a row for each poly(), scale(), bs(), ns(), cut() and factor(): far less than the rows. */
#include "ingest/design/kept_values.h"

#include <stdlib.h>
#include <string.h>

sbps_status kept_values_open(const formula *f, kept_values *k, sbps_error *err)
{
    *k = (kept_values){.of = f};
    if (!f) return SBPS_OK;
    k->value = calloc(f->variables + 1, sizeof *k->value);
    return k->value ? SBPS_OK : fail_memory(err);
}

static bool grow_values(kept_values *k)
{
    size_t capacity = k->capacity ? 2 * k->capacity : 1024;
    for (size_t v = 0; v < k->of->variables; v++) {
        if (!variable_waits(&k->of->variable[v])) continue;
        double *wide = realloc(k->value[v], capacity * sizeof *wide);
        if (!wide) return false;
        k->value[v] = wide;
    }
    k->capacity = capacity;
    return true;
}

bool kept_values_add(kept_values *k, const double *row)
{
    if (!k->of) return true;
    if (k->rows == k->capacity && !grow_values(k)) return false;
    for (size_t v = 0; v < k->of->variables; v++)
        if (k->value[v])
            k->value[v][k->rows] = formula_number(k->of, &k->of->variable[v].value, row);
    k->rows++;
    return true;
}

static sbps_status give_all(void *self, const program *of, double *value, sbps_error *err)
{
    const kept_values *k = self;
    (void)err;
    for (size_t v = 0; v < k->of->variables; v++)
        if (&k->of->variable[v].value == of)
            memcpy(value, k->value[v], k->rows * sizeof *value);
    return SBPS_OK;
}

row_values kept_values_all(kept_values *k)
{
    return (row_values){give_all, k, k->rows};
}

void kept_values_close(kept_values *k)
{
    for (size_t v = 0; k->value && v < k->of->variables; v++) free(k->value[v]);
    free(k->value);
}
