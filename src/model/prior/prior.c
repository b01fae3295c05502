/* The registry of priors, their text, and their densities on the scale of a coordinate.
 *
 * A coordinate w on the log scale stands for x = exp(w) with log density f on x:
 *
 *   log p(w) = f(e^w) + w                                     (1)
 *   slope      f'(e^w) e^w + 1                                (2)
 *   curvature  f''(e^w) e^2w + f'(e^w) e^w                    (3)
 *
 * and likewise for x = tanh(w) and x = 1/(1 + e^-w), see change_at. */
#include "model/prior/prior.h"
#include "core/decimal.h"
#include "core/printable.h"
#include "model/prior/prior_kinds.h"
#include "model/prior/prior_shrinkage.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const prior_kind *const prior_kinds[] = {PRIOR_KINDS(KIND_LISTED) NULL};

#define MAX_PATTERN 96 /* bytes of a form such as "student_t(df,mean,scale)" */

const prior_kind *prior_find(const char *name)
{
    return kind_find(prior_kinds, name);
}

/* Blanks are allowed everywhere in a prior but within its name. */
static const char *skip_space(const char *text)
{
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static sbps_status unknown_name(const char *text, const char *name, sbps_error *err)
{
    const char *names[KINDS_MAX];
    size_t count = kind_names(prior_kinds, names);
    return fail(err, SBPS_BAD_ARG, "prior '%.80s': no prior is called '%s'%s", text, name,
                nearest_or_all(name, names, count).text);
}

static sbps_status wrong_form(const char *text, const prior_kind *kind, sbps_error *err)
{
    char pattern[MAX_PATTERN];
    int used = snprintf(pattern, sizeof pattern, "%s", kind->name);
    for (size_t i = 0; i < kind->numbers; i++)
        used += snprintf(pattern + used, sizeof pattern - (size_t)used, "%c%s", i ? ',' : '(',
                         kind->number_names[i]);
    if (kind->numbers) snprintf(pattern + used, sizeof pattern - (size_t)used, ")");
    return fail(err, SBPS_BAD_ARG, "prior '%.80s': expected %s", text, pattern);
}

/* Fails for numbers that define no distribution, and names the wrong one: that whose
 * replacement by 1 would make them valid. */
static sbps_status bad_number(const char *text, const prior *p, sbps_error *err)
{
    for (size_t i = 0; i < p->kind->numbers; i++) {
        const char *name = p->kind->number_names[i];
        if (!isfinite(p->theta[i]))
            return fail(err, SBPS_BAD_ARG, "prior '%.80s': %s must be finite", text, name);
        prior trial = *p;
        trial.theta[i] = 1.0;
        if (p->kind->valid(trial.theta))
            return fail(err, SBPS_BAD_ARG, "prior '%.80s': %s must be positive", text, name);
    }
    return fail(err, SBPS_BAD_ARG, "prior '%.80s': its numbers are out of range", text);
}

/* Reads "(a, b, ...)" with exactly `count` numbers; *end is behind the parenthesis. False: it
 * is not of this form. */
static bool read_numbers(const char *text, size_t count, double *theta, const char **end)
{
    if (*text++ != '(') return false;
    for (size_t i = 0; i < count; i++) {
        char *stop;
        theta[i] = decimal_read(text, &stop);
        if (stop == text) return false;
        text = skip_space(stop);
        if (i + 1 < count && *text++ != ',') return false;
    }
    text = skip_space(text);
    if (*text != ')') return false;
    *end = text + 1;
    return true;
}

sbps_status prior_parse(const char *text, prior *out, sbps_error *err)
{
    char name[32];
    const char *at = skip_space(text);
    size_t length = strcspn(at, "( \t\r\n");
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 31, at);
    const prior_kind *kind = prior_find(name);
    if (shrinkage_names(name)) return shrinkage_parse(text, name, at + length, out, err);
    if (!kind) return unknown_name(text, name, err);

    prior p = {.kind = kind};
    at = skip_space(at + length);
    bool bare = kind->numbers == 0 && *at != '(';
    if (!bare && !read_numbers(at, kind->numbers, p.theta, &at))
        return wrong_form(text, kind, err);
    if (*skip_space(at) != '\0') return wrong_form(text, kind, err);
    if (!kind->valid(p.theta)) return bad_number(text, &p, err);
    *out = p;
    return SBPS_OK;
}

