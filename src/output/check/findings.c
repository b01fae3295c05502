/* The findings of `sbps check`: what differs between the rows and the model, by how much, and
 * what to do.
 *
 * Each diagnose_* function writes one message and its remedy, or nothing. They run in an order:
 * first those whose remedy is specific (priors, curves along columns, dispersion), then those
 * that apply only if nothing before them explains the difference. */
#include "output/check/check_parts.h"

#include "core/decimal.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The finding that is being written, and what was found before it. */
typedef struct {
    const row_sample *s; /* NULL: no rows were checked */
    predictive_checks *c;
    text message, remedy; /* of this finding; an empty message: none */
    bool failed;          /* out of memory */
    bool of_priors;       /* this finding is about a prior, not about the rows */
    bool columns_off;     /* residuals differ from 0 along columns, which affects their shape */
    bool strong_priors;   /* priors restrict coefficients, which causes such residuals */
} assessment;

#define COLUMNS_NAMED    3
#define PARAMETERS_NAMED 5

/* Appends the finding that was written, if there is one, to the checks. */
static void close_finding(assessment *j)
{
    predictive_checks *c = j->c;
    j->failed |= j->message.failed || j->remedy.failed;
    if (j->failed || j->message.length == 0) return;
    check_finding *grown = realloc(c->finding, (c->findings + 1) * sizeof *grown);
    j->failed = !grown;
    if (!grown) return;
    c->finding = grown;
    check_finding *to = &grown[c->findings++];
    *to = (check_finding){text_take(&j->message), text_take(&j->remedy), j->of_priors};
    j->failed = !to->seen || !to->remedy;
}

/* The statistic of this name; NULL: the model does not have it. */
static const check_statistic *find_statistic(const predictive_checks *c, const char *name)
{
    for (size_t k = 0; k < c->statistics; k++)
        if (strcmp(c->statistic[k].name, name) == 0) return &c->statistic[k];
    return NULL;
}

/* The same if its check failed, else NULL. */
static const check_statistic *failed_statistic(const predictive_checks *c, const char *name)
{
    const check_statistic *s = find_statistic(c, name);
    return s && s->off ? s : NULL;
}

/* Appends "1.8, but replicated tables have 0.9 to 1.1 (p below 0.001)". */
static void add_statistic(text *t, const check_statistic *s)
{
    add_formatted(t, "%.4g, but replicated tables have %.4g to %.4g (", s->observed, s->low,
                  s->high);
    add_p_value(t, s->p);
    text_add(t, ")");
}

/* Whether the run has this model. */
static bool is_model(const predictive_checks *c, const char *name)
{
    return strcmp(c->model, name) == 0;
}

/* ---- priors ---- */

/* The parameter with this diagnosis that follows `last` in order of sensitivity to the prior,
 * the most sensitive first (last NULL: the first); NULL: none is left. */
static const check_sensitivity *next_moved(const predictive_checks *c, const char *diagnosis,
                                           const check_sensitivity *last)
{
    const check_sensitivity *found = NULL;
    for (size_t k = 0; k < c->sensitivities; k++) {
        const check_sensitivity *s = &c->sensitivity[k];
        if (strcmp(s->diagnosis, diagnosis) != 0) continue;
        bool reported = last && (s->by_prior > last->by_prior ||
                                 (s->by_prior == last->by_prior && s <= last));
        if (!reported && (!found || s->by_prior > found->by_prior)) found = s;
    }
    return found;
}

/* Appends a prior with its numbers to four digits: normal(0,2.4921860949) becomes
 * normal(0,2.492). */
static void add_prior(text *t, const char *prior)
{
    while (*prior) {
        char *end = NULL;
        bool number = isdigit((unsigned char)*prior) || *prior == '-';
        double value = number ? decimal_read(prior, &end) : 0.0;
        if (number && end > prior) {
            add_formatted(t, "%.4g", value);
            prior = end;
        } else
            text_bytes(t, prior++, 1);
    }
}

