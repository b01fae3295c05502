/* The list of transforms. */
#include "ingest/formula/transform.h"

#include <string.h>

const transform_kind *transform_find(const char *name)
{
    static const transform_kind *const all[] = {TRANSFORM_KINDS(KIND_LISTED)};
    if (strcmp(name, "as.factor") == 0) return &transform_factor;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->name, name) == 0) return all[k];
    return NULL;
}

sbps_status fail_call(const call *c, const char *sentence)
{
    return fail_at(c->text, c->of->at, c->err, "%s(): %s", c->of->name, sentence);
}

int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

sbps_status fail_recall(const call *c)
{
    return fail_call(c, "what it learned of the rows before does not fit");
}
