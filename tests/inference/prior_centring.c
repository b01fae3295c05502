/* Default priors do not depend on the zero of a column: that of the intercept applies to the
 * predictor at the means of the columns. A prior set by the user applies to the reported
 * intercept, at x = 0. */
#include "check.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include "posterior/minibatch/minibatch.h"

#define ROWS           400
#define COLUMNS        2
#define FAR            2010.0
#define MAX_PARAMETERS 9 /* parameters */

/* Laplace's approximation. */
typedef struct {
    size_t dim;
    double mean[MAX_PARAMETERS], sd[MAX_PARAMETERS];
} answer;

static sbps_options *options_of(const char *model, const char *settings)
{
    sbps_options *o = NULL;
    char *text = strdup(settings), *next = text, *option;
    if (sbps_options_create(&o, NULL) != SBPS_OK ||
        sbps_options_set(o, "model", model, NULL) != SBPS_OK)
        abort();
    while ((option = strsep(&next, " "))) {
        char *value = strchr(option, '=');
        if (!value) continue;
        *value++ = '\0';
        if (sbps_options_set(o, option, value, NULL) != SBPS_OK) abort();
    }
    free(text);
    return o;
}

/* Columns of which the first is `far` from 0. Targets suit any model: 0, 1, 2, increasing with
 * the columns. */
static sbps_table *table_of(const sbps_options *o, double largest, double far)
{
    double x[COLUMNS * ROWS], y[ROWS];
    rng r = rng_stream(5, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        double a = (double)rng_below(&r, 5), b = a > 2.0 ? 0.0 : rng_normal(&r);
        x[COLUMNS * i] = a + far;
        x[COLUMNS * i + 1] = b;
        y[i] = fmin(floor(0.7 * rng_exponential(&r) + 0.3 * a), largest);
    }
    sbps_table *table = NULL;
    if (sbps_table_copy(ROWS, COLUMNS, x, NULL, y, o, &table, NULL) != SBPS_OK) abort();
    return table;
}

static answer approximate(const char *model, const char *settings, double largest, double far)
{
    sbps_options *o = options_of(model, settings);
    sbps_table *table = table_of(o, largest, far);
    sbps_mode *m = NULL;
    sbps_laplace *l = NULL;
    answer out = {0};
    CHECK(sbps_mode_find(table, o, &m, NULL) == SBPS_OK);
    CHECK(m && sbps_laplace_create(m, &l, NULL) == SBPS_OK);
    if (l) out.dim = sbps_mode_dim(m);
    for (size_t j = 0; j < out.dim; j++) {
        out.mean[j] = sbps_laplace_mean(l)[j];
        out.sd[j] = sbps_laplace_sd(l)[j];
    }
    sbps_laplace_destroy(l);
    sbps_mode_destroy(m);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
    return out;
}

typedef struct {
    const char *model;
    double largest; /* of the targets */
} model_case;

static const model_case cases[] = {
    {"linear", 9.0}, {"logistic", 1.0}, {"poisson", 9.0}, {"softmax", 2.0}};

#define EACH_CASE(c)                                                                           \
    const model_case *c = cases;                                                               \
    c < cases + sizeof cases / sizeof *cases;                                                  \
    c++

/* Weights agree, and each intercept differs by the column's weight times the distance. */
static void check_moved(const answer *near, const answer *far)
{
    CHECK(near->dim == far->dim);
    for (size_t j = 0; j < near->dim; j++) {
        bool intercept = j % (COLUMNS + 1) == 0 && j + 1 < near->dim;
        double moved = intercept ? far->mean[j] + FAR * far->mean[j + 1] : far->mean[j];
        CHECK_NEAR(moved, near->mean[j], TOL_DIFF);
        if (!intercept) CHECK_NEAR(far->sd[j], near->sd[j], TOL_DIFF);
    }
}

TEST(default_priors_do_not_depend_on_the_origin)
{
    static const char *const settings[] = {"", "storage=sparse", "prior=student_t(3,0,1)"};
    for (EACH_CASE(c))
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            answer near = approximate(c->model, settings[i], c->largest, 0.0);
            answer far = approximate(c->model, settings[i], c->largest, FAR);
            check_moved(&near, &far);
        }
}

TEST(sag_and_lbfgs_find_the_same_mode)
{
    answer want = approximate("logistic", "", 1.0, 3.0);
    answer lbfgs = approximate("logistic", "method=lbfgs tolerance=1e-08", 1.0, 3.0);
    answer sag = approximate("logistic", "method=sag tolerance=1e-07", 1.0, 3.0);
    for (size_t j = 0; j < want.dim; j++) {
        CHECK_NEAR(lbfgs.mean[j], want.mean[j], TOL_DIFF);
        CHECK_NEAR(sag.mean[j], want.mean[j], TOL_DIFF);
    }
}

TEST(a_user_prior_is_of_the_intercept_at_zero)
{
    answer tight = approximate("linear", "prior-intercept=normal(-1000,0.001)", 9.0, FAR);
    CHECK_NEAR(tight.mean[0], -1000.0, TOL_DIFF);
    tight = approximate("linear", "prior-intercept=normal(7,0.0001) prior-intercept-at=mean",
                        9.0, FAR);
    CHECK(fabs(tight.mean[0]) > 100.0);
}

TEST(a_kink_stays_at_zero)
{
    sbps_options *o =
        options_of("logistic", "prior-intercept=laplace(0,1) prior-intercept-at=mean");
    sbps_table *table = table_of(o, 1.0, FAR);
    sbps_mode *m = NULL;
    sbps_error err = {0};
    CHECK(sbps_mode_find(table, o, &m, &err) == SBPS_BAD_ARG && strstr(err.text, "not smooth"));
    sbps_table_destroy(table);
    sbps_options_destroy(o);
}

/* A full batch of any model gives the posterior's own gradient. */
TEST(potentials_use_the_centred_prior)
{
    for (EACH_CASE(c)) {
        sbps_options *o = options_of(c->model, "");
        sbps_table *table = table_of(o, c->largest, 3.0);
        posterior *u = NULL;
        REQUIRE(target_open(o, table->data, model_find(c->model), &u, NULL) == SBPS_OK);
        arena memory = {0};
        minibatch full;
        minibatch_carve(&full, &batch_full, u, ROWS, &memory);
        memory = (arena){.base = aligned_zeroed(memory.used), .size = memory.used};
        minibatch_carve(&full, &batch_full, u, ROWS, &memory);
        minibatch_start(&full, rng_stream(1, 0, RNG_BATCH));
        double w[MAX_PARAMETERS], want[MAX_PARAMETERS], got[MAX_PARAMETERS], value, exact,
            slope = 0.0;
        for (size_t j = 0; j < u->dim; j++) w[j] = 0.2 * (double)(j + 1);
        posterior_gradient(u, w, &exact, want, NULL);
        potential_value(&full.is, w, &value, &slope);
        CHECK_NEAR(value, exact, TOL_SUM);
        potential_fresh_gradient(&full.is, w, got);
        for (size_t j = 0; j < u->dim; j++) CHECK_NEAR(got[j], want[j], TOL_SUM);
        potential_set_line(&full.is, w, want);
        slope = potential_observe(&full.is, 0.0).slope;
        for (size_t j = 0; j < u->dim; j++) slope -= want[j] * want[j];
        CHECK_NEAR(slope / exact, 0.0, TOL_DIFF);
        minibatch_release(&full);
        free(memory.base);
        posterior_destroy(u);
        sbps_table_destroy(table);
        sbps_options_destroy(o);
    }
}

CHECK_MAIN
