/* Lists of models, families, samplers, priors and summary columns. */
#include "api/arguments.h"
#include "inference/options/options.h"
#include "inference/run/run.h"
#include "output/summary/summary.h"

#include <string.h>

/* Registries differ in type but every kind begins with its name and its sentence. */
typedef struct {
    const char *name, *summary;
} named_kind;

_Static_assert(offsetof(model_kind, summary) == offsetof(named_kind, summary), "kinds");
_Static_assert(offsetof(sampler_kind, summary) == offsetof(named_kind, summary), "kinds");
_Static_assert(offsetof(prior_kind, summary) == offsetof(named_kind, summary), "kinds");

static bool needs_table(const void *kind)
{
    const model_kind *model = kind;
    return !model->facts.no_rows;
}

/* R's names, each with the sentence of the model that it stands for. */
static bool describe_family(size_t index, sbps_kind_info *out)
{
    const char *model = NULL, *name = family_at(index, &model);
    for (size_t k = 0; name && model_kinds[k]; k++)
        if (!strcmp(model_kinds[k]->name, model))
            *out = (sbps_kind_info){
                .name = name, .summary = model_kinds[k]->summary, .needs_table = true};
    return name != NULL;
}

static bool describe_kind(const char *family, size_t index, sbps_kind_info *out)
{
    const struct {
        const char *family;
        const void *kinds;
    } families[] = {
        {"models", model_kinds}, {"samplers", sampler_kinds}, {"priors", prior_kinds}};
    if (!strcmp(family, "columns")) {
        const column *c = column_at(index);
        if (c)
            *out =
                (sbps_kind_info){.name = c->name, .summary = c->summary, .needs_table = true};
        return c != NULL;
    }
    if (!strcmp(family, "families")) return describe_family(index, out);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].family, family)) continue;
        const named_kind *const *kinds = families[i].kinds;
        for (size_t k = 0; k <= index; k++)
            if (!kinds[k]) return false;
        *out = (sbps_kind_info){
            .name = kinds[index]->name, .summary = kinds[index]->summary, .needs_table = true};
        if (families[i].kinds == model_kinds) out->needs_table = needs_table(kinds[index]);
        return true;
    }
    return false;
}

bool sbps_kind_at(const char *family, size_t index, sbps_kind_info *out)
{
    sbps_kind_info full;
    if (!family || !out) return false;
    bool there = describe_kind(family, index, &full);
    if (there) sized_give(&full, sizeof full, out);
    return there;
}
