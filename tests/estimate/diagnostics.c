/* Diagnostics of draws against R's posterior (values stored in vectors.inc, made by vectors.R)
 * and against known values. */
#include "check.h"

#include "estimate/diagnostics.h"
#include "estimate/normal_scores.h"

#include <stdint.h>
#include <time.h>

#define TOL_REFEREE 1e-9

/* The generator of vectors.R: every step is exact in doubles there. */
static uint64_t state;

static double uniform(void)
{
    state = (1664525 * state + 1013904223) % 4294967296u;
    return ((double)state + 0.5) / 4294967296.0;
}

static double nearly_normal(void)
{
    double s = -6.0;
    for (int i = 0; i < 12; i++) s += uniform();
    return s;
}

static double independent(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    return nearly_normal();
}

#define MEMORY(name, a)                                                                        \
    static double name(double before, size_t c, size_t i)                                      \
    {                                                                                          \
        (void)c, (void)i;                                                                      \
        return (a)*before + nearly_normal();                                                   \
    }
MEMORY(memory_90, 0.9)
MEMORY(memory_80, 0.8)
MEMORY(memory_50, 0.5)
MEMORY(memory_30, 0.3)
MEMORY(against_70, -0.7)
MEMORY(against_97, -0.97)

static double heavy_tailed(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    double top = nearly_normal();
    return top / uniform();
}

static double shifted(double before, size_t c, size_t i)
{
    (void)before, (void)i;
    return nearly_normal() + 0.5 * (double)c;
}

static double scaled(double before, size_t c, size_t i)
{
    (void)before, (void)i;
    return nearly_normal() * (1.0 + (double)c);
}

static double trending(double before, size_t c, size_t i)
{
    (void)before, (void)c;
    return nearly_normal() + (double)i / 50.0;
}

static double stuck(double before, size_t c, size_t i)
{
    (void)before, (void)i;
    return c == 2 ? 0.25 : nearly_normal();
}

static double discrete(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    return floor(5.0 * uniform());
}

static double rare(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    return uniform() < 0.02 ? 1.0 : 0.0;
}

static double two_valued(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    return uniform() < 0.5 ? 1.0 : -1.0;
}

static double far_from_zero(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    return 1e4 + 0.01 * nearly_normal();
}

static double infinite(double before, size_t c, size_t i)
{
    (void)before;
    return c == 1 && i == 17 ? INFINITY : nearly_normal();
}

static double constant(double before, size_t c, size_t i)
{
    (void)before, (void)c, (void)i;
    return 3.5;
}

/* In the order of vectors.R: the k-th, from 1, starts the generator at 1000 k. */
static const struct {
    const char *name;
    size_t chains, draws;
    double (*next)(double before, size_t c, size_t i);
} cases[] = {
    {"independent", 4, 1000, independent},
    {"correlated", 4, 1000, memory_90},
    {"antithetic", 4, 1000, against_70},
    {"strongly_antithetic", 4, 100, against_97},
    {"heavy_tailed", 4, 500, heavy_tailed},
    {"shifted", 4, 250, shifted},
    {"scaled", 4, 400, scaled},
    {"trending", 4, 100, trending},
    {"stuck", 4, 200, stuck},
    {"discrete", 4, 300, discrete},
    {"rare", 4, 200, rare},
    {"two_valued", 4, 200, two_valued},
    {"odd", 3, 501, memory_50},
    {"many_chains", 16, 33, memory_30},
    {"one_chain", 1, 1000, memory_80},
    {"far_from_zero", 4, 300, far_from_zero},
    {"infinite", 4, 100, infinite},
    {"constant", 4, 100, constant},
    {"one_draw", 4, 1, independent},
    {"two_draws", 1, 2, independent},
    {"four_draws", 4, 4, independent},
    {"five_draws", 2, 5, independent},
    {"six_draws", 4, 6, independent},
    {"ten_draws", 2, 10, independent},
    {"eleven_draws", 2, 11, memory_50},
    {"fourteen_draws", 3, 14, memory_50},
};
#define CASES (sizeof cases / sizeof *cases)

/* The values of posterior for each case, field by field. */
typedef struct {
    const char *field;
    double value;
} printed;

static const struct {
    const char *name;
    printed want[16];
} vectors[] = {
#include "vectors.inc"
};

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define NAMED(field) {#field, offsetof(draw_summary, field)},
    DRAW_SUMMARY(NAMED)
#undef NAMED
};
#define FIELDS (sizeof fields / sizeof *fields)

static double field(const draw_summary *s, size_t f)
{
    return *(const double *)((const char *)s + fields[f].offset);
}

static size_t field_named(const char *name)
{
    size_t f = 0;
    while (f < FIELDS && strcmp(fields[f].name, name)) f++;
    return f;
}

/* NAN agrees with NAN, an infinity with itself. */
static bool agree(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= TOL_REFEREE * fmax(1e-3, fmax(fabs(a), fabs(b)));
}