/* Appends the parameters with this diagnosis, five at most; returns how many there are. */
static size_t name_moved(assessment *j, const char *diagnosis)
{
    size_t count = 0;
    const check_sensitivity *s = NULL;
    while ((s = next_moved(j->c, diagnosis, s))) {
        if (++count > PARAMETERS_NAMED) continue;
        text_add(&j->message, count > 1 ? ", '" : "'");
        text_name(&j->message, s->name);
        text_add(&j->message, *s->prior ? "' ~ " : "'");
        add_prior(&j->message, s->prior);
        add_formatted(&j->message, " (prior %.2f, likelihood %.2f)", s->by_prior,
                      s->by_likelihood);
    }
    if (count > PARAMETERS_NAMED)
        text_add(&j->message, " and %zu more", count - PARAMETERS_NAMED);
    return count;
}

/* Parameters that prior and likelihood both move. */
static void diagnose_conflicts(assessment *j)
{
    const char *diagnosis = "prior-data conflict";
    const check_sensitivity *worst = next_moved(j->c, diagnosis, NULL);
    if (!worst) return;
    text_add(&j->message, "%s: prior and data disagree, and both move ", diagnosis);
    name_moved(j, diagnosis);
    text_add(&j->remedy, "check whether the prior of '");
    text_name(&j->remedy, worst->name);
    text_add(&j->remedy,
             "' is as intended: another prior gives another result (docs/priors.md). "
             "If it is, report that the result depends on the prior");
    j->of_priors = j->strong_priors = true;
}

/* Parameters that the prior moves and the likelihood does not. */
static void diagnose_strong_priors(assessment *j)
{
    const char *diagnosis = "strong prior / weak likelihood";
    if (!next_moved(j->c, diagnosis, NULL)) return;
    text_add(&j->message, "%s: the prior moves ", diagnosis);
    name_moved(j, diagnosis);
    text_add(&j->remedy, "the data has little information here: report the prior with the "
                         "result, or add rows or "
                         "columns with more information");
    j->of_priors = true;
}

/* ---- columns ---- */

/* Do the residuals of this column follow a curve? */
static bool has_curve(const check_panel *p)
{
    return p->off && fabs(p->trend_z) > 3.0;
}

/* The order in which columns are named: by their largest |z|. */
static double panel_badness(const check_panel *p)
{
    return fmax(fabs(p->cell[p->worst].z), fabs(p->trend_z));
}

/* The failed panel, with or without a curve, that follows `last` in order of badness (last
 * NULL: the worst); NULL: none is left. */
static const check_panel *next_worst_panel(const check_panels *all, bool curved,
                                           const check_panel *last)
{
    const check_panel *found = NULL;
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        if (!p->off || has_curve(p) != curved) continue;
        bool reported = last && (panel_badness(p) > panel_badness(last) ||
                                 (panel_badness(p) == panel_badness(last) && p <= last));
        if (!reported && (!found || panel_badness(p) > panel_badness(found))) found = p;
    }
    return found;
}

/* Appends the column, and of class models the class. */
static void name_panel(text *t, const check_panel *p)
{
    text_add(t, "'");
    text_name(t, p->of);
    text_add(t, "'");
    if (p->class) text_add(t, " (class %s)", p->class);
}

/* Appends "1 to 2: 0.3 above the prediction, z 5.0)" for the worst cell. */
static void add_worst_cell(text *t, const check_panel *p)
{
    const check_cell *c = &p->cell[p->worst];
    if (c->label)
        text_add(t, "level '%s'", c->label);
    else if (c->from == c->to)
        add_formatted(t, "%.4g", c->from);
    else
        add_formatted(t, "%.4g to %.4g", c->from, c->to);
    add_formatted(t, ": %.3g %s the prediction, z %.1f)", fabs(c->observed),
                  c->observed > 0.0 ? "above" : "below", c->z);
}

/* Advises a curve that replaces the present term of the column, for instance poly(log(x), 2)
 * for log(x). steps: the residuals are not a smooth curve. */
static void advise_curve(assessment *j, const char *column, bool steps)
{
    const formula_use use = saved_schema_use(j->s->f->b, column);
    const char *of = use.rescaled && !use.plain ? use.term : column;
    text *t = &j->remedy;
    if (use.flexible)
        text_add(t, "more degrees of freedom for '%s' than %s gives it", column, use.term);
    else if (use.terms > 1)
        text_add(t, "ns(%s, 4) in the formula instead of all terms of '%s'", column, column);
    else if (steps)
        text_add(t, "ns(%s, 4) in the formula instead of '%s'", of,
                 use.term ? use.term : column);
    else
        text_add(t, "poly(%s, 2) or ns(%s, 3) in the formula instead of '%s'", of, of,
                 use.term ? use.term : column);
    if (steps && use.plain && !use.flexible)
        text_add(t, ", or factor(%s) where it has few values", column);
}

