/* Smoothed weights against numbers of an independent implementation (numpy, from the formulas
 * of the papers), for quantiles of distributions with known tails in a scrambled order. */
#include "linalg/pareto.h"
#include "check.h"

#include <stdlib.h>

typedef struct {
    size_t n;
    double (*log_weight)(double u);
    double k, sum, ess; /* of smoothed weights over the largest raw one */
} vector;

static double half(double u)
{
    return -0.5 * log(1.0 - u);
}

static double heavy(double u)
{
    return -0.9 * log(1.0 - u);
}

static double light(double u)
{
    return u - 1.5 * u * u;
}

static const vector vectors[] = {
    {200, half, 0.49527707054971204, 19.536913368898755, 105.98559986742629},
    {500, heavy, 0.8264136220984215, 5.192663261909846, 31.114082608823065},
    {1000, light, -1.5814248529099189, 859.7011899120018, 973.8128047120482},
};

static void check_vector(const vector *v, double shift)
{
    double *x = calloc(v->n, sizeof *x), top = -INFINITY, sum = 0.0, squares = 0.0;
    ranked_weight *scratch = calloc(v->n, sizeof *scratch);
    for (size_t i = 0; i < v->n; i++) {
        x[i] = v->log_weight(((double)(i * 7919 % v->n) + 0.5) / (double)v->n) + shift;
        top = fmax(top, x[i]);
    }
    CHECK_NEAR(pareto_smooth(v->n, x, scratch), v->k, 1e-9);
    for (size_t i = 0; i < v->n; i++) {
        double w = exp(x[i] - top);
        CHECK(w <= 1.0);
        sum += w;
        squares += w * w;
    }
    CHECK_NEAR(sum / v->sum, 1.0, 1e-9);
    CHECK_NEAR(sum * sum / squares / v->ess, 1.0, 1e-9);
    free(x);
    free(scratch);
}

TEST(smoothed_weights_are_those_of_the_papers)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        check_vector(&vectors[i], 0.0);
        check_vector(&vectors[i], -1234.5);
    }
}

TEST(weights_without_a_tail_have_no_shape)
{
    double few[20] = {0}, same[100] = {0};
    ranked_weight scratch[100];
    CHECK(pareto_smooth(20, few, scratch) == INFINITY);
    CHECK(pareto_smooth(100, same, scratch) == INFINITY);
    for (size_t i = 0; i < 100; i++) CHECK(same[i] == 0.0);
}

CHECK_MAIN
