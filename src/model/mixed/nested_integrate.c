/* Integrals of a level: Newton's method for the modes of many parts at once, sums over nodes
 * around the modes, and averages of derivatives over the nodes; and the log-likelihood of
 * places, by rows or by integrals of the level below. The search for a mode begins where the
 * mode was last, moved by the change of the effects above it. */
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

/* ---- modes ---- */

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

/* ---- integrals ---- */

/* Adds the nodes around the mode of a part to the places. */
static void place_nodes(nested_integral *x, size_t l, size_t of, const newton_state *s)
{
    const nested_level *rule = &x->m->level[l];
    level_scratch *level = &x->level[l];
    const nested_part *p = &level->parts.part[of];
    size_t q = rule->shape.effects;
    for (size_t k = 0; k < rule->points; k++) {
        double *place = level->place + level->places.count * q;
        memcpy(place, rule->node + k * q, q * sizeof *place);
        cholesky_back(q, s->root, place);
        for (size_t a = 0; a < q; a++) place[a] += s->v[a];
        parts_add(&level->places, p->first, p->n, of);
    }
}

/* hessian += weight (b + p p') by the effects above level l; b NULL: 0. */
static void add_hessian(const nested_integral *x, size_t l, double weight, const double *b,
                        const double *p, double *hessian)
{
    for (size_t i = 0; i < x->level[l].before; i++)
        for (size_t j = 0; j <= i; j++)
            hessian[i * x->all + j] += weight * ((b ? b[i * x->all + j] : 0.0) + p[i] * p[j]);
}

/* Adds a node's derivatives by spreads and auxiliaries, times its weight. */
static void add_extra(const nested_integral *x, size_t l, size_t node, const double *pull,
                      double *to)
{
    const nested_level *of = &x->m->level[l];
    const level_scratch *level = &x->level[l];
    size_t q = of->shape.effects, own = of->spread - x->m->data->d,
           count = nested_extra_count(x->m);
    double weight = level->places.height[node];
    add_scaled(count, weight, level->places.extra + node * count, to);
    for (size_t a = 0; a < of->shape.count; a++)
        to[own + a] += weight * pull[level->before + of->shape.of[a].row] *
                       dot(q, x->at[l]->first[a], level->place + node * q);
}

/* Averages the derivatives of a part over its nodes, from place `node` on. */
static void gather_nodes(nested_integral *x, size_t l, size_t of, size_t node,
                         derivatives_wanted w)
{
    level_scratch *level = &x->level[l];
    part_list *to = &level->parts, *from = &level->places;
    const nested_part *p = &to->part[of];
    size_t square = x->all * x->all, points = x->m->level[l].points;
    double *hessian = to->hessian + of * square,
           *extra = to->extra + of * nested_extra_count(x->m);
    double pull[LEVELS_MAX * Q], middle[LEVELS_MAX * Q] = {0.0};
    memset(to->mean + p->cell, 0, p->n * sizeof *to->mean);
    if (w.hessian) memset(hessian, 0, square * sizeof *hessian);
    if (w.extra) memset(extra, 0, nested_extra_count(x->m) * sizeof *extra);
    for (size_t k = node; k < node + points; k++) {
        double weight = from->height[k];
        add_scaled(p->n, weight, from->mean + from->part[k].cell, to->mean + p->cell);
        if (w.hessian || w.extra) nested_pull(x, l, k, pull);
        if (w.extra) add_extra(x, l, k, pull, extra);
        if (!w.hessian) continue;
        add_scaled(level->before, weight, pull, middle);
        add_hessian(x, l, weight, from->hessian + k * square, pull, hessian);
    }
    if (w.hessian) add_hessian(x, l, -1.0, NULL, middle, hessian);
}

