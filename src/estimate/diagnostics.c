/* Convergence diagnostics of M chains, each cut into halves of N draws (the middle draw of an
 * odd number is left out), so that C = 2M half chains remain.
 *
 * With s_c^2 the variance within half chain c and B = N var(half-chain means), W = mean s_c^2:
 *
 *   R-hat = sqrt((B/W + N - 1) / N)                                                  (1)
 *   var+  = W (N-1)/N + var(half-chain means)
 *   rho_t = 1 - (W - acov_t) / var+,   acov_t averaged over half chains               (2)
 *   tau   = -1 + 2 sum_{t<T} rho_t + rho_T,   ESS = C N / max(tau, 1/log10(C N))      (3)
 *
 * T: pairs rho_{2k} + rho_{2k+1} are summed while they are positive and made decreasing (Geyer
 * 1992). Autocovariances come from |Fourier transform|^2. Two half chains are transformed
 * together as real and imaginary part, because the real part of the inverse transform of |A +
 * iB|^2 is the autocovariance of a plus that of b.
 *
 *   bulk: (1), (3) of normal scores;  R-hat is the larger of that and of (1) for the scores of
 *   |x - median|;  tail: the smaller (3) of the indicators x <= q5 and x <= q95.
 *
 * Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021), Bayesian Analysis 16, 667-718; details
 * as in R's posterior 1.4.0, with one exception: for two or three draws in each of several
 * chains posterior exchanges rows and columns and returns meaningless numbers; here they are
 * NAN. */
#include "estimate/diagnostics.h"

#include "core/memory.h"
#include "estimate/normal_scores.h"
#include "linalg/kernels.h"
#include "linalg/real.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAGS         ((size_t)8) /* autocovariances computed one by one before the transform */
#define FALSE_ALARMS 0.01        /* probability, if all effects have converged */
#define RHAT_MIN     1.01
#define ESS_ERROR    0.1 /* relative standard error of an ESS */

struct draw_workspace {
    size_t chains, draws;
    bool few_lags;
    size_t count, length; /* C and N */
    double *values;       /* [count][length] */
    double *scores;       /* likewise */
    double *sorted;       /* every draw */
    double *by_rank;      /* scores of N C draws without ties */
    double *acov, *rho;   /* length */
    size_t known;         /* number of acov that were computed */
    double *means;        /* count */
    ranked *sort_buffer;  /* for sorting */
    size_t transform;     /* points */
    point *roots, *z, *spectrum;
};

typedef struct draw_workspace halves;

/* Carves the arrays of the workspace; counts only if the arena has no block. */
static void carve_halves(halves *h, size_t n, arena *memory)
{
    h->values = arena_doubles(memory, n);
    h->scores = arena_doubles(memory, n);
    h->sorted = arena_doubles(memory, n);
    h->by_rank = arena_doubles(memory, n);
    h->acov = arena_doubles(memory, h->length);
    h->rho = arena_doubles(memory, h->length);
    h->means = arena_doubles(memory, h->count);
    h->sort_buffer = arena_take(memory, 2 * n * sizeof *h->sort_buffer);
    h->roots = arena_take(memory, h->transform / 2 * sizeof *h->roots);
    h->z = arena_take(memory, h->transform * sizeof *h->z);
    h->spectrum = arena_take(memory, h->transform * sizeof *h->spectrum);
}

sbps_status draw_workspace_open(size_t chains, size_t draws, bool few_lags,
                                draw_workspace **out, sbps_error *err)
{
    arena memory = {0};
    halves h = {.chains = chains,
                .draws = draws,
                .few_lags = few_lags,
                .count = 2 * chains,
                .length = draws / 2};
    h.transform = fft_size(2 * h.length);
    arena_take(&memory, sizeof h);
    carve_halves(&h, chains * draws, &memory);
    memory = (arena){.base = aligned_zeroed(memory.used), .size = memory.used};
    *out = NULL;
    if (!memory.base) return fail_memory(err);
    *out = arena_take(&memory, sizeof h);
    carve_halves(&h, chains * draws, &memory);
    fft_roots(h.transform, h.roots);
    for (size_t i = 0; i < h.count * h.length; i++)
        h.by_rank[i] = rank_score((double)(i + 1), h.count * h.length);
    **out = h;
    return SBPS_OK;
}

