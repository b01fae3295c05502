/* Priors as text: prior_format returns the text that was read, and invalid text is explained.
 * */
#include "check.h"
#include "model/prior/prior.h"

static prior parsed(const char *text)
{
    prior p = {0};
    sbps_error err = {0};
    if (prior_parse(text, &p, &err) != SBPS_OK) printf("prior_parse(%s): %s\n", text, err.text);
    return p;
}

static void check_refused(const char *text, const char *expected)
{
    prior p;
    sbps_error err = {0};
    CHECK(prior_parse(text, &p, &err) == SBPS_BAD_ARG);
    CHECK(err.status == SBPS_BAD_ARG);
    if (!strstr(err.text, expected)) printf("wanted '%s' in: %s\n", expected, err.text);
    CHECK(strstr(err.text, expected));
}

TEST(text_read_comes_back_the_same)
{
    static const char *const texts[] = {
        "normal(0,10)",       "student_t(3,0,2.5)", "flat", "cauchy(-1,2.5)", "laplace(0,0.1)",
        "exponential(1e-05)", "normal(1e+30,0.3)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char back[128];
        prior p = parsed(texts[i]);
        REQUIRE(p.kind);
        prior_format(&p, sizeof back, back);
        CHECK(strcmp(back, texts[i]) == 0);
    }
}

TEST(numbers_survive_text_to_the_last_bit)
{
    prior p = parsed("normal(0,1)"), q;
    p.theta[0] = 1.0 / 3.0;
    p.theta[1] = M_PI * 1e-7;
    char text[128];
    prior_format(&p, sizeof text, text);
    q = parsed(text);
    CHECK(q.theta[0] == p.theta[0] && q.theta[1] == p.theta[1]);
}

TEST(format_does_not_exceed_its_buffer)
{
    prior p = parsed("student_t(3,0,2.5)");
    char text[8] = "#######";
    prior_format(&p, 6, text);
    CHECK(strcmp(text, "stude") == 0);
    CHECK(text[6] == '#');
}

TEST(spaces_are_allowed_anywhere_between_tokens)
{
    prior p = parsed("  student_t ( 3 ,\t0 , 2.5 )  ");
    REQUIRE(p.kind);
    CHECK(strcmp(p.kind->name, "student_t") == 0);
    CHECK(p.theta[0] == 3.0 && p.theta[1] == 0.0 && p.theta[2] == 2.5);
    CHECK(parsed(" flat ").kind);
    CHECK(parsed("flat()").kind);
    CHECK(parsed("flat( )").kind);
}

TEST(invalid_text_is_explained)
{
    check_refused("normal(0,-1)", "sd must be positive");
    check_refused("normal(0,0)", "sd must be positive");
    check_refused("student_t(-3,0,1)", "df must be positive");
    check_refused("student_t(3,0,-1)", "scale must be positive");
    check_refused("student_t(-3,0,-1)", "out of range");
    check_refused("exponential(0)", "rate must be positive");
    check_refused("normal(inf,1)", "mean must be finite");
    check_refused("normal(0,nan)", "sd must be finite");
    check_refused("norml(0,1)", "did you mean 'normal'");
    for (size_t k = 0; prior_kinds[k]; k++) check_refused("spike(0,1)", prior_kinds[k]->name);
    check_refused("normal", "expected normal(mean,sd)");
    check_refused("normal(", "expected normal(mean,sd)");
    check_refused("normal(0)", "expected normal(mean,sd)");
    check_refused("normal(0,1,2)", "expected normal(mean,sd)");
    check_refused("normal(0 1)", "expected normal(mean,sd)");
    check_refused("normal(0,1) x", "expected normal(mean,sd)");
    check_refused("normal(a,b)", "expected normal(mean,sd)");
    check_refused("student_t()", "expected student_t(df,mean,scale)");
    check_refused("flat(1)", "expected flat");
    check_refused("", "no prior");
    check_refused("(0,1)", "no prior");
}

TEST(long_invalid_text_is_refused_within_the_error_text)
{
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    prior p;
    sbps_error err = {0};
    CHECK(prior_parse(text, &p, &err) == SBPS_BAD_ARG);
    CHECK(prior_parse(text, &p, NULL) == SBPS_BAD_ARG);
}

CHECK_MAIN
