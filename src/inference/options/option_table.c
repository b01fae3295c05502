/* The option table: source of defaults, ranges, flags, help, config-file keys and the reference
 * page. A new option needs a member in options.h and a line here. Prior options of auxiliary
 * parameters come from the models that declare them. */
#include "inference/options/option_table.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "ingest/schema/types.h"
#include "linalg/metric/metric_kinds.h"
#include "model/likelihood/model.h"
#include "table/rows.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- types of values ----
 *
 * Text, choice, real, size, switch. Error messages have the form "label: what is wrong: what is
 * wanted", so that the value can be corrected without the manual. */

#define WANT_SIZE   128 /* bytes of a description of what is wanted */
#define CHOICES_MAX 8   /* words of a choice */

/* A seed (uint64_t) is parsed as a size. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes have 64 bits");

/* ---- text ---- */

/* Replaces the text at `field` by a copy. */
static sbps_status store_copy(const char *text, void *field, sbps_error *err)
{
    if (!field) return SBPS_OK;
    char **slot = field;
    char *copy = copy_text(text);
    if (!copy) return fail_memory(err);
    free(*slot);
    *slot = copy;
    return SBPS_OK;
}

static sbps_status text_parse(const option_spec *spec, const char *label, const char *text,
                              void *field, sbps_error *err)
{
    if (!*text)
        return fail(err, SBPS_BAD_ARG, "%s: the value is empty: expected %s", label,
                    spec->argument);
    return store_copy(text, field, err);
}

/* The value itself; empty if there is none. */
static void text_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    (void)spec;
    const char *value = *(char *const *)field;
    snprintf(text, size, "%s", value ? value : "");
}

const option_type option_text_type = {.parse = text_parse, .print = text_print};

/* ---- choice: the words stand in `argument`, split by | ---- */

/* True if `text` is one of the words of `choices`. */
static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *item = choices; item;
         item = strchr(item, '|') ? strchr(item, '|') + 1 : NULL)
        if (strcspn(item, "|") == length && !strncmp(item, text, length)) return true;
    return false;
}

/* Fails, suggesting the nearest word. */
static sbps_status choice_unknown(const option_spec *spec, const char *label, const char *text,
                                  sbps_error *err)
{
    char choices[WANT_SIZE], *rest = NULL;
    const char *names[CHOICES_MAX];
    size_t count = 0;
    snprintf(choices, sizeof choices, "%s", spec->argument);
    for (char *w = strtok_r(choices, "|", &rest); w && count < CHOICES_MAX;
         w = strtok_r(NULL, "|", &rest))
        names[count++] = w;
    name_hint hint = did_you_mean(",", text, names, count);
    return fail(err, SBPS_BAD_ARG, "%s: unknown choice '%s'%s %s %s", label, text,
                *hint.text ? hint.text : ":", *hint.text ? "Expected" : "expected",
                spec->argument);
}

/* Words are stored as text: code compares them by strcmp. */
static sbps_status choice_parse(const option_spec *spec, const char *label, const char *text,
                                void *field, sbps_error *err)
{
    if (!is_choice(spec->argument, text)) return choice_unknown(spec, label, text, err);
    return store_copy(text, field, err);
}

const option_type option_choice_type = {.parse = choice_parse, .print = text_print};

/* ---- real ---- */

/* Is it the word for a value that the program chooses, which some options have? */
static bool is_auto_text(const option_spec *spec, const char *text)
{
    return spec->auto_text && !strcmp(text, spec->auto_text);
}

/* Prints the range: "0 < K <= 100 or auto". */
static void print_real_range(const option_spec *spec, char range[WANT_SIZE])
{
    const char * or = spec->auto_text ? " or " : "",
                 *auto_text = spec->auto_text ? spec->auto_text : "";
    const char *name = spec->argument;
    if (spec->high >= DBL_MAX)
        decimal_print(range, WANT_SIZE, "%s %s %g%s%s", name, spec->closed ? ">=" : ">",
                      spec->low, or, auto_text);
    else
        decimal_print(range, WANT_SIZE, "%g %s %s <= %g%s%s", spec->low,
                      spec->closed ? "<=" : "<", name, spec->high, or, auto_text);
}

