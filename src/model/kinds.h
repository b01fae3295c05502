/* The kinds of model, one file each; the registry in model.c lists them. */
#ifndef MODEL_KINDS_H
#define MODEL_KINDS_H

#include "model/model.h"

extern const model_kind model_gaussian, model_banana, model_hyperboloid, model_multimodal;
extern const model_kind model_logistic, model_linear, model_poisson, model_softmax,
    model_network;
/* Not in the registry: --model names its file. */
extern const model_kind model_plugin;

#endif