/* Columns along which residuals follow a curve. */
static void diagnose_curves(assessment *j)
{
    const check_panels *all = &j->c->residuals;
    const check_panel *p = next_worst_panel(all, true, NULL);
    if (!p) return;
    j->columns_off = true;
    text_add(&j->message, "residuals are curved along ");
    for (int reported = 0; p && reported < COLUMNS_NAMED;
         reported++, p = next_worst_panel(all, true, p)) {
        text_add(&j->message, reported ? "; " : "");
        name_panel(&j->message, p);
        add_formatted(&j->message, " (z of the curve %.1f; worst at ", p->trend_z);
        add_worst_cell(&j->message, p);
    }
    p = next_worst_panel(all, true, NULL);
    advise_curve(j, p->of, false);
}

/* The first other column that the formula has no interaction with; NULL: there is none. */
static const char *partner_of(const assessment *j, const char *column)
{
    const row_sample *s = j->s;
    for (size_t k = 0; k < s->columns; k++)
        if (strcmp(s->column[k].name, column) != 0 &&
            !saved_schema_interacts(s->f->b, column, s->column[k].name))
            return s->column[k].name;
    return NULL;
}

/* Ordinal classes in a wrong order make residuals differ from 0 along every column. */
static void advise_levels(assessment *j, const char *column)
{
    bool ordinal = !strcmp(j->c->model, "ordinal");
    if (ordinal)
        text_add(
            &j->remedy,
            "`sbps sample` with --levels, if the classes are in another order; otherwise ");
    else if (!saved_schema_use(j->s->f->b, column).alone)
        text_add(&j->remedy, "'%s' in the formula by itself; or ", column);
    const char *other = partner_of(j, column);
    if (other)
        text_add(&j->remedy, "its interactions, such as %s:%s", column, other);
    else
        text_add(&j->remedy, "columns that are not in the formula yet");
    if (ordinal)
        text_add(&j->remedy,
                 ", or `sbps sample` with --family categorical, which has no order");
}

/* Columns along which residuals differ from 0 otherwise. */
static void diagnose_columns(assessment *j)
{
    const check_panels *all = &j->c->residuals;
    const check_panel *p = j->strong_priors ? NULL : next_worst_panel(all, false, NULL);
    if (!p) return;
    j->columns_off = true;
    text_add(&j->message, "residuals differ from 0 along ");
    for (int reported = 0; p && reported < COLUMNS_NAMED;
         reported++, p = next_worst_panel(all, false, p)) {
        text_add(&j->message, reported ? "; " : "");
        name_panel(&j->message, p);
        text_add(&j->message, " (");
        add_worst_cell(&j->message, p);
    }
    p = next_worst_panel(all, false, NULL);
    if (p->cell[p->worst].label)
        advise_levels(j, p->of);
    else
        advise_curve(j, p->of, true);
}

/* ---- counts ---- */

/* Are there more zeros than a negative binomial with this variance would have, by 3 standard
 * errors? */
static bool zeros_dominate(const predictive_checks *c)
{
    const check_statistic *zeros = find_statistic(c, "zeros");
    double p = c->negative_binomial_zeros;
    return zeros && failed_statistic(c, "zeros") && zeros->observed > zeros->mean &&
           zeros->observed - p > 3.0 * sqrt(p * (1.0 - p) / (double)c->checked);
}

/* Advises a model with more variance, or missing columns. */
static void advise_spread(assessment *j)
{
    const predictive_checks *c = j->c;
    if (is_model(c, "poisson") && zeros_dominate(c))
        add_formatted(&j->remedy,
                      "`sbps sample` with --model zero_inflated_poisson: %.3g %% of the rows "
                      "are 0, and even a negative "
                      "binomial with this variance would have %.3g %%",
                      100.0 * find_statistic(c, "zeros")->observed,
                      100.0 * c->negative_binomial_zeros);
    else if (is_model(c, "poisson") || is_model(c, "zero_inflated_poisson"))
        text_add(&j->remedy, "`sbps sample` with --model negative_binomial, whose phi allows "
                             "such variance; the present "
                             "standard deviations of the coefficients are too small");
    else
        text_add(
            &j->remedy,
            "look for a column that is missing, or for groups that need effects of their own, "
            "(1 | factor); the present standard deviations are too small");
}

