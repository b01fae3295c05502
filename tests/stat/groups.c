/* Difficult tables of groups: one group with half of all rows, groups of one row, thousands
 * of levels that occur once, no difference between groups, slopes of a column that is
 * constant. For normal rows with one effect per group the posterior is known: n rows of mean
 * m and sum of squares q around it contribute
 *
 *   -(n - 1) log s - log(v)/2 - q/(2 s^2) - n (m - b)^2/(2 v) + constant,                (1)
 *   v = s^2 + n (z t)^2,
 *
 * b the intercept, t the sd of groups, s that of rows, z the column that varies, 1 or 2 in
 * all rows; a grid over (b, log t, log s) gives the posterior. */
#include "check.h"
#include "core/rng.h"
#include "stat/sample.h"

#define SIZES ((size_t)4)
#define GRID  ((size_t)120)
#define PRIORS                                                                                 \
    "prior-intercept=normal(0,10) prior-sd=student_t(3,0,2.5) prior-sigma=exponential(1) "
#define NUMBERS 3 /* b, t, s */

/* Groups of the same number of rows, as far as (1) depends on them. */
typedef struct {
    double rows, count, sum, squares; /* of their means */
} size_class;

typedef struct {
    size_class of[SIZES];
    size_t classes;
    double within, rows; /* squares within groups, and rows, of all */
    double z;
} known_groups;

static void add_group(known_groups *k, size_t n, double mean, double within)
{
    size_t c = 0;
    while (c < k->classes && k->of[c].rows != (double)n) c++;
    CHECK(c < SIZES);
    if (c == k->classes) k->of[k->classes++] = (size_class){.rows = (double)n};
    k->of[c].count += 1.0;
    k->of[c].sum += mean;
    k->of[c].squares += mean * mean;
    k->within += within;
    k->rows += (double)n;
}

typedef struct {
    const char *name;
    size_t groups, each; /* rows of a group, */
    size_t first;        /* and of the first one */
    size_t once;         /* further groups, of one row */
    double sd;           /* of groups */
    bool constant;       /* what varies is the slope of a column that is 2 everywhere */
} table_case;

static void write_group(FILE *file, rng *random, size_t g, size_t n, double sd, known_groups *k)
{
    double effect = sd * rng_normal(random), sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.6f", 1.0 + effect + 0.7 * rng_normal(random));
        fprintf(file, "%s,2,level%zu\n", text, g);
        sum += atof(text);
        squares += atof(text) * atof(text);
    }
    add_group(k, n, sum / (double)n, squares - sum * sum / (double)n);
}

static known_groups write_table_case(const table_case *t, const char *path)
{
    known_groups k = {.z = t->constant ? 2.0 : 1.0};
    rng random = rng_stream(31, 0, RNG_TEST);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,c,g\n");
    for (size_t g = 0; g < t->groups + t->once; g++) {
        size_t n = g >= t->groups ? 1 : g == 0 && t->first ? t->first : t->each;
        write_group(file, &random, g, n, t->sd, &k);
    }
    fclose(file);
    return k;
}

/* (1) of all, priors and the Jacobian of the logarithms. */
static double log_density(const known_groups *k, double b, double log_t, double log_s)
{
    double t = exp(log_t), s = exp(log_s), x = t / 2.5, groups = 0.0;
    double sum = -0.5 * b * b / 100.0 - 2.0 * log1p(x * x / 3.0) - s + log_t + log_s;
    for (size_t c = 0; c < k->classes; c++) {
        const size_class *of = &k->of[c];
        double v = s * s + of->rows * pow(k->z * t, 2.0);
        double around = of->squares - 2.0 * b * of->sum + of->count * b * b;
        sum -= 0.5 * of->count * log(v) + 0.5 * of->rows * around / v;
        groups += of->count;
    }
    return sum - (k->rows - groups) * log_s - 0.5 * k->within / (s * s);
}

