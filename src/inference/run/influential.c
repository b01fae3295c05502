/* Influential groups and rows.
 *
 * With g the gradient of a group's log likelihood at the mode, H the Hessian of U and H_g the
 * group's part of it, leaving the group out moves the mode by about
 *
 *   (H - H_g)^-1 g.                                                                         (1)
 *
 * (1) is evaluated for the groups with the largest |L^-1 g|, H = L L'; few are enough, since
 * only the largest shifts are reported. */
#include "inference/run/influential.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "core/text.h"
#include "inference/run/run.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "table/row_origin.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define CANDIDATES_MAX ((size_t)16) /* groups for which (1) is evaluated */

/* A group that may be influential. */
typedef struct {
    size_t group;
    double reach; /* |L^-1 g| */
} candidate;

/* The groups of largest reach so far. Several threads insert: `lock` guards list and count. */
typedef struct {
    const sbps_run *run;
    candidate candidates[CANDIDATES_MAX]; /* sorted, largest first */
    size_t count;
    pthread_mutex_t lock;
} search;

/* Order of candidates: by reach, then by group, so that threads do not matter. */
static bool goes_before(candidate a, candidate b)
{
    return a.reach > b.reach || (a.reach == b.reach && a.group < b.group);
}

/* Inserts a group into the sorted candidates if it is among the largest. */
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

/* The gradient of a group at the mode, if the control variate stores it; else NULL. */
static const double *kept(const sbps_run *run, size_t group)
{
    const control *cv = run->noise.cv;
    return cv && cv->each ? cv->each + group * cv->each_size : NULL;
}

/* Gradient of a group's log likelihood at the mode, into out. */
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

/* Row sum: computes the reach of a range of groups and inserts them as candidates. */
static void rank_groups(const void *self, row_range r, double *scratch, double *total)
{
    (void)total;
    search *s = *(search *const *)self;
    size_t d = s->run->target->dim;
    for (size_t i = 0; i < r.n; i++) {
        double *g = scratch, *x = scratch + d;
        gradient_of_group(s->run, row_index(r, i), scratch + 2 * d, g);
        memcpy(x, g, d * sizeof *x);
        cholesky_solve(d, s->run->geometry.factor, x);
        candidate c = {row_index(r, i), sqrt(fmax(dot(d, x, g), 0.0))};
        pthread_mutex_lock(&s->lock);
        insert_candidate(s, c);
        pthread_mutex_unlock(&s->lock);
    }
}

/* (1) for the parameter that moves most, posterior sd. inverse: of H. scratch: 2 dim^2 + dim
 * doubles plus the model's. */
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
    /* without the group H - H_g may be singular: use H, the first order */
    cholesky_solve(d, cholesky(d, left) ? left : run->geometry.factor, x);
    row_effect e = {.row = group};
    for (size_t j = 0; j < d; j++) {
        double shift = x[j] / sqrt(inverse[j * d + j]);
        if (fabs(shift) > fabs(e.shift)) e = (row_effect){group, j, shift};
    }
    return e;
}

/* Inserts a shift into the sorted list of effects if it is large enough. */
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

/* Computes (1) for the candidates and keeps the largest shifts. */
static sbps_status evaluate_candidates(sbps_run *run, const search *s, sbps_error *err)
{
    const posterior *u = run->target;
    size_t d = u->dim;
    double *scratch = new_doubles(2 * d * d + d + u->model->rows.scratch(u->self, 1));
    if (!scratch) return fail_memory(err);
    cholesky_inverse(d, run->geometry.factor, scratch);
    for (size_t i = 0; i < s->count; i++)
        take_effect(&run->influential,
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
                          .add = rank_groups,
                          .uncounted = kept(run, 0)};
    sbps_status status = row_sums(u->data, &what, NULL, err);
    pthread_mutex_destroy(&s.lock);
    return status == SBPS_OK ? evaluate_candidates(run, &s, err) : status;
}

/* ---- in a result ---- */

/* Appends "row 12", counted as in the file, or "group 'north' of 'region'". */
static sbps_status name_one(const sbps_run *run, size_t row, text *out, sbps_error *err)
{
    const rows *data = run->table->data;
    if (data->member_rows) {
        const row_groups *g = data->member_rows->groups;
        const group_factor *by = &g->factor[g->by];
        text_add(out, "group '%s' of '%s'", by->level[by->of[g->start[row]]], by->name);
        return SBPS_OK;
    }
    size_t origin;
    sbps_status status = rows_origin(data, row, &origin, err);
    if (status == SBPS_OK) text_add(out, "row %zu", origin + 1);
    return status;
}

#define FIRST_ORDER                                                                            \
    2.0 /* posterior sd: larger shifts are extrapolated and printed with "about" */

/* Prints "row 12 moves 'amount' by +1.3 posterior sd; row 9 moves 'x' by about +12 posterior
 * sd; ..." */
static sbps_status name_rows(const sbps_run *run, result_info *info, sbps_error *err)
{
    text message = {0};
    char shift[32];
    sbps_status status = SBPS_OK;
    for (size_t i = 0; i < run->influential.count && status == SBPS_OK; i++) {
        const row_effect *e = &run->influential_rows[i];
        if (i > 0) text_add(&message, "; ");
        status = name_one(run, e->row, &message, err);
        decimal_print(shift, sizeof shift, "%+.2g", e->shift);
        text_add(&message, " moves '%s' by %s%s posterior sd", run->report.names[e->parameter],
                 fabs(e->shift) > FIRST_ORDER ? "about " : "", shift);
    }
    if (status == SBPS_OK) return text_give(&message, &info->influential_rows, err);
    text_free(&message);
    return status;
}

/* Rate of bounces missed because of rows whose slope exceeds any band, per posterior sd of
 * path. Such a row is missed at the rate of its influence, and the bias estimate includes it
 * only if a batch contained it. NAN: not known. */
static double missed_rate(const sbps_run *run)
{
    const sampler_kind *kind = run->plan->sampler;
    double noise = 0.0;
    if (!(run->noise.tally.sum > 0.0) || !kind->curve || !kind->noise) return NAN;
    for (size_t i = 0; i < run->chain_count; i++) noise += kind->noise(&run->chains[i].s);
    double width = run->chains->s.settings->band.width * sqrt(noise / (double)run->chain_count);
    bool parts = run->tuned.minibatch == &batch_strata;
    return strata_beyond(&run->noise.tally, parts ? run->noise.parts : NULL, run->tuned.batch,
                         width + AUTO_SLOPE);
}

sbps_status influential_rows_fill(const sbps_run *run, result_info *info, sbps_error *err)
{
    info->eta_unmet = missed_rate(run);
    return name_rows(run, info, err);
}
