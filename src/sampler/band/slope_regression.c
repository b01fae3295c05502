/* The band over G, and what is learned about it.
 *
 * Noise: c^2 is pooled over the segment with a running mean in units of u'Hu. Slope: b1 ~
 * N(mu, s2), learned from the segments' evidence (regression.c). The observation that ended
 * a segment is part of its evidence: it caused a bounce because G~ was large, and slopes
 * fitted without it are too low.
 *
 * Lack of fit: a straight line is right only near the observations. Beyond the latest one at
 * t_n the slope deviates by a further delta ~ N(0, kappa), which adds kappa (t - t_n)^2 to
 * the variance of G; that is quadratic in t, so the band stays convex. With S the variance
 * that was predicted for an observation at t, r the residual and h = t - t_n, one step of EM
 * on delta gives
 *
 *     kappa <- kappa (1 + rate share (r^2/S - 1)),    share = kappa h^2 / S.                (1)
 *
 * kappa follows the path: where G curves it grows within a few observations, and they become
 * more frequent. That lambda depends on the past is valid, since thinning requires only that
 * it lies above G. Where noise dominates, share is small and kappa stays near its floor,
 * where it begins.
 *
 * Decaying weights: at an observation the sums are multiplied by exp(-h/tau). The scale tau
 * climbs the predictive likelihood of each observation, by its difference between two
 * neighbouring scales:
 *
 *     log tau <- log tau + rate (l(tau e^D) - l(tau e^-D)) / 2D.                            (2)
 *
 * Weights are those at the latest observation, not at t, so here too the band is convex in
 * t. */
#include "sampler/band/slope_regression.h"

#include "linalg/real.h"

#include <float.h>
#include <math.h>

#define VARIANCE_MEMORY 1000.0 /* observations over which the running variance averages */
/* of c^2 / u'Hu: keeps the regression solvable without noise */
#define NOISE_FLOOR 1e-6
#define DRIFT_RATE  0.1
/* of share (r^2/S - 1): limits the effect of one unusual observation */
#define DRIFT_MAX  10.0
#define DRIFT_MIN  0.01 /* of the slope prior's variance; also the initial value */
#define TAU_FIRST  3.0  /* natural units */
#define TAU_MIN    0.05
#define TAU_MAX    1e3
#define SCALE_RATE 0.02
#define SCALE_STEP 0.25 /* D */
#define SCALE_MAX  4.0  /* of a difference quotient */
/* of a prior that begins wide: as in the program of the paper's authors */
#define SLOPE_VARIANCE 1e5
/* length of the first chord relative to the horizon, at most */
#define CHORD_FRACTION 0.25
/* fixed chords without a horizon: a new observation after this many */
#define CHORDS_MAX 1e5

void slope_regression_start(slope_regression *f, const band_settings *set)
{
    static const slope_prior first = {1.0, 1.0}, wide = {0.0, SLOPE_VARIANCE};
    *f = (slope_regression){.prior = set->slope_prior == SLOPE_HESSIAN ? first : wide,
                            .drift = DRIFT_MIN,
                            .decay = {.log_tau = log(TAU_FIRST)},
                            .gp_scale = {.variance = 1.0, .length = 1.0}};
}

void slope_regression_clear(slope_regression *f, double curvature)
{
    f->curvature = curvature;
    f->speed = sqrt(curvature);
    f->last_time = f->noise_sum = f->noise_count = 0.0;
    regression_clear(&f->fit);
    regression_clear(&f->decay.shorter);
    regression_clear(&f->decay.longer);
    process_clear(&f->gp);
}

/* ---- variances ---- */

static double noise_floor(const slope_regression *f)
{
    return NOISE_FLOOR * f->curvature;
}

/* c^2 of the noise: mean over the segment's observations and the running mean, which counts
 * for `pool`. */
static double pooled_variance(const slope_regression *f, double pool)
{
    double inverse_count = 1.0 / (pool + f->noise_count); /* independent of the sum below */
    return (pool * f->running * f->curvature + f->noise_sum) * inverse_count;
}

/* Variance of an observation of weight 1: pooled, or 1 where weights are 1/c^2 themselves. */
static double unit_variance(const slope_regression *f, const band_settings *set)
{
    return set->pool > 0.0 ? pooled_variance(f, set->pool) : 1.0;
}