/* More or less variance than the model allows. */
static void diagnose_dispersion(assessment *j)
{
    const check_statistic *s = failed_statistic(j->c, "dispersion");
    if (!s) return;
    bool more = s->observed > s->mean;
    text_add(&j->message,
             "the response varies %s than model %s allows: the mean square of standardised "
             "residuals is ",
             more ? "more" : "less", j->c->model);
    add_statistic(&j->message, s);
    if (more)
        advise_spread(j);
    else if (is_model(j->c, "negative_binomial"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model zero_inflated_poisson or poisson; `sbps compare` shows "
            "which predicts better");
    else
        text_add(&j->remedy, "no model here has less variance, so standard deviations are too "
                             "large. Look for rows "
                             "that were adjusted, rounded or copied");
}

/* Too many or too few zeros, if the variance is as predicted. */
static void diagnose_zeros(assessment *j)
{
    const check_statistic *s = failed_statistic(j->c, "zeros");
    if (!s || failed_statistic(j->c, "dispersion")) return;
    bool more = s->observed > s->mean;
    text_add(&j->message, "%s rows are 0: a fraction of ", more ? "too many" : "too few");
    add_statistic(&j->message, s);
    if (more && (is_model(j->c, "poisson") || is_model(j->c, "negative_binomial")))
        text_add(&j->remedy, "`sbps sample` with --model zero_inflated_poisson");
    else
        text_add(&j->remedy,
                 "check whether every row could be 0 at all, and which column decides it");
}

/* ---- numbers ---- */

#define SKEWNESS_RATIO                                                                         \
    0.3                /* skewness^2/(kurtosis - 3): 2/3 for a gamma; heavy tails have little */
#define PIT_MEAN_Z 2.5 /* z of the mean of PIT */

/* A finding on columns or priors explains the distribution of residuals, too. */
static bool shape_explained(const assessment *j)
{
    return j->columns_off || j->strong_priors;
}

/* The panel of spreads if these have a trend, else NULL. */
static const check_panel *spread_trend(const predictive_checks *c)
{
    const check_panel *p = c->spread.panel;
    return c->spread.count > 0 && fabs(p->trend_z) > CHECK_TREND ? p : NULL;
}

/* Does the model itself have heavy tails? Then the moments of a few extreme rows do not
 * describe its shape. */
static bool has_heavy_tails(const predictive_checks *c)
{
    return is_model(c, "student_t");
}

/* Are residuals skewed, beyond the effect of a few extreme rows? Then most rows are on the
 * opposite side. */
static bool is_skewed(const predictive_checks *c)
{
    const check_statistic *skew = failed_statistic(c, "skewness"),
                          *tails = find_statistic(c, "kurtosis");
    if (!skew || has_heavy_tails(c)) return false;
    if (tails->observed <= 3.0) return true;
    return skew->observed * skew->observed > SKEWNESS_RATIO * (tails->observed - 3.0) &&
           fabs(c->pit.mean_z) > PIT_MEAN_Z && c->pit.mean_z * skew->observed < 0.0;
}

/* Skewed residuals of real targets. */
static void diagnose_skewness(assessment *j)
{
    const check_statistic *s = failed_statistic(j->c, "skewness");
    const char *y = j->c->target;
    if (shape_explained(j) || !is_skewed(j->c)) return;
    bool right = s->observed > s->mean;
    text_add(&j->message, "residuals are skewed to the %s: their skewness is ",
             right ? "right" : "left");
    add_statistic(&j->message, s);
    if (right)
        text_add(
            &j->remedy,
            "if '%s' is positive: log(%s) as the target, or `sbps sample` with --model gamma",
            y, y);
    else
        text_add(&j->remedy, "another scale of the target '%s', such as %s^2", y, y);
}

/* A variance that changes with the prediction. */
static void diagnose_trend(assessment *j)
{
    const check_panel *p = spread_trend(j->c);
    const char *y = j->c->target;
    if (shape_explained(j) || !p || is_skewed(j->c)) return;
    const check_cell *first = &p->cell[0], *last = &p->cell[p->count - 1];
    bool grows = p->trend_z > 0.0;
    add_formatted(&j->message,
                  "the variance %s with the prediction (z %.1f): ", grows ? "grows" : "shrinks",
                  p->trend_z);
    add_formatted(&j->message,
                  "squared standardised residuals are %.3g where it is lowest and %.3g where "
                  "it is highest",
                  first->observed, last->observed);
    text_add(
        &j->remedy,
        grows ? "if '%s' is positive: log(%s) as the target, or `sbps sample` with --model "
                "gamma; "
                "as they are, predictions are too wide at one end and too narrow at the other"
              : "another scale of the target '%s', such as %s^2; as they are, predictions are "
                "too narrow at one end and too wide at the other",
        y, y);
}

/* Heavier or lighter tails than those of the model. */
static void diagnose_tails(assessment *j)
{
    const check_statistic *s = failed_statistic(j->c, "kurtosis");
    if (shape_explained(j) || !s || is_skewed(j->c) || spread_trend(j->c) ||
        has_heavy_tails(j->c))
        return;
    bool more = s->observed > s->mean;
    text_add(&j->message, "tails are %s than those of model %s: the kurtosis of residuals is ",
             more ? "heavier" : "lighter", j->c->model);
    add_statistic(&j->message, s);
    if (more && is_model(j->c, "linear"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model student_t, which is less sensitive to a few outliers");
    else if (more)
        text_add(&j->remedy,
                 "look at the most extreme rows: `sbps loo` names the most influential ones");
    else
        text_add(&j->remedy,
                 "a target with bounds, or a mixture of two kinds of rows: add a column that "
                 "distinguishes them");
}

/* Counts and other targets whose variance depends on the mean. */
static void diagnose_spread(assessment *j)
{
    const check_panels *all = &j->c->spread;
    bool plain_number = find_statistic(j->c, "kurtosis");
    if (shape_explained(j) || all->count == 0 || !all->panel->off) return;
    if (plain_number && (j->c->findings > 0 || spread_trend(j->c))) return;
    const check_cell *worst = &all->panel->cell[all->panel->worst];
    if (failed_statistic(j->c, "dispersion")) return;
    add_formatted(&j->message,
                  "the variance is not the model's everywhere: rows predicted from %.4g to "
                  "%.4g have squared "
                  "standardised residuals of %.3g, ",
                  worst->from, worst->to, worst->observed);
    add_formatted(&j->message, "but replicated tables have %.3g to %.3g (", worst->low,
                  worst->high);
    add_p_value(&j->message, all->panel->p);
    text_add(&j->message, ")");
    text_add(&j->remedy, "another model of '%s': `sbps list models` names them", j->c->target);
}

/* ---- the distribution as a whole ---- */

/* Statistics that are named only if nothing else explains the difference. */
static const char *const plain[] = {"mean",  "sd",       "min",     "max",
                                    "zeros", "skewness", "kurtosis"};

/* Statistics of the response that nothing else explains. */
static void diagnose_statistics(assessment *j)
{
    if (j->c->findings > 0) return; /* they explain it */
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        const check_statistic *s = failed_statistic(j->c, plain[k]);
        if (!s) continue;
        text_add(&j->message, "%s%s of '%s' is ", j->message.length ? "; " : "", s->name,
                 j->c->target);
        add_statistic(&j->message, s);
    }
    if (j->message.length)
        text_add(&j->remedy, "look at these rows; if they are correct, use another model or "
                             "another scale of the target");
}

/* The worst bar of a rootogram or histogram. */
static void diagnose_shape(assessment *j, const check_panels *all, const char *what)
{
    if (j->c->findings > 0 || all->count == 0 || !all->panel->off) return;
    const check_cell *worst = &all->panel->cell[all->panel->worst];
    add_formatted(&j->message,
                  "%s: %.4g rows are between %.4g and %.4g, but replicated tables have ", what,
                  worst->observed, worst->from, worst->to);
    add_formatted(&j->message, "%.4g to %.4g (", worst->low, worst->high);
    add_p_value(&j->message, all->panel->p);
    text_add(&j->message, ")");
    if (all == &j->c->rootogram && is_model(j->c, "negative_binomial"))
        text_add(
            &j->remedy,
            "`sbps sample` with --model zero_inflated_poisson or poisson; `sbps compare` shows "
            "which predicts better");
    else
        text_add(&j->remedy, "look at these rows; rounding and limits of a scale cause this, "
                             "and so does another "
                             "distribution");
}

/* Frequencies of counts, or the histogram of numbers, that nothing else explains. */
static void diagnose_shapes(assessment *j)
{
    diagnose_shape(j, &j->c->rootogram, "counts do not occur as often as predicted");
    diagnose_shape(j, &j->c->density, "the distribution has another shape");
}

/* Advice on a model with other probabilities from the same columns. */
static const char *other_model(const predictive_checks *c)
{
    if (is_model(c, "ordinal"))
        return "if the classes are in another order, `sbps sample` with --levels; or with "
               "--family "
               "categorical, which has no order";
    if (is_model(c, "softmax") || is_model(c, "categorical"))
        return "poly(x, 2) of a column where a curve is plausible";
    return "if only the ends are off, `sbps sample` with --model probit or logistic instead";
}

/* The column along which residuals are most curved; NULL: none. */
static const check_panel *most_curved(const predictive_checks *c)
{
    const check_panel *worst = NULL;
    for (size_t k = 0; k < c->residuals.count; k++) {
        const check_panel *p = &c->residuals.panel[k];
        if (has_curve(p) && (!worst || fabs(p->trend_z) > fabs(worst->trend_z))) worst = p;
    }
    return worst;
}

/* Advises on the most curved column, else on interactions or another model. */
static void advise_calibration(assessment *j)
{
    const check_panel *panel = most_curved(j->c);
    if (panel)
        text_add(&j->remedy,
                 "begin with column '%s', along which residuals are curved: see its finding",
                 panel->of);
    else
        text_add(&j->remedy, "interactions (a:b), or columns that are missing; %s",
                 other_model(j->c));
}

/* Probabilities that differ from the observed frequencies. */
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
    text_add(&j->message, "probabilities are not calibrated");
    if (worst->of) text_add(&j->message, " of '%s'", worst->of);
    add_formatted(&j->message,
                  ": the mean prediction of %zu rows is %.3g, the observed mean is %.3g, ",
                  c->rows, c->expected, c->observed);
    add_formatted(&j->message, "but replicated tables have %.3g to %.3g (", c->low, c->high);
    add_p_value(&j->message, worst->p);
    text_add(&j->message, ")");
    advise_calibration(j);
}

/* A leave-one-out PIT that is not uniform, if nothing else explains it. */
static void diagnose_pit(assessment *j)
{
    const check_pit *p = &j->c->pit;
    if (!p->off || j->c->findings > 0) return;
    bool wider = fabs(p->spread_z) > fabs(p->mean_z);
    add_formatted(&j->message,
                  "rows differ from their leave-one-out predictions: the distance of their PIT "
                  "from a uniform "
                  "distribution is %.3g (",
                  p->ks);
    add_p_value(&j->message, p->p);
    text_add(&j->message, "); predictions are %s",
             wider ? (p->spread_z > 0.0 ? "too narrow" : "too wide")
                   : (p->mean_z > 0.0 ? "too low" : "too high"));
    text_add(&j->remedy, "another model of the target, or a column that is missing");
}

/* ---- all of them ---- */

static void (*const diagnoses[])(assessment *j) = {
    diagnose_conflicts, diagnose_curves,        diagnose_columns,    diagnose_dispersion,
    diagnose_zeros,     diagnose_skewness,      diagnose_trend,      diagnose_tails,
    diagnose_spread,    diagnose_calibration,   diagnose_statistics, diagnose_shapes,
    diagnose_pit,       diagnose_strong_priors,
};

sbps_status checks_diagnose(const row_sample *s, predictive_checks *c, sbps_error *err)
{
    assessment j = {.s = s, .c = c};
    for (size_t k = 0; !j.failed && k < sizeof diagnoses / sizeof *diagnoses; k++) {
        text_cut(&j.message, 0);
        text_cut(&j.remedy, 0);
        j.of_priors = false;
        diagnoses[k](&j);
        close_finding(&j);
    }
    text_free(&j.message);
    text_free(&j.remedy);
    return j.failed ? fail_memory(err) : SBPS_OK;
}
