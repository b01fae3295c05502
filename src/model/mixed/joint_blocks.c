/* Blocks: effects that are standardised together. Given its sd, the mean effect of a factor
 * with few levels is correlated with the intercept and with the means of other such factors,
 * and the effect of an outer level with those of the levels nested in it. Standardisation level
 * by level leaves narrow ridges there, whose direction and length change with the sds. So all
 * effects of the factors with the fewest levels are one block, and each outer level with all
 * levels nested in it is another. With K and C the second derivatives of minus the rows'
 * log-likelihood by the block's effects u, and by effects and coefficients beta,
 *
 *   u = L z,   z = M^-1 L'b + A'^-1 eta,   M = I + k L'K L = A A',
 *   b = k (b_0 - C (beta - beta_0)),                                                        (1)
 *   log p = (|eta|^2 - |z|^2)/2 - log |A|                                                   (2)
 *
 * are (1) and (2) of crossed_effects.h for one level that has all these effects: L is
 * block-diagonal, one part for each level; k is the strength of joint.h. Backwards, from
 * g = dU/du with h = L'g + z, x = A'^-1 eta, v = A^-1 h, y = A'^-1 v, m = z - x:
 *
 *   dU/d eta = v - eta,   dU/d beta = -k C'L y,   dU/d log k = tr (dU/dM) (M - I) + y'L'b,  (3)
 *   dU/dM = (A'^-1 (I + N) A^-1 - y m' - m y')/2,   N_ij = -eta_max(i,j) v_min(i,j),        (4)
 *   dU/dL = 2 k K L dU/dM + g z' + b y'.                                                    (5)
 *
 * N comes from the derivative of a Cholesky factor: Murray (2016), Differentiation of the
 * Cholesky decomposition, arXiv 1602.07527, eq. 9. */
#include "core/memory.h"
#include "linalg/cholesky.h"
#include "linalg/dense_matrix.h"
#include "model/mixed/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MAX ((size_t)64) /* effects: a gradient takes about BLOCK_MAX^3 operations */
/* Costs as in joint.c: */
#define BLOCK_COST 0.15  /* of a gradient of a block of n effects, times n^3, */
#define BLOCK_CALL 16.0  /* times n^2, */
#define BLOCK_EACH 220.0 /* and times n */
/* effects of nested factors for which blocks pay: guImmun's 1756 mix as well without */
#define NESTED_MAX ((size_t)1000)
#define NO_BLOCK   UINT32_MAX

/* ---- which effects are in blocks ---- */

static size_t levels_of(const mixed *m, size_t f)
{
    return m->groups->factor[m->other[f].factor].levels;
}

static size_t effects_of(const mixed *m, size_t f)
{
    return levels_of(m, f) * m->other[f].shape.effects;
}

bool blocks_have(const mixed *m, size_t f)
{
    return m->blocks && m->blocks->place[f];
}

/* of[l] = the outer level that inner level l is in. False: an inner level is in several. */
static bool find_outer(const mixed *m, size_t inner, size_t outer, uint32_t *of)
{
    const uint32_t *in = m->groups->factor[m->other[inner].factor].of,
                   *out = m->groups->factor[m->other[outer].factor].of;
    memset(of, 0xff, levels_of(m, inner) * sizeof *of);
    for (size_t i = 0; i < m->data->local_rows; i++) {
        if (of[in[i]] != NO_BLOCK && of[in[i]] != out[i]) return false;
        of[in[i]] = out[i];
    }
    for (size_t l = 0; l < levels_of(m, inner); l++)
        if (of[l] == NO_BLOCK) of[l] = 0; /* a level without rows */
    return true;
}

/* Adds the effects of factor f: those of level l to block first + of[l], or to block `first` if
 * of is NULL. */
static sbps_status add_factor(mixed *m, size_t f, size_t first, const uint32_t *of,
                              sbps_error *err)
{
    joint_blocks *all = m->blocks;
    size_t levels = levels_of(m, f);
    block_place *place = all->place[f] = calloc(levels, sizeof *place);
    if (!place) return fail_memory(err);
    for (size_t l = 0; l < levels; l++) {
        joint_block *to = &all->block[first + (of ? of[l] : 0)];
        place[l] = (block_place){(uint32_t)(to - all->block), (uint32_t)to->count};
        to->count += m->other[f].shape.effects;
        to->levels++;
    }
    return SBPS_OK;
}

