/* Power scaling: how far the posterior of each parameter moves if the prior, or the likelihood,
 * is raised to the power a. With draws x_(1) < ... < x_(S), weights proportional to exp((a - 1)
 * log p_s), smoothed (linalg/pareto.c), and P and Q the distribution functions without and with
 * the weights,
 *
 *   D^2(P, Q) = int P log2 P/M + Q log2 Q/M dx / int P + Q dx,    M = (P + Q)/2         (1)
 *
 * the larger of x and -x: the cumulative Jensen-Shannon distance. The sensitivity is its slope
 * in log2 a,
 *
 *   (D(a = 1.01)/log2 1.01 + D(a = 0.99)/-log2 0.99) / 2                                (2)
 *
 * Kallioinen, Paananen, Buerkner, Vehtari (2024), Detecting and diagnosing prior and likelihood
 * sensitivity with power-scaling, Statistics and Computing 34, 57. Their threshold is 0.05.
 * Priors are scaled as densities of the reported parameters, so the Jacobians of the sampler's
 * coordinates are removed first. Weights of classes, which are identified by the priors alone,
 * are taken relative to the first class. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include "linalg/pareto.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOWER     0.99 /* the powers a of (2) */
#define UPPER     1.01
#define THRESHOLD 0.05 /* of the sensitivity, for a diagnosis */

enum { PRIOR_DOWN, PRIOR_UP, LIKELIHOOD_DOWN, LIKELIHOOD_UP, SCALINGS };

/* Importance weights of the draws for each scaling. */
typedef struct {
    const result *r;
    size_t n; /* draws */
    double *log_prior;
    double *weight[SCALINGS]; /* sum to 1; NULL: the density is constant, or not finite */
    ranked_weight *rank;      /* buffer; the sorted draws of a parameter */
} scaling;

/* ---- the prior density of the reported parameters ---- */

/* log |d parameter / d coordinate| */
static double log_jacobian(coordinate_scale scale, double x)
{
    if (scale == SCALE_LOG) return log(x);
    if (scale == SCALE_LOGIT) return log(x) + log1p(-x);
    return scale == SCALE_TANH ? log1p(-x * x) : 0.0;
}

/* Is it the only correlation of its factor? With several the coordinates are partial
 * correlations, and no Jacobian is removed. */
static bool is_only_correlation(const result *r, const char *name)
{
    const char *end = strstr(name, "__");
    size_t count = 0;
    for (size_t j = 0; end && j < r->dim; j++)
        count += isnan(r->column_mean[j]) &&
                 strncmp(r->names[j], name, (size_t)(end - name) + 2) == 0;
    return count == 1;
}

/* The scale of the coordinate of parameter j. Coefficients are recognised by their design
 * column. */
static coordinate_scale scale_of(const result *r, size_t j)
{
    const char *name = r->names[j];
    if (!isnan(r->column_mean[j])) return SCALE_PLAIN;
    const model_kind *model = model_find(r->info.model ? r->info.model : "");
    bool groups = r->info.formula && strchr(r->info.formula, '|') && strstr(name, "__");
    for (size_t a = 0; model && a < model->auxiliary_count; a++)
        if (strcmp(model->auxiliaries[a].name, name) == 0) return model->auxiliaries[a].scale;
    if (groups && strncmp(name, "sd_", 3) == 0) return SCALE_LOG;
    return groups && strncmp(name, "cor_", 4) == 0 && is_only_correlation(r, name)
               ? SCALE_TANH
               : SCALE_PLAIN;
}

/* The log prior density of the reported parameters at every draw. */
static void compute_log_prior(scaling *p)
{
    const result *r = p->r;
    memcpy(p->log_prior, r->log_prior, p->n * sizeof *p->log_prior);
    for (size_t j = 0; j < r->dim; j++) {
        coordinate_scale scale = scale_of(r, j);
        for (size_t s = 0; scale != SCALE_PLAIN && s < p->n; s++)
            p->log_prior[s] -= log_jacobian(scale, r->w[s * r->dim + j]);
    }
}