void draw_workspace_close(draw_workspace *workspace)
{
    free(workspace);
}

/* Mean by two passes in long double: the last bit of the median decides ties of |x -
 * median|. */
static double precise_mean(size_t n, const double *x)
{
    long double sum = 0.0L, rest = 0.0L;
    for (size_t i = 0; i < n; i++) sum += x[i];
    long double mean = sum / (long double)n;
    if (!isfinite((double)mean)) return (double)mean;
    for (size_t i = 0; i < n; i++) rest += x[i] - mean;
    return (double)(mean + rest / (long double)n);
}

static double variance_around(size_t n, const double *x, double mean)
{
    if (n < 2) return NAN;
    long double sum = 0.0L;
    for (size_t i = 0; i < n; i++) sum += (long double)(x[i] - mean) * (x[i] - mean);
    return (double)(sum / (long double)(n - 1));
}

static double variance_of(size_t n, const double *x)
{
    return n < 2 ? NAN : variance_around(n, x, precise_mean(n, x));
}

double quantile_sorted(size_t n, const double *sorted, double probability)
{
    if (n == 0) return NAN;
    double place = 1.0 + (double)(n - 1) * probability, below = floor(place);
    double low = sorted[(size_t)below - 1], high = sorted[(size_t)ceil(place) - 1];
    double weight = place - below;
    if (weight == 0.0 || low == high) return low; /* avoids 0 times infinity */
    return (1.0 - weight) * low + weight * high;
}

static bool has_nan(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i])) return true;
    return false;
}

/* True for constant and for infinite values, which have no diagnostics. As in posterior, values
 * within DBL_EPSILON of each other are constant; below 1 in size relative to their size,
 * because a coefficient may have any unit. */
static bool is_degenerate(size_t n, const double *x)
{
    double low = x[0], high = x[0];
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return true;
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    double size = larger(fabs(low), fabs(high));
    return high == low || high - low < DBL_EPSILON * smaller(size, 1.0);
}

/* Splits the chains of x into half chains, and applies map(value, constant) to each value. */
static void split(halves *h, size_t draws, const double *x, double (*map)(double, double),
                  double constant)
{
    size_t chains = h->count / 2, skip = draws - h->length;
    for (size_t c = 0; c < chains; c++) {
        double *first = h->values + 2 * c * h->length, *second = first + h->length;
        for (size_t i = 0; i < h->length; i++) {
            first[i] = map(x[c * draws + i], constant);
            second[i] = map(x[c * draws + skip + i], constant);
        }
    }
}

static double unchanged(double x, double unused)
{
    (void)unused;
    return x;
}

static double distance(double x, double from)
{
    return fabs(x - from);
}

static double is_at_or_below(double x, double bound)
{
    return x <= bound ? 1.0 : 0.0;
}

static void find_means(const halves *h, const double *x)
{
    for (size_t c = 0; c < h->count; c++)
        h->means[c] = precise_mean(h->length, x + c * h->length);
}

/* (1) */
static double rhat_of(const halves *h, const double *x)
{
    double n = (double)h->length, within = 0.0;
    if (h->length < 2 || is_degenerate(h->count * h->length, x)) return NAN;
    find_means(h, x);
    for (size_t c = 0; c < h->count; c++)
        within += variance_around(h->length, x + c * h->length, h->means[c]);
    within /= (double)h->count;
    return sqrt((n * variance_of(h->count, h->means) / within + n - 1.0) / n);
}

/* Adds |transform|^2 of the centred half chains a and b to the spectrum. */
static void add_power(halves *h, const double *a, double mean_a, const double *b, double mean_b)
{
    for (size_t i = 0; i < h->length; i++) h->z[i] = (point){a[i] - mean_a, b[i] - mean_b};
    for (size_t i = h->length; i < h->transform; i++) h->z[i] = (point){0.0, 0.0};
    fft_forward(h->transform, h->roots, h->z);
    for (size_t i = 0; i < h->transform; i++)
        h->spectrum[i].re += h->z[i].re * h->z[i].re + h->z[i].im * h->z[i].im;
}

/* acov_t, averaged over the half chains of x. The spectrum is real, so the forward transform
 * has the real part of the inverse one. */