/* Moments on a box of the grid around `centre`, `wide` to each side. */
static void integrate(const known_groups *k, const double *centre, const double *wide,
                      known *out)
{
    double total = 0.0, top = -INFINITY, m[NUMBERS][4] = {{0.0}};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < GRID * GRID * GRID; i++) {
            const size_t at[] = {i % GRID, i / GRID % GRID, i / GRID / GRID};
            double x[NUMBERS];
            for (size_t a = 0; a < NUMBERS; a++)
                x[a] = centre[a] + wide[a] * (2.0 * ((double)at[a] + 0.5) / GRID - 1.0);
            double value = log_density(k, x[0], x[1], x[2]);
            if (pass == 0) {
                top = fmax(top, value);
                continue;
            }
            double mass = exp(value - top);
            const double shown[] = {x[0], exp(x[1]), exp(x[2])};
            total += mass;
            for (size_t a = 0; a < NUMBERS; a++)
                for (int p = 0; p < 4; p++) m[a][p] += mass * pow(shown[a], p + 1);
        }
    for (size_t a = 0; a < NUMBERS; a++) {
        for (int p = 0; p < 4; p++) m[a][p] /= total;
        double mean = m[a][0], square = m[a][1] - mean * mean;
        double fourth = m[a][3] - 4 * mean * m[a][2] + 6 * mean * mean * m[a][1] -
                        3 * mean * mean * mean * mean;
        out[a] = (known){mean, sqrt(square), fourth};
    }
}

/* A box that holds all but nothing: log t may fall far, where its density falls as t does. */
static void frame(const sbps_result *r, double *centre, double *wide)
{
    double t = r->mean[1], off = r->sd[1] / t;
    centre[0] = r->mean[0];
    wide[0] = 7.0 * r->sd[0];
    double low = off > 0.2 ? log(t) - 9.0 : log(t) - 8.0 * off;
    double high = log(t + 10.0 * r->sd[1]);
    centre[1] = 0.5 * (low + high);
    wide[1] = 0.5 * (high - low);
    double below = r->mean[2] - 8.0 * r->sd[2], threshold = r->mean[2] / 1000.0;
    low = log(fmax(below, threshold));
    high = log(r->mean[2] + 8.0 * r->sd[2]);
    centre[2] = 0.5 * (low + high);
    wide[2] = 0.5 * (high - low);
}

static void check_table(const table_case *t, const char *sampler)
{
    char path[256], settings[512];
    double centre[NUMBERS], wide[NUMBERS];
    known truth[NUMBERS];
    temporary_name(sizeof path, path);
    known_groups k = write_table_case(t, path);
    snprintf(settings, sizeof settings,
             "model=linear formula=y~1+(%s|g) sampler=%s ess=1500 seed=4 ranef=none " PRIORS,
             t->constant ? "0+c" : "1", sampler);
    sbps_result *r = sample_file(path, settings);
    CHECK(r->dim == NUMBERS);
    CHECK(!strcmp(r->names[1], t->constant ? "sd_g__c" : "sd_g__Intercept"));
    frame(r, centre, wide);
    integrate(&k, centre, wide, truth);
    char what[128];
    snprintf(what, sizeof what, "%s, %s", t->name, sampler);
    for (size_t j = 0; j < NUMBERS; j++)
        check_moments(what, r, j, truth[j], r->info.bias_budget);
    sbps_result_destroy(r);
    unlink(path);
}

static void check_both_samplers(const table_case *t)
{
    check_table(t, "boomerang");
    check_table(t, "hmc");
}

TEST(half_of_all_rows_in_one_group)
{
    check_both_samplers(
        &(table_case){"half of all rows", .groups = 60, .each = 5, .first = 295, .sd = 0.8});
}

TEST(groups_of_one_row)
{
    check_both_samplers(
        &(table_case){"groups of one row", .groups = 40, .each = 4, .once = 60, .sd = 0.8});
}

TEST(thousands_of_levels_that_occur_once)
{
    check_table(
        &(table_case){"levels met once", .groups = 30, .each = 4, .once = 3000, .sd = 0.8},
        "boomerang");
}

TEST(groups_that_do_not_differ)
{
    check_table(&(table_case){"no difference", .groups = 60, .each = 6, .sd = 0.0}, "hmc");
}

TEST(slopes_of_a_constant_column)
{
    check_both_samplers(&(table_case){"a constant column", .groups = 40, .each = 6, .sd = 0.8,
                                      .constant = true});
}

CHECK_MAIN
