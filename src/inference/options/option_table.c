/* The option table: defaults, ranges, flags, help, config-file keys and the reference page all
 * come from here. A new option is a field in options.h and a line in this file; the priors of
 * auxiliaries are taken from the models that list them. */
#include "inference/options/option_spec.h"
#include "ingest/schema/types.h"
#include "linalg/metric/metric_kinds.h"
#include "model/likelihood/model.h"
#include "table/rows.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* Options that only say where and when a run ends leave the path as it is. */
#define DATA    .group = "Data and model", .affects_path = true, .for_mode = true
#define SAMPLER .group = "Sampler", .affects_path = true
#define CHAINS  .group = "Chains and stopping", .affects_path = true
#define MODE    .group = "Mode", .for_mode = true
#define STOP    .group = "Chains and stopping"
#define FILES   .group = "Files and output"

/* The options of auxiliaries stand between the two parts of the table. */
static const option_spec first_lines[] = {
    {TEXT("model", model, "NAME", ""), DATA, READ, /* where it has a slash */
     .help = "Likelihood of a row; `sbps list models` names them. A name with a slash, such as "
             "./mine.so, is a model of your own: that file is loaded. This or --family is "
             "required."},
    /* what it does to the path is the model's */
    {TEXT("family", family, "NAME", ""), .group = "Data and model", .for_mode = true,
     .help = "The model by its name in R: gaussian (linear), bernoulli (logistic), binomial, "
             "binomial(probit), poisson, negbinomial, Gamma (with log link), Beta, student, "
             "zero_inflated_poisson, categorical (softmax), cumulative (ordinal). In place of "
             "--model."},
    {TEXT("formula", formula, "TEXT", ""), DATA,
     .help = "What is explained and by what, as in R: 'y ~ a*b + poly(x,2) + (1|g)'. In the "
             "place of "
             "--target and --features; sample and map take it behind DATA, too."},
    {TEXT("target", target, "COLUMN", ""), DATA,
     .help =
         "Column to be explained. Required for CSV without a formula; libsvm files carry their "
         "own."},
    {TEXT("features", features, "A,B,...", ""), DATA,
     .help = "Columns that explain it. Without it: every column that has no other part. A name "
             "with a comma stands in quotes, '\"a,b\",c', or has a backslash before it."},
    {TEXT("categorical", categorical, "A,B,...", ""), DATA,
     .help =
         "Columns of numbers that are categories; columns of text are in any case. Each level "
         "but the first becomes a 0/1 feature named column=level."},
    {TEXT("exclude", exclude, "A,B,...", ""), DATA,
     .help = "Columns to leave out when --features does not say which to take."},
    {TEXT("reference", reference, "A=LEVEL,...", ""), DATA,
     .help = "Levels of categories to compare the others with, in the place of the first."},
    {TEXT("success", success, "LEVEL", ""), DATA,
     .help =
         "Of a target with two labels, such as yes and no, the one that is 1. Without it: the "
         "second in order, so that yes, TRUE, Y and 2 are."},
    {TEXT("levels", levels, "A,B,...", ""), DATA,
     .help =
         "Labels of the target in their order, such as low,mid,high for ordinal. Without it: "
         "numbers by value, texts in natural order (a2 before a10), which is told."},
    {TEXT("weights", weights, "COLUMN", ""), DATA,
     .help = "Column of weights: a row's log-likelihood is multiplied by its weight."},
    {TEXT("trials", trials, "COLUMN", ""), DATA,
     .help = "binomial, probit: column of numbers of trials, of which the target counts the "
             "successes; a row weighs as many. Without it the target holds shares."},
    {TEXT("offset", offset, "COLUMN", ""), DATA,
     .help = "Column added to the linear predictor with coefficient 1."},
    {CHOICE("missing", missing, "error|drop", "error"), DATA,
     .help =
         "What to do with a row that has a missing cell: stop and say where, or leave the row "
         "out; how many is said."},
    {TEXT("na", na, "A,B,...", NA_STRINGS), DATA,
     .help =
         "Words that stand for a missing cell, beside an empty one and nan. Numbers such as "
         "-999 may be among them."},
    {CHOICE("header", header, "yes|no", "yes"), DATA,
     .help =
         "Whether the first line of a CSV file names its columns. no: they are x1, x2, ..."},
    {CHOICE("encoding", encoding, "utf-8|latin1|windows-1252", "utf-8"), DATA,
     .help = "What the text of a table is written in. utf-8: names and levels that are not are "
             "taken "
             "for Windows' Latin-1, and that is told."},
    {SIZE("generate", generate, "N", "0", 0, (size_t)1 << 53), DATA,
     .help = "In the place of a file: N rows, each made when it is looked at and kept nowhere, "
             "so that N may be "
             "1e11 (docs/ranks.md). For logistic, linear and poisson; --dim says how many "
             "columns, 20 unless "
             "it is given."},
    {SIZE("data-seed", data_seed, "S", "1", 0, SIZE_MAX), DATA,
     .help = "--generate: seed of the rows and of the weights that made their targets."},
    {SWITCH("no-intercept", no_intercept), DATA, .help = "Leave the intercept out."},
    {SWITCH("standardize", standardize), DATA,
     .help =
         "Centre every feature and divide it by its standard deviation; coefficients are then "
         "those of the standardised features."},
    {SWITCH("no-shuffle", no_shuffle), .group = "Data and model", .for_mode = true,
     .help =
         "Leave the rows in the order of the file. Batches, and what each of several ranks "
         "has, "
         "are then no random rows, and the answer is wrong where the order means something: "
         "to see what the stated errors say of it."},
    {CHOICE("storage", storage, "auto" STORAGE_KINDS(KIND_CHOICE) "|given", "auto"), DATA,
     .help =
         "How the table is kept in memory. float: half the size, values rounded to 7 digits, "
         "sums still double. sparse: only what is not 0. given: not at all, for columns of "
         "doubles that a program has in its memory. auto: sparse where that is cheaper, else "
         "double."},
    {TEXT("prior", prior, "PRIOR", "auto"), DATA,
     .help = "Prior of the coefficients, such as normal(0,2.5); `sbps list priors` names them. "
             "Some may have their own, \"normal(0,2.5); x1=normal(0,1); g:*=laplace(0,1)\": by "
             "name, or by a pattern with *. horseshoe(...), hs(...) and R2D2(...) shrink many "
             "together. "
             "auto: normal(0, 2.5/sd(x)), for linear models times "
             "sd(y)."},
    {TEXT("prior-intercept", prior_intercept, "PRIOR", "auto"), DATA,
     .help = "Prior of the intercept. auto: normal(0,10), for linear models normal(mean(y), 10 "
             "sd(y)), of the intercept at the means of the columns."},
    {CHOICE("prior-intercept-at", prior_intercept_at, "auto|mean|zero", "auto"), DATA,
     .help =
         "Which intercept that prior is of: the one at the means of the columns, or the one "
         "at x = 0, which is the one reported. auto: mean for the default prior, zero for "
         "one that was given."},
};