static void autocovariance(halves *h, const double *x)
{
    memset(h->spectrum, 0, h->transform * sizeof *h->spectrum);
    for (size_t c = 0; c < h->count; c += 2)
        add_power(h, x + c * h->length, h->means[c], x + (c + 1) * h->length, h->means[c + 1]);
    fft_forward(h->transform, h->roots, h->spectrum);
    double scale = 1.0 / ((double)h->transform * (double)h->count * (double)h->length);
    for (size_t t = 0; t < h->length; t++) h->acov[t] = scale * h->spectrum[t].re;
    h->known = h->length;
}

/* The first LAGS autocovariances, term by term. */
static void first_lags(halves *h, const double *x)
{
    const kernels *k = kernels_best();
    double *centred = (double *)h->z, scale = 1.0 / ((double)h->count * (double)h->length);
    h->known = h->length < LAGS ? h->length : LAGS;
    memset(h->acov, 0, h->known * sizeof *h->acov);
    for (size_t c = 0; c < h->count; c++) {
        for (size_t i = 0; i < h->length; i++) centred[i] = x[c * h->length + i] - h->means[c];
        for (size_t t = 0; t < h->known; t++)
            h->acov[t] += scale * k->dot(h->length - t, centred, centred + t);
    }
}

/* acov_t; all are computed by the transform if t is beyond those known. */
static double covariance_at(halves *h, const double *x, size_t t)
{
    if (t >= h->known) autocovariance(h, x);
    return h->acov[t];
}

/* Computes rho by (2) while pairs are positive; returns T. */
static size_t correlations(halves *h, const double *x, double within, double var_plus)
{
    double even = 1.0, odd = 1.0 - (within - covariance_at(h, x, 1)) / var_plus;
    size_t t = 0;
    memset(h->rho, 0, h->length * sizeof *h->rho);
    h->rho[0] = even;
    h->rho[1] = odd;
    while (t + 5 < h->length && even + odd > 0.0) {
        t += 2;
        even = 1.0 - (within - covariance_at(h, x, t)) / var_plus;
        odd = 1.0 - (within - covariance_at(h, x, t + 1)) / var_plus;
        if (even + odd < 0.0) continue;
        h->rho[t] = even;
        h->rho[t + 1] = odd;
    }
    if (even > 0.0) h->rho[t] = even; /* better for antithetic chains */
    return t;
}

/* (3) */
static double ess_of(halves *h, const double *x)
{
    size_t n = h->count * h->length;
    if (h->length < 3 || is_degenerate(n, x)) return NAN;
    find_means(h, x);
    if (h->few_lags)
        first_lags(h, x);
    else
        autocovariance(h, x);
    double within = h->acov[0] * (double)h->length / (double)(h->length - 1);
    double var_plus = h->acov[0] + variance_of(h->count, h->means);
    size_t last = correlations(h, x, within, var_plus);
    /* Geyer's initial monotone sequence: no pair exceeds the one before. */
    for (size_t t = 2; t + 2 <= last; t += 2) {
        double before = h->rho[t - 2] + h->rho[t - 1];
        if (h->rho[t] + h->rho[t + 1] > before) h->rho[t] = h->rho[t + 1] = 0.5 * before;
    }
    double sum = h->rho[0]; /* also when T = 0 */
    for (size_t t = 1; t < last; t++) sum += h->rho[t];
    double tau = -1.0 + 2.0 * sum + h->rho[last];
    return (double)n / fmax(tau, 1.0 / log10((double)n));
}

/* Normal scores of h->values; false: there are NaNs. */
static bool score(halves *h)
{
    size_t n = h->count * h->length;
    if (has_nan(n, h->values)) return false;
    order_scores(n, sort_ranked(n, h->values, h->sort_buffer), h->by_rank, h->scores);
    return true;
}

/* Orders |x - median| by merging the sorted values below and above the median. */
static const ranked *fold_order(size_t n, double median, const ranked *order, ranked *to)
{
    size_t above = 0, made = 0;
    while (above < n && order[above].value < median) above++;
    for (size_t below = above; made < n; made++) {
        double low = below > 0 ? fabs(order[below - 1].value - median) : INFINITY;
        double high = above < n ? fabs(order[above].value - median) : INFINITY;
        bool left = below > 0 && (above == n || low < high);
        const ranked *next = left ? &order[--below] : &order[above++];
        to[made] = (ranked){left ? low : high, next->index};
    }
    return to;
}