/* The shortest text that reads back as the same double: "10" rather than "1e+01". */
static void shortest(double x, char text[32])
{
    char attempt[32];
    size_t best = SIZE_MAX;
    for (int digits = 1; digits <= 17; digits++) {
        decimal_print(attempt, sizeof attempt, "%.*g", digits, x);
        if (decimal_read(attempt, NULL) != x || strlen(attempt) >= best) continue;
        best = strlen(attempt);
        strcpy(text, attempt);
    }
}

void prior_format(const prior *p, size_t size, char *text)
{
    char whole[32 + 32 * PRIOR_MAX_NUMBERS], number[32];
    size_t used = (size_t)snprintf(whole, sizeof whole, "%s", p->kind->name);
    for (size_t i = 0; i < p->kind->numbers; i++) {
        shortest(p->theta[i], number);
        used +=
            (size_t)snprintf(whole + used, sizeof whole - used, "%c%s", i ? ',' : '(', number);
    }
    snprintf(text, size, "%s%s", whole, p->kind->numbers ? ")" : "");
}

prior prior_in_units(const prior *p, double unit)
{
    prior out = *p;
    for (size_t i = 0; i < p->kind->numbers; i++) {
        for (int power = p->kind->powers[i]; power > 0; power--) out.theta[i] *= unit;
        for (int power = p->kind->powers[i]; power < 0; power++) out.theta[i] /= unit;
    }
    return out;
}

/* x = g(w): g and its first two derivatives; log g' and its first two derivatives. */
typedef struct {
    double x, rate, curvature;
    double log_rate, log_slope, log_curvature;
} change;

/* The change of variables of a scale other than SCALE_PLAIN. On SCALE_TANH g' = 1 - x^2 is
 * computed from e^-2|w|, since x itself rounds to 1. */
static change change_at(coordinate_scale scale, double w)
{
    double x = scale_value(scale, w);
    if (scale == SCALE_LOG) return (change){x, x, x, w, 1.0, 0.0};
    if (scale == SCALE_LOGIT) {
        double s = x * (1.0 - x), log_s = -fabs(w) - 2.0 * log1p(exp(-fabs(w)));
        return (change){x, s, s * (1.0 - 2.0 * x), log_s, 1.0 - 2.0 * x, -2.0 * s};
    }
    double e = exp(-2.0 * fabs(w)), rest = 4.0 * e / ((1.0 + e) * (1.0 + e));
    double log_rest = 2.0 * (M_LN2 - fabs(w) - log1p(e));
    return (change){x, rest, -2.0 * x * rest, log_rest, -2.0 * x, -2.0 * rest};
}

double prior_logpdf(const prior *p, coordinate_scale scale, double w)
{
    if (scale == SCALE_PLAIN) return p->kind->logpdf(p->theta, w);
    change c = change_at(scale, w);
    return p->kind->logpdf(p->theta, c.x) + c.log_rate;
}

double prior_slope(const prior *p, coordinate_scale scale, double w)
{
    if (scale == SCALE_PLAIN) return p->kind->slope(p->theta, w);
    change c = change_at(scale, w);
    return p->kind->slope(p->theta, c.x) * c.rate + c.log_slope;
}

double prior_curvature(const prior *p, coordinate_scale scale, double w)
{
    if (scale == SCALE_PLAIN) return p->kind->curvature(p->theta, w);
    change c = change_at(scale, w);
    return p->kind->curvature(p->theta, c.x) * c.rate * c.rate +
           p->kind->slope(p->theta, c.x) * c.curvature + c.log_curvature;
}

/* ---- draws ---- */

bool prior_can_draw(const prior *p, coordinate_scale scale)
{
    bool bounded = scale == SCALE_LOGIT || scale == SCALE_TANH;
    return p->kind->draw || (bounded && !p->kind->usual && !p->kind->numbers);
}

/* Is x a value that the scale maps to a finite coordinate? */
static bool is_allowed(coordinate_scale scale, double x)
{
    if (scale == SCALE_LOG) return x > 0.0 && isfinite(x);
    if (scale == SCALE_LOGIT) return x > 0.0 && x < 1.0;
    return scale == SCALE_TANH ? fabs(x) < 1.0 : isfinite(x);
}

bool prior_draw(const prior *p, coordinate_scale scale, rng *r, double *w)
{
    for (int tries = 0; tries < PRIOR_TRIES; tries++) {
        double x = p->kind->draw          ? p->kind->draw(p->theta, r)
                   : scale == SCALE_LOGIT ? rng_uniform(r)
                                          : 2.0 * rng_uniform(r) - 1.0;
        if (!is_allowed(scale, x)) continue;
        *w = scale_coordinate(scale, x);
        return true;
    }
    return false;
}