/* Makes one block for each level of factor `outer` with the factors nested in it, if all
 * fit. */
static sbps_status add_nested(mixed *m, size_t outer, uint32_t *buffer, sbps_error *err)
{
    size_t levels = levels_of(m, outer), nested = 0, all = effects_of(m, outer), largest = 0;
    uint32_t *of[OTHERS_MAX] = {NULL};
    size_t *sizes = calloc(levels, sizeof *sizes);
    if (!sizes) return fail_memory(err);
    for (size_t l = 0; l < levels; l++) sizes[l] = m->other[outer].shape.effects;
    for (size_t f = 0; f < m->others; f++) {
        if (f == outer || levels_of(m, f) <= levels || !find_outer(m, f, outer, buffer))
            continue;
        of[f] = buffer;
        buffer += levels_of(m, f);
        nested++;
        all += effects_of(m, f);
        for (size_t l = 0; l < levels_of(m, f); l++)
            sizes[of[f][l]] += m->other[f].shape.effects;
    }
    for (size_t l = 0; l < levels; l++) largest = sizes[l] > largest ? sizes[l] : largest;
    free(sizes);
    if (nested == 0 || largest > BLOCK_MAX || all <= BLOCK_MAX || all > NESTED_MAX)
        return SBPS_OK;
    m->blocks->block = calloc(levels + 1, sizeof *m->blocks->block);
    if (!m->blocks->block) return fail_memory(err);
    m->blocks->count = levels;
    for (size_t l = 0; l < levels; l++) buffer[l] = (uint32_t)l;
    sbps_status status = add_factor(m, outer, 0, buffer, err);
    for (size_t f = 0; f < m->others && status == SBPS_OK; f++)
        if (of[f]) status = add_factor(m, f, 0, of[f], err);
    return status;
}

/* Tries outer factors, those with the fewest levels first, until one has nested factors that
 * fit. */
static sbps_status choose_nested(mixed *m, sbps_error *err)
{
    size_t all = 0;
    bool tried[OTHERS_MAX] = {false};
    sbps_status status = SBPS_OK;
    for (size_t f = 0; f < m->others; f++) all += 2 * levels_of(m, f);
    uint32_t *buffer = malloc((all + 1) * sizeof *buffer);
    if (!buffer) return fail_memory(err);
    for (size_t i = 0; i < m->others && status == SBPS_OK && !m->blocks->block; i++) {
        size_t outer = OTHERS_MAX;
        for (size_t f = 0; f < m->others; f++)
            if (!tried[f] && (outer == OTHERS_MAX || levels_of(m, f) < levels_of(m, outer)))
                outer = f;
        tried[outer] = true;
        status = add_nested(m, outer, buffer, err);
    }
    free(buffer);
    return status;
}

/* Puts the factors with the fewest effects, of those not in a block yet, into one last block,
 * as long as they fit. */
static sbps_status choose_few(mixed *m, sbps_error *err)
{
    joint_blocks *all = m->blocks;
    joint_block *last = &all->block[all->count];
    for (;;) {
        size_t smallest = SIZE_MAX, chosen = 0;
        for (size_t f = 0; f < m->others; f++) {
            if (blocks_have(m, f) || effects_of(m, f) >= smallest) continue;
            smallest = effects_of(m, f);
            chosen = f;
        }
        if (smallest > BLOCK_MAX - last->count) break;
        sbps_status status = add_factor(m, chosen, all->count, NULL, err);
        if (status != SBPS_OK) return status;
    }
    all->count += last->count > 0;
    return SBPS_OK;
}

/* ---- memory ---- */