/* ---- weights ---- */

/* Constant up to rounding, or not finite. */
static bool is_constant(size_t n, const double *x)
{
    double low = x[0], high = x[0], size = fabs(x[0]);
    for (size_t s = 0; s < n; s++) {
        if (!isfinite(x[s])) return true;
        low = fmin(low, x[s]);
        high = fmax(high, x[s]);
    }
    return high - low <= 1e-12 * size;
}

/* Smoothed weights for a density to the power alpha; *out stays NULL where it is constant.
 * False when memory runs out. */
static bool make_weights(scaling *p, const double *log_density, double alpha, double **out)
{
    if (is_constant(p->n, log_density)) return true;
    double *w = *out = new_doubles(p->n), top = -INFINITY, sum = 0.0;
    if (!w) return false;
    for (size_t s = 0; s < p->n; s++) w[s] = (alpha - 1.0) * log_density[s];
    pareto_smooth(p->n, w, p->rank);
    for (size_t s = 0; s < p->n; s++) top = fmax(top, w[s]);
    for (size_t s = 0; s < p->n; s++) sum += w[s] = exp(w[s] - top);
    for (size_t s = 0; s < p->n; s++) w[s] /= sum;
    return true;
}

/* ---- distances ---- */

static int compare_log_weights(const void *a, const void *b)
{
    double x = ((const ranked_weight *)a)->log_weight,
           y = ((const ranked_weight *)b)->log_weight;
    return (x > y) - (x < y);
}

/* p log2(p/middle), 0 for p = 0. */
static double part(double p, double middle)
{
    return p > 0.0 ? p * log2(p / middle) : 0.0;
}

/* (1), for the sorted draws. */
static double distance(const scaling *p, const double *weight)
{
    double q = 0.0, divergence[2] = {0.0, 0.0}, all[2] = {0.0, 0.0};
    for (size_t s = 0; s + 1 < p->n; s++) {
        double wide = p->rank[s + 1].log_weight - p->rank[s].log_weight;
        double share = (double)(s + 1) / (double)p->n;
        q += weight[p->rank[s].index];
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            double a = mirrored ? 1.0 - share : share, b = mirrored ? fmax(1.0 - q, 0.0) : q;
            double middle = 0.5 * (a + b);
            divergence[mirrored] += wide * (part(a, middle) + part(b, middle));
            all[mirrored] += wide * (a + b);
        }
    }
    double plain = divergence[0] / all[0], mirrored = divergence[1] / all[1];
    return sqrt(fmax(fmax(plain, mirrored), 0.0));
}

/* (2); NAN without weights. */
static double slope(const scaling *p, int down, int up)
{
    if (!p->weight[down] || !p->weight[up]) return NAN;
    return 0.5 * (distance(p, p->weight[up]) / log2(UPPER) -
                  distance(p, p->weight[down]) / log2(LOWER));
}

/* The diagnosis by the threshold; names as in R's priorsense. */
static const char *diagnosis_of(double by_prior, double by_likelihood)
{
    if (!(by_prior >= THRESHOLD)) return "-";
    return by_likelihood >= THRESHOLD ? "prior-data conflict"
                                      : "strong prior / weak likelihood";
}

/* The sensitivity of parameter j, relative to parameter `less` (SIZE_MAX: none). False when
 * memory runs out. */