/* Reads a decimal number and nothing else: no blanks around it, no hexadecimal. */
static bool read_decimal(const char *text, double *value)
{
    char *end;
    size_t sign = *text == '-' || *text == '+';
    if (isspace((unsigned char)*text) || !strncasecmp(text + sign, "0x", 2)) return false;
    *value = decimal_read(text, &end);
    return end != text && !*end && !isnan(*value);
}

static sbps_status real_parse(const option_spec *spec, const char *label, const char *text,
                              void *field, sbps_error *err)
{
    double *slot = field;
    if (is_auto_text(spec, text)) {
        if (slot) *slot = REAL_AUTO;
        return SBPS_OK;
    }
    char range[WANT_SIZE];
    double value;
    print_real_range(spec, range);
    if (!read_decimal(text, &value))
        return fail(err, SBPS_BAD_ARG, "%s: '%s' is not a number: expected %s", label, text,
                    range);
    bool above = spec->closed ? value >= spec->low : value > spec->low;
    if (!above || value > spec->high)
        return fail(err, SBPS_BAD_ARG, "%s: %s is out of range: expected %s", label, text,
                    range);
    if (slot) *slot = value;
    return SBPS_OK;
}

/* Prints the shortest text that reads back to the same bits. */
static void real_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    double value = *(const double *)field;
    char digits[32];
    if (isnan(value)) {
        snprintf(text, size, "%s", spec->auto_text ? spec->auto_text : "nan");
        return;
    }
    for (int precision = 6; precision <= 17; precision++) {
        decimal_print(digits, sizeof digits, "%.*g", precision, value);
        if (decimal_read(digits, NULL) == value) break;
    }
    snprintf(text, size, "%s", digits);
}

const option_type option_real_type = {.parse = real_parse, .print = real_print};

/* ---- size ---- */

/* Prints the range: "a whole number N >= 1 or auto". */
static void print_size_range(const option_spec *spec, char range[WANT_SIZE])
{
    const char * or = spec->auto_text ? " or " : "",
                 *auto_text = spec->auto_text ? spec->auto_text : "";
    if (spec->max == SIZE_MAX)
        snprintf(range, WANT_SIZE, "a whole number %s >= %zu%s%s", spec->argument, spec->min,
                 or, auto_text);
    else
        snprintf(range, WANT_SIZE, "a whole number %zu <= %s <= %zu%s%s", spec->min,
                 spec->argument, spec->max, or, auto_text);
}

/* Two failures, since "1e30" is a number and needs another message than "many". */
typedef enum { COUNT_READ, COUNT_NO_NUMBER, COUNT_OUT_OF_RANGE } count_reading;

/* Reads digits, or a number such as 1e6 that is whole and exact in a double (<= 2^53). */
static count_reading read_count(const char *text, size_t *out)
{
    if (strspn(text, "0123456789") == strlen(text) && *text) {
        errno = 0;
        *out = strtoull(text, NULL, 10);
        return errno == ERANGE ? COUNT_OUT_OF_RANGE : COUNT_READ;
    }
    double value;
    if (!read_decimal(text, &value)) return COUNT_NO_NUMBER;
    if (value < 0 || value > 0x1p53) return COUNT_OUT_OF_RANGE;
    if (value != floor(value)) return COUNT_NO_NUMBER;
    *out = (size_t)value;
    return COUNT_READ;
}

static sbps_status size_parse(const option_spec *spec, const char *label, const char *text,
                              void *field, sbps_error *err)
{
    size_t value = SIZE_AUTO, *slot = field;
    if (!is_auto_text(spec, text)) {
        char range[WANT_SIZE];
        /* SIZE_AUTO itself cannot be given as a number */
        size_t most = spec->auto_text && spec->max == SIZE_AUTO ? SIZE_AUTO - 1 : spec->max;
        print_size_range(spec, range);
        count_reading reading = read_count(text, &value);
        if (reading == COUNT_NO_NUMBER)
            return fail(err, SBPS_BAD_ARG, "%s: '%s' is not a whole number: expected %s", label,
                        text, range);
        if (reading == COUNT_OUT_OF_RANGE || value < spec->min || value > most)
            return fail(err, SBPS_BAD_ARG, "%s: %s is out of range: expected %s", label, text,
                        range);
    }
    if (slot) *slot = value;
    return SBPS_OK;
}

