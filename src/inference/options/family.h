/* Families by the names that R has for them, and by ours. */
#ifndef INFERENCE_FAMILY_H
#define INFERENCE_FAMILY_H

#include "core/status.h"

/* The model of "gaussian", "binomial(probit)" or "binomial(link = \"probit\")": its name, which is const. `label` opens
 * the sentence of a failure. */
sbps_status family_model(const char *label, const char *text, const char **model,
                         sbps_error *err);

/* Families walked, each once: the model of its usual link; NULL past the end. */
const char *family_at(size_t index, const char **model);

#endif