static double *make_case(size_t k)
{
    size_t draws = cases[k].draws;
    double *x = malloc(cases[k].chains * draws * sizeof *x);
    if (!x) abort();
    state = 1000 * (k + 1);
    for (size_t c = 0; c < cases[k].chains; c++) {
        double before = 0.0;
        for (size_t i = 0; i < draws; i++)
            x[c * draws + i] = before = cases[k].next(before, c, i);
    }
    return x;
}

static void agree_with_posterior(size_t k, const draw_summary *got)
{
    for (const printed *want = vectors[k].want; want->field; want++) {
        size_t f = field_named(want->field);
        REQUIRE(f < FIELDS);
        double a = field(got, f), b = want->value;
        if (agree(a, b)) continue;
        printf("%s: %s is %.17g, posterior says %.17g\n", cases[k].name, want->field, a, b);
        check_failures++;
    }
}

TEST(every_value_agrees_with_posterior)
{
    REQUIRE(sizeof vectors / sizeof *vectors == CASES);
    for (size_t k = 0; k < CASES; k++) {
        draw_summary got;
        double *x = make_case(k);
        CHECK(strcmp(cases[k].name, vectors[k].name) == 0);
        CHECK(summarize_draws(cases[k].chains, cases[k].draws, x, &got, NULL) == SBPS_OK);
        agree_with_posterior(k, &got);
        free(x);
    }
}

/* Also in a workspace that was used before. */
TEST(a_few_lags_at_a_time_give_the_same)
{
    for (size_t k = 0; k < CASES; k++) {
        draw_summary got;
        draw_workspace *scratch;
        double *x = make_case(k);
        REQUIRE(draw_workspace_open(cases[k].chains, cases[k].draws, true, &scratch, NULL) ==
                SBPS_OK);
        for (int again = 0; again < 2; again++) {
            summarize_in(scratch, x, &got);
            agree_with_posterior(k, &got);
        }
        draw_workspace_close(scratch);
        free(x);
    }
}

TEST(order_of_chains_does_not_matter)
{
    draw_summary forward, backward;
    double *x = make_case(1), *y = make_case(1);
    for (size_t c = 0; c < 4; c++) memcpy(y + 1000 * c, x + 1000 * (3 - c), 1000 * sizeof *y);
    CHECK(summarize_draws(4, 1000, x, &forward, NULL) == SBPS_OK);
    CHECK(summarize_draws(4, 1000, y, &backward, NULL) == SBPS_OK);
    for (size_t f = 0; f < FIELDS; f++)
        CHECK_NEAR(field(&forward, f), field(&backward, f), TOL_SUM);
    free(x);
    free(y);
}

TEST(monotone_maps_do_not_change_rank_diagnostics)
{
    draw_summary plain, cubed;
    double *x = make_case(1);
    CHECK(summarize_draws(4, 1000, x, &plain, NULL) == SBPS_OK);
    for (size_t i = 0; i < 4000; i++) x[i] = x[i] * x[i] * x[i];
    CHECK(summarize_draws(4, 1000, x, &cubed, NULL) == SBPS_OK);
    CHECK_NEAR(plain.ess_bulk, cubed.ess_bulk, TOL_SUM);
    CHECK_NEAR(plain.ess_tail, cubed.ess_tail, TOL_SUM);
    CHECK(fabs(plain.ess_mean - cubed.ess_mean) > 1.0);
    free(x);
}

TEST(undefined_quantities_are_nan)
{
    draw_summary s;
    double with_nan[16] = {0, 1, 2, NAN, 4}, pairs[] = {1, 2, 3, 4, 5, 6};
    CHECK(summarize_draws(2, 8, with_nan, &s, NULL) == SBPS_OK);
    for (size_t f = 0; f < FIELDS; f++) CHECK(isnan(field(&s, f)));
    CHECK(summarize_draws(0, 0, NULL, &s, NULL) == SBPS_OK);
    for (size_t f = 0; f < FIELDS; f++) CHECK(isnan(field(&s, f)));
    /* two draws in each of several chains: no half chain has a variance */
    CHECK(summarize_draws(3, 2, pairs, &s, NULL) == SBPS_OK);
    CHECK(s.mean == 3.5 && s.q50 == 3.5);
    CHECK(isnan(s.rhat) && isnan(s.ess_bulk) && isnan(s.ess_tail) && isnan(s.mcse_mean));
}

TEST(quantiles_interpolate_between_order_statistics)
{
    const double x[] = {1, 2, 4, 8, 16}, ends[] = {-INFINITY, 0, INFINITY, INFINITY};
    CHECK(quantile_sorted(5, x, 0.0) == 1.0);
    CHECK(quantile_sorted(5, x, 0.25) == 2.0);
    CHECK(quantile_sorted(5, x, 0.375) == 3.0);
    CHECK(quantile_sorted(5, x, 1.0) == 16.0);
    CHECK(quantile_sorted(1, x, 0.05) == 1.0);
    CHECK(isnan(quantile_sorted(0, x, 0.5)));
    CHECK(quantile_sorted(4, ends, 0.9) == INFINITY);
    CHECK(quantile_sorted(4, ends, 1.0 / 3.0) == 0.0);
}

