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

target_support model_support(const model_kind *kind, const model_shape *shape)
{
    return kind->support_of ? kind->support_of(shape) : kind->support;
}
