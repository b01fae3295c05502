/* Weights and an intercept at x = 0 are reported in the place of their standards, c in the place of 1/c^2, R2 of its
 * gamma variables; local scales are effects, told where --ranef asks for such. */
#include "model/shrinkage/shrunk_coordinates.h"

#include "core/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The block of a scale; NULL: j is a weight or an auxiliary. */
static const shrink_block *find_block(const shrunk *m, size_t j)
{
    for (size_t k = 0; k < m->shape->blocks; k++) {
        const shrink_block *b = &m->shape->block[k];
        if (b->count && j >= b->first && j < b->first + 2 + b->count) return b;
    }
    return NULL;
}

static const char *column_name(const shrunk *m, size_t j)
{
    return m->data->names ? m->data->names[j] : "column";
}

/* "hs_" of the first block, "hs2_" of the next. */
static size_t block_prefix(const shrunk *m, const shrink_block *b, size_t size, char *text)
{
    const char *name = b->prior.kind == &prior_horseshoe ? "hs" : "R2D2";
    size_t index = (size_t)(b - m->shape->block) + 1;
    int used = index > 1 ? snprintf(text, size, "%s%zu_", name, index)
                         : snprintf(text, size, "%s_", name);
    return (size_t)used < size ? (size_t)used : size;
}

static void scale_name(const shrunk *m, const shrink_block *b, size_t at, size_t size,
                       char *text)
{
    static const char *const names[2][3] = {{"global", "slab", "local"},
                                            {"R2", "ratio", "share"}};
    const char *const *name = names[b->prior.kind != &prior_horseshoe];
    size_t used = block_prefix(m, b, size, text);
    if (at < 2)
        snprintf(text + used, size - used, "%s", name[at]);
    else
        snprintf(text + used, size - used, "%s[%s]", name[2],
                 column_name(m, b->column[at - 2]));
}

void shrunk_name(const void *self, size_t j, size_t size, char *text)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    size_t last = m->dim - m->auxiliaries;
    if (j >= last)
        snprintf(text, size, "%s", m->shape->of->auxiliaries[j - last].name);
    else if (!b)
        snprintf(text, size, "%s%s", m->in[j] ? "standard of " : "", column_name(m, j));
    else if (b->prior.kind == &prior_horseshoe) {
        bool slab = j == b->first + 1;
        size_t used = slab ? 2 : 0;
        if (slab) snprintf(text, size, "1/");
        scale_name(m, b, j - b->first, size - used, text + used);
        if (slab) strncat(text, "^2", size - strlen(text) - 1);
    } else {
        size_t used = block_prefix(m, b, size, text);
        snprintf(text + used, size - used, "gamma%zu", j - b->first + 1);
    }
}

bool shrunk_coordinate(const void *self, size_t j, model_coordinate *out)
{
    const shrunk *m = self;
    size_t last = m->dim - m->auxiliaries;
    if (j < m->d) return false;
    coordinate_scale scale = j < last ? SCALE_LOG : m->shape->of->auxiliaries[j - last].scale;
    *out = (model_coordinate){.scale = scale, .prior = "flat", .unit = 1.0};
    return true;
}

bool shrunk_intercept(const void *self, size_t j)
{
    return ((const shrunk *)self)->data->intercept && j == 0;
}

bool shrunk_derived(const void *self, size_t j, model_derived *out)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    bool means = m->shape->at_means && j == 0,
         horseshoe = b && b->prior.kind == &prior_horseshoe;
    *out = (model_derived){.alike = SIZE_MAX, .watched = true};
    if (j < m->d) {
        *out = (model_derived){.alike = j, .at_means = means};
        return means || m->in[j];
    }
    if (!b) return false;
    if (horseshoe && j == b->first) out->alike = j;
    out->effect = j >= b->first + 2 || (!horseshoe && j == b->first + 1);
    return true;
}

void shrunk_derived_name(const void *self, size_t j, size_t size, char *text)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    if (b)
        scale_name(m, b, j - b->first, size, text);
    else
        snprintf(text, size, "%s", column_name(m, j));
}

void shrunk_derive(const void *self, const double *w, size_t first, size_t count, double *out)
{
    const shrunk *m = self;
    double *beta = first < m->d ? new_doubles(m->data->stride) : NULL;
    if (beta) shrunk_weights(m, w, beta);
    for (size_t i = 0; i < count; i++) {
        model_derived unused;
        size_t j = first + i;
        if (!shrunk_derived(m, j, &unused)) continue;
        if (j < m->d)
            out[i] = beta ? beta[j] : NAN;
        else
            out[i] = scales_value(find_block(m, j), w, j);
    }
    free(beta);
}

/* ---- priors ---- */

prior shrink_prior(const void *self, size_t j, const prior *of)
{
    const shrunk *m = self;
    const shrink_block *b = find_block(m, j);
    size_t last = m->dim - m->auxiliaries;
    if (b) return scales_prior(b, j);
    if (j >= last) return of[m->d + j - last];
    return m->in[j] ? (prior){prior_find("normal"), {0.0, 1.0}} : of[j];
}

prior shrink_reported_prior(const void *self, size_t j, const prior *of)
{
    const shrunk *m = self;
    return j < m->d && m->in[j] ? m->in[j]->prior : shrink_prior(self, j, of);
}

/* ---- where a search begins ---- */

/* Scales where their priors are, weights where the regression has them. */
static void start_scales(const shrink_block *b, double *w)
{
    const double *n = b->prior.theta;
    bool horseshoe = b->prior.kind == &prior_horseshoe;
    w[b->first] = log(horseshoe ? n[HORSESHOE_GLOBAL] : n[R2D2_MEAN] * n[R2D2_PRECISION]);
    w[b->first + 1] = horseshoe ? -2.0 * log(n[HORSESHOE_SLAB])
                                : log((1.0 - n[R2D2_MEAN]) * n[R2D2_PRECISION]);
    for (size_t i = 0; i < b->count; i++)
        w[b->first + 2 + i] = horseshoe ? 0.0 : log(n[R2D2_SPLIT]);
}

void shrunk_start(const void *self, double *w)
{
    const shrunk *m = self;
    const double *begin = m->shape->begin;
    for (size_t j = 0; j < m->d; j++) w[j] = m->in[j] ? 0.0 : begin[j];
    for (size_t k = 0; k < m->shape->blocks; k++)
        if (m->shape->block[k].count) start_scales(&m->shape->block[k], w);
    for (size_t a = 0; a < m->auxiliaries; a++)
        w[m->dim - m->auxiliaries + a] = begin[m->d + a];
    for (size_t j = 1; m->shape->at_means && j < m->d; j++) w[0] += m->data->mean[j] * begin[j];
}
