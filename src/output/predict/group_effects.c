/* Effects of groups on new rows. Effects of levels that the run had are among its parameters if
 * it kept their draws (--ranef). Those of a new level are drawn from N(0, S) with the S of each
 * draw, by a stream that is keyed by the name of the level, so that all rows of the level have
 * the same effects. */
#include "output/predict/predictor_draws.h"

#include "core/memory.h"
#include "ingest/schema/levels.h"
#include "linalg/cholesky.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *factor;
    size_t count;            /* effects */
    bool correlated, stored; /* stored: effects of some level are in the file */
    double *spread;          /* [draw][count * count]: the lower Cholesky factor of S */
} effect_term;

typedef struct {
    const char *name;
    size_t index;
} named_effect;

struct predictor_effects {
    effect_term *term;
    size_t terms;
    named_effect *known; /* parameters r_..., sorted by name */
    size_t known_count;
    double *draw; /* [known][draw] */
    locale_t c_locale;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named_effect *)a)->name, ((const named_effect *)b)->name);
}

/* Lists the parameters r_... by name, with their draws. */
static sbps_status index_effects(predictor_draws *f, predictor_effects *e, sbps_error *err)
{
    const result *r = f->r;
    e->known = calloc(r->dim + 1, sizeof *e->known);
    if (!e->known) return fail_memory(err);
    for (size_t j = 0; j < r->dim; j++)
        if (strncmp(r->names[j], "r_", 2) == 0)
            e->known[e->known_count++] = (named_effect){r->names[j], j};
    qsort(e->known, e->known_count, sizeof *e->known, by_name);
    e->draw = new_doubles(e->known_count * f->draws + 1);
    if (!e->draw) return fail_memory(err);
    for (size_t k = 0; k < e->known_count; k++)
        parameter_draws(f, e->known[k].index, e->draw + k * f->draws);
    return SBPS_OK;
}

/* ---- distribution of new levels ---- */

/* Copies the draws of a parameter; if it does not exist they are 0, or it is an error. */
static sbps_status named_draws(const predictor_draws *f, const char *name, bool may_lack,
                               double *out, sbps_error *err)
{
    size_t found = last_parameter(f->r, name);
    memset(out, 0, f->draws * sizeof *out);
    if (found != SIZE_MAX) parameter_draws(f, found, out);
    if (found != SIZE_MAX || may_lack) return SBPS_OK;
    return fail(err, SBPS_BAD_FILE, "%s: the file has no parameter '%s'", f->path,
                show_name(name).text);
}

/* Fills S of every draw: standard deviations on the diagonal, correlations below it. */
static sbps_status fill_spread(const predictor_draws *f, size_t t, effect_term *e,
                               double *draws, sbps_error *err)
{
    size_t q = e->count;
    name_buffer buffer = {0};
    sbps_status status = SBPS_OK;
    for (size_t a = 0; a < q; a++)
        for (size_t c = 0; status == SBPS_OK && c <= a; c++) {
            const char *own = saved_schema_effect(f->b, t, a),
                       *other = saved_schema_effect(f->b, t, c);
            if (c < a && !e->correlated) continue;
            const char *name =
                c == a ? name_format(&buffer, "sd_%s__%s", e->factor, own)
                       : name_format(&buffer, "cor_%s__%s__%s", e->factor, other, own);
            status = name ? named_draws(f, name, c < a, draws, err) : fail_memory(err);
            for (size_t s = 0; status == SBPS_OK && s < f->draws; s++)
                e->spread[s * q * q + a * q + c] = draws[s];
        }
    name_buffer_clear(&buffer);
    return status;
}

/* Replaces standard deviations and correlations by the Cholesky factor of S. */
static void factorise(size_t q, double *m)
{
    double sd[8];
    if (q > 8) return;
    for (size_t a = 0; a < q; a++) sd[a] = m[a * q + a];
    for (size_t a = 0; a < q; a++) m[a * q + a] = 1.0;
    if (!cholesky(q, m)) { /* rounding at a correlation of 1 */
        memset(m, 0, q * q * sizeof *m);
        for (size_t a = 0; a < q; a++) m[a * q + a] = 1.0;
    }
    for (size_t a = 0; a < q; a++)
        for (size_t c = 0; c < q; c++) m[a * q + c] = c <= a ? sd[a] * m[a * q + c] : 0.0;
}