/* Replaces heights of a part's nodes by their weights; returns the log of the integral. */
static double normalise_heights(const nested_integral *x, size_t l, size_t node,
                                const newton_state *s)
{
    const nested_level *rule = &x->m->level[l];
    const level_scratch *level = &x->level[l];
    size_t q = rule->shape.effects;
    double *height = level->places.height + node, log_size = 0.0;
    for (size_t a = 0; a < q; a++) log_size -= log(s->root[a * q + a]);
    for (size_t k = 0; k < rule->points; k++) {
        const double *place = level->place + (node + k) * q;
        height[k] += rule->log_count[k] - 0.5 * dot(q, place, place);
    }
    return log_size + normalise_log_weights(rule->points, height);
}

/* The number of parts from `from` on whose nodes fit into the list of places; at least 1. */
static size_t count_block_parts(const nested_integral *x, size_t l, size_t from)
{
    const level_scratch *level = &x->level[l];
    size_t points = x->m->level[l].points, cells = 0, end = from;
    for (; end < level->parts.count; end++) {
        cells += points * level->parts.part[end].n;
        bool fits = cells <= level->places.cells_max &&
                    (end + 1 - from) * points <= level->places.count_max;
        if (!fits && end > from) break;
    }
    return end - from;
}

/* Integrates `count` parts from `from` on. */
static void integrate_block(nested_integral *x, size_t l, size_t from, size_t count,
                            derivatives_wanted w)
{
    level_scratch *level = &x->level[l];
    size_t points = x->m->level[l].points;
    nested_find_modes(x, l, from, count, w.keep);
    parts_clear(&level->places);
    for (size_t i = 0; i < count; i++) place_nodes(x, l, from + i, &level->state[i]);
    nested_loglik(x, l, (derivatives_wanted){.hessian = w.hessian, .extra = w.extra});
    for (size_t i = 0; i < count; i++) {
        level->parts.height[from + i] = normalise_heights(x, l, i * points, &level->state[i]);
        gather_nodes(x, l, from + i, i * points, w);
    }
}

/* Calls `integrate` for blocks of parts of level l. */
static void in_blocks(nested_integral *x, size_t l, derivatives_wanted w,
                      void (*integrate)(nested_integral *x, size_t l, size_t from, size_t count,
                                        derivatives_wanted w))
{
    for (size_t from = 0, count; from < x->level[l].parts.count; from += count) {
        count = count_block_parts(x, l, from);
        integrate(x, l, from, count, w);
    }
}

void nested_integrate_places(nested_integral *x, size_t l, derivatives_wanted w)
{
    in_blocks(x, l, w, integrate_block);
}

void nested_integrate(nested_integral *x, size_t l, derivatives_wanted w)
{
    in_blocks(x, l, w,
              x->plain && nested_is_innermost(x, l) ? innermost_integrate : integrate_block);
}

/* ---- log-likelihood at places ---- */

void parts_clear(part_list *of)
{
    of->count = of->cells = 0;
}

/* Is there no room in the list for one more part with n rows? */
static bool parts_full(const part_list *of, size_t n)
{
    return of->count == of->count_max || of->cells + n > of->cells_max;
}

nested_part *parts_add(part_list *of, size_t first, size_t n, size_t from)
{
    nested_part *p = &of->part[of->count++];
    *p = (nested_part){first, n, of->cells, from};
    of->cells += n;
    return p;
}

/* Sets u of a place: effects of the levels above, and its own. */
static void find_effects(nested_integral *x, size_t l, size_t place)
{
    level_scratch *level = &x->level[l];
    size_t q = x->m->level[l].shape.effects;
    double *u = level->places.u + place * x->all;
    memcpy(u, level->parts.u + level->places.part[place].of * x->all,
           level->before * sizeof *u);
    for (size_t a = 0; a < q; a++)
        u[level->before + a] = dot(a + 1, x->at[l]->factor[a], level->place + place * q);
}

