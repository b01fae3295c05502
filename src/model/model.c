/* The registry of models. */
#include "model/model.h"
#include "model/kinds.h"

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

static const model_auxiliary *first_called(const char *name)
{
    for (size_t k = 0; model_kinds[k]; k++)
        for (size_t i = 0; i < model_kinds[k]->auxiliary_count; i++)
            if (!strcmp(model_kinds[k]->auxiliaries[i].name, name))
                return &model_kinds[k]->auxiliaries[i];
    return NULL;
}

const model_auxiliary *model_auxiliary_at(size_t index)
{
    for (size_t k = 0; model_kinds[k]; k++)
        for (size_t i = 0; i < model_kinds[k]->auxiliary_count; i++) {
            const model_auxiliary *each = &model_kinds[k]->auxiliaries[i];
            if (each == first_called(each->name) && index-- == 0) return each;
        }
    return NULL;
}

const char *model_failure(const model_kind *kind, const void *self)
{
    return kind->failure && self ? kind->failure(self) : NULL;
}

target_support model_support(const model_kind *kind, const model_shape *shape)
{
    return kind->support_of ? kind->support_of(shape) : kind->support;
}
