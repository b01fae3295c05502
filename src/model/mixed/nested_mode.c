/* Newton's method for the modes of the effects of many parts at once. Each search begins where
 * the mode was last, moved by the change of the effects above it. */
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/nested_parts.h"

#include <math.h>
#include <string.h>

#define NEAR      0.1 /* a step of at most this many sds is taken and ends the search */
#define STEPS_MAX ((size_t)40)
/* A step is halved down to this length, relative to Newton's. */
#define SHORTEST    1e-3
#define VALUE_ERROR 0.01 /* log units: accuracy of integrals */

/* root = the Cholesky factor of I - L' B L, or the identity if that is not positive
 * definite. */
static void factor_curvature(const nested_integral *x, size_t l, const double *hessian,
                             double *root)
{
    size_t q = x->m->level[l].shape.effects, from = x->level[l].before;
    const double(*factor)[Q] = x->at[l]->factor;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b <= a; b++) {
            double total = a == b ? 1.0 : 0.0;
            for (size_t c = a; c < q; c++)
                for (size_t d = b; d < q; d++) {
                    size_t high = c > d ? c : d, low = c > d ? d : c;
                    total -= factor[c][a] * factor[d][b] *
                             hessian[(from + high) * x->all + from + low];
                }
            root[a * q + b] = total;
        }
    if (cholesky(q, root)) return;
    memset(root, 0, q * q * sizeof *root);
    for (size_t a = 0; a < q; a++) root[a * q + a] = 1.0;
}

/* With much data u = L v is unchanged as sds grow, so v shrinks; as sds shrink, v shrinks with
 * them. */
void nested_search_start(const nested_integral *x, size_t l, size_t first, double *v)
{
    const nested_level *of = &x->m->level[l];
    size_t q = of->shape.effects;
    for (size_t a = 0; a < q; a++) {
        double ratio = of->stored_sd[a] > 0.0 ? x->at[l]->factor[a][a] / of->stored_sd[a] : 1.0;
        v[a] = of->centre[(x->v->first + first) * q + a] * (ratio > 1.0 ? 1.0 / ratio : ratio);
    }
}

/* v = the last mode of the part, moved by the effects above; or that at the reference point. */
static void predict(const nested_integral *x, size_t l, size_t of, double *v)
{
    const level_scratch *level = &x->level[l];
    size_t q = x->m->level[l].shape.effects, before = level->before,
           first = level->parts.part[of].first;
    const double *was = level->memory + first * level->each, *u = was + q, *moves = u + before,
                 *now = level->parts.u + of * x->all;
    if (isnan(was[0])) {
        nested_search_start(x, l, first, v);
        return;
    }
    for (size_t a = 0; a < q; a++) {
        v[a] = was[a];
        for (size_t b = 0; b < before; b++) v[a] += moves[a * before + b] * (now[b] - u[b]);
    }
}

/* Stores the mode of a part. It satisfies L' pull = v, so that dv/du = (I - L'B L)^-1 L' B by
 * the effects u above. */
static void store_mode(nested_integral *x, size_t l, size_t of, const newton_state *s,
                       const double *hessian)
{
    level_scratch *level = &x->level[l];
    size_t q = x->m->level[l].shape.effects, before = level->before;
    double *is = level->memory + level->parts.part[of].first * level->each, *u = is + q,
           *moves = u + before;
    memcpy(is, s->v, q * sizeof *is);
    memcpy(u, level->parts.u + of * x->all, before * sizeof *u);
    for (size_t b = 0; b < before; b++) {
        double column[Q] = {0.0};
        for (size_t a = 0; a < q; a++)
            for (size_t c = a; c < q; c++)
                column[a] += x->at[l]->factor[c][a] * hessian[(before + c) * x->all + b];
        cholesky_solve(q, s->root, column);
        for (size_t a = 0; a < q; a++) moves[a * before + b] = column[a];
    }
}

/* Sets s to h and its derivatives at a place: dh/dv = L' pull - v. */
static void set_state(const nested_integral *x, size_t l, size_t place, newton_state *s)
{
    const level_scratch *level = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    double pull[LEVELS_MAX * Q], *own = pull + level->before;
    memcpy(s->v, level->place + place * q, q * sizeof *s->v);
    s->height = level->places.height[place] - 0.5 * dot(q, s->v, s->v);
    nested_pull(x, l, place, pull);
    for (size_t a = 0; a < q; a++) {
        s->gradient[a] = -s->v[a];
        for (size_t b = a; b < q; b++) s->gradient[a] += x->at[l]->factor[b][a] * own[b];
    }
    factor_curvature(x, l, level->places.hessian + place * x->all * x->all, s->root);
}

bool nested_accept_step(nested_integral *x, size_t q, newton_state *s, const newton_state *next)
{
    size_t steps = s->steps;
    bool continues = x->evaluations < x->evaluations_max;
    x->evaluations++;
    s->length *= 0.5;
    if (continues && steps > 0 && !(next->height >= s->height - VALUE_ERROR) &&
        s->length > SHORTEST)
        return false;
    *s = *next;
    s->steps = steps + 1;
    s->length = 1.0;
    memcpy(s->step, s->gradient, q * sizeof *s->step);
    cholesky_solve(q, s->root, s->step);
    if (dot(q, s->step, s->gradient) > NEAR * NEAR) return !continues || s->steps > STEPS_MAX;
    add_scaled(q, 1.0, s->step, s->v);
    return true;
}

/* Evaluates the next points of all searches that go on, those of `length` > 0. */
static void evaluate_steps(nested_integral *x, size_t l, size_t from, size_t count)
{
    level_scratch *level = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    parts_clear(&level->places);
    for (size_t i = 0; i < count; i++) {
        const newton_state *s = &level->state[i];
        const nested_part *p = &level->parts.part[from + i];
        double *place = level->place + level->places.count * q;
        if (s->length <= 0.0) continue;
        for (size_t a = 0; a < q; a++) place[a] = s->v[a] + s->length * s->step[a];
        parts_add(&level->places, p->first, p->n, from + i);
    }
    if (level->places.count > 0)
        nested_loglik(x, l, (derivatives_wanted){.hessian = true, .keep = true});
}

void nested_find_modes(nested_integral *x, size_t l, size_t from, size_t count, bool keep)
{
    level_scratch *level = &x->level[l];
    for (size_t i = 0; i < count; i++) {
        level->state[i] = (newton_state){.length = 1.0};
        predict(x, l, from + i, level->state[i].v);
    }
    for (evaluate_steps(x, l, from, count); level->places.count > 0;
         evaluate_steps(x, l, from, count))
        for (size_t place = 0; place < level->places.count; place++) {
            size_t of = level->places.part[place].of;
            newton_state *s = &level->state[of - from], next;
            set_state(x, l, place, &next);
            if (!nested_accept_step(x, x->m->level[l].shape.effects, s, &next)) continue;
            s->length = 0.0;
            if (keep) store_mode(x, l, of, s, level->places.hessian + place * x->all * x->all);
        }
}
