#include "posterior/full/whitened.h"
#include "linalg/dense_matrix.h"
#include "linalg/real.h"

#include <cblas.h>
#include <string.h>

size_t whitened_carve(const influence_meter *in, whitened *b, double *base)
{
    size_t k = in->auxiliaries, used = 0;
    const struct {
        double **part;
        size_t size;
    } parts[] = {
        {&b->eta, WHITENED_ROWS},
        {&b->targets, in->u->data->y ? 0 : WHITENED_ROWS},
        {&b->shift, WHITENED_ROWS},
        {&b->moved, WHITENED_ROWS},
        {&b->leverage, WHITENED_ROWS},
        {&b->rest, WHITENED_ROWS},
        {&b->g, WHITENED_ROWS},
        {&b->g0, WHITENED_ROWS},
        {&b->ee, WHITENED_ROWS},
        {&b->sum[0], WHITENED_ROWS},
        {&b->sum[1], WHITENED_ROWS},
        {&b->sum[2], WHITENED_ROWS},
        {&b->z_aux, k * WHITENED_ROWS},
        {&b->cross, k * WHITENED_ROWS},
        {&b->ga, k * WHITENED_ROWS},
        {&b->ga0, k * WHITENED_ROWS},
        {&b->ea, k * WHITENED_ROWS},
        {&b->aa, packed_size(k) * WHITENED_ROWS},
        {&b->z, WHITENED_ROWS * in->pitch},
        {&b->node, k},
        {&b->off, k},
        {&b->at_node, k},
        {&b->move, in->u->dim},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base) *parts[i].part = base + used;
        used += parts[i].size;
    }
    return used;
}

/* M and M'M from the auxiliaries' part of L: column j of M solves L M e_j = e_j. */
void whitened_invert(influence_meter *in)
{
    size_t k = in->auxiliaries, dim = in->u->dim;
    const double *corner = in->factor + (dim - k) * (dim + 1);
    memset(in->inverse, 0, 2 * k * k * sizeof *in->inverse);
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            double left = i == j ? 1.0 : 0.0;
            for (size_t l = j; l < i; l++) left -= corner[i * dim + l] * in->inverse[l * k + j];
            in->inverse[i * k + j] = left / corner[i * dim + i];
        }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++)
                in->square[i * k + j] += in->inverse[l * k + i] * in->inverse[l * k + j];
}

/* Stores what (2) needs of z_a, the last part of z. */
static void store_tail(whitened *b, size_t row, const double *z)
{
    size_t k = b->in->auxiliaries;
    for (size_t j = 0; j < k; j++) {
        double product = 0.0;
        for (size_t l = j; l < k; l++) product += 2.0 * z[l] * b->in->inverse[l * k + j];
        b->z_aux[j * WHITENED_ROWS + row] = z[j];
        b->cross[j * WHITENED_ROWS + row] = product;
        b->rest[row] -= z[j] * z[j];
    }
    b->rest[row] = sqrt(larger(b->rest[row], 0.0));
}

/* z of every row of the block: X L'^-1, then the leverages. */
static void whiten(whitened *b)
{
    const rows *data = b->in->u->data;
    size_t dim = b->in->u->dim, k = b->in->auxiliaries;
    for (size_t i = 0; i < b->n; i++) {
        double *z = b->z + i * b->in->pitch;
        data->storage.kind->decode(data, b->first + i, z);
        for (size_t j = dim - k; j < dim; j++) z[j] = 0.0;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)b->n,
                (int)dim, 1.0, b->in->factor, (int)dim, b->z, (int)b->in->pitch);
    for (size_t i = 0; i < b->n; i++) {
        const double *z = b->z + i * b->in->pitch;
        b->leverage[i] = b->rest[i] = b->in->u->k->dot(dim, z, z);
        store_tail(b, i, z + dim - k);
    }
}

/* The block as a batch with these predictors and auxiliary coordinates. */
batch whitened_batch(const whitened *b, const double *eta, const double *aux)
{
    return (batch){
        .k = b->in->u->k, .n = b->n, .eta = eta, .y = b->y, .aux = aux, .pitch = WHITENED_ROWS};
}

/* Loads the rows of the block, and the model's derivatives at the reference. */
void whitened_load(whitened *b, size_t first, size_t n)
{
    b->first = first;
    b->n = n;
    b->y = rows_targets(b->in->u->data, rows_from(first, n), b->targets);
    predictors_of(b->in->u, rows_from(first, n), &b->in->line, b->eta, b->shift);
    if (!b->in->apart) memset(b->shift, 0, n * sizeof *b->shift);
    whiten(b);
    bool aux = b->in->auxiliaries;
    batch here = whitened_batch(b, b->eta, b->in->reference + b->in->u->columns);
    b->in->u->model->predictor->gradient(&here, b->g0, aux ? b->ga0 : NULL);
    b->in->u->model->predictor->curvature(&here, b->ee, aux ? b->ea : NULL, aux ? b->aa : NULL);
}

double whitened_weight(const whitened *b, size_t i)
{
    return b->in->u->data->weight ? b->in->u->data->weight[b->first + i] : 1.0;
}