static void size_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    size_t value = *(const size_t *)field;
    if (value == SIZE_AUTO && spec->auto_text)
        snprintf(text, size, "%s", spec->auto_text);
    else
        snprintf(text, size, "%zu", value);
}

const option_type option_size_type = {.parse = size_parse, .print = size_print};

/* ---- switch ---- */

static sbps_status switch_parse(const option_spec *spec, const char *label, const char *text,
                                void *field, sbps_error *err)
{
    (void)spec;
    bool on = !strcmp(text, "true"), *slot = field;
    if (!on && strcmp(text, "false"))
        return fail(err, SBPS_BAD_ARG, "%s: '%s' is neither true nor false", label, text);
    if (slot) *slot = on;
    return SBPS_OK;
}

static void switch_print(const option_spec *spec, const void *field, size_t size, char *text)
{
    (void)spec;
    snprintf(text, size, "%s", *(const bool *)field ? "true" : "false");
}

const option_type option_switch_type = {.parse = switch_parse, .print = switch_print};

#define READ    .file = SBPS_FILE_READ
#define WRITTEN .file = SBPS_FILE_WRITTEN

#define FIELD(type_, member)                                                                   \
    .type = &option_##type_##_type, .field = offsetof(sbps_options, member)

#define TEXT(name_, member, argument_, fallback_)                                              \
    .name = name_, FIELD(text, member), .argument = argument_, .fallback = fallback_
#define CHOICE(name_, member, words, fallback_)                                                \
    .name = name_, FIELD(choice, member), .argument = words, .fallback = fallback_
/* low < x <= high */
#define REAL(name_, member, argument_, fallback_, low_, high_)                                 \
    .name = name_, FIELD(real, member), .argument = argument_, .fallback = fallback_,          \
    .low = low_, .high = high_
#define SIZE(name_, member, argument_, fallback_, min_, max_)                                  \
    .name = name_, FIELD(size, member), .argument = argument_, .fallback = fallback_,          \
    .min = min_, .max = max_
#define SWITCH(name_, member) .name = name_, FIELD(switch, member), .fallback = "false"

/* Options that change only where and when a run ends do not affect the path. */
#define DATA    .group = "Data and model", .affects_path = true, .for_mode = true
#define SAMPLER .group = "Sampler", .affects_path = true
#define CHAINS  .group = "Chains and stopping", .affects_path = true
#define MODE    .group = "Mode", .for_mode = true
#define STOP    .group = "Chains and stopping"
#define FILES   .group = "Files and output"

