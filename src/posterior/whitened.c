#include "posterior/whitened.h"
#include "base/dense.h"
#include "base/memory.h"
#include "base/real.h"
#include "posterior/predictors.h"

#include <cblas.h>

static size_t carve(whitened *b, double *base)
{
    size_t k = b->auxiliaries, used = 0;
    const struct {
        double **part;
        size_t size;
    } parts[] = {
        {&b->reference, b->pitch},
        {&b->away, b->pitch},
        {&b->eta, WHITENED_ROWS},
        {&b->shift, WHITENED_ROWS},
        {&b->moved, WHITENED_ROWS},
        {&b->lever, WHITENED_ROWS},
        {&b->rest, WHITENED_ROWS},
        {&b->g, WHITENED_ROWS},
        {&b->g0, WHITENED_ROWS},
        {&b->ee, WHITENED_ROWS},
        {&b->sum[0], WHITENED_ROWS},
        {&b->sum[1], WHITENED_ROWS},
        {&b->sum[2], WHITENED_ROWS},
        {&b->z_aux, k * WHITENED_ROWS},
        {&b->beside, k * WHITENED_ROWS},
        {&b->ga, k * WHITENED_ROWS},
        {&b->ga0, k * WHITENED_ROWS},
        {&b->ea, k * WHITENED_ROWS},
        {&b->aa, packed_size(k) * WHITENED_ROWS},
        {&b->z, WHITENED_ROWS * b->pitch},
        {&b->inverse, k * k},
        {&b->square, k * k},
        {&b->node, k},
        {&b->off, k},
        {&b->at_node, k},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base) *parts[i].part = base + used;
        used += parts[i].size;
    }
    return used;
}

/* M and M'M, of the auxiliaries' part of L: the columns of M are the units, solved for. */
static void invert_corner(whitened *b)
{
    size_t k = b->auxiliaries, dim = b->u->dim;
    const double *corner = b->at->factor + (dim - k) * (dim + 1);
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            double left = i == j ? 1.0 : 0.0;
            for (size_t l = j; l < i; l++) left -= corner[i * dim + l] * b->inverse[l * k + j];
            b->inverse[i * k + j] = left / corner[i * dim + i];
        }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++)
                b->square[i * k + j] += b->inverse[l * k + i] * b->inverse[l * k + j];
}

sbps_status whitened_open(whitened *b, const posterior *u, const influence_place *at,
                          sbps_error *err)
{
    size_t d = u->data->d, dim = u->dim;
    *b = (whitened){.u = u, .at = at, .auxiliaries = u->auxiliaries};
    b->pitch = ((dim > u->data->stride ? dim : u->data->stride) + 7) / 8 * 8;
    b->memory = new_doubles(carve(b, NULL));
    if (!b->memory) return fail_memory(err);
    carve(b, b->memory);
    for (size_t j = 0; j < d; j++) {
        b->reference[j] = at->reference[j];
        b->away[j] = at->centre[j] - at->reference[j];
    }
    invert_corner(b);
    openblas_set_num_threads(1);
    return SBPS_OK;
}

/* What z_a, the last of z, is needed for. */
static void keep_tail(whitened *b, size_t row, const double *z)
{
    size_t k = b->auxiliaries;
    for (size_t j = 0; j < k; j++) {
        double turned = 0.0;
        for (size_t l = j; l < k; l++) turned += 2.0 * z[l] * b->inverse[l * k + j];
        b->z_aux[j * WHITENED_ROWS + row] = z[j];
        b->beside[j * WHITENED_ROWS + row] = turned;
        b->rest[row] -= z[j] * z[j];
    }
    b->rest[row] = larger(b->rest[row], 0.0);
}

/* z of every row: X L'^-1. */
static void whiten(whitened *b)
{
    const rows *data = b->u->data;
    size_t dim = b->u->dim, k = b->auxiliaries;
    for (size_t i = 0; i < b->n; i++) {
        double *z = b->z + i * b->pitch;
        data->storage->decode(data, b->first + i, z);
        for (size_t j = dim - k; j < dim; j++) z[j] = 0.0;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)b->n,
                (int)dim, 1.0, b->at->factor, (int)dim, b->z, (int)b->pitch);
    for (size_t i = 0; i < b->n; i++) {
        const double *z = b->z + i * b->pitch;
        b->lever[i] = b->rest[i] = b->u->k->dot(dim, z, z);
        keep_tail(b, i, z + dim - k);
    }
}

batch whitened_look(const whitened *b, const double *eta, const double *aux)
{
    return (batch){.k = b->u->k,
                   .n = b->n,
                   .eta = eta,
                   .y = b->u->data->y + b->first,
                   .aux = aux,
                   .pitch = WHITENED_ROWS};
}

void whitened_take(whitened *b, size_t first, size_t n)
{
    const padded_line line = {.p = b->reference, .q = b->away};
    b->first = first;
    b->n = n;
    predictors_of(b->u, rows_from(first, n), &line, b->eta, b->shift);
    whiten(b);
    bool aux = b->auxiliaries;
    batch here = whitened_look(b, b->eta, b->at->reference + b->u->columns);
    b->u->model->predictor->gradient(&here, b->g0, aux ? b->ga0 : NULL);
    b->u->model->predictor->curvature(&here, b->ee, aux ? b->ea : NULL, aux ? b->aa : NULL);
}

double whitened_weight(const whitened *b, size_t i)
{
    return b->u->data->weight ? b->u->data->weight[b->first + i] : 1.0;
}
