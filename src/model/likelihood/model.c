/* The registry of models, calls that work on every model, and simulated tables. */
#include "model/likelihood/model.h"
#include "model/likelihood/model_kinds.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const model_kind *const model_kinds[] = {MODEL_KINDS(KIND_LISTED) NULL};

const model_kind *model_find(const char *name)
{
    if (strchr(name, '/')) return &model_plugin; /* the path of a shared object */
    return kind_find(model_kinds, name);
}

size_t model_auxiliary_list(const model_auxiliary *out[MODEL_AUXILIARIES_MAX])
{
    size_t count = 0;
    for (size_t k = 0; model_kinds[k]; k++)
        for (size_t i = 0; i < model_kinds[k]->auxiliary_count; i++) {
            const model_auxiliary *auxiliary = &model_kinds[k]->auxiliaries[i];
            size_t known = 0;
            while (known < count && strcmp(out[known]->name, auxiliary->name)) known++;
            if (known < count) continue;
            assert(count < MODEL_AUXILIARIES_MAX);
            out[count++] = auxiliary;
        }
    return count;
}

const char *model_failure(const model_kind *kind, const void *self)
{
    return kind->rows.failure && self ? kind->rows.failure(self) : NULL;
}

target_support model_support(const model_kind *kind, const model_shape *shape)
{
    return kind->support_of ? kind->support_of(shape) : kind->support;
}

/* ---- simulated tables ---- */

bool model_simulates(const model_kind *kind)
{
    return kind->simulated.row || (kind->predictor && kind->predictor->simulate);
}

size_t model_columns(const model_kind *kind, size_t dim)
{
    return kind->simulated.columns ? kind->simulated.columns(dim) : dim;
}

/* Columns are standard normal, except that the first has variance 6 (section 7.1 of the
 * paper). */
void model_simulate(const model_kind *kind, rng *r, size_t columns, const double *w, double *x,
                    double *y)
{
    double eta = 0.0;
    if (kind->simulated.row) {
        kind->simulated.row(r, columns, x, y);
        return;
    }
    for (size_t j = 0; j < columns; j++) {
        double value = rng_normal(r) * (j == 0 ? sqrt(6.0) : 1.0);
        x[j] = nearbyint(value * MODEL_DECIMALS) / MODEL_DECIMALS;
        eta += w[j] * x[j];
    }
    *y = kind->predictor->simulate(r, eta, w + columns);
}

/* Weights of simulated tables are uniform on -reach to reach. Where eta is the log of the mean
 * they are smaller, and smaller still with many columns, so that counts do not explode. */
double model_reach(const model_kind *kind, size_t dim)
{
    bool small = kind->predictor && kind->predictor->small_weights;
    return small ? 0.5 * fmin(1.0, sqrt(20.0 / (double)dim)) : 5.0;
}

/* ---- closed-form densities ---- */

void density_name(const void *self, size_t j, size_t size, char *text)
{
    (void)self;
    snprintf(text, size, "w%zu", j + 1);
}

double density_flat(const void *self, size_t j)
{
    (void)self;
    (void)j;
    return INFINITY;
}