/* ESS of the indicator x <= bound. */
static double ess_below(halves *h, size_t draws, const double *x, double bound)
{
    split(h, draws, x, is_at_or_below, bound);
    return ess_of(h, h->values);
}

/* Sorts all draws; returns their order, which is valid until the next sort. */
static const ranked *sort_draws(halves *h, size_t n, const double *x)
{
    const ranked *order = sort_ranked(n, x, h->sort_buffer);
    for (size_t i = 0; i < n; i++) h->sorted[i] = order[i].value;
    return order;
}

/* Bulk ESS and R-hat, from scores of the draws and of their distances from the median. With an
 * even number of draws none is left out: half chains are stored as the chains are, and the
 * order of all draws is theirs. */
static void score_halves(halves *h, const double *x, const ranked *order, draw_summary *out)
{
    size_t n = h->chains * h->draws;
    bool known = h->draws % 2 == 0;
    double median = n % 2 ? h->sorted[n / 2] : precise_mean(2, h->sorted + n / 2 - 1);
    ranked *other = order == h->sort_buffer ? h->sort_buffer + n : h->sort_buffer;
    if (known)
        order_scores(n, order, h->by_rank, h->scores);
    else if (!score(h))
        return;
    out->ess_bulk = ess_of(h, h->scores);
    double bulk = rhat_of(h, h->scores), folded = NAN;
    if (known && isfinite(median))
        order_scores(n, fold_order(n, median, order, other), h->by_rank, h->scores);
    else
        split(h, h->draws, x, distance, median);
    if ((known && isfinite(median)) || score(h)) folded = rhat_of(h, h->scores);
    /* NAN if either of the two is */
    out->rhat = isnan(bulk) ? bulk : larger(bulk, folded);
}

/* The quantities that need half chains: ESS, R-hat, Monte Carlo error. */
static void summarize_halves(halves *h, const double *x, const ranked *order, draw_summary *out)
{
    split(h, h->draws, x, unchanged, 0.0);
    out->ess_mean = ess_of(h, h->values);
    out->mcse_mean = out->sd / sqrt(out->ess_mean);
    score_halves(h, x, order, out);
    if (is_degenerate(h->chains * h->draws, x)) return;
    double low = ess_below(h, h->draws, x, out->q5), high = ess_below(h, h->draws, x, out->q95);
    out->ess_tail = isnan(low) ? NAN : smaller(low, high);
}

static const draw_summary all_unknown = {
#define UNKNOWN(name) .name = NAN,
    DRAW_SUMMARY(UNKNOWN)
#undef UNKNOWN
};

void summarize_in(draw_workspace *workspace, const double *x, draw_summary *out)
{
    size_t n = workspace->chains * workspace->draws;
    *out = all_unknown;
    if (n == 0 || has_nan(n, x)) return;
    const ranked *order = sort_draws(workspace, n, x);
    out->mean = precise_mean(n, x);
    out->sd = sqrt(variance_of(n, x));
    out->q5 = quantile_sorted(n, workspace->sorted, 0.05);
    out->q50 = quantile_sorted(n, workspace->sorted, 0.5);
    out->q95 = quantile_sorted(n, workspace->sorted, 0.95);
    if (workspace->length >= 2) summarize_halves(workspace, x, order, out);
}

void summarize_mean_in(draw_workspace *workspace, const double *x, draw_summary *out)
{
    size_t n = workspace->chains * workspace->draws;
    *out = all_unknown;
    if (n == 0 || has_nan(n, x)) return;
    out->mean = precise_mean(n, x);
    out->sd = sqrt(variance_of(n, x));
    if (workspace->length < 2) return;
    split(workspace, workspace->draws, x, unchanged, 0.0);
    out->ess_mean = ess_of(workspace, workspace->values);
    out->mcse_mean = out->sd / sqrt(out->ess_mean);
}

