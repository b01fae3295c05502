/* --prior with names: which coefficients a piece applies to, and the messages for mistakes. */
#include "inference/options/coordinate_priors.h"
#include "check.h"
#include "inference/options/target.h"
#include "inference/run/run.h"

/* The prior that `text` gives to `name`, as text; "auto"; "none" if no piece applies. */
static const char *prior_for(const char *text, const char *name)
{
    static char out[sizeof(sbps_error)];
    prior_list list;
    sbps_error err = {0};
    if (prior_list_parse(text, &list, &err) != SBPS_OK) {
        prior_list_close(&list);
        return snprintf(out, sizeof out, "%s", err.text), out;
    }
    const prior_piece *piece = prior_list_find(&list, name);
    snprintf(out, sizeof out, "%s", !piece ? "none" : "auto");
    if (piece && !piece->usual) prior_format(&piece->distribution, sizeof out, out);
    prior_list_close(&list);
    return out;
}

#define GIVES(text, name, want)                                                                \
    do {                                                                                       \
        const char *got = prior_for(text, name);                                               \
        if (strcmp(got, want)) printf("'%s' of %s: %s\n", text, name, got);                    \
        CHECK(!strcmp(got, want));                                                             \
    } while (0)

TEST(a_piece_is_for_the_coefficient_it_names)
{
    GIVES("normal(0,2.5)", "x1", "normal(0,2.5)");
    GIVES("auto", "x1", "auto");
    GIVES("x1=normal(0,1)", "x1", "normal(0,1)");
    GIVES("x1=normal(0,1)", "x2", "none");
    GIVES("normal(0,2.5); x1 = normal(0,1) ;", "x1", "normal(0,1)");
    GIVES("normal(0,2.5); x1 = normal(0,1) ;", "x2", "normal(0,2.5)");
    GIVES("normal(0,2.5);x1=auto", "x1", "auto");
    GIVES("x1=flat", "x1", "flat");
}

/* Names of columns. */
TEST(names_may_contain_the_characters_of_priors)
{
    GIVES("colour=red=normal(0,1)", "colour=red", "normal(0,1)");
    GIVES("law=normal=cauchy(0,1)", "law=normal", "cauchy(0,1)");
    GIVES("log(z)=normal(0,1)", "log(z)", "normal(0,1)");
    GIVES("a b, c=normal(0,1)", "a b, c", "normal(0,1)");
    GIVES("1:x1=normal(0,1)", "1:x1", "normal(0,1)");
    GIVES("normal=normal(0,1)", "normal", "normal(0,1)");
}

TEST(a_star_matches_any_text)
{
    static const char *const fit[][2] = {
        {"g:*", "g:red"},  {"*", "anything"}, {"*:x1", "2:x1"}, {"a*b*c", "a-b-c"},
        {"a*b*c", "abbc"}, {"*ab", "aab"},    {"a**b", "ab"},   {"g:*", "g:"}};
    static const char *const miss[][2] = {
        {"g:*", "h:red"}, {"a*b", "abc"}, {"*:x1", "2:x11"}, {"a*b*c", "acb"}, {"a", "ab"}};
    char text[64];
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        snprintf(text, sizeof text, "%s=flat", fit[i][0]);
        GIVES(text, fit[i][1], "flat");
    }
    for (size_t i = 0; i < sizeof miss / sizeof *miss; i++) {
        snprintf(text, sizeof text, "%s=flat", miss[i][0]);
        GIVES(text, miss[i][1], "none");
    }
}

/* The exact name takes precedence, then the last pattern, then the default. */
TEST(the_most_specific_piece_applies)
{
    const char *text = "x1=normal(0,1); x*=normal(0,2); *1=normal(0,3); normal(0,4)";
    GIVES(text, "x1", "normal(0,1)");
    GIVES(text, "x21", "normal(0,3)");
    GIVES(text, "x2", "normal(0,2)");
    GIVES(text, "z", "normal(0,4)");
}

TEST(unreadable_pieces_are_reported)
{
    GIVES("x1=nromal(0,1)", "x1",
          "prior 'nromal(0,1)': no prior is called 'nromal'; did you mean 'normal'?");
    GIVES("normal(0,1); cauchy(0,1)", "x1",
          "two priors without a name: only one can apply to the remaining coefficients");
    GIVES("a=flat; a=normal(0,1)", "a", "two priors are given for 'a'");
    GIVES(" =normal(0,1)", "a", "no name before '=normal(0,1)'");
    GIVES("x1=normal(0,-1)", "x1", "prior 'normal(0,-1)': sd must be positive");
}

/* ---- of a model ---- */

/* The priors that a linear model of columns `dose`, `g:a`, `g:b` has, as one text; or the error
 * message. */
static const char *of_model(const char *text)
{
    static char out[512];
    const double x[] = {1, 0, 0, 2, 1, 0, 4, 0, 1, 7, 0, 0}, y[] = {1, 3, 2, 5};
    static const char *const names[] = {"dose", "g:a", "g:b"};
    sbps_options *o = NULL;
    sbps_table *table = NULL;
    sbps_error err = {0};
    posterior *u = NULL;
    sbps_options_create(&o, NULL);
    sbps_options_set(o, "model", "linear", NULL);
    sbps_options_set(o, "prior", text, NULL);
    if (sbps_table_copy(4, 3, x, names, y, o, &table, &err) == SBPS_OK)
        target_open(o, table->data, model_find("linear"), &u, &err);
    snprintf(out, sizeof out, "%s", err.text);
    for (size_t j = 1; !*err.text && u && j < 4; j++) {
        if (j == 1) *out = '\0';
        prior_format(&u->priors[j], sizeof out - strlen(out), out + strlen(out));
        strcat(out, " ");
    }
    posterior_destroy(u);
    sbps_table_destroy(table);
    sbps_options_destroy(o);
    return out;
}

TEST(coefficients_of_a_model_get_their_priors)
{
    CHECK(!strcmp(of_model("normal(0,3); g:*=student_t(3,0,1); g:b=flat"),
                  "normal(0,3) student_t(3,0,1) flat "));
    CHECK(strstr(of_model("dose=normal(0,1)"), "normal(0,1) normal(0,8."));
    CHECK(strstr(of_model("`dose` = normal(0,1)"), "normal(0,1) normal(0,8."));
    CHECK(!strcmp(of_model("cauchy(0,1)"), "cauchy(0,1) cauchy(0,1) cauchy(0,1) "));
}

TEST(a_name_without_a_coefficient_is_reported)
{
    CHECK(!strcmp(of_model("dos=normal(0,1)"),
                  "--prior: no coefficient is called 'dos'; did you mean 'dose'?"));
    CHECK(strstr(of_model("h:*=normal(0,1)"), "--prior: no coefficient is called 'h:*'"));
    CHECK(!strcmp(
        of_model("intercept=normal(0,1)"),
        "--prior applies to coefficients only; for the intercept use --prior-intercept"));
    CHECK(!strcmp(
        of_model("(Intercept)=normal(0,1)"),
        "--prior applies to coefficients only; for the intercept use --prior-intercept"));
    CHECK(!strcmp(of_model("sigma=exponential(1)"),
                  "--prior applies to coefficients only; for sigma use --prior-sigma"));
    CHECK(strstr(of_model("dose=exponential(1)"), "is for positive parameters"));
    CHECK(
        strstr(of_model("dose=nomal(0,1)"), "--prior: prior 'nomal(0,1)': no prior is called"));
}

CHECK_MAIN
