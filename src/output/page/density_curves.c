#include "output/page/density_curves.h"

#include "estimate/diagnostics.h"
#include "model/prior/prior.h"
#include "output/page/html.h"

#include <math.h>
#include <string.h>

static double spread(size_t n, const double *sorted)
{
    double sum = 0.0, square = 0.0, middle = sorted[n / 2];
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i] - middle;
        square += (sorted[i] - middle) * (sorted[i] - middle);
    }
    double mean = sum / (double)n, sd = sqrt(fmax(0.0, square / (double)n - mean * mean));
    double iqr = quantile_sorted(n, sorted, 0.75) - quantile_sorted(n, sorted, 0.25);
    return iqr > 0.0 ? fmin(sd, iqr / 1.34) : sd;
}

void kernel_density(size_t n, const double *sorted, size_t count, const double *x, double *out)
{
    double h = 0.9 * spread(n, sorted) * pow((double)n, -0.2);
    for (size_t k = 0; k < count; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            double z = (x[k] - sorted[i]) / h;
            if (fabs(z) < 5.0) sum += exp(-0.5 * z * z);
        }
        out[k] = sum / ((double)n * h * sqrt(2.0 * acos(-1.0)));
    }
}

/* The first of a prior's numbers that has one of these names, or `otherwise`. */
static double number_named(const prior *p, const char *one, const char *other, double otherwise)
{
    for (size_t i = 0; i < p->kind->numbers; i++)
        if (!strcmp(p->kind->number_names[i], one) || !strcmp(p->kind->number_names[i], other))
            return p->theta[i];
    return otherwise;
}

/* log densities are known up to a constant: the integral, by steps that grow with the distance from the middle. */
static double integral(const prior *p, bool positive)
{
    enum { STEPS = 4000 };
    double middle = number_named(p, "mean", "location", 0.0);
    double unit = number_named(p, "sd", "scale", 1.0 / number_named(p, "rate", "rate", 1.0)),
           sum = 0.0;
    const double start = log(1e-8 * unit), step = log(1e16) / STEPS;
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < STEPS; i++) {
            double away = exp(start + (i + 0.5) * step), x = middle + side * away;
            if (positive && x <= 0.0) continue;
            sum += exp(p->kind->logpdf(p->theta, x)) * away * step;
        }
    return sum;
}

bool prior_density(const char *prior_text, bool positive, size_t count, const double *x,
                   double *out)
{
    prior p;
    if (prior_parse(prior_text, &p, NULL) != SBPS_OK || p.kind->correlation || !p.kind->logpdf)
        return false;
    positive = positive || p.kind->positive;
    double total = integral(&p, positive);
    if (!(total > 0.0) || !isfinite(total) || !strcmp(p.kind->name, "flat")) return false;
    for (size_t k = 0; k < count; k++)
        out[k] = positive && x[k] <= 0.0 ? 0.0 : exp(p.kind->logpdf(p.theta, x[k])) / total;
    return true;
}

void prior_brief(text *t, const char *prior_text)
{
    prior p;
    if (prior_parse(prior_text, &p, NULL) != SBPS_OK) {
        html_text(t, prior_text);
        return;
    }
    text_add(t, "%s", p.kind->name);
    for (size_t i = 0; i < p.kind->numbers; i++)
        text_add(t, "%s%.4g", i ? ", " : "(", p.theta[i]);
    if (p.kind->numbers) text_add(t, ")");
}