/* The pitch of the rows of dU/dM, which are padded with zeros for the kernels. */
static size_t pitch_of(size_t n)
{
    return (n + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
}

/* Lists the levels of each block, by factor. */
static sbps_status list_levels(mixed *m, sbps_error *err)
{
    joint_blocks *all = m->blocks;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += all->block[i].levels;
    block_level *next = all->levels = calloc(count + 1, sizeof *next);
    if (!next) return fail_memory(err);
    for (size_t i = 0; i < all->count; i++) {
        all->block[i].level = next;
        next += all->block[i].levels;
        all->block[i].levels = 0;
    }
    for (size_t f = 0; f < m->others; f++)
        for (size_t l = 0; blocks_have(m, f) && l < levels_of(m, f); l++) {
            joint_block *of = &all->block[all->place[f][l].block];
            of->level[of->levels++] = (block_level){f, l, all->place[f][l].first};
        }
    return SBPS_OK;
}

/* Allocates K, C and b_0 of all blocks, and places the numbers that a point has. */
static sbps_status place_numbers(mixed *m, sbps_error *err)
{
    joint_blocks *all = m->blocks;
    size_t d = m->data->d;
    for (size_t i = 0; i < all->count; i++) {
        joint_block *b = &all->block[i];
        size_t n = b->count, square = n * pitch_of(n);
        b->sums = all->width;
        all->width += n * n + n * d;
        b->offset = all->scratch;
        all->scratch += 2 * square + 3 * n;
        all->square = square > all->square ? square : all->square;
        all->effects += n;
        all->work +=
            (double)n * ((double)n * (BLOCK_COST * (double)n + BLOCK_CALL) + BLOCK_EACH);
    }
    all->scratch += all->square + KERNEL_LANES;
    all->memory = new_doubles(all->width + all->effects + d + 1);
    if (!all->memory) return fail_memory(err);
    all->beta = all->memory + all->width + all->effects;
    double *b = all->memory + all->width;
    for (size_t i = 0; i < all->count; i++) {
        joint_block *of = &all->block[i];
        of->k = all->memory + of->sums;
        of->c = of->k + of->count * of->count;
        of->b = b;
        b += of->count;
    }
    return SBPS_OK;
}

sbps_status blocks_open(mixed *m, sbps_error *err)
{
    m->blocks = calloc(1, sizeof *m->blocks);
    if (!m->blocks) return fail_memory(err);
    sbps_status status = choose_nested(m, err);
    if (status == SBPS_OK && !m->blocks->block)
        m->blocks->block = calloc(1, sizeof *m->blocks->block);
    if (status == SBPS_OK && !m->blocks->block) status = fail_memory(err);
    if (status == SBPS_OK) status = choose_few(m, err);
    if (status == SBPS_OK) status = list_levels(m, err);
    return status == SBPS_OK ? place_numbers(m, err) : status;
}

void blocks_reset(mixed *m)
{
    joint_blocks *all = m->blocks;
    memset(all->memory, 0, (all->width + all->effects + m->data->d) * sizeof *all->memory);
}

void blocks_drop(mixed *m)
{
    joint_blocks *all = m->blocks;
    for (size_t f = 0; f < OTHERS_MAX; f++) {
        free(all->place[f]);
        all->place[f] = NULL;
    }
    all->count = all->width = all->effects = 0;
    all->work = 0.0;
}

void blocks_close(mixed *m)
{
    joint_blocks *all = m->blocks;
    if (!all) return;
    for (size_t f = 0; f < OTHERS_MAX; f++) free(all->place[f]);
    free(all->block);
    free(all->levels);
    free(all->memory);
    free(all);
}

double blocks_cost(const mixed *m)
{
    return m->blocks->work;
}

size_t blocks_scratch(const mixed *m)
{
    return m->blocks->scratch;
}

/* The numbers of one block at one point, stored behind the m->dim numbers of x. */
typedef struct {
    double *by_square; /* dU/dM of the block evaluated last */
    double *root;      /* A */
    double *k_factor;  /* k K L */
    double *z, *b, *y;
} block_point;

/* The numbers of a block behind x = at. */
static block_point point_at(const mixed *m, const joint_block *of, double *at)
{
    size_t n = of->count, square = n * pitch_of(n);
    double *first = at + (m->dim + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES,
           *own = first + m->blocks->square + of->offset;
    return (block_point){.by_square = first,
                         .root = own,
                         .k_factor = own + square,
                         .z = own + 2 * square,
                         .b = own + 2 * square + n,
                         .y = own + 2 * square + 2 * n};
}

/* ---- L ---- */

/* The covariance of a factor's levels: L, and its derivatives by coordinates. */
typedef struct {
    double factor[LEVEL_EFFECTS_MAX][LEVEL_EFFECTS_MAX];
    double by[SPREAD_MAX][LEVEL_EFFECTS_MAX];
} block_spread;

/* The covariances of all factors in blocks, at w. */
static void set_spreads(const mixed *m, const double *w, block_spread *out)
{
    effect_spread at;
    for (size_t f = 0; f < m->others; f++) {
        if (!blocks_have(m, f)) continue;
        spread_at(&m->other[f].shape, w + m->other[f].spread, false, &at);
        memcpy(out[f].factor, at.factor, sizeof at.factor);
        memcpy(out[f].by, at.first, sizeof at.first);
    }
}

static size_t effects_each(const mixed *m, const block_level *l)
{
    return m->other[l->factor].shape.effects;
}

/* to = L x */
static void spread_out(const mixed *m, const joint_block *b, const block_spread *s,
                       const double *x, double *to)
{
    for (const block_level *l = b->level; l < b->level + b->levels; l++)
        for (size_t a = 0; a < effects_each(m, l); a++)
            to[l->first + a] = dot(a + 1, s[l->factor].factor[a], x + l->first);
}

/* to = L'x */
static void apply_factor_transpose(const mixed *m, const joint_block *b, const block_spread *s,
                                   const double *x, double *to)
{
    for (const block_level *l = b->level; l < b->level + b->levels; l++)
        for (size_t a = 0, i = l->first, q = effects_each(m, l); a < q; a++) {
            to[i + a] = 0.0;
            for (size_t c = a; c < q; c++) to[i + a] += s[l->factor].factor[c][a] * x[i + c];
        }
}

/* Sets k K L and A, the Cholesky factor of M. False: M is not positive definite. */
static bool set_root(const mixed *m, const joint_block *of, const block_spread *s,
                     double strength, block_point *p)
{
    size_t n = of->count;
    for (size_t i = 0; i < n; i++) /* row i of K L is L'K_i */
        apply_factor_transpose(m, of, s, of->k + i * n, p->k_factor + i * n);
    for (size_t i = 0; i < n * n; i++) p->k_factor[i] *= strength;
    memset(p->root, 0, n * n * sizeof *p->root);
    for (const block_level *l = of->level; l < of->level + of->levels; l++)
        for (size_t a = 0, i = l->first, q = effects_each(m, l); a < q; a++) {
            double *row = p->root + (i + a) * n;
            for (size_t c = a; c < q; c++)
                add_scaled(i + a + 1, s[l->factor].factor[c][a], p->k_factor + (i + c) * n,
                           row);
            row[i + a] += 1.0;
        }
    return cholesky(n, p->root);
}

/* x <- A^-1 x */
static void solve_forward(const kernels *k, size_t n, const double *root, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - k->dot(i, root + i * n, x)) / root[i * n + i];
}

/* x <- A'^-1 x */
static void solve_back(size_t n, const double *root, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= root[i * n + i];
        add_scaled(i, -x[i], root + i * n, x);
    }
}

