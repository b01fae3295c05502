/* Members of model_kind that all models with a linear predictor have in common. Coordinates are
 * the weights of the table's columns, then the auxiliaries that the model lists.
 *
 * Default priors, with s = sd(y) for a model that scales with the target, else 1:
 *
 *   weight      normal(0, 2.5 s / sd(x))
 *   intercept   normal(0, 10), or normal(mean y, 10 s) if the model scales with the target */
#include "core/memory.h"
#include "core/printable.h"
#include "model/likelihood/model.h"
#include "table/generated_rows.h"
#include "table/row_partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Limits of a target's sd: its square is summed in double precision. */
#define SCALE_MIN 1e-150
#define SCALE_MAX 1e150

/* Instance of a model of form (1) of model.h. */
typedef struct {
    const model_kind *kind;
    const rows *data;
    double mean, scale; /* of the target; 0 and 1 where the model does not scale with it */
} fitted;

/* The sum of this rank's targets, for row_relay. */
static void add_targets(const rows *data, double *sum)
{
    for (size_t i = 0; i < data->local_rows; i++) *sum += data->y[i];
}

/* state[0] is the mean; state[1] grows by the sum of squares about it. */
static void add_squared_deviations(const rows *data, double *state)
{
    for (size_t i = 0; i < data->local_rows; i++)
        state[1] += (data->y[i] - state[0]) * (data->y[i] - state[0]);
}

/* Mean and sd of generated targets, from the first rows: a sample is enough, and all ranks take
 * the same one. */
static sbps_status measure_generated(fitted *f, sbps_error *err)
{
    rows few = generated_sample(f->data, GENERATED_FEW);
    double *y = malloc(few.local_rows * sizeof *y), state[2] = {0.0, 0.0};
    if (!y) return fail_memory(err);
    generated_targets(&few, rows_from(0, few.local_rows), y);
    few.y = y;
    add_targets(&few, state);
    f->mean = state[0] /= (double)few.local_rows;
    add_squared_deviations(&few, state);
    f->scale = sqrt(state[1] / (double)few.local_rows);
    free(y);
    return SBPS_OK;
}

sbps_status predictor_open(const model_kind *kind, const rows *data, const model_shape *shape,
                           void **self, sbps_error *err)
{
    (void)shape;
    sbps_status status = data->storage.recipe ? SBPS_OK : kind->predictor->check(data, err);
    if (status != SBPS_OK) return status;
    fitted *f = malloc(sizeof *f);
    if (!f) return fail_memory(err);
    *f = (fitted){kind, data, 0.0, 1.0};
    *self = f;
    if (!kind->facts.scales_with_target) return SBPS_OK;
    if (data->storage.recipe) return measure_generated(f, err);
    /* mean and sd of the target over the rows of all ranks, in two passes */
    double all = (double)total_rows(data), sum = 0.0;
    row_relay(data, add_targets, &sum, 1);
    double state[2] = {f->mean = sum / all, 0.0};
    row_relay(data, add_squared_deviations, state, 2);
    f->scale = sqrt(state[1] / all);
    if (f->scale > SCALE_MIN && f->scale < SCALE_MAX) return SBPS_OK;
    free(f);
    *self = NULL;
    return fail(err, SBPS_BAD_DATA,
                "target '%s' has values whose squares are out of range in double precision: "
                "divide it by a power of ten",
                show_name(data->table.target ? data->table.target : "y").text);
}

void predictor_close(void *self)
{
    free(self);
}

size_t predictor_dim(const void *self)
{
    const fitted *f = self;
    return f->data->d + f->kind->auxiliary_count;
}

void predictor_name(const void *self, size_t j, size_t size, char *text)
{
    const fitted *f = self;
    size_t d = f->data->d;
    const char *column = f->data->table.names && j < d ? f->data->table.names[j] : "column";
    snprintf(text, size, "%s", j < d ? column : f->kind->auxiliaries[j - d].name);
}

bool predictor_intercept(const void *self, size_t j)
{
    const fitted *f = self;
    return f->data->intercept && j == 0;
}

double predictor_prior_mean(const void *self, size_t j)
{
    const fitted *f = self;
    return predictor_intercept(self, j) ? f->mean : 0.0;
}

double predictor_prior_sd(const void *self, size_t j)
{
    const fitted *f = self;
    if (predictor_intercept(self, j)) return 10.0 * f->scale;
    return 2.5 * f->scale / (f->data->table.sd[j] > 0.0 ? f->data->table.sd[j] : 1.0);
}

double predictor_scale(const void *self)
{
    return ((const fitted *)self)->scale;
}

double predictor_auxiliary_unit(const void *self, size_t index)
{
    const fitted *f = self;
    return f->kind->auxiliaries[index].of_target ? f->scale : 1.0;
}
