/* Groups that move the answer by themselves. With g the gradient of a group's log likelihood at the mode, H the Hessian
 * of U and H_g the group's part of it, the mode with the group lies from that without it by about
 *
 *   (H - H_g)^-1 g.                                                                                  (1)
 *
 * The groups with the largest |L^-1 g|, H = L L', are asked for (1); few are enough, since only the largest are
 * told. */
#include "core/memory.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define CANDIDATES_MAX ((size_t)16)

typedef struct {
    size_t group;
    double reach; /* |L^-1 g| */
} candidate;

typedef struct {
    const sbps_run *run;
    candidate candidates[CANDIDATES_MAX]; /* the largest first */
    size_t count;
    pthread_mutex_t lock;
} search;

static bool goes_before(candidate a, candidate b)
{
    return a.reach > b.reach || (a.reach == b.reach && a.group < b.group);
}

static void insert_candidate(search *s, candidate c)
{
    size_t at = s->count;
    while (at > 0 && goes_before(c, s->candidates[at - 1])) at--;
    if (at == CANDIDATES_MAX) return;
    if (s->count < CANDIDATES_MAX) s->count++;
    memmove(s->candidates + at + 1, s->candidates + at,
            (s->count - 1 - at) * sizeof *s->candidates);
    s->candidates[at] = c;
}

/* Where the control variate keeps what groups say at the mode nothing need be asked again. */
static const double *kept(const sbps_run *run, size_t group)
{
    const control *cv = run->cv;
    return cv && cv->each ? cv->each + group * cv->each_size : NULL;
}

static void gradient_of_group(const sbps_run *run, size_t group, double *scratch, double *out)
{
    const posterior *u = run->target;
    const double one = 1.0, *known = kept(run, group);
    if (known) {
        memcpy(out, known, u->dim * sizeof *out);
        return;
    }
    memset(out, 0, u->dim * sizeof *out);
    u->model->rows.gradient(u->self, rows_from(group, 1), run->reference->w, &one, scratch,
                            out);
}

static void see_groups(const void *self, row_range r, double *scratch, double *total)
{
    (void)total;
    search *s = *(search *const *)self;
    size_t d = s->run->target->dim;
    for (size_t i = 0; i < r.n; i++) {
        double *g = scratch, *x = scratch + d;
        gradient_of_group(s->run, row_index(r, i), scratch + 2 * d, g);
        memcpy(x, g, d * sizeof *x);
        cholesky_solve(d, s->run->factor, x);
        candidate c = {row_index(r, i), sqrt(fmax(dot(d, x, g), 0.0))};
        pthread_mutex_lock(&s->lock);
        insert_candidate(s, c);
        pthread_mutex_unlock(&s->lock);
    }
}

/* (1) in posterior sds, of the parameter that is moved most. inverse: of H; room: 2 dim^2 + dim and the model's. */
static row_effect effect_of(const sbps_run *run, size_t group, const double *inverse,
                            double *scratch)
{
    const posterior *u = run->target;
    size_t d = u->dim;
    double *left = scratch, *x = scratch + d * d, value = 0.0;
    const double one = 1.0;
    memcpy(left, run->reference->hessian, d * d * sizeof *left);
    memset(x, 0, d * sizeof *x);
    u->model->rows.expand(u->self, rows_from(group, 1), run->reference->w, &one, x + d, &value,
                          x, left);
    /* a group that holds a direction alone leaves nothing there: the first order will do */
    cholesky_solve(d, cholesky(d, left) ? left : run->factor, x);
    row_effect e = {.row = group};
    for (size_t j = 0; j < d; j++) {
        double shift = x[j] / sqrt(inverse[j * d + j]);
        if (fabs(shift) > fabs(e.shift)) e = (row_effect){group, j, shift};
    }
    return e;
}

static void take_effect(row_effects *to, row_effect e)
{
    size_t at = to->count;
    if (!(fabs(e.shift) >= to->min_shift)) return;
    while (at > 0 && fabs(e.shift) > fabs(to->list[at - 1].shift)) at--;
    if (at == to->capacity) return;
    if (to->count < to->capacity) to->count++;
    memmove(to->list + at + 1, to->list + at, (to->count - 1 - at) * sizeof e);
    to->list[at] = e;
}

static sbps_status evaluate_candidates(sbps_run *run, const search *s, sbps_error *err)
{
    const posterior *u = run->target;
    size_t d = u->dim;
    double *scratch = new_doubles(2 * d * d + d + u->model->rows.scratch(u->self, 1));
    if (!scratch) return fail_memory(err);
    cholesky_inverse(d, run->factor, scratch);
    for (size_t i = 0; i < s->count; i++)
        take_effect(&run->moving,
                    effect_of(run, s->candidates[i].group, scratch, scratch + d * d));
    free(scratch);
    return SBPS_OK;
}

sbps_status groups_find_influential(sbps_run *run, sbps_error *err)
{
    const posterior *u = run->target;
    if (!u->model->row_model || !u->model->rows.expand || u->dim > INFLUENCE_DIM)
        return SBPS_OK;
    search s = {.run = run}, *self = &s;
    pthread_mutex_init(&s.lock, NULL);
    const row_sum what = {.self = &self,
                          .scratch = 2 * u->dim + u->model->rows.scratch(u->self, 1),
                          .add = see_groups,
                          .beside = kept(run, 0)};
    sbps_status status = row_sums(u->data, &what, NULL, err);
    pthread_mutex_destroy(&s.lock);
    return status == SBPS_OK ? evaluate_candidates(run, &s, err) : status;
}