/* ---- transformation and pullback ---- */

static size_t coordinate(const mixed *m, const block_level *l)
{
    return m->other[l->factor].first + l->level * effects_each(m, l);
}

static void put_effects(const mixed *m, const joint_block *b, const double *u, double *at)
{
    for (const block_level *l = b->level; l < b->level + b->levels; l++)
        memcpy(at + coordinate(m, l), u + l->first, effects_each(m, l) * sizeof *at);
}

static void take_effects(const mixed *m, const joint_block *b, const double *at, double *u)
{
    for (const block_level *l = b->level; l < b->level + b->levels; l++)
        memcpy(u + l->first, at + coordinate(m, l), effects_each(m, l) * sizeof *at);
}

/* (1): sets the effects of one block in at; returns (2) plus |eta|^2/2 or, if M is singular,
 * NAN. */
static double transform_block(const mixed *m, const joint_block *of, const block_spread *s,
                              double strength, const double *w, double *at)
{
    size_t n = of->count, d = m->data->d;
    const double *beta = m->blocks->beta;
    block_point p = point_at(m, of, at);
    double eta[BLOCK_MAX];
    bool fine = set_root(m, of, s, strength, &p);
    for (size_t i = 0; i < n; i++) {
        p.b[i] = of->b[i];
        for (size_t j = 0; j < d; j++) p.b[i] -= of->c[i * d + j] * (w[j] - beta[j]);
        p.b[i] *= strength;
    }
    apply_factor_transpose(m, of, s, p.b, p.z);
    solve_forward(m->k, n, p.root, p.z);
    take_effects(m, of, w, eta);
    for (size_t i = 0; i < n; i++) p.z[i] += eta[i];
    solve_back(n, p.root, p.z);
    spread_out(m, of, s, p.z, p.y);
    put_effects(m, of, p.y, at);
    double value = 0.5 * (dot(n, eta, eta) - dot(n, p.z, p.z));
    for (size_t i = 0; i < n; i++) value -= log(p.root[i * n + i]);
    return fine ? value : NAN;
}