/* Variance of the next observation. */
static double next_variance(const slope_regression *f, const band_settings *set)
{
    return set->pool > 0.0 ? pooled_variance(f, set->pool)
                           : larger(f->last_noise, noise_floor(f));
}

/* The slope prior in units of G. */
static slope_prior scaled_prior(const slope_regression *f, const band_settings *set)
{
    double c = set->slope_prior == SLOPE_HESSIAN ? f->curvature : 1.0;
    return (slope_prior){.mean = f->prior.mean * c, .variance = f->prior.variance * c * c};
}

/* ---- observations ---- */

/* The time scale tau e^offset of decaying weights. */
static double tau(const slope_regression *f, double offset)
{
    return exp(f->decay.log_tau + offset) / f->speed;
}

/* Multiplies the sums by the decay over time h. */
static void decay_weights(slope_regression *f, double h)
{
    regression_scale(&f->fit, exp(-h / tau(f, 0.0)));
    regression_scale(&f->decay.shorter, exp(-h / tau(f, -SCALE_STEP)));
    regression_scale(&f->decay.longer, exp(-h / tau(f, SCALE_STEP)));
}

/* Adds an observation with noise variance c2 to the regression, the shorter and longer sums,
 * and the process. */
static void add(slope_regression *f, const band_settings *set, double t, double g, double c2)
{
    double weight = set->pool > 0.0 ? 1.0 : 1.0 / c2;
    regression_add(&f->fit, t, g, weight);
    if (set->weight_decay) {
        regression_add(&f->decay.shorter, t, g, weight);
        regression_add(&f->decay.longer, t, g, weight);
    }
    if (set->process) process_add(&f->gp, t, g);
}

/* The mean of a wide prior is that of all slopes fitted so far, one per observation. */
static void follow_slope(slope_regression *f, const band_settings *set)
{
    regression_fit fit = regression_solve(&f->fit, f->prior, unit_variance(f, set), 0.0);
    f->prior.mean += (fit.b1 - f->prior.mean) / ++f->fitted;
}

void slope_regression_add(slope_regression *f, const band_settings *set, double t,
                          const observation *o)
{
    double c2 = larger(o->variance, noise_floor(f));
    if (set->weight_decay) decay_weights(f, t - f->last_time);
    add(f, set, t, o->slope, c2);
    f->noise_sum += c2;
    f->noise_count++;
    f->last_noise = o->variance;
    f->last_time = t;
    double rate = 1.0 / smaller(++f->running_count, VARIANCE_MEMORY);
    f->running += (c2 / f->curvature - f->running) * rate;
    if (set->slope_prior == SLOPE_WIDE) follow_slope(f, set);
}

void slope_regression_add_ahead(slope_regression *f, const band_settings *set, double t,
                                const observation *o)
{
    add(f, set, t, o->slope, larger(o->variance, noise_floor(f)));
}

void slope_regression_shift(slope_regression *f, double jump)
{
    regression_shift(&f->fit, jump);
    regression_shift(&f->decay.shorter, jump);
    regression_shift(&f->decay.longer, jump);
    process_shift(&f->gp, jump);
}

/* ---- the band ---- */

static process_scale scaled_process(const slope_regression *f)
{
    double c = f->curvature;
    return (process_scale){.variance = f->gp_scale.variance * c,
                           .length = f->gp_scale.length / f->speed};
}

band slope_regression_band(slope_regression *f, const band_settings *set)
{
    double unit = unit_variance(f, set), next = next_variance(f, set);
    band b = {.k = set->width, .floor = set->floor * f->speed};
    if (set->process) {
        process_fit(&f->gp, scaled_prior(f, set), scaled_process(f), next);
        b.curve = &f->gp;
        return b;
    }
    b.fit = regression_solve(&f->fit, scaled_prior(f, set), unit, next);
    if (set->slope_repair) fit_repair_slope(&b.fit);
    if (!set->lack_of_fit) return b;
    regression_admit_misfit(&f->fit, unit, &b.fit);
    fit_admit_drift(&b.fit, f->drift * f->curvature * f->curvature, f->last_time);
    return b;
}

