/* Every row's influence under each candidate of `auto`: kept row by row, or of a table that is lean only counted; measured on
 * the way to the mode, or here. */
#include "core/memory.h"
#include "inference/autotune/autotune.h"
#include "inference/options/target.h"
#include "linalg/dense_matrix.h"
#include "posterior/mode/laplace.h"
#include "table/generated_rows.h"

#include <stdlib.h>
#include <string.h>

#define RECOMPUTE_FROM                                                                         \
    ((size_t)1000000) /* from which on memory that is a caller's is not doubled */

/* Exact samplers and strata want to know every row. */
bool auto_recompute_rows(const sbps_options *o, const rows *data, const run_plan *plan)
{
    bool uses_segments = plan->sampler->curve && !plan->sampler->bounded && !o->paper;
    bool apart = plan->model->predictor && strcmp(o->minibatch, "strata");
    return data->storage.recipe || (data->storage.place && data->local_rows >= RECOMPUTE_FROM &&
                                    uses_segments && apart);
}

static bool is_open(const run_plan *plan, const posterior *target, size_t order)
{
    /* a look at a group is dear, and what is kept of it costs next to nothing */
    bool last = order + 1 == INFLUENCE_ORDERS, fixed = !plan->auto_control;
    if (fixed) return auto_order(plan->control_variate) == order;
    return last || !target->model->row_model;
}

sbps_status auto_influences_open(const sbps_options *o, const run_plan *plan,
                                 const posterior *target, auto_influences *out, sbps_error *err)
{
    *out = (auto_influences){.to = {.width = STRATA_COUNTS, .count = strata_add}};
    if (!auto_applies(o, plan)) return SBPS_OK;
    bool counted = target->data->recompute_rows && influence_applies(target);
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        if (!is_open(plan, target, i)) continue;
        if (counted)
            out->to.counts[i] = new_doubles(STRATA_COUNTS);
        else
            out->to.rows[i] = malloc(target->data->local_rows * sizeof *out->to.rows[i]);
        if (!out->to.rows[i] && !out->to.counts[i]) return fail_memory(err);
    }
    return SBPS_OK;
}

void auto_influences_close(auto_influences *m)
{
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++) {
        free(m->to.rows[i]);
        free(m->to.counts[i]);
    }
    *m = (auto_influences){0};
}

bool auto_measured(const auto_influences *m, size_t order)
{
    return m->to.rows[order] || m->to.counts[order];
}

sbps_status auto_tally(const auto_influences *m, const rows *data, size_t order,
                       strata_tally *out, sbps_error *err)
{
    if (m->to.rows[order]) return strata_count(data, m->to.rows[order], out, err);
    strata_from_counts(m->to.counts[order], out);
    return SBPS_OK;
}

void auto_set_directions(const auto_facts *f, probe *p, rng random)
{
    size_t d = f->target->dim;
    for (size_t i = 0; i < PROBE_POINTS; i++) {
        double *u = p->directions + i * d;
        metric_draw_direction(f->a, &random, p->scratch, u);
        p->natural[i] = quadratic_terms(d, f->reference->hessian, u);
    }
}

/* Around the mode, where the normal there has draws. */
static sbps_status measure_at_points(const auto_facts *f, auto_influences *m, sbps_error *err)
{
    probe p;
    size_t d = f->target->dim;
    const double *at = f->reference->w;
    rng random = rng_stream(f->options->seed, 0, RNG_AUTO);
    sbps_status status = probe_open(&p, f->target, err);
    for (size_t i = 0; status == SBPS_OK && i < PROBE_POINTS; i++)
        laplace_draw(d, at, f->factor, &random, p.points + i * d);
    if (status == SBPS_OK) auto_set_directions(f, &p, random);
    for (size_t i = 0; status == SBPS_OK && i < INFLUENCE_ORDERS; i++) {
        control *cv = NULL;
        if (!m->to.rows[i]) continue;
        status = target_control(f->target, f->reference, auto_candidate(i), at, &cv, err);
        if (status == SBPS_OK) status = probe_influence(&p, cv, random, m->to.rows[i], err);
        control_destroy(cv);
    }
    probe_close(&p);
    return status;
}

/* Rows made on the fly are drawn from one law, without outliers: some speak for all. None of them moves anything. */
static sbps_status measure_sample(const posterior *u, const influence_point *at,
                                  auto_influences *m, sbps_error *err)
{
    rows few = generated_sample(u->data, GENERATED_FEW);
    double factor = (double)total_rows(u->data) / (double)few.local_rows;
    influence_target to = m->to;
    posterior part = *u;
    part.data = &few;
    to.effects = NULL;
    sbps_status status = influence_measure(&part, at, &to, err);
    for (size_t i = 0; i < INFLUENCE_ORDERS; i++)
        for (size_t j = 0; to.counts[i] && j < to.width; j++) to.counts[i][j] *= factor;
    if (to.steepness) *to.steepness = 1.0 + factor * (*to.steepness - 1.0);
    return status;
}

sbps_status auto_measure_at(const posterior *u, const influence_point *at, auto_influences *m,
                            sbps_error *err)
{
    return u->data->storage.recipe ? measure_sample(u, at, m, err)
                                   : influence_measure(u, at, &m->to, err);
}

sbps_status auto_measure(const auto_facts *f, auto_influences *m, sbps_error *err)
{
    const influence_point at = {f->reference->w, f->reference->w, f->factor};
    if (m->known) return SBPS_OK;
    return influence_applies(f->target) ? auto_measure_at(f->target, &at, m, err)
                                        : measure_at_points(f, m, err);
}