static const option_spec last_lines[] = {
    {TEXT("prior-sd", prior_sd, "PRIOR", "auto"), DATA,
     .help =
         "Prior of the standard deviations of groups' effects, of which the positive half "
         "counts. auto: "
         "student_t(3,0,2.5), in units of 1/sd(z), for linear models times sd(y), of effects "
         "at the means of the columns in terms such as (1 + x | g). A prior that is given "
         "holds at x = 0, as does then that of the correlations."},
    {TEXT("prior-cor", prior_cor, "PRIOR", "auto"), DATA,
     .help = "Prior of the correlations of groups' effects. auto: lkj(2), at the means of the "
             "columns. A prior that is given holds at x = 0, as does then that of the standard "
             "deviations."},
    {CHOICE("crossed", crossed, "auto|integrate|joint", "auto"), DATA,
     .help =
         "Effects of crossed groups, (1 | g) + (1 | h). integrate: those of the factor with "
         "the "
         "most levels are integrated over, the others' are sampled. joint: all are sampled, by "
         "hmc or nuts, without matrices. auto: joint where the others have more "
         "than 500, or 50 and more whose square is above a quarter of the rows; and by nuts in "
         "small tables (docs/groups.md)."},
    {TEXT("hidden", hidden, "N,N,...", "4"), DATA,
     .help = "network: units of each hidden layer; 0: none."},
    {CHOICE("activation", activation, "tanh|relu", "tanh"), DATA,
     .help = "network: what a hidden unit does with its input."},
    {CHOICE("head", head, "softmax|gaussian", "softmax"), DATA,
     .help = "network: the target is a class 0, 1, ... or a number with known sd 1."},
    {TEXT("covariance", covariance, "FILE", ""), DATA, READ,
     .help = "gaussian: CSV with a header and a square covariance matrix."},
    {SIZE("dim", dim, "D", "2", 1, 1000000), DATA,
     .help = "gaussian without --covariance: number of parameters. --generate: columns."},
    {REAL("condition", condition, "C", "1", 0, DBL_MAX), DATA,
     .help = "gaussian without --covariance: ratio of its largest to its smallest variance."},

    {TEXT("sampler", sampler, "NAME", "auto"), SAMPLER,
     .help = "Sampler; `sbps list samplers` names them. auto: sbps, for groups boomerang; "
             "surrogate "
             "or full-data hmc where that is counted to be cheaper (docs/auto.md)."},
    {SIZE("batch-size", batch_size, "N", "auto", 1, SIZE_MAX), .auto_text = "auto", SAMPLER,
     .help = "Rows in a mini-batch. A sampler with a band needs at least 2, since their spread "
             "is what it is made of. auto: the cheapest by the noise measured (docs/auto.md)."},
    {REAL("band", band, "K", "auto", 0, 100), .auto_text = "auto", SAMPLER,
     .help =
         "Width of the band over the predicted rate, in standard errors. Wider is less biased "
         "and slower. auto: tuned in warm-up to meet the bias budget."},
    {CHOICE("control-variate", control_variate, "auto|none|gradient|hessian", "auto"), SAMPLER,
     .help =
         "What is known exactly at a reference point and taken out of the mini-batch noise: "
         "nothing, the gradient, or gradient and Hessian. auto: whichever is counted to be "
         "cheapest (docs/auto.md)."},
    {CHOICE("metric", metric, "auto" METRIC_KINDS(KIND_CHOICE), "auto"), SAMPLER,
     .help = "Scaling of the directions the path moves in (docs/metrics.md)."},
    {REAL("refresh-rate", refresh_rate, "RATE", "auto", 0, DBL_MAX), .closed = true,
     .auto_text = "auto", SAMPLER,
     .help = "Velocity refreshments per unit of time; 0 turns them off."},
    {CHOICE("minibatch", minibatch, "auto|window|random|strata", "auto"), SAMPLER,
     .help =
         "Mini-batches are windows of consecutive shuffled rows, rows drawn one by one, or so "
         "many of each stratum of rows that make about as much noise. auto: strata where they "
         "are cheaper or a row could be missed, else windows when the table is large against "
         "the batch (docs/auto.md)."},
    {REAL("bias-budget", bias_budget, "SD", "0.02", 0, 1), SAMPLER,
     .help = "Bias that is tolerated, in posterior standard deviations."},
    {SWITCH("paper", paper), SAMPLER,
     .help =
         "The method as published: k=3, 100 random rows a batch, variance from the last "
         "batch, chords of 0.01, no lack of fit, horizon, control variate, metric, "
         "refreshment or tuning. One thing of ours it keeps: the slope prior begins at the "
         "scale of the Hessian (--slope-prior learned, wide: the paper's and the authors'). "
         "Options given beside it still count."},
    {CHOICE("lack-of-fit", lack_of_fit, "auto|on|off", "auto"), SAMPLER,
     .help = "Widen the band by what a straight line fails to explain of the rate."},
    {CHOICE("pool-variance", pool_variance, "auto|on|off", "auto"), SAMPLER,
     .help =
         "Pool the noise variance over mini-batches instead of trusting the last one alone."},
    {REAL("horizon", horizon, "LENGTH", "auto", 0, INFINITY), .auto_text = "auto", SAMPLER,
     .help = "Longest flight before the rate is observed again, in units of the posterior's "
             "scale; inf: none."},
    {REAL("dt", dt, "TIME", "auto", 0, DBL_MAX), .auto_text = "auto", SAMPLER,
     .help = "Length of the chords over the band. auto: free of scale."},
    {CHOICE("regression", regression, "linear|gp", "linear"), SAMPLER,
     .help = "Model of the rate along a flight: a straight line or a Gaussian process."},
    {CHOICE("weight-decay", weight_decay, "off|on", "off"), SAMPLER,
     .help = "Observations far back along the flight count less; the scale is learned."},
    {SWITCH("slope-repair", slope_repair), SAMPLER,
     .help = "A negative slope of the regression is set to zero."},
    {SIZE("auxiliary", auxiliary, "P", "0", 0, 16), SAMPLER,
     .help =
         "Auxiliary observations ahead of the particle, at 10 p mean proposal times for p = "
         "1 to P, with the last mini-batch."},
    {CHOICE("auxiliary-when", auxiliary_when, "needed|always", "needed"), SAMPLER,
     .help =
         "They are made where the band would fall for ever otherwise, or after every look."},
    {CHOICE("slope-prior", slope_prior, "hessian|learned|wide", "hessian"), SAMPLER,
     .help =
         "Prior of the slope of the rate. hessian: begins at the curvature along the flight "
         "and is learned in units of it. learned: one for all directions, begun uninformed, "
         "as the paper has it. wide: variance 1e5, the mean of all slopes fitted so far, as "
         "in the authors' program."},
    {CHOICE("slope-evidence", slope_evidence, "all|rejected", "all"), SAMPLER,
     .help = "The slope prior learns from all looks of a flight, or without the one that ended "
             "it."},
    {CHOICE("bounce-batch", bounce_batch, "reused|fresh", "reused"), SAMPLER,
     .help = "A flight after a bounce begins with the bounce's own mini-batch, as the paper "
             "has it, or with a fresh one."},
    {REAL("step-size", step_size, "H", "auto", 0, DBL_MAX), .auto_text = "auto", SAMPLER,
     .help = "Step of the discrete samplers: w -= h times the mean gradient per row."},
    {REAL("step-decay", step_decay, "A", "0", 0, 1), .closed = true, SAMPLER,
     .help = "Steps fall as h (1 + i)^-A; 0: they stay."},
    {REAL("metric-beta", metric_beta, "BETA", "0.99", 0, 1), SAMPLER,
     .help = "Adaptive metric: share of the old average of squared gradients that is kept."},
    {REAL("metric-eps", metric_eps, "EPS", "0.0001", 0, DBL_MAX), SAMPLER,
     .help = "Adaptive metric: added to the root of that average."},
    {SWITCH("adapt-forever", adapt_forever), SAMPLER,
     .help = "Go on adapting the metric after warm-up, as the paper does; it biases."},
    {REAL("gradient-noise", gradient_noise, "SD", "0", 0, DBL_MAX), .closed = true, SAMPLER,
     .help = "Gaussian noise added to every component of the gradient, as in Figure 1."},

    {TEXT("start", start, "FILE", ""), MODE, READ,
     .help =
         "Point from a file, as `sbps map --csv` or `sbps laplace --csv` writes it. sample: it "
         "takes the mode's place as start and reference, and its covariance, if it has one, "
         "the "
         "inverse Hessian's in the metric. map, laplace: where the search begins."},
    {CHOICE("method", method, "auto|newton|lbfgs|sag", "auto"), MODE, .not_for_sample = true,
     .help = "map, laplace: how the mode is found. auto: Newton, after L-BFGS where it cannot "
             "begin. "
             "sag: stochastic average gradient, as the paper did, for regressions."},
    {REAL("tolerance", tolerance, "SD", "1e-06", 0, 1), MODE, .not_for_sample = true,
     .help = "map, laplace: lbfgs and sag stop when the gradient says that the mode is so many "
             "posterior standard deviations away. Newton goes to 1e-8."},
    {REAL("max-epochs", max_epochs, "E", "1000", 0, DBL_MAX), MODE, .not_for_sample = true,
     .help = "map, laplace: sag gives up after so many passes through the table."},

    {SIZE("chains", chains, "N", "4", 1, 1024), CHAINS,
     .help = "Independent chains, each from a start of its own."},
    {SIZE("threads", threads, "N", "auto", 1, 1024), .auto_text = "auto", STOP,
     .for_mode = true,
     .help = "Threads for all of it: reading, sums over rows, chains; no result depends on it. "
             "auto: one a processor."},
    {SIZE("seed", seed, "S", "1", 0, SIZE_MAX), CHAINS, .for_mode = true,
     .help = "Seed: the same seed gives the same draws on any number of threads."},
    {SIZE("warmup", warmup, "N", "auto", 0, SIZE_MAX), .auto_text = "auto", CHAINS,
     .help =
         "Proposals of each chain that tune it and are then thrown away. 0: none; what would "
         "be tuned keeps its first value, and the draws begin with the start."},
    {REAL("spread", spread, "SD", "2", 0, DBL_MAX), .closed = true, CHAINS,
     .help =
         "Chains start so many posterior standard deviations around the mode, or around the "
         "point of --start; 0: exactly there."},
    {REAL("ess", ess, "N", "400", 0, DBL_MAX), STOP,
     .help = "Stop when every parameter and its square has this effective sample size over all "
             "chains, along the path and in the stored draws (bulk and tail). When --epochs or "
             "--seconds is given and --ess is not, this rule is off; of "
             "several rules the first that is met stops the run."},
    {REAL("epochs", epochs, "E", "none", 0, DBL_MAX), .auto_text = "none", STOP,
     .help = "Stop when the chains together have touched the table's rows this many times."},
    {REAL("seconds", seconds, "S", "none", 0, DBL_MAX), .auto_text = "none", STOP,
     .help = "Stop after sampling for this long. Such a run cannot be repeated draw for draw."},
    {SIZE("draws", draws, "N", "1000", 4, SIZE_MAX), CHAINS,
     .help =
         "Draws kept of each chain, at least: when there are more than twice as many, "
         "every second is dropped. Of an --ess above the draws of all chains the path alone "
         "has it. A sampler that makes one draw a step, such as hmc, may reach --ess with "
         "fewer and end, unless this option is given; --epochs and --seconds end it in any "
         "case."},

    {TEXT("ranef", ranef, "none|all|FILE", "none"), FILES, WRITTEN,
     .help = "Effects of groups, one draw of each for every draw of the other parameters. all: "
             "they are "
             "parameters like others, r_GROUP[level,COLUMN]. FILE: their summaries as CSV, "
             "however many there are."},
    {TEXT("output", output, "FILE", "run.nc"), FILES, WRITTEN,
     .help =
         "Where the draws go, by the ending: .nc NetCDF for ArviZ, .stan.csv Stan's CSV, one "
         "file a chain, .csv one table."},
    {TEXT("checkpoint", checkpoint, "FILE", ""), FILES, WRITTEN,
     .help = "Write the state of the run here from time to time."},
    {TEXT("resume", resume, "FILE", ""), FILES, READ,
     .help = "Go on from this checkpoint; data and options must be those it was written with."},
    {TEXT("skeleton", skeleton, "FILE", ""), FILES, WRITTEN,
     .help = "Write every event of the path here: time, position, velocity, kind."},
    {TEXT("trace", trace, "FILE", ""), FILES, WRITTEN,
     .help =
         "Write every look of one chain at the slope here: what was seen, what the regression "
         "foresaw, the proposal rate and what became of it."},
    {SIZE("trace-chain", trace_chain, "N", "1", 1, 1024), FILES,
     .help = "The chain that --trace follows."},
    {TEXT("config", config, "FILE", ""), FILES, READ, .for_mode = true,
     .help = "Read options from this file, a `name = value` a line, # starting a comment. What "
             "the command line says wins."},
    {SWITCH("dry-run", dry_run), FILES,
     .help = "Print priors, sizes, memory and what auto would choose; draw nothing."},
    {SWITCH("watch", watch), FILES,
     .help = "Serve a page of the run while it goes on, on this machine alone and to who has "
             "the address that is printed: traces, ESS, R-hat and stated bias so far. It ends "
             "with the run, which draws the same."},
    {CHOICE("progress", progress, "auto|on|off", "auto"), FILES,
     .help =
         "Progress on standard error: a bar on a terminal, else a line every 10 seconds. off "
         "leaves only what was chosen, warnings and errors."},
};

#define FIRST_LINES (sizeof first_lines / sizeof *first_lines)
#define LAST_LINES  (sizeof last_lines / sizeof *last_lines)

static option_spec auxiliary_option(const model_auxiliary *of, size_t index)
{
    option_spec spec = {TEXT(of->option, prior_of, "PRIOR", "auto"), DATA, .help = of->help};
    spec.field += index * sizeof(char *);
    return spec;
}

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
    return place < added ? auxiliary_option(of[place], place) : last_lines[place - added];
}

/* Compares with each name once: it is called for every option a run has. */
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