chord_grid slope_regression_grid(const slope_regression *f, const band_settings *set,
                                 const band *b, double t, double duration_max, double until)
{
    bool fixed = !isnan(set->chord);
    double reach = smaller(set->horizon / f->speed, duration_max), rate = band_at(b, t);
    if (fixed) reach = smaller(reach, CHORDS_MAX * set->chord);
    chord_grid grid = {.start = t, .limit = smaller(t + reach, until)};
    grid.growth = fixed ? 1.0 : 2.0;
    grid.step = fixed ? set->chord : CHORD_FRACTION * (grid.limit - t);
    if (!fixed && rate > 0.0) grid.step = smaller(grid.step, 0.5 / rate);
    grid.longest = set->process ? 0.5 * scaled_process(f).length : INFINITY;
    grid.step = smaller(grid.step, grid.longest);
    return grid;
}

/* ---- learning ---- */

/* Lack of fit: updates kappa. */
static void learn_drift(slope_regression *f, const band_settings *set, const band *b, double t,
                        double g) /* (1) */
{
    double unit = f->curvature * f->curvature, h = t - f->last_time, kappa = f->drift * unit;
    double r = g - fit_mean(&b->fit, t), precision = 1.0 / fit_variance(&b->fit, t);
    double step = kappa * h * h * precision * (r * r * precision - 1.0);
    double x = DRIFT_RATE * smaller(step, DRIFT_MAX);
    /* e^x for x from -0.1 to 1, to second order: cheaper than exp */
    f->drift *= 1.0 + x * (1.0 + 0.5 * x);
    f->drift = larger(f->drift, DRIFT_MIN * scaled_prior(f, set).variance / unit);
}

static double log_normal(double r, double variance)
{
    return -0.5 * (log(variance) + r * r / variance);
}

/* Step of a log scale from the log likelihoods at two neighbouring scales. */
static double scale_step(double low, double high)
{
    double slope = (high - low) / (2.0 * SCALE_STEP);
    return SCALE_RATE * larger(-SCALE_MAX, smaller(SCALE_MAX, slope));
}

/* Predictive log likelihood of g at t under the straight line through these sums. */
static double predicted(const slope_regression *f, const band_settings *set,
                        const regression *sums, double t, double g)
{
    regression_fit fit = regression_solve(sums, scaled_prior(f, set), unit_variance(f, set),
                                          next_variance(f, set));
    return log_normal(g - fit_mean(&fit, t), fit_variance(&fit, t));
}

static void learn_tau(slope_regression *f, const band_settings *set, double t,
                      double g) /* by (2) */
{
    double low = predicted(f, set, &f->decay.shorter, t, g);
    double high = predicted(f, set, &f->decay.longer, t, g);
    double next = f->decay.log_tau + scale_step(low, high);
    f->decay.log_tau = larger(log(TAU_MIN), smaller(log(TAU_MAX), next));
}

/* The same under a process of this scale. */
static double process_predicted(const slope_regression *f, const band_settings *set,
                                process_scale scale, double t, double g)
{
    process trial = f->gp;
    double mean, variance;
    process_fit(&trial, scaled_prior(f, set), scale, next_variance(f, set));
    process_predict(&trial, t, &mean, &variance);
    return log_normal(g - mean, variance);
}

/* Variance and length of the process climb the predictive likelihood. */
static void learn_process(slope_regression *f, const band_settings *set, double t,
                          double g) /* by (2) */
{
    double up = exp(SCALE_STEP);
    process_scale at = scaled_process(f);
    process_scale quiet = {at.variance / up, at.length}, loud = {at.variance * up, at.length};
    process_scale near = {at.variance, at.length / up}, far = {at.variance, at.length * up};
    double amount = scale_step(process_predicted(f, set, quiet, t, g),
                               process_predicted(f, set, loud, t, g));
    double reach =
        scale_step(process_predicted(f, set, near, t, g), process_predicted(f, set, far, t, g));
    f->gp_scale.variance = larger(1e-6, smaller(1e8, f->gp_scale.variance * exp(amount)));
    f->gp_scale.length = larger(TAU_MIN, smaller(TAU_MAX, f->gp_scale.length * exp(reach)));
}

