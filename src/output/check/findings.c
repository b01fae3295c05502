/* What is off, how much, what to do: first what names its own remedy, then what is left. */
#include "output/check/findings.h"

#include "core/decimal.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

void add_formatted(text *t, const char *format, ...)
{
    char buffer[512];
    va_list values;
    va_start(values, format);
    decimal_print_list(buffer, sizeof buffer, format, values);
    va_end(values);
    text_add(t, "%s", buffer);
}

void add_p_value(text *t, double p)
{
    if (p < 0.001)
        text_add(t, "p below 0.001");
    else
        add_formatted(t, "p %.3f", p);
}

void judgement_close(assessment *j)
{
    predictive_checks *c = j->c;
    j->failed |= j->seen.failed || j->remedy.failed;
    if (j->failed || j->seen.length == 0) return;
    check_finding *grown = realloc(c->finding, (c->findings + 1) * sizeof *grown);
    j->failed = !grown;
    if (!grown) return;
    c->finding = grown;
    check_finding *to = &grown[c->findings++];
    *to = (check_finding){text_take(&j->seen), text_take(&j->remedy), j->of_priors};
    j->failed = !to->seen || !to->remedy;
}

/* ---- what counts as off ---- */

const check_statistic *statistic_off(const predictive_checks *c, const char *name)
{
    for (size_t k = 0; k < c->statistics; k++)
        if (strcmp(c->statistic[k].name, name) == 0)
            return c->statistic[k].off ? &c->statistic[k] : NULL;
    return NULL;
}

static void add_statistic(text *t, const check_statistic *s)
{
    add_formatted(t, "%.4g, where replicated tables have %.4g to %.4g (", s->observed, s->low,
                  s->high);
    add_p_value(t, s->p);
    text_add(t, ")");
}

static bool is_model(const predictive_checks *c, const char *name)
{
    return strcmp(c->model, name) == 0;
}

/* ---- counts ---- */

static const check_statistic *named(const predictive_checks *c, const char *name)
{
    for (size_t k = 0; k < c->statistics; k++)
        if (strcmp(c->statistic[k].name, name) == 0) return &c->statistic[k];
    return NULL;
}

/* Zeros beyond what a negative binomial of this spread would have, by 3 standard errors. */
static bool zeros_rule(const predictive_checks *c)
{
    const check_statistic *zeros = named(c, "zeros");
    double p = c->negative_binomial_zeros;
    return zeros && statistic_off(c, "zeros") && zeros->observed > zeros->mean &&
           zeros->observed - p > 3.0 * sqrt(p * (1.0 - p) / (double)c->checked);
}