/* Opens the effects of one term; without --new-levels prior the run must have stored some. */
static sbps_status open_term(const predictor_draws *f, size_t t, effect_term *e, double *draws,
                             sbps_error *err)
{
    char begin[1024];
    e->factor = saved_schema_factor(f->b, t, &e->correlated);
    e->count = saved_schema_effects(f->b, t);
    snprintf(begin, sizeof begin, "r_%s[", e->factor);
    for (size_t k = 0; k < f->effects->known_count; k++)
        e->stored |= strncmp(f->effects->known[k].name, begin, strlen(begin)) == 0;
    if (!f->new_levels && !e->stored)
        return fail(
            err, SBPS_BAD_DATA,
            "%s: the file contains no draws of the effects of '%s'%s: run `sbps sample` with "
            "--ranef all, or use --new-levels prior, which treats every level as new",
            f->path, show_name(e->factor).text,
            f->r->effects > 0 ? ", only means and sds, since there are many" : "");
    if (!f->new_levels) return SBPS_OK;
    e->spread = new_doubles(f->draws * e->count * e->count);
    if (!e->spread) return fail_memory(err);
    sbps_status status = fill_spread(f, t, e, draws, err);
    for (size_t s = 0; status == SBPS_OK && s < f->draws; s++)
        factorise(e->count, e->spread + s * e->count * e->count);
    return status;
}

sbps_status effects_open(predictor_draws *f, sbps_error *err)
{
    size_t terms = saved_schema_terms(f->b);
    if (terms == 0) return SBPS_OK;
    predictor_effects *e = f->effects = calloc(1, sizeof *e);
    if (!e) return fail_memory(err);
    e->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!e->c_locale) return fail_memory(err);
    double *draws = new_doubles(f->draws);
    e->term = calloc(terms, sizeof *e->term);
    sbps_status status = e->term && draws ? index_effects(f, e, err) : fail_memory(err);
    for (; status == SBPS_OK && e->terms < terms; e->terms++)
        status = open_term(f, e->terms, &e->term[e->terms], draws, err);
    free(draws);
    return status;
}

void effects_close(predictor_effects *e)
{
    if (!e) return;
    for (size_t t = 0; e->term && t < e->terms; t++) free(e->term[t].spread);
    free(e->term);
    free(e->known);
    free(e->draw);
    if (e->c_locale) freelocale(e->c_locale);
    free(e);
}

bool predictor_draws_all_new(const predictor_draws *f)
{
    for (size_t t = 0; f->effects && t < f->effects->terms; t++)
        if (!f->effects->term[t].stored) return true;
    return false;
}

/* ---- rows ---- */

/* Finds the draws of an effect; *out is NULL if the run does not have it. */
static sbps_status find_effect(const predictor_draws *f, const effect_term *e,
                               const char *group, const char *effect, const double **out,
                               sbps_error *err)
{
    const predictor_effects *all = f->effects;
    name_buffer buffer = {0};
    const char *name = name_format(&buffer, "r_%s[%s,%s]", e->factor, group, effect);
    const named_effect key = {name, 0}, *found = NULL;
    if (name) found = bsearch(&key, all->known, all->known_count, sizeof *all->known, by_name);
    name_buffer_clear(&buffer);
    *out = found ? all->draw + (size_t)(found - all->known) * f->draws : NULL;
    return name ? SBPS_OK : fail_memory(err);
}

/* FNV-1a hash of a name. */
static uint64_t hash_text(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++) h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return h;
}