void slope_regression_learn(slope_regression *f, const band_settings *set, const band *b,
                            double t, double g)
{
    if (!(t > f->last_time)) return;
    if (set->weight_decay) learn_tau(f, set, t, g);
    if (set->process)
        learn_process(f, set, t, g);
    else if (set->lack_of_fit)
        learn_drift(f, set, b, t, g);
}

void slope_regression_end(slope_regression *f, const band_settings *set, double t,
                          const observation *last)
{
    /* its noise counts in the next segment, which begins with its batch */
    if (last && !set->rejected_evidence) {
        if (set->weight_decay) decay_weights(f, t - f->last_time);
        add(f, set, t, last->slope, larger(last->variance, noise_floor(f)));
        if (set->slope_prior == SLOPE_WIDE) follow_slope(f, set);
    }
    if (set->slope_prior != SLOPE_WIDE) {
        /* One gradient step on the segment's evidence. */
        double c = set->slope_prior == SLOPE_HESSIAN ? f->curvature : 1.0;
        slope_prior learned = scaled_prior(f, set);
        slope_prior_learn(&learned, &f->fit, unit_variance(f, set), set->learning_rate);
        f->prior =
            (slope_prior){.mean = learned.mean / c, .variance = learned.variance / (c * c)};
    }
}

/* ---- read back ---- */

/* The parameters that are learned over segments. */
static void inspect_learned(const slope_regression *f, inspection *x)
{
    INSPECT_REAL(x, f->running, 0.0, DBL_MAX);
    INSPECT_REAL(x, f->running_count, 0.0, DBL_MAX);
    INSPECT_REAL(x, f->prior.mean, -DBL_MAX, DBL_MAX);
    INSPECT_REAL(x, f->prior.variance, DBL_MIN, DBL_MAX);
    INSPECT_REAL(x, f->fitted, 0.0, DBL_MAX);
    INSPECT_REAL(x, f->drift, 0.0, DBL_MAX);
    INSPECT_REAL(x, f->decay.log_tau, log(TAU_MIN) - 1.0, log(TAU_MAX) + 1.0);
    INSPECT_REAL(x, f->gp_scale.variance, DBL_MIN, DBL_MAX);
    INSPECT_REAL(x, f->gp_scale.length, DBL_MIN, DBL_MAX);
}

void slope_regression_inspect(const slope_regression *f, inspection *x)
{
    const double *const segment_reals[] = {&f->curvature,  &f->speed,     &f->last_time,
                                           &f->last_noise, &f->noise_sum, &f->noise_count};
    for (size_t i = 0; i < sizeof segment_reals / sizeof *segment_reals; i++)
        inspect_any(x, segment_reals[i], sizeof *segment_reals[i]);
    INSPECT_ANY(x, f->fit);
    INSPECT_ANY(x, f->decay.shorter);
    INSPECT_ANY(x, f->decay.longer);
    INSPECT_ANY(x, f->gp);
    inspect_count(x, "the observations of a process", &f->gp.count, PROCESS_MAX);
    inspect_learned(f, x);
}

/* ---- arrivals ----
 *
 * gamma(t) = b1 t + b0 + k sqrt(v00 + 2 v01 t + v11 t^2 + noise) is convex, and so is its
 * maximum with a constant: chords between any nodes bound it from above. On a chord with
 * rate a + b s the arrival solves a s + b s^2/2 = E: s = 2 E / (a + sqrt(a^2 + 2 b E)).
 *
 * The band over a Gaussian process is not convex: there each chord is compared with the band
 * at points between its ends and raised by twice what is missing. Should a little still be
 * missing, the sampler's count of violations shows it, because it compares G with the chord.
 *
 * How often should G~ exceed lambda? Given the past and the time t of a proposal, G~ comes
 * from a fresh batch: it is N(mean, rho^2) if the regression is right, whatever thinning
 * does with it, so that
 *
 *     P(G~ > lambda) = Q(z),   z = (lambda - mean(t)) / rho(t) >= k,                        (1)
 *
 * with lambda as it was used: chords and floor lie above the band, so that k alone would
 * predict too many. The sum of (1) over proposals less the number of violations is a
 * martingale. Q is the normal tail by Sampford's (1953) bound of Mills' ratio, which costs
 * one exponential:
 *
 *     Q(z) < phi(z) 4 / (3 z + sqrt(z^2 + 8)). */