double blocks_transform(const mixed *m, double strength, const double *w, double *at)
{
    block_spread spread[OTHERS_MAX];
    double value = 0.0;
    set_spreads(m, w, spread);
    for (size_t i = 0; i < m->blocks->count; i++)
        value += transform_block(m, &m->blocks->block[i], spread, strength, w, at);
    return value;
}

void blocks_transform_some(const mixed *m, double strength, const double *w,
                           const bool *selected, double *at)
{
    block_spread spread[OTHERS_MAX];
    set_spreads(m, w, spread);
    for (size_t i = 0; i < m->blocks->count; i++)
        if (selected[i]) transform_block(m, &m->blocks->block[i], spread, strength, w, at);
}

/* x <- A'^-1 x for a matrix x, from its last row to the first. */
static void solve_rows(const kernels *k, size_t n, const double *root, double *x)
{
    size_t pitch = pitch_of(n);
    double by[BLOCK_MAX];
    for (size_t i = n; i-- > 0;) {
        double *row = x + i * pitch, inverse = 1.0 / root[i * n + i];
        for (size_t j = i + 1; j < n; j++) by[j - i - 1] = -root[j * n + i];
        k->row_combine(x, pitch, NULL, i + 1, n - i - 1, by, row);
        for (size_t j = 0; j < n; j++) row[j] *= inverse;
    }
}

static void transpose(size_t n, size_t pitch, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double above = x[j * pitch + i];
            x[j * pitch + i] = x[i * pitch + j];
            x[i * pitch + j] = above;
        }
}

/* Sets by_square to twice (4) without its last terms: A'^-1 (A'^-1 (I + N))'. */
static void set_by_square(const kernels *k, size_t n, const block_point *p, const double *eta,
                          const double *v)
{
    size_t pitch = pitch_of(n);
    double *x = p->by_square;
    memset(x, 0, n * pitch * sizeof *x);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            x[i * pitch + j] = (i == j ? 1.0 : 0.0) - (i > j ? eta[i] * v[j] : eta[j] * v[i]);
    solve_rows(k, n, p->root, x);
    transpose(n, pitch, x);
    solve_rows(k, n, p->root, x);
}

/* Computes y, v and dU/dM; v is h before. */
static void set_pullback(const kernels *k, size_t n, const block_point *p, const double *eta,
                         double *v)
{
    size_t pitch = pitch_of(n);
    double mean[BLOCK_MAX];
    solve_forward(k, n, p->root, v);
    memcpy(p->y, v, n * sizeof *v);
    solve_back(n, p->root, p->y);
    memcpy(mean, eta, n * sizeof *eta);
    solve_back(n, p->root, mean);
    for (size_t i = 0; i < n; i++) mean[i] = p->z[i] - mean[i];
    set_by_square(k, n, p, eta, v);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *x = &p->by_square[i * pitch + j];
            *x = 0.5 * (*x - p->y[i] * mean[j] - mean[i] * p->y[j]);
        }
}

/* Adds (5) to the gradient by the coordinates of one level's covariance; g = dU/du. Returns the
 * level's part of tr (dU/dM) (M - I). */
static double add_by_spread(const mixed *m, const block_level *l, size_t n,
                            const block_spread *s, const block_point *p, const double *g,
                            double *gradient)
{
    const spread_shape *shape = &m->other[l->factor].shape;
    double trace = 0.0, *by_spread = gradient + m->other[l->factor].spread;
    size_t pitch = pitch_of(n);
    for (size_t a = 0; a < shape->effects; a++)
        for (size_t b = 0; b < shape->effects; b++) {
            size_t row = l->first + a, column = l->first + b;
            double k_part = m->k->dot(n, p->k_factor + row * n, p->by_square + column * pitch);
            double by_factor = 2.0 * k_part + g[row] * p->z[column] + p->b[row] * p->y[column];
            trace += s[l->factor].factor[a][b] * k_part;
            for (size_t c = 0; c < shape->count; c++)
                if (shape->of[c].row == a) by_spread[c] += s[l->factor].by[c][b] * by_factor;
        }
    return trace;
}

