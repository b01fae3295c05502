/* Text and numbers of the priors of many coefficients together. They are not densities of one
 * number; model/shrinkage/shrink.h has their mathematics. Their numbers can be given by name,
 * in any order, and left out.
 *
 * Piironen, Vehtari (2017), Sparsity information and regularization in the horseshoe and other
 * shrinkage priors, Electronic J. Statistics 11, 5018-5051; Zhang, Naughton, Bondell, Reich
 * (2022), Bayesian regression using a prior on the model fit: the R2-D2 shrinkage prior, JASA
 * 117, 862-874. */
#include "model/prior/prior_shrinkage.h"
#include "core/decimal.h"
#include "core/printable.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Are all numbers finite and above 0? */
static bool all_positive(const double *theta, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(theta[i]) || !(theta[i] > 0.0)) return false;
    return true;
}

/* Scales and degrees of freedom are positive. */
static bool horseshoe_valid(const double *theta)
{
    return all_positive(theta, HORSESHOE_NUMBERS);
}

/* As a mean of R2, the first number is below 1, too. */
static bool r2d2_valid(const double *theta)
{
    return all_positive(theta, R2D2_NUMBERS) && theta[R2D2_MEAN] < 1.0;
}

static const char *const horseshoe_numbers[] = {
    [HORSESHOE_DF] = "df",
    [HORSESHOE_GLOBAL] = "scale_global",
    [HORSESHOE_GLOBAL_DF] = "df_global",
    [HORSESHOE_SLAB] = "scale_slab",
    [HORSESHOE_SLAB_DF] = "df_slab",
};
static const double horseshoe_usual[] = {1.0, 1.0, 1.0, 2.0, 4.0};
static const int no_powers[PRIOR_MAX_NUMBERS] = {0};

const prior_kind prior_horseshoe = {
    .name = "horseshoe",
    .summary =
        "Regularised horseshoe of many coefficients: nearly all near 0, a few far from it.",
    .numbers = HORSESHOE_NUMBERS,
    .number_names = horseshoe_numbers,
    .powers = no_powers,
    .usual = horseshoe_usual,
    .valid = horseshoe_valid,
};

static const char *const r2d2_numbers[] = {
    [R2D2_MEAN] = "mean_R2", [R2D2_PRECISION] = "prec_R2", [R2D2_SPLIT] = "cons_D2"};
static const double r2d2_usual[] = {0.5, 2.0, 0.5};

const prior_kind prior_r2d2 = {
    .name = "R2D2",
    .summary = "R2-D2 of many coefficients: a prior of R2, divided between them.",
    .numbers = R2D2_NUMBERS,
    .number_names = r2d2_numbers,
    .powers = no_powers,
    .usual = r2d2_usual,
    .valid = r2d2_valid,
};

/* The horseshoe with the names, order and defaults of rstanarm's hs(). */
static const char *const hs_numbers[] = {"df", "global_df", "global_scale", "slab_df",
                                         "slab_scale"};
static const double hs_usual[] = {1.0, 1.0, 0.01, 4.0, 2.5};
static const size_t hs_place[] = {HORSESHOE_DF, HORSESHOE_GLOBAL_DF, HORSESHOE_GLOBAL,
                                  HORSESHOE_SLAB_DF, HORSESHOE_SLAB};

/* One way to write a prior. */
typedef struct {
    const char *name;
    const prior_kind *kind;
    const char *const *names;
    const double *usual;
    /* index in theta of each number; NULL: they are in the order of theta */
    const size_t *place;
} spelling;

static const spelling spellings[] = {
    {"horseshoe", &prior_horseshoe, horseshoe_numbers, horseshoe_usual, NULL},
    {"hs", &prior_horseshoe, hs_numbers, hs_usual, hs_place},
    {"R2D2", &prior_r2d2, r2d2_numbers, r2d2_usual, NULL},
    {"r2d2", &prior_r2d2, r2d2_numbers, r2d2_usual, NULL},
};

/* The spelling of this name; NULL: it is not a prior of many coefficients. */
static const spelling *find_spelling(const char *name)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcmp(spellings[i].name, name) == 0) return &spellings[i];
    return NULL;
}

bool shrinkage_names(const char *name)
{
    return find_spelling(name);
}

/* Fails with the form that is expected. */
static sbps_status wrong_form(const char *text, const spelling *s, sbps_error *err)
{
    char all[160];
    size_t used = 0;
    for (size_t i = 0; i < s->kind->numbers; i++)
        used +=
            (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", s->names[i]);
    return fail(err, SBPS_BAD_ARG,
                "prior '%.80s': expected %s(%s), all of them optional, or %s = 1", text,
                s->name, all, s->names[0]);
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* The index of the next number: that of the name before `=`, which *at is moved past, else
 * `next`. An unknown name gives s->kind->numbers. */
static size_t number_index(const spelling *s, const char **at, size_t next)
{
    size_t length = 0;
    const char *from = *at;
    while (isalnum((unsigned char)from[length]) || from[length] == '_') length++;
    const char *rest = skip_space(from + length);
    if (*rest != '=') return next;
    *at = skip_space(rest + 1);
    for (size_t i = 0; i < s->kind->numbers; i++)
        if (strlen(s->names[i]) == length && strncmp(s->names[i], from, length) == 0) return i;
    return s->kind->numbers;
}

/* Reads "(...)", or nothing, into theta, number_index has the defaults. False: it is not of
 * this form. */
static bool read_numbers(const spelling *s, const char *at, double *theta)
{
    size_t next = 0;
    at = skip_space(at);
    if (!*at) return true;
    if (*at++ != '(') return false;
    for (at = skip_space(at); *at != ')';) {
        size_t k = number_index(s, &at, next++);
        char *stop;
        double value = decimal_read(at, &stop);
        if (stop == at || k >= s->kind->numbers) return false;
        theta[s->place ? s->place[k] : k] = value;
        at = skip_space(stop);
        if (*at == ',')
            at = skip_space(at + 1);
        else if (*at != ')')
            return false;
    }
    return !*skip_space(at + 1);
}

sbps_status shrinkage_parse(const char *text, const char *name, const char *numbers, prior *out,
                            sbps_error *err)
{
    const spelling *s = find_spelling(name);
    prior p = {.kind = s->kind};
    for (size_t i = 0; i < s->kind->numbers; i++)
        p.theta[s->place ? s->place[i] : i] = s->usual[i];
    if (!read_numbers(s, numbers, p.theta)) return wrong_form(text, s, err);
    if (!s->kind->valid(p.theta))
        return fail(err, SBPS_BAD_ARG, "prior '%.80s': its numbers must be positive%s", text,
                    s->kind == &prior_r2d2 ? ", mean_R2 below 1" : "");
    *out = p;
    return SBPS_OK;
}