static bool measure_parameter(scaling *p, size_t j, size_t less, check_sensitivity *to)
{
    const result *r = p->r;
    for (size_t s = 0; s < p->n; s++) {
        const double *w = r->w + s * r->dim;
        p->rank[s] = (ranked_weight){w[j] - (less == SIZE_MAX ? 0.0 : w[less]), s};
    }
    qsort(p->rank, p->n, sizeof *p->rank, compare_log_weights);
    bool constant = p->rank[0].log_weight == p->rank[p->n - 1].log_weight;
    to->by_prior = constant ? NAN : slope(p, PRIOR_DOWN, PRIOR_UP);
    to->by_likelihood = constant ? NAN : slope(p, LIKELIHOOD_DOWN, LIKELIHOOD_UP);
    to->diagnosis = diagnosis_of(to->by_prior, to->by_likelihood);
    text t = {0};
    text_add(&t, "%s", r->names[j]);
    if (less != SIZE_MAX) text_add(&t, " - %s", r->names[less]);
    to->name = text_take(&t);
    to->prior = copy_text(r->prior && r->prior[j] ? r->prior[j] : "");
    return to->name && to->prior;
}

/* ---- all parameters ---- */

/* The share of the variance of log likelihoods that is due to their estimation from
 * mini-batches. */
static double noise_of(const result *r, size_t n)
{
    double mean = 0.0, all = 0.0, error = 0.0;
    for (size_t s = 0; s < n; s++) mean += r->log_likelihood[s] / (double)n;
    for (size_t s = 0; s < n; s++) {
        double off = r->log_likelihood[s] - mean;
        all += off * off / (double)n;
        error += r->potential_sd[s] * r->potential_sd[s] / (double)n;
    }
    return all > 0.0 ? error / all : 0.0;
}

/* Computes the four sets of weights. False when memory runs out. */
static bool open_scaling(scaling *p)
{
    const result *r = p->r;
    p->log_prior = new_doubles(p->n);
    p->rank = calloc(p->n, sizeof *p->rank);
    if (!p->log_prior || !p->rank) return false;
    compute_log_prior(p);
    return make_weights(p, p->log_prior, LOWER, &p->weight[PRIOR_DOWN]) &&
           make_weights(p, p->log_prior, UPPER, &p->weight[PRIOR_UP]) &&
           make_weights(p, r->log_likelihood, LOWER, &p->weight[LIKELIHOOD_DOWN]) &&
           make_weights(p, r->log_likelihood, UPPER, &p->weight[LIKELIHOOD_UP]);
}

/* Weights per class, 0 for other models. The parameters of one class follow those of another,
 * named CLASS:COLUMN. */
static size_t weights_of_class(const result *r)
{
    const model_kind *model = model_find(r->info.model ? r->info.model : "");
    const char *first = r->dim ? strchr(r->names[0], ':') : NULL;
    if (!first || !model || model->support != SUPPORT_CLASSES) return 0;
    for (size_t j = 1; j < r->dim; j++) {
        const char *column = strchr(r->names[j], ':');
        if (column && strcmp(column, first) == 0) return j;
    }
    return 0;
}

/* True if the weights are those of classes against a reference, which has none. */
static bool has_reference(const result *r)
{
    const model_kind *model = model_find(r->info.model ? r->info.model : "");
    return model && model->facts.reference_class;
}

sbps_status measure_sensitivity(const result *r, predictive_checks *out, sbps_error *err)
{
    scaling p = {.r = r, .n = r->chains * r->draws};
    if (!r->log_prior || !r->log_likelihood || p.n < 2) return SBPS_OK;
    out->sensitivity = calloc(r->dim + 1, sizeof *out->sensitivity);
    bool complete = out->sensitivity && open_scaling(&p);
    size_t each = weights_of_class(r), first = has_reference(r) ? 0 : each;
    for (size_t j = first; complete && j < r->dim; j++)
        if (!(strncmp(r->names[j], "r_", 2) == 0 && strchr(r->names[j], '[')))
            complete = measure_parameter(&p, j, first ? j % each : SIZE_MAX,
                                         &out->sensitivity[out->sensitivities++]);
    if (complete) out->likelihood_noise = noise_of(r, p.n);
    for (size_t k = 0; k < SCALINGS; k++) free(p.weight[k]);
    free(p.log_prior);
    free(p.rank);
    return complete ? SBPS_OK : fail_memory(err);
}
