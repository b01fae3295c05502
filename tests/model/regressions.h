/* The listed models with a linear predictor; general ones need tables of their own. */
#ifndef TESTS_MODEL_REGRESSIONS_H
#define TESTS_MODEL_REGRESSIONS_H

#include "model/likelihood/model.h"

/* NULL past the end. */
static inline const model_kind *regression_model(size_t k)
{
    for (size_t i = 0; model_kinds[i]; i++)
        if (model_kinds[i]->predictor && k-- == 0) return model_kinds[i];
    return NULL;
}

#endif