/* eta of n rows from `first` on at a place: the part's predictors plus the place's effects. */
static void add_effects_to_eta(const nested_integral *x, size_t l, size_t place, size_t first,
                               size_t n, double *eta)
{
    const level_scratch *level = &x->level[l];
    const nested_part *p = &level->places.part[place], *whole = &level->parts.part[p->of];
    const double *base = level->eta + whole->cell + (first - whole->first);
    const double *u = level->places.u + place * x->all + level->before;
    size_t q = x->m->level[l].shape.effects;
    for (size_t i = 0; i < n; i++)
        eta[i] = base[i] +
                 (x->plain ? u[0] : dot(q, u, x->z + (first + i) * x->all + level->before));
}

/* ---- rows ---- */

/* Multiplies values of a part's rows by their weights. */
static void weigh(const nested_integral *x, const nested_part *p, double *values)
{
    const double *weight = x->m->data->weight;
    if (!weight) return;
    weight += x->v->first + p->first;
    for (size_t i = 0; i < p->n; i++) values[i] *= weight[i];
}

/* hessian += sum_i c_i z_i z_i' */
static void add_row_curvatures(const nested_integral *x, size_t l, const nested_part *p,
                               const double *c, double *hessian)
{
    size_t count = x->level[l].before + x->m->level[l].shape.effects;
    double whole = x->plain ? sum(p->n, c) : 0.0;
    for (size_t a = 0; x->plain && a < count; a++)
        for (size_t b = 0; b <= a; b++) hessian[a * x->all + b] += whole;
    for (size_t i = 0; !x->plain && i < p->n; i++) {
        const double *z = x->z + (p->first + i) * x->all;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b <= a; b++) hessian[a * x->all + b] += c[i] * z[a] * z[b];
    }
}

/* Adds up the rows of one place, which begin at `cell` of the batch. */
static void add_place_sums(nested_integral *x, size_t l, size_t place, size_t cell,
                           size_t pitch, derivatives_wanted w)
{
    const mixed *m = x->m;
    part_list *to = &x->level[l].places;
    const nested_part *p = &to->part[place];
    weigh(x, p, x->out + cell);
    weigh(x, p, to->mean + p->cell);
    to->height[place] = sum(p->n, x->out + cell);
    if (w.hessian) {
        weigh(x, p, x->curvature + cell);
        add_row_curvatures(x, l, p, x->curvature + cell, to->hessian + place * x->all * x->all);
    }
    for (size_t a = 0; w.extra && a < m->row_model->auxiliary_count; a++) {
        weigh(x, p, x->aux_out + a * pitch + cell);
        to->extra[place * nested_extra_count(m) + m->spreads + a] +=
            sum(p->n, x->aux_out + a * pitch + cell);
    }
}

/* Evaluates the rows of places from `from` on, as many as fit into a batch; returns the next
 * place. */
static size_t evaluate_rows(nested_integral *x, size_t l, size_t from, derivatives_wanted w)
{
    const mixed *m = x->m;
    const predictor *likelihood = m->row_model->predictor;
    const part_list *of = &x->level[l].places;
    size_t cells = 0, end = from;
    for (; end < of->count && cells + of->part[end].n <= x->cells; end++) {
        const nested_part *p = &of->part[end];
        add_effects_to_eta(x, l, end, p->first, p->n, x->eta + cells);
        memcpy(x->y + cells, m->data->y + x->v->first + p->first, p->n * sizeof *x->y);
        cells += p->n;
    }
    const batch b = {
        .k = m->k, .n = cells, .eta = x->eta, .y = x->y, .aux = x->v->p.aux, .pitch = cells};
    likelihood->loglik(&b, x->out);
    likelihood->gradient(&b, of->mean + of->part[from].cell,
                         m->row_model->auxiliary_count ? x->aux_out : NULL);
    if (w.hessian) likelihood->curvature(&b, x->curvature, NULL, NULL);
    for (size_t place = from, cell = 0; place < end; cell += of->part[place++].n)
        add_place_sums(x, l, place, cell, cells, w);
    return end;
}

/* ---- parts ---- */

/* Computes the integrals listed at level l, and adds them to their places of the level
 * above. */