/* The prior options of auxiliary parameters come between the two parts of the table. */
static const option_spec first_lines[] = {
    {TEXT("model", model, "NAME", ""), DATA, READ, /* a file if it has a slash */
     .help = "Likelihood; `sbps list models` lists the names. A name with a slash, such as "
             "./mine.so, is a shared library with a model of your own, which is loaded. "
             "Default: see --family."},
    /* its effect on the path is that of --model */
    {TEXT("family", family, "NAME", ""), .group = "Data and model", .for_mode = true,
     .help = "The model under its name in R: gaussian (linear), bernoulli (logistic), "
             "binomial, binomial(probit), poisson, negbinomial, Gamma (with log link), Beta, "
             "student, zero_inflated_poisson, categorical, softmax, cumulative (ordinal). "
             "Replaces --model. Default: bernoulli for a target with two labels or the numbers "
             "0 and 1, gaussian for other numbers; the choice is printed."},
    {TEXT("formula", formula, "TEXT", ""), DATA,
     .help = "Model formula as in R: 'y ~ a*b + poly(x,2) + (1|g)'. Replaces --target and "
             "--features; sample and map also accept it as an argument after DATA."},
    {TEXT("target", target, "COLUMN", ""), DATA,
     .help = "Response column. Required for CSV files without a formula; libsvm files contain "
             "their own."},
    {TEXT("features", features, "A,B,...", ""), DATA,
     .help = "Predictor columns. Default: every column that has no other role. Quote a name "
             "that contains a comma, '\"a,b\",c', or put a backslash before the comma."},
    {TEXT("categorical", categorical, "A,B,...", ""), DATA,
     .help = "Numeric columns to treat as categorical; text columns always are. Each level "
             "except the first becomes a 0/1 feature named column=level."},
    {TEXT("exclude", exclude, "A,B,...", ""), DATA,
     .help = "Columns to leave out when --features is not given."},
    {TEXT("reference", reference, "A=LEVEL,...", ""), DATA,
     .help = "Reference levels of categorical columns. Default: the first level."},
    {TEXT("success", success, "LEVEL", ""), DATA,
     .help = "The label coded as 1 in a response with two labels, such as yes and no. Default: "
             "the second in sorted order, so yes, TRUE, Y or 2."},
    {TEXT("levels", levels, "A,B,...", ""), DATA,
     .help =
         "Labels of the response in their order, such as low,mid,high. Required for an ordinal "
         "model of a text response. Default for other models: numbers by value, text in "
         "natural order (a2 before a10), which is reported."},
    {TEXT("weights", weights, "COLUMN", ""), DATA,
     .help = "Column of weights; each row's log-likelihood is multiplied by its weight."},
    {TEXT("trials", trials, "COLUMN", ""), DATA,
     .help = "binomial, probit: column with the number of trials of a row; the response is "
             "then the number of successes. Without this option the response is the proportion "
             "of successes."},
    {TEXT("offset", offset, "COLUMN", ""), DATA,
     .help = "Column added to the linear predictor with coefficient 1."},
    /* its effect on the path is that of the table, whose hash a checkpoint has */
    {CHOICE("missing", missing, "error|drop", "drop"), .group = "Data and model",
     .for_mode = true,
     .help = "Rows with a missing value: drop leaves them out and reports how many; error "
             "stops and reports the first one."},
    {TEXT("na", na, "A,B,...", NA_STRINGS), DATA,
     .help = "Words that mark a missing value, in addition to an empty cell and nan. They may "
             "be numbers, such as -999."},
    {CHOICE("header", header, "yes|no", "yes"), DATA,
     .help = "Whether the first line of a CSV file contains the column names. no: the columns "
             "are named x1, x2, ..."},
    {CHOICE("encoding", encoding, "utf-8|latin1|windows-1252", "utf-8"), DATA,
     .help = "Text encoding of the table. utf-8: names and levels that are not valid UTF-8 are "
             "read as Windows-1252, with a warning."},
    {SIZE("generate", generate, "N", "0", 0, (size_t)1 << 53), DATA,
     .help = "Generate N rows instead of reading a file. Rows are recomputed whenever they are "
             "needed and never stored, so that N may be 1e11 (docs/ranks.md). For logistic, "
             "linear and poisson; --dim sets the number of columns (default 20)."},
    {SIZE("data-seed", data_seed, "S", "1", 0, SIZE_MAX), DATA,
     .help =
         "--generate: seed of the rows and of the coefficients that generate the response."},
    {SWITCH("no-intercept", no_intercept), DATA, .help = "Leave the intercept out."},
    {SWITCH("standardize", standardize), DATA,
     .help = "Centre every feature and divide it by its standard deviation; the coefficients "
             "are then those of the standardised features."},
    {SWITCH("no-shuffle", no_shuffle), .group = "Data and model", .for_mode = true,
     .help = "Keep the rows in the order of the file. Mini-batches, and the parts of the table "
             "on several ranks, are then not random samples, and the result is wrong if the "
             "order carries information. Use it only to check the reported errors."},
    {CHOICE("storage", storage, "auto" STORAGE_KINDS(KIND_CHOICE) "|given", "auto"), DATA,
     .help = "How the table is kept in memory. float: half the memory, values rounded to 7 "
             "digits, sums in double precision. sparse: only the nonzero values. given: no "
             "copy; columns of doubles in the caller's memory are used in place. auto: sparse "
             "if that is cheaper, else double."},
    {TEXT("prior", prior, "PRIOR", "auto"), DATA,
     .help = "Prior of the coefficients, such as normal(0,2.5); `sbps list priors` lists the "
             "names. Coefficients may have priors of their own, by name or by a pattern with "
             "*: \"normal(0,2.5); x1=normal(0,1); g:*=laplace(0,1)\". horseshoe(...), hs(...) "
             "and R2D2(...) are joint shrinkage priors. auto: normal(0, 2.5/sd(x)), multiplied "
             "by sd(y) for linear models."},
    {TEXT("prior-intercept", prior_intercept, "PRIOR", "auto"), DATA,
     .help = "Prior of the intercept. auto: normal(0,10), for linear models normal(mean(y), 10 "
             "sd(y)), on the intercept at the column means."},
    {CHOICE("prior-intercept-at", prior_intercept_at, "auto|mean|zero", "auto"), DATA,
     .help = "Point at which --prior-intercept applies: mean, the intercept at the column "
             "means, or zero, the intercept at x = 0, which is the one reported. auto: mean "
             "for the default prior, zero for a prior you give."},
};

