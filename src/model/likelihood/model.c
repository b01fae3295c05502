/* The registry of models. */
#include "model/likelihood/model.h"
#include "model/likelihood/model_kinds.h"

#include <assert.h>
#include <string.h>

const model_kind *const model_kinds[] = {MODEL_KINDS(KIND_LISTED) NULL};

bool model_is_file(const char *name)
{
    return strchr(name, '/') != NULL;
}

const model_kind *model_find(const char *name)
{
    if (model_is_file(name)) return &model_plugin;
    return kind_find(model_kinds, name);
}

static bool is_listed(size_t count, const model_auxiliary *const *list, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i]->name, name)) return true;
    return false;
}

size_t model_auxiliary_list(const model_auxiliary *out[MODEL_AUXILIARIES_MAX])
{
    size_t count = 0;
    for (size_t k = 0; model_kinds[k]; k++)
        for (size_t i = 0; i < model_kinds[k]->auxiliary_count; i++) {
            const model_auxiliary *each = &model_kinds[k]->auxiliaries[i];
            if (is_listed(count, out, each->name)) continue;
            assert(count < MODEL_AUXILIARIES_MOST);
            out[count++] = each;
        }
    return count;
}

const char *model_failure(const model_kind *kind, const void *self)
{
    return kind->failure && self ? kind->failure(self) : NULL;
}

target_support model_support(const model_kind *kind, const model_shape *shape)
{
    return kind->support_of ? kind->support_of(shape) : kind->support;
}