sbps_status summarize_draws(size_t chains, size_t draws, const double *x, draw_summary *out,
                            sbps_error *err)
{
    draw_workspace *workspace;
    *out = all_unknown;
    if (chains * draws == 0 || has_nan(chains * draws, x)) return SBPS_OK;
    sbps_status status = draw_workspace_open(chains, draws, false, &workspace, err);
    if (status != SBPS_OK) return status;
    summarize_in(workspace, x, out);
    draw_workspace_close(workspace);
    return SBPS_OK;
}

/* ---- effects of groups ---- */

void effect_check_add(effect_check *c, size_t at, double rhat, double ess_bulk, double ess_tail)
{
    double ess = fmin(ess_bulk, ess_tail);
    c->count++;
    c->undefined += isnan(rhat);
    if (rhat > c->rhat) {
        c->rhat = rhat;
        c->rhat_at = at;
    }
    if (!(ess > 0.0)) return;
    if (c->with_ess == 0 || ess < c->ess) {
        c->ess = ess;
        c->ess_at = at;
    }
    c->log_ess += log(ess);
    c->with_ess++;
}

double effect_check_mean_ess(const effect_check *c)
{
    return c->with_ess ? exp(c->log_ess / (double)c->with_ess) : NAN;
}

/* The quantile that the largest of `effects` normals exceeds with probability FALSE_ALARMS /
 * 2. */
static double extreme_quantile(size_t effects)
{
    return normal_quantile(1.0 - FALSE_ALARMS / (2.0 * (double)effects));
}

double effect_rhat_limit(size_t effects, double mean_ess, size_t chains)
{
    double m = 2.0 * (double)chains, k = m - 1.0, part = 2.0 / (9.0 * k);
    if (effects == 0 || !(mean_ess > 0.0)) return RHAT_MIN;
    double chi = pow(1.0 - part + extreme_quantile(effects) * sqrt(part),
                     3.0); /* chi^2 over k, by Wilson and Hilferty */
    return fmax(RHAT_MIN, sqrt(1.0 + m / mean_ess * chi));
}

double effect_ess_limit(size_t effects, double required)
{
    return effects ? required * exp(-ESS_ERROR * extreme_quantile(effects)) : required;
}

/* ---- Fourier transform ----
 *
 * Equation numbers are of this section.
 *
 * Radix-2 transform, decimation in time: with E and O the transforms of the even and the odd
 * points,
 *
 *   Z_k = E_k + r^k O_k,   Z_{k+n/2} = E_k - r^k O_k,   r = exp(-2 pi i / n)    (1)
 *
 * applied to blocks of 2, 4, ..., n points after the points were put in bit-reversed order.
 *
 * Cooley, Tukey (1965), Mathematics of Computation 19, 297-301. */

size_t fft_size(size_t n)
{
    size_t size = 1;
    while (size < n) size *= 2;
    return size;
}

void fft_roots(size_t n, point *roots)
{
    const double pi = 3.14159265358979323846;
    for (size_t k = 0; k < n / 2; k++) {
        double angle = -2.0 * pi * (double)k / (double)n;
        roots[k] = (point){cos(angle), sin(angle)};
    }
}

/* j is i with its bits in reverse order; the inner loop adds one to it from the highest bit
 * down. */
static void reverse_bits(size_t n, point *z)
{
    for (size_t i = 0, j = 0; i < n; i++) {
        if (i < j) {
            point kept = z[i];
            z[i] = z[j];
            z[j] = kept;
        }
        size_t bit = n / 2;
        while (bit && (j & bit)) {
            j ^= bit;
            bit /= 2;
        }
        j |= bit;
    }
}

/* (1) for one block of 2*half points. */
static void butterfly(size_t half, size_t stride, const point *roots, point *z)
{
    for (size_t k = 0; k < half; k++) {
        point r = roots[k * stride], a = z[k], b = z[k + half];
        point rotated = {r.re * b.re - r.im * b.im, r.re * b.im + r.im * b.re};
        z[k] = (point){a.re + rotated.re, a.im + rotated.im};
        z[k + half] = (point){a.re - rotated.re, a.im - rotated.im};
    }
}

void fft_forward(size_t n, const point *roots, point *z)
{
    reverse_bits(n, z);
    for (size_t half = 1; half < n; half *= 2)
        for (size_t start = 0; start < n; start += 2 * half)
            butterfly(half, n / (2 * half), roots, z + start);
}