/* Adds effects of a new level to eta. */
static void add_new_level(const predictor_draws *f, size_t t, const char *group,
                          const double *z, double *eta)
{
    const effect_term *e = &f->effects->term[t];
    size_t q = e->count;
    rng r = rng_stream(f->seed + 0x9e3779b9u * t, hash_text(group), RNG_PREDICT);
    for (size_t s = 0; s < f->draws; s++) {
        const double *spread = e->spread + s * q * q;
        for (size_t c = 0; c < q; c++) {
            double normal = rng_normal(&r), sum = 0.0;
            for (size_t a = c; a < q; a++) sum += z[a] * spread[a * q + c];
            eta[s] += sum * normal;
        }
    }
}

/* Finds the name of a level in the run, its text or another spelling of the same number; *out
 * are the draws of its first effect, NULL for a new level. */
static sbps_status find_level(const predictor_draws *f, size_t t, const char **group,
                              char name[LEVEL_NAMES][LEVEL_NAME], const double **out,
                              sbps_error *err)
{
    const effect_term *e = &f->effects->term[t];
    const char *effect = saved_schema_effect(f->b, t, 0);
    sbps_status status = find_effect(f, e, *group, effect, out, err);
    if (status != SBPS_OK || *out) return status;
    size_t count = level_names(*group, f->effects->c_locale, name);
    for (size_t k = 0; status == SBPS_OK && !*out && k < count; k++) {
        status = find_effect(f, e, name[k], effect, out, err);
        if (*out) *group = name[k];
    }
    return status;
}

/* Adds the effects of one term, for the level of the row, to eta. */
static sbps_status add_term_effects(const predictor_draws *f, size_t t, const char *group,
                                    const double *z, double *eta, sbps_error *err)
{
    const effect_term *e = &f->effects->term[t];
    const double *known;
    char name[LEVEL_NAMES][LEVEL_NAME];
    sbps_status status = find_level(f, t, &group, name, &known, err);
    if (status != SBPS_OK) return status;
    if (!known && f->new_levels) {
        add_new_level(f, t, group, z, eta);
        return SBPS_OK;
    }
    if (!known)
        return fail(
            err, SBPS_BAD_DATA,
            "the run had no level '%s' of '%s'; --new-levels prior draws effects of new "
            "levels from their prior",
            show_name(group).text, show_name(e->factor).text);
    for (size_t a = 0; status == SBPS_OK && a < e->count; a++) {
        if (a > 0)
            status = find_effect(f, e, group, saved_schema_effect(f->b, t, a), &known, err);
        if (status == SBPS_OK && known && z[a] != 0.0) f->k->axpy(f->draws, z[a], known, eta);
    }
    return status;
}

sbps_status effects_add(const predictor_draws *f, const encoded_row *s, double *eta,
                        sbps_error *err)
{
    const double *z = s->z;
    sbps_status status = SBPS_OK;
    for (size_t t = 0; f->effects && status == SBPS_OK && t < f->effects->terms; t++) {
        status = add_term_effects(f, t, s->level[t].data, z, eta, err);
        z += f->effects->term[t].count;
    }
    return status;
}

/* ---- terms one by one ---- */

const double *effects_spread(const predictor_draws *f, size_t t, size_t s)
{
    const effect_term *e = &f->effects->term[t];
    return e->spread + s * e->count * e->count;
}

sbps_status effects_known(const predictor_draws *f, size_t t, const char *group,
                          const double **out, sbps_error *err)
{
    const effect_term *e = &f->effects->term[t];
    char name[LEVEL_NAMES][LEVEL_NAME];
    sbps_status status = find_level(f, t, &group, name, &out[0], err);
    if (status == SBPS_OK && !out[0])
        return fail(
            err, SBPS_BAD_DATA,
            "%s: the file contains no draws of the effects of '%s', whose levels occur in "
            "several groups: run `sbps sample` with --ranef all",
            f->path, show_name(e->factor).text);
    for (size_t a = 1; status == SBPS_OK && a < e->count; a++)
        status = find_effect(f, e, group, saved_schema_effect(f->b, t, a), &out[a], err);
    return status;
}