static void add_to_level_above(nested_integral *x, size_t l, derivatives_wanted w)
{
    part_list *from = &x->level[l].parts, *to = &x->level[l - 1].places;
    size_t extra = nested_extra_count(x->m), square = x->all * x->all;
    if (from->count == 0) return;
    nested_integrate(x, l, w);
    for (size_t i = 0; i < from->count; i++) {
        const nested_part *p = &from->part[i], *place = &to->part[p->of];
        to->height[p->of] += from->height[i];
        memcpy(to->mean + place->cell + (p->first - place->first), from->mean + p->cell,
               p->n * sizeof *to->mean);
        if (w.extra) add_scaled(extra, 1.0, from->extra + i * extra, to->extra + p->of * extra);
        if (w.hessian)
            add_scaled(square, 1.0, from->hessian + i * square, to->hessian + p->of * square);
    }
    parts_clear(from);
}

/* Adds a part to the list of the level below, with the effects of a place of level l. */
static void add_part(nested_integral *x, size_t l, size_t place, size_t first, size_t n)
{
    level_scratch *below = &x->level[l + 1];
    double *u = below->parts.u + below->parts.count * x->all;
    const nested_part *p = parts_add(&below->parts, first, n, place);
    add_effects_to_eta(x, l, place, first, n, below->eta + p->cell);
    memcpy(u, x->level[l].places.u + place * x->all, below->before * sizeof *u);
}

/* Evaluates the places of level l by integrals over the effects of level l + 1. */
static void evaluate_parts(nested_integral *x, size_t l, derivatives_wanted w)
{
    const part_list *of = &x->level[l].places;
    part_list *below = &x->level[l + 1].parts;
    size_t base = x->v->first;
    parts_clear(below);
    for (size_t place = 0; place < of->count; place++) {
        size_t first = of->part[place].first, end = first + of->part[place].n;
        for (size_t next; first < end; first = next) {
            next = nested_run_end(x->m, l + 1, base + first, base + end) - base;
            if (parts_full(below, next - first)) add_to_level_above(x, l + 1, w);
            add_part(x, l, place, first, next - first);
        }
    }
    add_to_level_above(x, l + 1, w);
}

void nested_loglik(nested_integral *x, size_t l, derivatives_wanted w)
{
    part_list *of = &x->level[l].places;
    memset(of->height, 0, of->count * sizeof *of->height);
    if (w.extra) memset(of->extra, 0, of->count * nested_extra_count(x->m) * sizeof *of->extra);
    if (w.hessian) memset(of->hessian, 0, of->count * x->all * x->all * sizeof *of->hessian);
    for (size_t place = 0; place < of->count; place++) find_effects(x, l, place);
    if (!nested_is_innermost(x, l)) {
        evaluate_parts(x, l, w);
        return;
    }
    for (size_t place = 0; place < of->count;) place = evaluate_rows(x, l, place, w);
}

void nested_fix_effects(nested_integral *x, size_t l, const double *v)
{
    level_scratch *level = &x->level[l];
    const nested_part *whole = &level->parts.part[0];
    parts_clear(&level->places);
    parts_add(&level->places, whole->first, whole->n, 0);
    memcpy(level->place, v, x->m->level[l].shape.effects * sizeof *v);
    find_effects(x, l, 0);
}

void nested_descend(nested_integral *x, size_t l, size_t first, size_t n)
{
    parts_clear(&x->level[l + 1].parts);
    add_part(x, l, 0, first, n);
}

void nested_pull(const nested_integral *x, size_t l, size_t place, double *pull)
{
    const part_list *of = &x->level[l].places;
    const nested_part *p = &of->part[place];
    const double *mean = of->mean + p->cell;
    size_t count = x->level[l].before + x->m->level[l].shape.effects;
    double whole = x->plain ? sum(p->n, mean) : 0.0;
    for (size_t a = 0; a < count; a++) pull[a] = whole;
    for (size_t i = 0; !x->plain && i < p->n; i++)
        add_scaled(count, mean[i], x->z + (p->first + i) * x->all, pull);
}
