/* The list of models: one line and one file each. */
#ifndef MODEL_MODEL_KINDS_H
#define MODEL_MODEL_KINDS_H

#include "core/kind_tables.h"
#include "model/likelihood/model.h"

/* X(model, NAME) for every `const model_kind model_NAME`, in the order of `sbps list`. */
#define MODEL_KINDS(X)                                                                         \
    X(model, logistic)                                                                         \
    X(model, linear)                                                                           \
    X(model, poisson)                                                                          \
    X(model, softmax)                                                                          \
    X(model, categorical)                                                                      \
    X(model, binomial)                                                                         \
    X(model, probit)                                                                           \
    X(model, ordinal)                                                                          \
    X(model, student_t)                                                                        \
    X(model, negative_binomial)                                                                \
    X(model, zero_inflated_poisson)                                                            \
    X(model, gamma)                                                                            \
    X(model, beta)                                                                             \
    X(model, network)                                                                          \
    X(model, gaussian)                                                                         \
    X(model, banana)                                                                           \
    X(model, hyperboloid)                                                                      \
    X(model, multimodal)

MODEL_KINDS(KIND_DECLARED)

/* Not listed: --model gives the path of a shared object, or the caller passes a function. */
extern const model_kind model_plugin, model_function;

#endif