static const option_spec last_lines[] = {
    {SWITCH("prior-only", prior_only), .group = "Data and model", .affects_path = true,
     .help =
         "Draw from the prior instead of the posterior: the rows are left out and give only "
         "the columns, the groups and the scales of the default priors. Draws are exact and "
         "independent, --draws per chain. `check` and `predict` then show what the priors "
         "imply for the response."},
    {TEXT("prior-sd", prior_sd, "PRIOR", "auto"), DATA,
     .help =
         "Prior of the standard deviations of group effects, truncated to positive values. "
         "auto: student_t(3,0,2.5) in units of 1/sd(z), multiplied by sd(y) for linear models; "
         "for terms such as (1 + x | g) it applies to the effects at the column means. A prior "
         "you give applies at x = 0, and so does then the prior of the correlations."},
    {TEXT("prior-cor", prior_cor, "PRIOR", "auto"), DATA,
     .help = "Prior of the correlations of group effects. auto: lkj(2), at the column means. A "
             "prior you give applies at x = 0, and so does then the prior of the standard "
             "deviations."},
    {CHOICE("crossed", crossed, "auto|integrate|joint", "auto"), DATA,
     .help = "How to treat crossed group effects, (1 | g) + (1 | h). integrate: integrate over "
             "the factor with the most levels and sample the effects of the others. joint: "
             "sample all effects with hmc or nuts, without dense matrices. auto: joint if the "
             "other factors have more than 500 effects, or at least 50 whose squared number "
             "exceeds a quarter of the rows; small tables use nuts (docs/groups.md)."},
    {TEXT("hidden", hidden, "N,N,...", "4"), DATA,
     .help = "network: units in each hidden layer; 0: no hidden layer."},
    {CHOICE("activation", activation, "tanh|relu", "tanh"), DATA,
     .help = "network: activation function of the hidden units."},
    {CHOICE("head", head, "softmax|gaussian", "softmax"), DATA,
     .help = "network: softmax: the response is a class 0, 1, ...; gaussian: a number with "
             "standard deviation 1."},
    {TEXT("covariance", covariance, "FILE", ""), DATA, READ,
     .help = "gaussian: CSV file with a header and a square covariance matrix."},
    {SIZE("dim", dim, "D", "2", 1, 1000000), DATA,
     .help =
         "gaussian without --covariance: number of parameters. --generate: number of columns."},
    {REAL("condition", condition, "C", "1", 0, DBL_MAX), DATA,
     .help = "gaussian without --covariance: ratio of the largest to the smallest variance."},

    {TEXT("sampler", sampler, "NAME", "auto"), SAMPLER,
     .help =
         "Sampler; `sbps list samplers` lists the names. auto: sbps, or boomerang for models "
         "with groups; surrogate or full-data hmc if estimated to be cheaper (docs/auto.md)."},
    {SIZE("batch-size", batch_size, "N", "auto", 1, SIZE_MAX), .auto_text = "auto", SAMPLER,
     .help = "Rows in a mini-batch. Samplers with a band need at least 2, to estimate the "
             "variance. auto: the estimated optimum for the measured noise (docs/auto.md)."},
    {REAL("band", band, "K", "auto", 0, 100), .auto_text = "auto", SAMPLER,
     .help =
         "Width of the upper confidence band of the event rate, in standard errors. A wider "
         "band has less bias and is slower. auto: tuned in warm-up to meet --bias-budget."},
    {CHOICE("control-variate", control_variate, "auto|none|gradient|hessian", "auto"), SAMPLER,
     .help = "Control variate that reduces the mini-batch noise: none, or the exact gradient, "
             "or gradient and Hessian, at a reference point. auto: the one estimated to be "
             "cheapest (docs/auto.md)."},
    {CHOICE("metric", metric, "auto" METRIC_KINDS(KIND_CHOICE), "auto"), SAMPLER,
     .help =
         "Preconditioner: how directions of the parameter space are scaled (docs/metrics.md)."},
    {REAL("refresh-rate", refresh_rate, "RATE", "auto", 0, DBL_MAX), .closed = true,
     .auto_text = "auto", SAMPLER, .help = "Velocity refreshments per unit of time; 0: none."},
    {CHOICE("minibatch", minibatch, "auto|window|random|strata", "auto"), SAMPLER,
     .help = "How mini-batches are chosen. window: consecutive shuffled rows; random: rows "
             "drawn one by one; strata: a fixed number from each stratum of rows of similar "
             "influence. auto: strata if they are cheaper or influential rows could be missed, "
             "else windows if the table is large compared with the batch (docs/auto.md)."},
    {REAL("bias-budget", bias_budget, "SD", "0.02", 0, 1), SAMPLER,
     .help = "Tolerated bias, in posterior standard deviations."},
    {SWITCH("paper", paper), SAMPLER,
     .help = "The algorithm as published: k=3, mini-batches of 100 random rows, variance from "
             "the last mini-batch, steps of 0.01 over the band, --slope-prior learned; no "
             "lack-of-fit term, horizon, control variate, metric, refreshment or tuning. Other "
             "options you give still apply."},
    {CHOICE("lack-of-fit", lack_of_fit, "auto|on|off", "auto"), SAMPLER,
     .help =
         "Widen the band by the part of the rate that the linear regression does not explain."},
    {CHOICE("pool-variance", pool_variance, "auto|on|off", "auto"), SAMPLER,
     .help =
         "Pool the noise variance over mini-batches; off: use that of the last mini-batch."},
    {REAL("horizon", horizon, "LENGTH", "auto", 0, INFINITY), .auto_text = "auto", SAMPLER,
     .help = "Longest segment before the rate is observed again, in units of the posterior "
             "scale; inf: no limit."},
    {REAL("dt", dt, "TIME", "auto", 0, DBL_MAX), .auto_text = "auto", SAMPLER,
     .help =
         "Length of the steps over which the band is linearised (default with --paper: 0.01). "
         "auto: independent of scale."},
    {CHOICE("regression", regression, "linear|gp", "linear"), SAMPLER,
     .help = "Model of the rate along a segment: a straight line or a Gaussian process."},
    {CHOICE("weight-decay", weight_decay, "off|on", "off"), SAMPLER,
     .help = "Downweight observations far back along the segment; the scale is learned."},
    {SWITCH("slope-repair", slope_repair), SAMPLER,
     .help = "Set negative slopes of the regression to zero."},
    {SIZE("auxiliary", auxiliary, "P", "0", 0, 16), SAMPLER,
     .help = "Number P of auxiliary observations ahead of the particle, at 10 p mean proposal "
             "times for p = 1 to P, with the last mini-batch."},
    {CHOICE("auxiliary-when", auxiliary_when, "needed|always", "needed"), SAMPLER,
     .help = "When auxiliary observations are made: needed: only if the band would decrease "
             "without end; always: after every observation."},
    {CHOICE("slope-prior", slope_prior, "hessian|learned|wide", "hessian"), SAMPLER,
     .help = "Prior of the slope of the rate. hessian: starts at the curvature along the "
             "segment and is learned in units of it. learned: one prior for all directions, "
             "learned from an uninformative start, as in the paper (default with --paper). "
             "wide: variance 1e5 around the mean of all slopes fitted so far, as in the "
             "authors' program."},
    {CHOICE("slope-evidence", slope_evidence, "all|rejected", "all"), SAMPLER,
     .help = "Observations from which the slope prior learns: all of a segment, or all but the "
             "one that ended it."},
    {CHOICE("bounce-batch", bounce_batch, "reused|fresh", "reused"), SAMPLER,
     .help = "First mini-batch of the segment after a bounce: reused: the one of the bounce, "
             "as in the paper; fresh: a new one."},
    {REAL("step-size", step_size, "H", "auto", 0, DBL_MAX), .auto_text = "auto", SAMPLER,
     .help = "Step size of the discrete samplers: w -= h times the mean gradient per row."},
    {REAL("step-decay", step_decay, "A", "0", 0, 1), .closed = true, SAMPLER,
     .help = "Step sizes decrease as h (1 + i)^-A; 0: constant."},
    {REAL("metric-beta", metric_beta, "BETA", "0.99", 0, 1), SAMPLER,
     .help = "Adaptive metric: weight of the old average of squared gradients."},
    {REAL("metric-eps", metric_eps, "EPS", "0.0001", 0, DBL_MAX), SAMPLER,
     .help = "Adaptive metric: constant added to the square root of that average."},
    {SWITCH("adapt-forever", adapt_forever), SAMPLER,
     .help =
         "Keep adapting the metric after warm-up, as in the paper; this biases the result."},
    {REAL("gradient-noise", gradient_noise, "SD", "0", 0, DBL_MAX), .closed = true, SAMPLER,
     .help = "Standard deviation of Gaussian noise added to every component of the gradient, "
             "as in Figure 1."},

    {TEXT("start", start, "FILE", ""), MODE, READ,
     .help = "Starting point from a file written by `sbps map --csv` or `sbps laplace --csv`. "
             "sample: used instead of the mode as starting and reference point; its "
             "covariance, if present, replaces the inverse Hessian in the metric. map, "
             "laplace: starting point of the optimizer."},
    {CHOICE("method", method, "auto|newton|lbfgs|sag", "auto"), MODE, .not_for_sample = true,
     .help = "map, laplace: optimizer. auto: Newton, preceded by L-BFGS where Newton cannot "
             "start. sag: stochastic average gradient, as in the paper, for regressions."},
    {REAL("tolerance", tolerance, "SD", "1e-06", 0, 1), MODE, .not_for_sample = true,
     .help = "map, laplace: lbfgs and sag stop when the estimated distance to the mode, in "
             "posterior standard deviations, is below this. Newton always converges to 1e-8."},
    {REAL("max-epochs", max_epochs, "E", "1000", 0, DBL_MAX), MODE, .not_for_sample = true,
     .help = "map, laplace: sag stops after this many passes through the table."},

    {SIZE("chains", chains, "N", "4", 1, 1024), CHAINS,
     .help = "Number of independent chains, each with its own starting point."},
    {SIZE("threads", threads, "N", "auto", 1, 1024), .auto_text = "auto", STOP,
     .for_mode = true,
     .help = "Number of threads for reading, sums over rows and chains; results do not depend "
             "on it. auto: one per processor."},
    {SIZE("seed", seed, "S", "1", 0, SIZE_MAX), CHAINS, .for_mode = true,
     .help = "Random seed; the same seed gives the same draws on any number of threads."},
    {SIZE("warmup", warmup, "N", "auto", 0, SIZE_MAX), .auto_text = "auto", CHAINS,
     .help = "Warm-up proposals per chain, used for tuning and then discarded. 0: no warm-up; "
             "tuning parameters keep their initial values, and the first draw is the starting "
             "point."},
    {REAL("spread", spread, "SD", "2", 0, DBL_MAX), .closed = true, CHAINS,
     .help = "Spread of the starting points around the mode, or around the point of --start, "
             "in posterior standard deviations; 0: all chains start at that point."},
    {REAL("ess", ess, "N", "400", 0, DBL_MAX), STOP,
     .help = "Stop when every parameter and its square have this effective sample size over "
             "all chains, along the path and in the stored draws (bulk and tail). Without "
             "effect if --epochs or --seconds is given and --ess is not; with several "
             "criteria, the first one met stops the run."},
    {REAL("epochs", epochs, "E", "none", 0, DBL_MAX), .auto_text = "none", STOP,
     .help =
         "Stop when the chains together have read this many rows, in multiples of the table."},
    {REAL("seconds", seconds, "S", "none", 0, DBL_MAX), .auto_text = "none", STOP,
     .help = "Stop after this many seconds of sampling. Such a run is not reproducible draw "
             "for draw."},
    {SIZE("draws", draws, "N", "1000", 4, SIZE_MAX), CHAINS,
     .help = "Minimum number of draws stored per chain: when there are more than twice as "
             "many, every second one is dropped. If --ess exceeds the stored draws of all "
             "chains, it is met along the path only. A sampler with one draw per step, such as "
             "hmc, may meet --ess with fewer draws and stop, unless this option is given; "
             "--epochs and --seconds always stop the run."},

    {TEXT("ranef", ranef, "auto|all|none|FILE", "auto"), FILES, WRITTEN,
     .help = "Group effects, one draw for every draw of the other parameters. all: add them to "
             "the parameters, as r_GROUP[level,COLUMN]. auto: the same, if their draws (twice "
             "--draws of each chain) take at most 500 MB, else means and sds. none: keep none. "
             "FILE: write their summaries as CSV, for any number of effects."},
    {TEXT("output", output, "FILE", "run.nc"), FILES, WRITTEN,
     .help = "Output file, format by extension: .nc NetCDF for ArviZ; .stan.csv CmdStan CSV, "
             "one file per chain; .csv a single table."},
    {TEXT("checkpoint", checkpoint, "FILE", ""), FILES, WRITTEN,
     .help = "Save the state of the run to this file at intervals."},
    {TEXT("resume", resume, "FILE", ""), FILES, READ,
     .help =
         "Continue from this checkpoint; data and options must be those it was written with."},
    {TEXT("skeleton", skeleton, "FILE", ""), FILES, WRITTEN,
     .help = "Write every event of the path to this file: time, position, velocity, kind."},
    {TEXT("trace", trace, "FILE", ""), FILES, WRITTEN,
     .help = "Write every observation of the slope by one chain to this file: the observed "
             "slope, the regression's prediction, the proposal rate and the outcome."},
    {SIZE("trace-chain", trace_chain, "N", "1", 1, 1024), FILES,
     .help = "Chain written by --trace."},
    {TEXT("config", config, "FILE", ""), FILES, READ, .for_mode = true,
     .help = "Read options from this file: one `name = value` per line, # starts a comment. "
             "Options on the command line take precedence."},
    {SWITCH("dry-run", dry_run), FILES,
     .help = "Print priors, sizes, memory and the choices made by auto, then stop without "
             "drawing."},
    {SWITCH("watch", watch), FILES,
     .help = "Serve a live page of the run with traces, ESS, R-hat and estimated bias. Only "
             "accessible from this machine, at the address printed. The page ends with the run "
             "and does not affect the draws."},
    {CHOICE("progress", progress, "auto|on|off", "auto"), FILES,
     .help = "Progress on standard error: a bar on a terminal, else a line every 10 seconds. "
             "off: only the set-up, warnings and errors."},
};