TEST(normal_quantile_inverts_the_normal_distribution)
{
    for (double e = -300.0; e < -0.31; e += 0.37) {
        double p = pow(10.0, e), z = normal_quantile(p);
        CHECK(fabs(0.5 * erfc(-z / sqrt(2.0)) / p - 1.0) < 1e-11);
        if (p > 1e-10) CHECK_NEAR(normal_quantile(1.0 - p), -z, 1e-6);
    }
    CHECK(normal_quantile(0.5) == 0.0);
    CHECK_NEAR(normal_quantile(0.975), 1.9599639845400545, TOL_ROUND);
}

TEST(tied_values_share_their_mean_rank)
{
    const double x[] = {7, 1, 7, 3};
    double z[4], by_rank[4];
    ranked scratch[8];
    for (size_t i = 0; i < 4; i++) by_rank[i] = rank_score((double)i + 1.0, 4);
    order_scores(4, sort_ranked(4, x, scratch), by_rank, z);
    CHECK(z[0] == z[2]);
    CHECK_NEAR(z[0], normal_quantile((3.5 - 0.375) / 4.25), TOL_ROUND);
    CHECK_NEAR(z[1], normal_quantile((1.0 - 0.375) / 4.25), TOL_ROUND);
    CHECK_NEAR(z[3], normal_quantile((2.0 - 0.375) / 4.25), TOL_ROUND);
}

TEST(sorting_orders_signs_zeros_and_infinities)
{
    const double x[] = {2, -0.0, -INFINITY, 0.0, -1e-310, INFINITY, -3, 1e-310, 2};
    const size_t want[] = {2, 6, 4, 1, 3, 7, 0, 8, 5};
    ranked scratch[18];
    const ranked *order = sort_ranked(9, x, scratch);
    for (size_t i = 0; i < 9; i++) CHECK(order[i].index == want[i]);
    CHECK(order[3].value == order[4].value);
}

/* Typical draws with some outliers, for the radix sort, and draws of one sign; equal values
 * stay in their order. */
TEST(sorting_is_stable_whatever_the_values_are)
{
    enum { N = 3000 };
    static double x[N];
    static ranked scratch[2 * N];
    state = 11;
    for (int kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < N; i++) {
            double one = kind == 2 ? floor(10.0 * nearly_normal()) : nearly_normal();
            x[i] = kind == 1 && i % 100 == 0 ? 1e9 * one : one;
        }
        const ranked *order = sort_ranked(N, x, scratch);
        for (size_t i = 0; i < N; i++) CHECK(x[order[i].index] == order[i].value);
        for (size_t i = 1; i < N; i++)
            CHECK(
                order[i - 1].value < order[i].value ||
                (order[i - 1].value == order[i].value && order[i - 1].index < order[i].index));
    }
}

TEST(transform_is_the_sum_of_its_definition)
{
    enum { N = 16 };
    point z[N], kept[N], roots[N / 2];
    state = 7;
    for (size_t i = 0; i < N; i++) {
        kept[i].re = nearly_normal();
        kept[i].im = nearly_normal();
    }
    memcpy(z, kept, sizeof z);
    fft_roots(N, roots);
    fft_forward(N, roots, z);
    for (size_t k = 0; k < N; k++) {
        double re = 0.0, im = 0.0;
        for (size_t j = 0; j < N; j++) {
            double angle = -2.0 * acos(-1.0) * (double)(j * k % N) / N;
            re += kept[j].re * cos(angle) - kept[j].im * sin(angle);
            im += kept[j].re * sin(angle) + kept[j].im * cos(angle);
        }
        CHECK_NEAR(z[k].re, re, TOL_SUM);
        CHECK_NEAR(z[k].im, im, TOL_SUM);
    }
}

/* Two hundred parameters of 4 x 2000 draws should take less than a second; one tenth of them is
 * timed, and the limit is generous for sanitizers and busy machines. */
TEST(many_parameters_take_little_time)
{
    enum { DRAWS = 2000, PARAMETERS = 20 };
    double *x = malloc(4 * DRAWS * sizeof *x);
    draw_summary s;
    REQUIRE(x);
    state = 11;
    for (size_t i = 0; i < 4 * DRAWS; i++) x[i] = nearly_normal();
    clock_t start = clock();
    for (size_t j = 0; j < PARAMETERS; j++)
        CHECK(summarize_draws(4, DRAWS, x, &s, NULL) == SBPS_OK);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("4 x 2000 draws: %.3g ms a parameter\n", 1e3 * seconds / PARAMETERS);
    CHECK(seconds < 2.0);
    free(x);
}

CHECK_MAIN
