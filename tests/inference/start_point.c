/* Start points from files: the output of map and laplace is read back, and errors are reported.
 * */
#include "inference/options/start_point.h"
#include "check.h"
#include "core/memory.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include <unistd.h>

#define ROWS 200

static char path[32];

static void write_file(const char *text)
{
    strcpy(path, "/tmp/sbps-start-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) abort();
    close(fd);
}

static sbps_options *options_of(const char *model)
{
    sbps_options *o = NULL;
    if (sbps_options_create(&o, NULL) != SBPS_OK ||
        sbps_options_set(o, "model", model, NULL) != SBPS_OK)
        abort();
    return o;
}

/* Two columns, one with a name that needs quotes. */
static sbps_table *table_of(const sbps_options *o)
{
    static const char *const names[] = {"a", "b, \"c\""};
    double x[2 * ROWS], y[ROWS];
    rng r = rng_stream(5, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = rng_normal(&r);
        x[2 * i + 1] = 3.0 * rng_normal(&r) + x[2 * i];
        y[i] = 1.0 + x[2 * i] - 0.2 * x[2 * i + 1] + 0.5 * rng_normal(&r);
    }
    sbps_table *table = NULL;
    if (sbps_table_copy(ROWS, 2, x, names, y, o, &table, NULL) != SBPS_OK) abort();
    return table;
}

/* Reads `text` as a start of the linear model on that table. */
static sbps_status read_text(const char *text, start_point *out, sbps_error *err)
{
    sbps_options *o = options_of("linear");
    sbps_table *table = table_of(o);
    posterior *u = NULL;
    char **names = NULL;
    if (target_open(o, table->data, model_find("linear"), &u, err) != SBPS_OK ||
        target_names(u, &names, err) != SBPS_OK)
        abort();
    write_file(text);
    sbps_status status = start_read(path, u, (const char *const *)names, out, err);
    unlink(path);
    free_texts(names, u->dim);
    posterior_destroy(u);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
    return status;
}

static bool refused(const char *text, const char *message)
{
    start_point s;
    sbps_error err = {0};
    sbps_status status = read_text(text, &s, &err);
    bool ok = status == SBPS_BAD_FILE && strstr(err.text, message);
    if (!ok) printf("status %d, '%s', expected '%s'\n", status, err.text, message);
    start_release(&s);
    return ok;
}

#define HEADER "name,value\n"
#define REST   "intercept,1\na,2\n\"b, \"\"c\"\"\",3\n"

TEST(lines_may_come_in_any_order_and_sigma_on_either_scale)
{
    static const char *const texts[] = {
        HEADER REST "sigma,2.5\n",
        "\n" HEADER "\nlog(sigma),0.91629073187415511\n" REST "\n\n",
        "name,mean,mcse,sd\r\nsigma,2.5,x,\r\na,2,,\r\nintercept,1,,\r\n\"b, \"\"c\"\"\",3,,",
    };
    uint64_t hash[3];
    for (size_t i = 0; i < 3; i++) {
        start_point s;
        sbps_error err = {0};
        sbps_status status = read_text(texts[i], &s, &err);
        if (status != SBPS_OK) printf("%s\n", err.text);
        REQUIRE(status == SBPS_OK);
        CHECK(s.w[0] == 1.0 && s.w[1] == 2.0 && s.w[2] == 3.0 && !s.precision);
        CHECK_NEAR(s.w[3], log(2.5), TOL_ROUND);
        hash[i] = s.hash;
        start_release(&s);
    }
    CHECK(hash[0] != hash[1] && hash[1] != hash[2] && hash[0] != hash[2]);
}

TEST(errors_of_a_file_are_reported)
{
    CHECK(refused("", "the file is empty"));
    CHECK(refused("\n\n", "the file is empty"));
    CHECK(refused("value,name\n", ":1: the first column is 'value', not 'name'"));
    CHECK(refused("name\na\n", ":1: expected the columns name and value"));
    CHECK(refused("name,sd\n", ":1: the second column is 'sd', not 'value' or 'mean'"));
    CHECK(refused(HEADER REST, "no line for the parameter 'sigma'"));
    CHECK(refused(HEADER REST "sigmo,1\n", ":5: the model has no parameter 'sigmo'; did you "
                                           "mean 'sigma'?"));
    CHECK(refused(HEADER REST "sigma,1\na,7\n", ":6: 'a' was already given on line 3"));
    CHECK(refused(HEADER REST "sigma,0\n", ":5: sigma must be positive, not 0"));
    CHECK(refused(HEADER REST "sigma,nan\n", ":5: column 2: 'nan' is not a finite number"));
    CHECK(refused(HEADER REST "sigma,1x\n", ":5: column 2: '1x' is not a finite number"));
    CHECK(refused(HEADER REST "sigma\n", ":5: expected 2 columns"));
    CHECK(refused(HEADER REST "sigma,1,2\n", ":5: expected 2 columns"));
    CHECK(refused(HEADER "\"a,1\n", ":2: a quote is not closed"));
    CHECK(refused(HEADER "\"a\"b,1\n", ":2: text follows a quoted field"));
}

#define COLUMNS "name,mean,cov:intercept,cov:a,\"cov:b, \"\"c\"\"\",cov:log(sigma)\n"

TEST(errors_of_a_covariance_are_reported)
{
    CHECK(
        refused("name,mean,cov:a\n", ":1: the covariance has columns for 1 of the model's 4"));
    CHECK(refused("name,mean,cov:a,cov:a\n", ":1: column 'cov:a' appears twice"));
    CHECK(refused("name,mean,cov:z\n", ":1: the model has no parameter 'z'"));
    CHECK(refused("name,mean,cov:sigma\n", ":1: 'sigma' is on the log scale"));
    CHECK(refused(COLUMNS "sigma,1,1,0,0,0\n", ":2: 'sigma' is on the log scale"));
    CHECK(refused(COLUMNS "intercept,1,1,0,0,0\na,1,0.5,1,0,0\n\"b, \"\"c\"\"\",1,0,0,1,0\n"
                          "log(sigma),1,0,0,0,1\n",
                  "the covariance is not symmetric: 'a' with 'intercept' is 0.5"));
    CHECK(refused(COLUMNS "intercept,1,1,0,0,0\na,1,0,1,2,0\n\"b, \"\"c\"\"\",1,0,2,1,0\n"
                          "log(sigma),1,0,0,0,1\n",
                  "not positive definite: 'b, "));
}

/* Bytes are changed, removed and repeated: the result is a message or a point, never a crash.
 * */
TEST(a_damaged_file_is_read_or_refused)
{
    static const char whole[] = COLUMNS "intercept,1,1,0,0,0\na,1,0,1,0.5,0\n"
                                        "\"b, \"\"c\"\"\",1,0,0.5,1,0\nlog(sigma),1,0,0,0,1\n";
    static const char bytes[] = "\"\"\",,\n\r0-.e9acx:";
    rng r = rng_stream(9, 0, RNG_TEST);
    size_t fine = 0, reported = 0;
    for (size_t trial = 0; trial < 1000; trial++) {
        char text[sizeof whole + 16];
        size_t length = strlen(whole);
        memcpy(text, whole, sizeof whole);
        for (size_t k = 1 + rng_below(&r, 3); k > 0; k--) {
            size_t at = rng_below(&r, length);
            if (rng_below(&r, 3) == 0)
                text[length = at] = '\0';
            else
                text[at] = bytes[rng_below(&r, sizeof bytes - 1)];
            if (length == 0) break;
        }
        start_point s;
        sbps_error err = {0};
        sbps_status status = read_text(text, &s, &err);
        fine += status == SBPS_OK;
        reported += status == SBPS_BAD_FILE && *err.text;
        start_release(&s);
    }
    CHECK(fine > 0 && reported > 0 && fine + reported == 1000);
}

static char *report_of(const sbps_options *o, const sbps_table *table, bool laplace)
{
    char *text = NULL;
    sbps_mode *m = NULL;
    sbps_laplace *l = NULL;
    if (sbps_mode_find(table, o, &m, NULL) != SBPS_OK ||
        sbps_laplace_create(m, &l, NULL) != SBPS_OK)
        abort();
    sbps_status status = laplace ? sbps_laplace_report(l, SBPS_CSV, &text, NULL)
                                 : sbps_mode_report(m, SBPS_CSV, &text, NULL);
    CHECK(status == SBPS_OK);
    sbps_laplace_destroy(l);
    sbps_mode_destroy(m);
    return text;
}

/* A run from the file has the same mode, and from the covariance the same Hessian, as one
 * without. */
TEST(a_run_from_a_written_mode_is_the_run_that_finds_it)
{
    sbps_options *o = options_of("linear");
    sbps_table *table = table_of(o);
    sbps_run *own = NULL;
    REQUIRE(sbps_run_create(table, o, &own, NULL) == SBPS_OK);
    for (int laplace = 0; laplace < 2; laplace++) {
        sbps_error err = {0};
        sbps_run *run = NULL;
        char *text = report_of(o, table, laplace);
        write_file(text);
        sbps_options *from = options_of("linear");
        REQUIRE(sbps_options_set(from, "start", path, NULL) == SBPS_OK);
        if (sbps_run_create(table, from, &run, &err) != SBPS_OK) printf("%s\n", err.text);
        REQUIRE(run);
        CHECK(run->geometry.start_hash && run->geometry.start_metric == (bool)laplace);
        for (size_t j = 0; j < 4; j++)
            CHECK_NEAR(run->reference->w[j], own->reference->w[j], TOL_ROUND);
        for (size_t i = 0; i < 16; i++)
            CHECK_NEAR(run->reference->hessian[i], own->reference->hessian[i], 1e-9);
        unlink(path);
        sbps_run_destroy(run);
        sbps_options_destroy(from);
        sbps_free(text);
    }
    sbps_run_destroy(own);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
}

/* The matrix of the file becomes that of the metric. */
TEST(the_covariance_of_a_file_is_the_metric_of_the_run)
{
    static const double variance[] = {4.0, 0.25, 1.0, 0.01};
    sbps_options *o = options_of("linear");
    sbps_table *table = table_of(o);
    sbps_run *run = NULL;
    write_file(COLUMNS "intercept,1,4,0,0,0\na,1,0,0.25,0,0\n\"b, \"\"c\"\"\",-0.2,0,0,1,0\n"
                       "log(sigma),-0.5,0,0,0,0.01\n");
    REQUIRE(sbps_options_set(o, "start", path, NULL) == SBPS_OK);
    REQUIRE(sbps_run_create(table, o, &run, NULL) == SBPS_OK);
    for (size_t j = 0; j < 4; j++) {
        double e[4] = {0}, v[4];
        e[j] = 1.0;
        run->geometry.a->kind->forward(run->geometry.a, e, v);
        double length = 0.0; /* v' S^-1 v does not depend on the factor */
        for (size_t k = 0; k < 4; k++) length += v[k] * v[k] / variance[k];
        CHECK_NEAR(length * run->plan->scale * run->plan->scale, 1.0, 1e-10);
    }
    unlink(path);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
}

/* For a Gaussian target the result is its covariance. */
TEST(laplace_on_a_gaussian_is_its_covariance)
{
    static const double want[] = {2.0, 0.3, -0.5, 0.3, 1.0, 0.2, -0.5, 0.2, 3.0};
    sbps_options *o = options_of("gaussian");
    sbps_table *table = NULL;
    sbps_mode *m = NULL;
    sbps_laplace *l = NULL;
    sbps_mode_info info = {.struct_size = sizeof info};
    write_file("a,b,c\n2,0.3,-0.5\n0.3,1,0.2\n-0.5,0.2,3\n");
    REQUIRE(sbps_options_set(o, "covariance", path, NULL) == SBPS_OK);
    REQUIRE(sbps_table_none(&table, NULL) == SBPS_OK);
    REQUIRE(sbps_mode_find(table, o, &m, NULL) == SBPS_OK);
    REQUIRE(sbps_laplace_create(m, &l, NULL) == SBPS_OK);
    unlink(path);
    sbps_mode_describe(m, &info);
    CHECK(sbps_mode_dim(m) == 3 && info.gradient_norm <= 1e-12 && info.ridge == 0.0);
    for (size_t i = 0; i < 9; i++) CHECK_NEAR(sbps_laplace_covariance(l)[i], want[i], TOL_SUM);
    for (size_t j = 0; j < 3; j++) {
        CHECK_NEAR(sbps_laplace_mean(l)[j], 0.0, TOL_ROUND);
        CHECK_NEAR(sbps_laplace_sd(l)[j], sqrt(want[4 * j]), TOL_SUM);
    }
    /* U = log p(0) + chi^2(3)/2 exactly; R: qchisq(.5, 3) = 2.365974 */
    CHECK_NEAR(sbps_laplace_nll(l, 0.5) - info.nll, 0.5 * 2.365973884375338, 1e-10);
    CHECK(isnan(sbps_laplace_nll(l, 0.0)) && isnan(sbps_laplace_nll(l, 1.0)));
    CHECK(!sbps_mode_name(m, 3) && !sbps_laplace_name(l, 3));
    sbps_laplace_destroy(l);
    sbps_mode_destroy(m);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
}

/* The reported gradient norm is that of the gradient, for every method that finds the mode. */
TEST(the_reported_gradient_norm_is_that_of_the_gradient)
{
    static const char *const methods[] = {"auto", "newton", "lbfgs", "sag"};
    sbps_options *o = options_of("linear");
    sbps_table *table = table_of(o);
    posterior *u = NULL;
    REQUIRE(target_open(o, table->data, model_find("linear"), &u, NULL) == SBPS_OK);
    for (size_t k = 0; k < 4; k++) {
        sbps_mode *m = NULL;
        sbps_mode_info info = {.struct_size = sizeof info};
        double w[4], g[4], value, norm = 0.0;
        REQUIRE(sbps_options_set(o, "method", methods[k], NULL) == SBPS_OK);
        REQUIRE(sbps_mode_find(table, o, &m, NULL) == SBPS_OK);
        memcpy(w, sbps_mode_values(m), sizeof w);
        CHECK(!strcmp(sbps_mode_name(m, 3), "sigma"));
        w[3] = log(w[3]);
        REQUIRE(posterior_gradient(u, w, &value, g, NULL) == SBPS_OK);
        for (size_t j = 0; j < 4; j++) norm += g[j] * g[j];
        sbps_mode_describe(m, &info);
        CHECK_NEAR(info.gradient_norm, sqrt(norm), 1e-10);
        CHECK_NEAR(info.potential, value, TOL_SUM);
        CHECK(info.distance <= 1e-6 && isnan(info.epochs) == (k != 3));
        sbps_mode_destroy(m);
    }
    posterior_destroy(u);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
}

CHECK_MAIN