#define FIRST_LINES (sizeof first_lines / sizeof *first_lines)
#define LAST_LINES  (sizeof last_lines / sizeof *last_lines)

size_t option_count(void)
{
    const model_auxiliary *of[MODEL_AUXILIARIES_MAX];
    return FIRST_LINES + model_auxiliary_list(of) + LAST_LINES;
}

option_spec option_at(size_t index)
{
    const model_auxiliary *of[MODEL_AUXILIARIES_MAX];
    if (index < FIRST_LINES) return first_lines[index];
    size_t place = index - FIRST_LINES, added = model_auxiliary_list(of);
    if (place >= added) return last_lines[place - added];
    option_spec spec = {TEXT(of[place]->option, prior_of, "PRIOR", "auto"), DATA,
                        .help = of[place]->help};
    spec.field += place * sizeof(char *);
    return spec;
}

/* Compares with each name once: it is called for every option of a run. */
size_t option_find(const char *name)
{
    const model_auxiliary *of[MODEL_AUXILIARIES_MAX];
    for (size_t i = 0; i < FIRST_LINES; i++)
        if (!strcmp(first_lines[i].name, name)) return i;
    size_t added = model_auxiliary_list(of);
    for (size_t i = 0; i < added; i++)
        if (!strcmp(of[i]->option, name)) return FIRST_LINES + i;
    for (size_t i = 0; i < LAST_LINES; i++)
        if (!strcmp(last_lines[i].name, name)) return FIRST_LINES + added + i;
    return FIRST_LINES + added + LAST_LINES;
}
