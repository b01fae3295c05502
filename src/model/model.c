/* The registry of models. */
#include "model/model.h"
#include "model/kinds.h"

#include <string.h>

const model_kind *const model_kinds[] = {
    &model_logistic, &model_linear, &model_poisson,     &model_softmax,    &model_network,
    &model_gaussian, &model_banana, &model_hyperboloid, &model_multimodal, NULL,
};

bool model_is_file(const char *name)
{
    return strchr(name, '/') != NULL;
}

const model_kind *model_find(const char *name)
{
    if (model_is_file(name)) return &model_plugin;
    for (size_t i = 0; model_kinds[i]; i++)
        if (strcmp(model_kinds[i]->name, name) == 0) return model_kinds[i];
    return NULL;
}