/* (3) to (5) for one block; returns its part of dU/d log k. */
static double pullback_block(const mixed *m, const joint_block *of, const block_spread *s,
                             double strength, const double *w, double *at, double *gradient)
{
    size_t n = of->count, d = m->data->d;
    block_point p = point_at(m, of, at);
    double g[BLOCK_MAX], eta[BLOCK_MAX], v[BLOCK_MAX], by_b[BLOCK_MAX];
    take_effects(m, of, gradient, g);
    take_effects(m, of, w, eta);
    apply_factor_transpose(m, of, s, g, v);
    for (size_t i = 0; i < n; i++) v[i] += p.z[i];
    set_pullback(m->k, n, &p, eta, v);
    spread_out(m, of, s, p.y, by_b);
    double by_strength = dot(n, by_b, p.b);
    for (size_t i = 0; i < of->levels; i++)
        by_strength += add_by_spread(m, &of->level[i], n, s, &p, g, gradient);
    for (size_t i = 0; i < n; i++) {
        add_scaled(d, -strength * by_b[i], of->c + i * d, gradient);
        v[i] -= eta[i];
    }
    put_effects(m, of, v, gradient);
    return by_strength;
}

double blocks_pullback(const mixed *m, double strength, const double *w, double *at,
                       double *gradient)
{
    block_spread spread[OTHERS_MAX];
    double by_strength = 0.0;
    set_spreads(m, w, spread);
    for (size_t i = 0; i < m->blocks->count; i++)
        by_strength +=
            pullback_block(m, &m->blocks->block[i], spread, strength, w, at, gradient);
    return by_strength;
}

/* ---- K, C and b_0 ---- */

size_t blocks_width(const mixed *m)
{
    return m->blocks->width;
}

void blocks_add(const mixed *m, size_t row, double curvature, const double *x, double *total)
{
    size_t d = m->data->d, count = 0;
    struct {
        const joint_block *of;
        size_t at;
        double z;
    } effect[OTHERS_MAX * LEVEL_EFFECTS_MAX];
    for (size_t f = 0; f < m->others; f++) {
        const other_factor *o = &m->other[f];
        if (!blocks_have(m, f)) continue;
        block_place place = m->blocks->place[f][m->groups->factor[o->factor].of[row]];
        for (size_t a = 0; a < o->shape.effects; a++, count++) {
            effect[count].of = &m->blocks->block[place.block];
            effect[count].at = place.first + a;
            effect[count].z = mixed_z(m, row, o->column[a]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t n = effect[i].of->count;
        double *k = total + effect[i].of->sums, by = curvature * effect[i].z;
        for (size_t j = 0; j < count; j++)
            if (effect[j].of == effect[i].of)
                k[effect[i].at * n + effect[j].at] += by * effect[j].z;
        add_scaled(d, by, x, k + n * n + effect[i].at * d);
    }
}

/* Sets b_0 = (L L')^-1 u + K u. */
void blocks_set(mixed *m, const double *sums, const double *at, double *w)
{
    joint_blocks *all = m->blocks;
    block_spread spread[OTHERS_MAX];
    double u[BLOCK_MAX];
    memcpy(all->memory, sums, all->width * sizeof *sums);
    memcpy(all->beta, at, m->data->d * sizeof *at);
    set_spreads(m, w, spread);
    for (joint_block *b = all->block; b < all->block + all->count; b++) {
        take_effects(m, b, at, u);
        memcpy(b->b, u, b->count * sizeof *u);
        for (const block_level *l = b->level; l < b->level + b->levels; l++) {
            double lower[LEVEL_EFFECTS_MAX * LEVEL_EFFECTS_MAX];
            size_t q = effects_each(m, l);
            for (size_t a = 0; a < q; a++)
                memcpy(lower + a * q, spread[l->factor].factor[a], q * sizeof *lower);
            cholesky_solve(q, lower, b->b + l->first);
            memset(w + coordinate(m, l), 0, q * sizeof *w);
        }
        for (size_t i = 0; i < b->count; i++) b->b[i] += dot(b->count, b->k + i * b->count, u);
    }
}
