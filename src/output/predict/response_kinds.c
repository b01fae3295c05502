/* From the linear predictor to the response: numbers, classes, and ordered classes. */
#include "output/predict/predictor_draws.h"

#include "core/memory.h"
#include "linalg/random_variates.h"
#include "linalg/real.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

#define TOGETHER ((size_t)64) /* draws whose log likelihood is computed at once */

/* E[y | eta] by every draw. */
static void number_mean(const predictor_draws *f, const double *eta, double *out)
{
    const predictor *p = f->model->predictor;
    if (p->mean == MEAN_SIGMOID) {
        f->k->sigmoid(f->draws, eta, out);
        return;
    }
    for (size_t s = 0; s < f->draws; s++)
        out[s] = p->expected(eta[s], f->aux + s * f->auxiliaries);
}

/* One simulated y by every draw; for proportions a number of successes. */
static void number_outcome(const predictor_draws *f, const double *eta, double trials, rng *r,
                           double *out)
{
    const predictor *p = f->model->predictor;
    bool counted = f->model->support == SUPPORT_PROPORTIONS;
    for (size_t s = 0; s < f->draws; s++) {
        const double *aux = f->aux + s * f->auxiliaries;
        out[s] = counted ? draw_binomial(r, trials, p->expected(eta[s], aux))
                         : p->simulate(r, eta[s], aux);
    }
}

/* For proportions of trials the binomial coefficient is included. */
static void number_loglik(const predictor_draws *f, const double *eta, double y, double trials,
                          double *out)
{
    bool counted = f->model->support == SUPPORT_PROPORTIONS;
    double ways = counted ? log_gamma(trials + 1.0) - log_gamma(trials * y + 1.0) -
                                log_gamma(trials * (1.0 - y) + 1.0)
                          : 0.0;
    size_t step = f->auxiliaries > 0 ? 1 : TOGETHER; /* auxiliaries differ by draw */
    double same[TOGETHER];
    for (size_t i = 0; i < step; i++) same[i] = y;
    for (size_t s = 0; s < f->draws; s += step) {
        size_t n = f->draws - s < step ? f->draws - s : step;
        const batch b = {.k = f->k,
                         .n = n,
                         .eta = eta + s,
                         .y = same,
                         .aux = f->aux + s * f->auxiliaries,
                         .pitch = n};
        f->model->predictor->loglik(&b, out + s);
    }
    for (size_t s = 0; counted && s < f->draws; s++) out[s] = trials * out[s] + ways;
}

static void number_observed(const predictor_draws *f, double y, double trials, double *out)
{
    bool counted = f->model->support == SUPPORT_PROPORTIONS;
    for (size_t s = 0; s < f->draws; s++) out[s] = counted ? round(y * trials) : y;
}

static const response_kind response_number = {number_mean, number_outcome, number_loglik,
                                              number_observed};

/* ---- classes ---- */

/* Probabilities by softmax, less the largest eta to avoid overflow. */
static void class_mean(const predictor_draws *f, const double *eta, double *out)
{
    size_t n = f->draws, classes = f->classes;
    double *sum = out + classes * n; /* scratch has room for one class more */
    memcpy(sum, eta, n * sizeof *sum);
    for (size_t k = 1; k < classes; k++)
        for (size_t s = 0; s < n; s++) sum[s] = fmax(sum[s], eta[k * n + s]);
    for (size_t k = 0; k < classes; k++)
        for (size_t s = 0; s < n; s++) out[k * n + s] = eta[k * n + s] - sum[s];
    f->k->exp(classes * n, out, out);
    memset(sum, 0, n * sizeof *sum);
    for (size_t k = 0; k < classes; k++)
        for (size_t s = 0; s < n; s++) sum[s] += out[k * n + s];
    for (size_t k = 0; k < classes; k++)
        for (size_t s = 0; s < n; s++) out[k * n + s] /= sum[s];
}

/* Draws a class by its probabilities in `out`, which become 1 for that class and 0 for the
 * others. */
static void draw_classes(const predictor_draws *f, rng *r, double *out)
{
    size_t n = f->draws;
    for (size_t s = 0; s < n; s++) {
        double left = rng_uniform(r);
        bool drawn = false;
        for (size_t k = 0; k < f->classes; k++) {
            double p = out[k * n + s];
            bool here = !drawn && (left < p || k + 1 == f->classes);
            left -= p;
            drawn = drawn || here;
            out[k * n + s] = here;
        }
    }
}

static void class_outcome(const predictor_draws *f, const double *eta, double trials, rng *r,
                          double *out)
{
    (void)trials;
    class_mean(f, eta, out);
    draw_classes(f, r, out);
}

/* log P(class y) by softmax. */
static void class_loglik(const predictor_draws *f, const double *eta, double y, double trials,
                         double *out)
{
    (void)trials;
    size_t n = f->draws, own = (size_t)y;
    for (size_t s = 0; s < n; s++) {
        double top = eta[s], sum = 0.0;
        for (size_t k = 1; k < f->classes; k++) top = fmax(top, eta[k * n + s]);
        for (size_t k = 0; k < f->classes; k++) sum += exp(eta[k * n + s] - top);
        out[s] = eta[own * n + s] - top - log(sum);
    }
}

/* 1 for the class `own` and 0 for others. */
static void mark_class(const predictor_draws *f, size_t own, double *out)
{
    for (size_t k = 0; k < f->classes; k++)
        for (size_t s = 0; s < f->draws; s++) out[k * f->draws + s] = k == own;
}

static void class_observed(const predictor_draws *f, double y, double trials, double *out)
{
    (void)trials;
    mark_class(f, (size_t)y, out);
}

static const response_kind response_class = {class_mean, class_outcome, class_loglik,
                                             class_observed};

