/* Binomial regression with the logit link: k successes in m trials, p = 1/(1 + e^-eta). A row holds the share
 * y = k/m and has the weight m, by which its log-likelihood is multiplied:
 *
 *   m (y eta - log(1 + e^eta)) = log [p^k (1 - p)^(m - k)]                       (1)
 *
 * which is that of k successes and m - k failures as rows of their own, and the binomial law's but for the
 * coefficient m over k, in which there is no parameter. Derivatives are those of logistic.c with such y.
 *
 * McCullagh, Nelder (1989), Generalized Linear Models, chapter 4. */
#include "model/likelihood/logistic.h"
#include "model/likelihood/model_kinds.h"
#include "model/likelihood/targets.h"

#include <math.h>

static sbps_status binomial_check(const rows *r, sbps_error *err)
{
    return targets_proportions(r, "binomial", err);
}

/* (1) of one trial as -log(1 + e^-|eta|) less what eta has of the rarer outcome: nothing cancels. */
static void binomial_loglik(const batch *b, double *out)
{
    for (size_t i = 0; i < b->n; i++) out[i] = -fabs(b->eta[i]);
    b->k->softplus(b->n, out, out);
    for (size_t i = 0; i < b->n; i++) {
        double eta = b->eta[i], y = b->y[i];
        out[i] = -out[i] - (eta > 0.0 ? (1.0 - y) * eta : -y * eta);
    }
}

static const predictor family = {
    .check = binomial_check,
    .loglik = binomial_loglik,
    .slope = logistic_slope,
    .gradient = logistic_gradient,
    .curvature = logistic_curvature,
    .simulate = logistic_simulate,
    .cost = 2.0,
    .expected = logistic_expected,
    .mean = MEAN_SIGMOID,
    .slope_bound = 1.0,
    .curvature_bound = 0.25,
    .third = logistic_third,
    .third_bound = logistic_third_bound,
};

const model_kind model_binomial = {
    .name = "binomial",
    .summary = "Binomial regression: y successes of so many trials, log odds linear in the "
               "columns.",
    .support = SUPPORT_PROPORTIONS,
    .log_concave = true,
    PREDICTOR_MODEL(family),
};