#define CHECKPOINTS 3 /* between the ends of a chord over a process */

double band_mean(const band *b, double t)
{
    double mean, variance;
    if (!b->curve) return fit_mean(&b->fit, t);
    process_predict(b->curve, t, &mean, &variance);
    return mean;
}

double band_sd(const band *b, double t)
{
    double mean, variance;
    if (!b->curve) return fit_sd(&b->fit, t);
    process_predict(b->curve, t, &mean, &variance);
    return sqrt(variance);
}

#define INVERSE_ROOT_2PI 0.39894228040143267794

double band_violation(const band *b, const arrival *a)
{
    const regression_fit *f =
        &b->fit; /* fit_mean and fit_sd inlined by hand: called at every proposal */
    double t = a->time, mean = f->b0 + f->b1 * t;
    double variance = f->v00 + t * (2.0 * f->v01 + t * f->v11) + f->noise;
    if (b->curve) process_predict(b->curve, t, &mean, &variance);
    double z2 = (a->rate - mean) * (a->rate - mean) / variance, z = sqrt(z2);
    return INVERSE_ROOT_2PI * exp(-0.5 * z2) * 4.0 / (3.0 * z + sqrt(z2 + 8.0));
}

double band_rise(const band *b)
{
    double mean = b->fit.b1, variance = b->fit.v11;
    if (b->curve) process_slope(b->curve, &mean, &variance);
    return mean + b->k * sqrt(variance);
}

double band_at_curve(const band *b, double t)
{
    double mean, variance;
    process_predict(b->curve, t, &mean, &variance);
    return mean + b->k * sqrt(variance);
}

/* How much a chord from rate r0 at t to rate r1 at t + h has to be raised to bound the band. */
static double shortfall(const band *b, double t, double h, double r0, double r1)
{
    double largest = 0.0;
    if (!b->curve) return 0.0;
    for (int i = 1; i <= CHECKPOINTS; i++) {
        double fraction = i / (CHECKPOINTS + 1.0);
        largest = larger(largest, band_at(b, t + fraction * h) - (r0 + fraction * (r1 - r0)));
    }
    return 2.0 * largest;
}

/* Fraction of a chord of length h from rate r0 to r1 at which its positive part has
 * integrated to `*left`. If the integral does not reach that, `*left` is reduced by the
 * whole and 1 is returned. */
static double chord_fraction(double r0, double r1, double h, double *left)
{
    double rise = r1 - r0, from = 0.0, to = 1.0;
    if (r0 <= 0.0 && r1 <= 0.0) return 1.0;
    if (r0 < 0.0) from = -r0 / rise;
    if (r1 < 0.0) to = -r0 / rise;
    double a = larger(r0, 0.0), mass = 0.5 * (a + larger(r1, 0.0)) * (to - from) * h;
    if (mass < *left) {
        *left -= mass;
        return 1.0;
    }
    double rest = *left / h, root = a * a + 2.0 * rise * rest;
    *left = 0.0;
    return smaller(from + 2.0 * rest / (a + sqrt(larger(root, 0.0))), 1.0);
}

arrival band_arrival(const band *b, const chord_grid *grid, double exponential)
{
    double t = grid->start, step = grid->step, left = exponential, r0 = band_at(b, t);
    while (t < grid->limit) {
        double next = smaller(t + step, grid->limit), h = next - t, r1 = band_at(b, next);
        double lift = shortfall(b, t, h, r0, r1);
        double fraction = chord_fraction(r0 + lift, r1 + lift, h, &left);
        if (left == 0.0)
            return (arrival){.arrived = true,
                             .time = t + fraction * h,
                             .rate = r0 + (r1 - r0) * fraction + lift};
        if (next == t) break; /* the step is lost in rounding */
        t = next;
        r0 = r1;
        step *= grid->growth;
        if (grid->longest > 0.0) step = smaller(step, grid->longest);
    }
    return (arrival){.arrived = false, .time = grid->limit, .rate = larger(r0, 0.0)};
}