/* ---- ordered classes ---- */

static double logistic(double at)
{
    return 1.0 / (1.0 + exp(-at));
}

/* P(y = k) by draw s, as a difference of the smaller tails to keep its digits. */
static double ordered_probability(const predictor_draws *f, double eta, size_t k, size_t s)
{
    size_t n = f->draws;
    double low = k > 0 ? f->cut[(k - 1) * n + s] - eta : -INFINITY;
    double high = k + 1 < f->classes ? f->cut[k * n + s] - eta : INFINITY;
    return low > 0.0 ? logistic(-low) - logistic(-high) : logistic(high) - logistic(low);
}

static void ordered_mean(const predictor_draws *f, const double *eta, double *out)
{
    for (size_t k = 0; k < f->classes; k++)
        for (size_t s = 0; s < f->draws; s++)
            out[k * f->draws + s] = ordered_probability(f, eta[s], k, s);
}

static void ordered_outcome(const predictor_draws *f, const double *eta, double trials, rng *r,
                            double *out)
{
    (void)trials;
    ordered_mean(f, eta, out);
    draw_classes(f, r, out);
}

/* The class of a response, from 0. */
static size_t ordered_place(const predictor_draws *f, double y)
{
    return (size_t)(f->b->label ? y : y - f->lowest);
}

static void ordered_loglik(const predictor_draws *f, const double *eta, double y, double trials,
                           double *out)
{
    (void)trials;
    size_t own = ordered_place(f, y);
    for (size_t s = 0; s < f->draws; s++) out[s] = log(ordered_probability(f, eta[s], own, s));
}

static void ordered_observed(const predictor_draws *f, double y, double trials, double *out)
{
    (void)trials;
    mark_class(f, ordered_place(f, y), out);
}

static const response_kind response_ordered = {ordered_mean, ordered_outcome, ordered_loglik,
                                               ordered_observed};

/* ---- opening ---- */

/* Names the classes by labels, else by numbers from `lowest` on. */
static sbps_status name_classes(predictor_draws *f, size_t count, sbps_error *err)
{
    f->class = calloc(count + 1, sizeof *f->class);
    if (!f->class) return fail_memory(err);
    for (size_t k = 0; k < count; k++) {
        char number[32];
        snprintf(number, sizeof number, "%.0f", f->lowest + (double)k);
        f->class[k] = copy_text(k < f->b->labels ? f->b->label[k] : number);
        if (!f->class[k]) return fail_memory(err);
        f->classes++;
    }
    return SBPS_OK;
}

/* Counts the classes: by labels, else by weights named 0:x, 1:x, ... */
static sbps_status count_classes(const predictor_draws *f, size_t *count, sbps_error *err)
{
    name_buffer name = {0};
    const char *of = "";
    size_t first = f->model->facts.reference_class ? 1 : 0;
    *count = f->b->labels;
    for (size_t k = first; f->b->labels == 0; k++) {
        of = name_format(&name, "%zu:%s", k, f->b->names ? f->b->name[0] : "");
        if (!of || first_parameter(f->r, of) == SIZE_MAX) break;
        *count = k + 1;
    }
    name_buffer_clear(&name);
    return of ? SBPS_OK : fail_memory(err);
}

/* True for "1|2", the cutpoint between 1 and 2; *under becomes 1. */
static bool is_cutpoint(const char *name, double *under)
{
    double over;
    char end;
    return sscanf(name, "%lf|%lf%c", under, &over, &end) == 2 && over == *under + 1.0;
}

/* Copies the draws of cutpoints named by labels, "low|high". */
static sbps_status take_labelled(predictor_draws *f, size_t *count, sbps_error *err)
{
    name_buffer name = {0};
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k + 1 < f->b->labels; k++) {
        const char *of = name_format(&name, "%s|%s", f->b->label[k], f->b->label[k + 1]);
        size_t found = of ? first_parameter(f->r, of) : SIZE_MAX;
        if (!of)
            status = fail_memory(err);
        else if (found == SIZE_MAX)
            status = fail(err, SBPS_BAD_FILE, "%s: the file has no parameter '%s'", f->path,
                          show_name(of).text);
        else
            parameter_draws(f, found, f->cut + (*count)++ * f->draws);
    }
    name_buffer_clear(&name);
    return status;
}

/* Finds cutpoints and copies their draws; *count is their number. */
static sbps_status take_cutpoints(predictor_draws *f, size_t *count, sbps_error *err)
{
    double number;
    f->cut = new_doubles(f->r->dim * f->draws + 1);
    if (!f->cut) return fail_memory(err);
    *count = 0;
    if (f->b->labels > 1) return take_labelled(f, count, err);
    for (size_t j = 0; j < f->r->dim; j++) {
        if (!is_cutpoint(f->r->names[j], &number)) continue;
        if (*count == 0) f->lowest = number;
        parameter_draws(f, j, f->cut + (*count)++ * f->draws);
    }
    return SBPS_OK;
}

sbps_status response_open(predictor_draws *f, sbps_error *err)
{
    size_t count = 0;
    f->response = &response_number;
    if (f->model->predictor) return SBPS_OK;
    if (f->model->support == SUPPORT_ORDERED) {
        f->response = &response_ordered;
        sbps_status status = take_cutpoints(f, &count, err);
        return status == SBPS_OK ? name_classes(f, count + 1, err) : status;
    }
    f->response = &response_class;
    sbps_status status = count_classes(f, &count, err);
    if (status != SBPS_OK) return status;
    f->outputs = count > 0 ? count : 1;
    if (count < 2)
        return fail(err, SBPS_BAD_FILE,
                    "%s: the classes cannot be found from the names of the parameters",
                    f->path);
    return name_classes(f, count, err);
}
