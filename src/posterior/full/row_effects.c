/* Removing row i moves the mode by about
 *
 *   H^-1 x_i l_e / (1 + l_ee |z_i|^2),   at most |z_i l_e| / (1 + l_ee |z_i|^2) posterior sds          (4)
 *
 * in the notation of influence.c (Cook, Weisberg 1982, Residuals and Influence in Regression, sections 3.5 and 5.6). */
#include "linalg/cholesky.h"
#include "linalg/real.h"
#include "posterior/full/whitened.h"
#include "table/row_partition.h"

#include <math.h>
#include <string.h>

#define EFFECTS_SENT ((size_t)8) /* by a rank, at most */
#define LEFT_MIN     0.01 /* of the curvature, without a row: the first order knows no more */

static bool goes_before(row_effect a, row_effect b)
{
    double x = fabs(a.shift), y = fabs(b.shift);
    return x > y || (x == y && a.row < b.row);
}

/* In order, the largest first; whoever comes first. */
static void keep_effect(row_effects *kept, row_effect e)
{
    size_t at = kept->count;
    while (at > 0 && goes_before(e, kept->list[at - 1])) at--;
    if (at == kept->capacity) return;
    if (kept->count < kept->capacity) kept->count++;
    for (size_t i = kept->count - 1; i > at; i--) kept->list[i] = kept->list[i - 1];
    kept->list[at] = e;
}

void row_effects_scale(size_t d, const double *factor, double *scratch, double *sd)
{
    for (size_t j = 0; j < d; j++) {
        memset(scratch, 0, d * sizeof *scratch);
        scratch[j] = 1.0;
        cholesky_solve(d, factor, scratch);
        sd[j] = sqrt(scratch[j]);
    }
}

/* Component j of M r_a of row i at the reference. */
static double auxiliary_pull(const whitened *b, size_t i, size_t j)
{
    double pull = 0.0;
    for (size_t l = 0; l <= j; l++)
        pull += b->ga0[l * WHITENED_ROWS + i] * b->in->inverse[j * b->in->auxiliaries + l];
    return pull;
}

/* The parameter that row i of the block moves most. */
static row_effect effect_of(const whitened *b, size_t i, double scale)
{
    size_t dim = b->in->u->dim;
    const double *factor = b->in->factor, *sd = b->in->sd, *z = b->z + i * b->in->pitch;
    double *move = b->move;
    for (size_t j = 0; j < dim; j++) move[j] = b->g0[i] * z[j] * scale;
    for (size_t j = 0; j < b->in->auxiliaries; j++)
        move[b->in->u->columns + j] += auxiliary_pull(b, i, j) * scale;
    cholesky_back(dim, factor, move);
    row_effect e = {.row = b->first + i};
    for (size_t j = 0; j < dim; j++)
        if (fabs(move[j]) > fabs(e.shift) * sd[j])
            e = (row_effect){b->first + i, j, move[j] / sd[j]};
    return e;
}

/* Rows of the block that may be among them. */
void row_effects_add(const whitened *b, influence_meter *in)
{
    row_effects *kept = in->to.effects;
    for (size_t i = 0; i < b->n; i++) {
        double weight = whitened_weight(b, i);
        double left = larger(1.0 + weight * b->ee[i] * b->lever[i], LEFT_MIN);
        double largest = fabs(b->g0[i]) * sqrt(b->lever[i]);
        for (size_t j = 0; j < in->auxiliaries; j++) largest += fabs(auxiliary_pull(b, i, j));
        if (!(weight * largest >= kept->min_shift * left)) continue;
        row_effect e = effect_of(b, i, weight / left);
        if (!(fabs(e.shift) >= kept->min_shift)) continue;
        pthread_mutex_lock(&in->lock);
        keep_effect(kept, e);
        pthread_mutex_unlock(&in->lock);
    }
}

/* Those of every rank, by their places in the table; each keeps the most of all. */
void moving_merge(const row_partition *partition, row_effects *kept)
{
    ranks *among = partition->among;
    for (size_t i = 0; i < kept->count; i++) kept->list[i].row += partition->first;
    row_effects own = *kept;
    row_effect list[EFFECTS_SENT];
    own.count = own.count < EFFECTS_SENT ? own.count : EFFECTS_SENT;
    memcpy(list, kept->list, own.count * sizeof *list);
    kept->count = 0;
    for (size_t from = 0; from < among->size; from++) {
        row_effect theirs[EFFECTS_SENT] = {0};
        size_t count = own.count;
        ranks_broadcast(among, from, &count, sizeof count);
        if (from == among->rank) memcpy(theirs, list, own.count * sizeof *list);
        ranks_broadcast(among, from, theirs, count * sizeof *theirs);
        for (size_t i = 0; i < count; i++) keep_effect(kept, theirs[i]);
    }
}