static void advise_spread(assessment *j)
{
    const predictive_checks *c = j->c;
    if (is_model(c, "poisson") && zeros_rule(c))
        add_formatted(
            &j->remedy,
            "`sbps sample` with --model zero_inflated_poisson: %.3g %% of the rows are 0, and "
            "even a negative "
            "binomial of this spread would have %.3g %%",
            100.0 * named(c, "zeros")->observed, 100.0 * c->negative_binomial_zeros);
    else if (is_model(c, "poisson") || is_model(c, "zero_inflated_poisson"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model negative_binomial, whose phi takes such spread; errors "
            "of the coefficients are too small as they stand");
    else
        text_add(&j->remedy,
                 "look for what rows have in common that no column says: a column, or groups "
                 "with effects of their own, (1 | factor); errors are too small as they stand");
}

static void diagnose_dispersion(assessment *j)
{
    const check_statistic *s = statistic_off(j->c, "dispersion");
    if (!s) return;
    bool more = s->observed > s->mean;
    text_add(&j->seen,
             "rows spread %s than model %s lets them: the mean square of scaled "
             "residuals is ",
             more ? "more" : "less", j->c->model);
    add_statistic(&j->seen, s);
    if (more)
        advise_spread(j);
    else if (is_model(j->c, "negative_binomial"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model zero_inflated_poisson or poisson; `sbps compare` tells "
            "which predicts better");
    else
        text_add(&j->remedy, "no model here spreads less; errors are larger than need be. Look "
                             "for rows that were adjusted or rounded, or that say the same");
}

static void diagnose_zeros(assessment *j)
{
    const check_statistic *s = statistic_off(j->c, "zeros");
    if (!s || statistic_off(j->c, "dispersion")) return;
    bool more = s->observed > s->mean;
    text_add(&j->seen, "%s rows are 0: a share of ", more ? "too many" : "too few");
    add_statistic(&j->seen, s);
    if (more && (is_model(j->c, "poisson") || is_model(j->c, "negative_binomial")))
        text_add(&j->remedy, "`sbps sample` with --model zero_inflated_poisson");
    else
        text_add(&j->remedy, "ask whether a row could be 0 at all, and by which column");
}

/* ---- numbers ---- */

#define LEANING                                                                                \
    0.3 /* skewness^2/(kurtosis - 3): 2/3 of a gamma law; heavy tails alone have little */
#define OTHER_SIDE 2.5 /* z of the mean of PIT */
#define TREND      4.0 /* z, as in off.c */

static bool shape_explained(const assessment *j)
{
    return j->columns_off || j->strong_priors;
}

static const check_panel *trending(const predictive_checks *c)
{
    const check_panel *p = c->spread.panel;
    return c->spread.count > 0 && fabs(p->trend_z) > TREND ? p : NULL;
}

/* A law that has heavy tails itself: moments of few rows far out say nothing of its shape. */
static bool has_tails(const predictive_checks *c)
{
    return is_model(c, "student_t");
}

/* Do residuals lean, and not by the chance of a few rows far out? Then most rows lie on the other side as well. */
static bool leans(const predictive_checks *c)
{
    const check_statistic *skew = statistic_off(c, "skewness"), *tails = named(c, "kurtosis");
    if (!skew || has_tails(c)) return false;
    if (tails->observed <= 3.0) return true;
    return skew->observed * skew->observed > LEANING * (tails->observed - 3.0) &&
           fabs(c->pit.mean_z) > OTHER_SIDE && c->pit.mean_z * skew->observed < 0.0;
}

static void diagnose_skewness(assessment *j)
{
    const check_statistic *s = statistic_off(j->c, "skewness");
    const char *y = j->c->target;
    if (shape_explained(j) || !leans(j->c)) return;
    bool right = s->observed > s->mean;
    text_add(&j->seen, "residuals lean to the %s: their skewness is ",
             right ? "right" : "left");
    add_statistic(&j->seen, s);
    if (right)
        text_add(&j->remedy,
                 "where '%s' is positive: log(%s) as the target, or `sbps sample` with --model "
                 "gamma",
                 y, y);
    else
        text_add(&j->remedy, "another scale of the target '%s', such as %s^2", y, y);
}

static void diagnose_trend(assessment *j)
{
    const check_panel *p = trending(j->c);
    const char *y = j->c->target;
    if (shape_explained(j) || !p || leans(j->c)) return;
    const check_cell *first = &p->cell[0], *last = &p->cell[p->count - 1];
    bool grows = p->trend_z > 0.0;
    add_formatted(&j->seen, "the spread %s with what is predicted (z %.1f): ",
                  grows ? "grows" : "shrinks", p->trend_z);
    add_formatted(
        &j->seen,
        "squares of scaled residuals are %.3g where it is lowest and %.3g where it is highest",
        first->observed, last->observed);
    text_add(&j->remedy,
             grows ? "where '%s' is positive: log(%s) as the target, or `sbps sample` with "
                     "--model gamma; "
                     "else mind that predictions are too wide at one end and too narrow at the "
                     "other"
                   : "another scale of the target '%s', such as %s^2; else mind that "
                     "predictions are too narrow at one end and too wide at the other",
             y, y);
}

static void diagnose_tails(assessment *j)
{
    const check_statistic *s = statistic_off(j->c, "kurtosis");
    if (shape_explained(j) || !s || leans(j->c) || trending(j->c) || has_tails(j->c)) return;
    bool more = s->observed > s->mean;
    text_add(&j->seen, "tails are %s than model %s has them: the kurtosis of residuals is ",
             more ? "heavier" : "lighter", j->c->model);
    add_statistic(&j->seen, s);
    if (more && is_model(j->c, "linear"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model student_t, which is less sensitive to a few outliers");
    else if (more)
        text_add(&j->remedy, "look at the rows farthest out: `sbps loo` names those that hold "
                             "the answer");
    else
        text_add(&j->remedy, "a target that has bounds, or a mixture of two kinds of rows: a "
                             "column that tells them apart");
}

/* Of counts and the like. */
static void diagnose_spread(assessment *j)
{
    const check_panels *all = &j->c->spread;
    bool plain_number = named(j->c, "kurtosis");
    if (shape_explained(j) || all->count == 0 || !all->panel->off) return;
    if (plain_number && (j->c->findings > 0 || trending(j->c))) return;
    const check_cell *worst = &all->panel->cell[all->panel->worst];
    if (statistic_off(j->c, "dispersion")) return;
    add_formatted(
        &j->seen,
        "the spread is not the model's everywhere: rows predicted from %.4g to %.4g have "
        "squares of scaled residuals of %.3g, ",
        worst->from, worst->to, worst->observed);
    add_formatted(&j->seen, "where replicated tables have %.3g to %.3g (", worst->low,
                  worst->high);
    add_p_value(&j->seen, all->panel->p);
    text_add(&j->seen, ")");
    text_add(&j->remedy, "another model of '%s': `sbps list models` names them", j->c->target);
}

/* ---- what is left ---- */

static const char *const plain[] = {"mean",  "sd",       "min",     "max",
                                    "zeros", "skewness", "kurtosis"};

static void diagnose_statistics(assessment *j)
{
    if (j->c->findings > 0) return; /* what was found explains it */
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        const check_statistic *s = statistic_off(j->c, plain[k]);
        if (!s) continue;
        text_add(&j->seen, "%s%s of '%s' is ", j->seen.length ? "; " : "", s->name,
                 j->c->target);
        add_statistic(&j->seen, s);
    }
    if (j->seen.length)
        text_add(&j->remedy, "look at these rows; where they are right, another model or "
                             "another scale of the target");
}

static void diagnose_shape(assessment *j, const check_panels *all, const char *what)
{
    if (j->c->findings > 0 || all->count == 0 || !all->panel->off) return;
    const check_cell *worst = &all->panel->cell[all->panel->worst];
    add_formatted(&j->seen,
                  "%s: %.4g rows lie between %.4g and %.4g, where replicated tables have ",
                  what, worst->observed, worst->from, worst->to);
    add_formatted(&j->seen, "%.4g to %.4g (", worst->low, worst->high);
    add_p_value(&j->seen, all->panel->p);
    text_add(&j->seen, ")");
    if (all == &j->c->rootogram && is_model(j->c, "negative_binomial"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model zero_inflated_poisson or poisson; `sbps compare` tells "
            "which predicts better");
    else
        text_add(&j->remedy, "look at these rows; rounding and limits of a scale do this, and "
                             "so does another law");
}

static void diagnose_shapes(assessment *j)
{
    diagnose_shape(j, &j->c->rootogram, "counts do not come as often as they should");
    diagnose_shape(j, &j->c->density, "the shape is another");
}

/* That has other probabilities of the same columns. */
static const char *other_model(const predictive_checks *c)
{
    if (is_model(c, "ordinal"))
        return "if classes do not come in the order given, `sbps sample` with "
               "--levels; or with --model "
               "softmax, "
               "which has no order";
    if (is_model(c, "softmax")) return "poly(x,2) of a column, where curves are to be expected";
    return "where it is the ends alone, `sbps sample` with --model probit or logistic in its "
           "place";
}

static void advise_calibration(assessment *j)
{
    const check_panel *panel = bending(j->c);
    if (panel)
        text_add(&j->remedy,
                 "begin with column '%s', along which residuals bend: see what is said of it",
                 panel->of);
    else
        text_add(&j->remedy, "interactions (a:b), or columns that are not there yet; %s",
                 other_model(j->c));
}

static void diagnose_calibration(assessment *j)
{
    const check_panels *all = &j->c->calibration;
    const check_panel *worst = NULL;
    for (size_t k = 0; k < all->count; k++)
        if (all->panel[k].off && (!worst || fabs(all->panel[k].cell[all->panel[k].worst].z) >
                                                fabs(worst->cell[worst->worst].z)))
            worst = &all->panel[k];
    if (!worst) return;
    const check_cell *c = &worst->cell[worst->worst];
    text_add(&j->seen, "probabilities are off");
    if (worst->of) text_add(&j->seen, " of '%s'", worst->of);
    add_formatted(&j->seen,
                  ": %zu rows were predicted at %.3g on average and came out at %.3g, ",
                  c->rows, c->expected, c->observed);
    add_formatted(&j->seen, "where replicated tables have %.3g to %.3g (", c->low, c->high);
    add_p_value(&j->seen, worst->p);
    text_add(&j->seen, ")");
    advise_calibration(j);
}

static void diagnose_pit(assessment *j)
{
    const check_pit *p = &j->c->pit;
    if (!p->off || j->c->findings > 0) return;
    bool wider = fabs(p->spread_z) > fabs(p->mean_z);
    add_formatted(
        &j->seen,
        "rows are not where leaving them out predicts them: the distribution of their PIT is "
        "%.3g off a uniform one (",
        p->ks);
    add_p_value(&j->seen, p->p);
    text_add(&j->seen, "), predictions being %s",
             wider ? (p->spread_z > 0.0 ? "too narrow" : "too wide")
                   : (p->mean_z > 0.0 ? "too low" : "too high"));
    text_add(&j->remedy, "another model of the target, or a column that is not there yet");
}

const check_panel *bending(const predictive_checks *c)
{
    const check_panel *worst = NULL;
    for (size_t k = 0; k < c->residuals.count; k++) {
        const check_panel *p = &c->residuals.panel[k];
        bool curved = p->off && fabs(p->trend_z) > 3.0;
        if (curved && (!worst || fabs(p->trend_z) > fabs(worst->trend_z))) worst = p;
    }
    return worst;
}

static void (*const diagnoses[])(assessment *j) = {
    diagnose_conflicts, diagnose_curves,        diagnose_columns,    diagnose_dispersion,
    diagnose_zeros,     diagnose_skewness,      diagnose_trend,      diagnose_tails,
    diagnose_spread,    diagnose_calibration,   diagnose_statistics, diagnose_shapes,
    diagnose_pit,       diagnose_strong_priors,
};

sbps_status checks_diagnose(const result *r, const row_sample *s, predictive_checks *c,
                            sbps_error *err)
{
    assessment j = {.r = r, .s = s, .c = c};
    flag_checks(c);
    for (size_t k = 0; !j.failed && k < sizeof diagnoses / sizeof *diagnoses; k++) {
        text_cut(&j.seen, 0);
        text_cut(&j.remedy, 0);
        j.of_priors = false;
        diagnoses[k](&j);
        judgement_close(&j);
    }
    text_free(&j.seen);
    text_free(&j.remedy);
    return j.failed ? fail_memory(err) : SBPS_OK;
}
