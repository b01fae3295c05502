/* The summary of a small synthetic result, word for word. */
#include "check.h"

#include "output/fixture.h"
#include "output/summary/summary.h"

#include <locale.h>
#include <unistd.h>

/* A result with names that need quoting, and with unknown numbers. */
static result *unusual_result(void)
{
    result *r = make_result(2, 8, 3);
    r->info.eta = NAN;
    r->bias[2] = NAN;
    r->mcse[1] = INFINITY;
    return r;
}

/* The documented columns, in this order; others may follow. */
#define PROMISED "name,mean,mcse,sd,q5,q50,q95,ess_bulk,ess_tail,rhat,bias"

/* Whether the texts have as many lines, and each line of `got` begins with that of `want`. */
static bool lines_begin(const char *got, const char *want)
{
    while (*got && *want) {
        size_t length = strcspn(want, "\n");
        if (strncmp(got, want, length) != 0) return false;
        got += strcspn(got, "\n") + 1;
        want += length + 1;
    }
    return *got == *want;
}

static void expect_summary(const result *r, sbps_format format, const char *want)
{
    char *got;
    REQUIRE(report_summary(r, format, &got, NULL) == SBPS_OK);
    if (!lines_begin(got, want)) printf("got:\n%s\nexpected:\n%s\n", got, want);
    CHECK(lines_begin(got, want));
    sbps_free(got);
}

static const char awkward_table[] =
    "target        delayed\n"
    "model         logistic\n"
    "rows          1000000\n"
    "chains        2 x 8 draws, seed 1; smallest ESS 1600, largest R-hat 1.031\n"
    "\n"
    "name         mean     mcse      sd      q5     q50     q95  ess_bulk  ess_tail   rhat    "
    "bias\n"
    "intercept   -0.50    0.025    1.00   -1.53   -0.39    1.35         8         8  0.989   "
    "0.000\n"
    "dist,\"km\"   0.500      inf   0.100   0.470   0.564   0.655         8         8  1.031  "
    "-0.010\n"
    "h\xc3\xb6he       1.5000  0.00025  0.0100  1.4832  1.5002  1.5114         8         8  "
    "0.962"
    "       -\n";

static const char awkward_csv[] = PROMISED
    "\n"
    "intercept,-0.5,0.025,1,-1.533677527,-0.3872079561,1.347538536,8,8,0.9885388785,0\n"
    "\"dist,\"\"km\"\"\",0.5,Inf,0.1,0.4697311814,0.5638547092,0.6550428649,8,8,1.031246268,"
    "-0.01\n"
    "h\xc3\xb6he,1.5,0.00025,0.01,1.48319474,1.500176258,1.511363582,8,8,0.962139178,NaN\n";

static const char awkward_json_run[] = "{\n"
                                       "  \"run\": {\n"
                                       "    \"sampler\": \"sbps\",\n"
                                       "    \"model\": \"logistic\",\n"
                                       "    \"rows\": 1000000,\n"
                                       "    \"dim\": 3,\n"
                                       "    \"chains\": 2,\n"
                                       "    \"seed\": 1,\n"
                                       "    \"batch_size\": 16,\n"
                                       "    \"band\": 3.5,\n"
                                       "    \"control_variate\": \"hessian\",\n"
                                       "    \"metric\": \"dense\",\n"
                                       "    \"proposals\": 50000,\n"
                                       "    \"bounces\": 10000,\n"
                                       "    \"refreshments\": 700,\n"
                                       "    \"violations\": 20,\n"
                                       "    \"missing_bounces\": 1.5,\n"
                                       "    \"rows_touched\": 800000,\n"
                                       "    \"bias_estimate\": 0.0125,\n"
                                       "    \"min_ess\": 1600,\n"
                                       "    \"passes_setup\": 2.5,\n"
                                       "    \"pareto_k\": null,\n"
                                       "    \"seconds_setup\": 0.5,\n"
                                       "    \"seconds_warmup\": 1.25,\n"
                                       "    \"seconds_sampling\": 3,\n"
                                       "    \"eta\": null,\n";

TEST(table_is_aligned_and_shows_what_the_sd_allows)
{
    result *r = unusual_result();
    expect_summary(r, SBPS_TEXT, awkward_table);
    result_destroy(r);
}

/* ASCII, Japanese, Korean, an a with a combining mark, an emoji, a byte that is not UTF-8. */
TEST(wide_and_combining_characters_take_their_width_on_a_screen)
{
    CHECK(text_columns("ab") == 2 && text_columns("h\xc3\xb6he") == 4);
    CHECK(text_columns("\xe5\xb9\xb4\xe9\xbd\xa2") == 4);
    CHECK(text_columns("\xeb\x82\x98x") == 3);
    CHECK(text_columns("a\xcc\x88") == 1);
    CHECK(text_columns("\xf0\x9f\x98\x80") == 2);
    CHECK(text_columns("\xff") == 1);
}

TEST(csv_has_the_documented_columns_and_quotes_names)
{
    result *r = unusual_result();
    expect_summary(r, SBPS_CSV, awkward_csv);
    result_destroy(r);
}

/* Every column has a distinct name, a description, and a distinct number of a parameter. */
TEST(columns_are_distinct)
{
    size_t count = 0;
    for (const column *c, *d; (c = column_at(count)); count++) {
        CHECK(*c->name && *c->summary);
        for (size_t k = 0; k < count; k++)
            CHECK((d = column_at(k))->offset != c->offset && strcmp(d->name, c->name));
    }
    CHECK(count * sizeof(double) ==
          offsetof(sbps_parameter, part) - offsetof(sbps_parameter, mean));
}

TEST(json_starts_with_the_documented_keys_in_order)
{
    char *got;
    result *r = unusual_result();
    REQUIRE(report_summary(r, SBPS_JSON, &got, NULL) == SBPS_OK);
    CHECK(strncmp(got, awkward_json_run, strlen(awkward_json_run)) == 0);
    CHECK(strstr(
        got, "{\"name\": \"dist,\\\"km\\\"\", \"mean\": 0.5, \"mcse\": null, \"sd\": 0.1,"));
    CHECK(strstr(got, "\"bias\": null, "));
    CHECK(strstr(got, ", \"bias_se\": 0, \"sd_bias\": 0, \"sd_bias_se\": 0"));
    CHECK(strstr(got, "}\n  ]\n}\n"));
    CHECK(strstr(got, "\"bias_estimate_se\": 0,\n"));
    sbps_free(got);
    result_destroy(r);
}

static const char referee[] =
    "/usr/bin/python3 -c \"import json, sys\n"
    "d = json.loads(sys.stdin.buffer.read().decode('utf-8'))\n"
    "assert list(d) == ['run', 'parameters']\n"
    "want = '" PROMISED "'.split(',')\n"
    "assert all(list(p)[:len(want)] == want for p in d['parameters'])\n"
    "assert all({'bias_se', 'sd_bias', 'sd_bias_se'} < set(p) for p in d['parameters'])\n"
    "assert d['parameters'][0]['name'] == 'a\\\\tb' + chr(92) + '\\\\n' + chr(34) + "
    "chr(65533)\n"
    "assert d['parameters'][1]['mean'] == 0.1 + 0.2 and d['parameters'][1]['sd'] == 5e-324\n"
    "assert d['parameters'][2]['name'] == 'h' + chr(246) + 'he'\n"
    "assert d['run']['target'] is None and d['run']['interrupted'] is True\n"
    "\"";

TEST(json_is_read_back_by_python)
{
    char *got;
    if (access("/usr/bin/python3", X_OK) != 0) SKIP("there is no /usr/bin/python3");
    result *r = unusual_result();
    free(r->names[0]);
    r->names[0] = copy_text("a\tb\\\n\"\xff");
    r->mean[1] = 0.1 + 0.2;
    r->sd[1] = 5e-324;
    free(r->info.target);
    r->info.target = NULL;
    r->info.interrupted = true;
    REQUIRE(report_summary(r, SBPS_JSON, &got, NULL) == SBPS_OK);
    FILE *python = popen(referee, "w");
    REQUIRE(python);
    fputs(got, python);
    CHECK(pclose(python) == 0);
    sbps_free(got);
    result_destroy(r);
}

TEST(empty_result_makes_empty_lists)
{
    result *r;
    char *got;
    REQUIRE(result_create(0, 0, 0, &r, NULL) == SBPS_OK);
    expect_summary(r, SBPS_CSV, PROMISED "\n");
    REQUIRE(report_summary(r, SBPS_JSON, &got, NULL) == SBPS_OK);
    CHECK(strstr(got, "\"sampler\": null,"));
    CHECK(strstr(got, "\"parameters\": [\n  ]\n}\n"));
    sbps_free(got);
    result_destroy(r);
}

/* A locale with a decimal comma does not change the numbers. */
TEST(numbers_do_not_follow_the_locale)
{
    result *r = unusual_result();
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        result_destroy(r);
        SKIP("the locale de_DE.UTF-8 is not installed");
    }
    expect_summary(r, SBPS_CSV, awkward_csv);
    setlocale(LC_NUMERIC, "C");
    result_destroy(r);
}

TEST(one_parameter_comes_from_path_and_draws)
{
    sbps_parameter p = {.struct_size = sizeof p};
    sbps_error err;
    result *r = unusual_result();
    REQUIRE(report_parameter(r, 1, &p, &err) == SBPS_OK);
    CHECK(strcmp(p.name, "dist,\"km\"") == 0);
    CHECK(p.mean == 0.5 && p.sd == r->sd[1] && p.bias == -0.01 && isinf(p.mcse));
    CHECK_NEAR(p.q50, 0.5638547092, 1e-9);
    CHECK_NEAR(p.rhat, 1.031246268, 1e-9);
    CHECK(report_parameter(r, 3, &p, &err) == SBPS_BAD_ARG);
    CHECK(strcmp(err.text,
                 "there is no parameter number 3: the result has 3, numbered from 0") == 0);
    result_destroy(r);
}

TEST(table_chooses_digits_by_the_sd)
{
    char *got;
    result *r = make_result(1, 8, 1);
    r->mean[0] = 123456.789;
    r->sd[0] = 4321.0;
    r->mcse[0] = 12.3;
    r->bias[0] = -0.0001;
    REQUIRE(report_summary(r, SBPS_TEXT, &got, NULL) == SBPS_OK);
    CHECK(strstr(got, "\nintercept  123457    12  4321 "));
    CHECK(strstr(got, " 0.000") && !strstr(got, "-0.000"));
    sbps_free(got);
    r->mean[0] = 1.5e-12;
    r->sd[0] = 1e-13;
    REQUIRE(report_summary(r, SBPS_TEXT, &got, NULL) == SBPS_OK);
    CHECK(strstr(got, "\nintercept  1.5e-12    12  1e-13 "));
    sbps_free(got);
    result_destroy(r);
}

TEST(paragraphs_break_between_words)
{
    text t = {0};
    char *got;
    text_add(&t, "1. ");
    text_paragraph(&t, 12, 3, "one two  three unbreakably-long-word four");
    REQUIRE(text_give(&t, &got, NULL) == SBPS_OK);
    CHECK(strcmp(got, "1. one two\n   three\n   unbreakably-long-word\n   four\n") == 0);
    free(got);
}

TEST(long_texts_grow_and_can_be_cut)
{
    text t = {0};
    char *got;
    for (int i = 0; i < 1000; i++) text_add(&t, "%04d", i);
    CHECK(t.length == 4000);
    text_cut(&t, 8);
    text_cut(&t, 100);
    text_add(&t, "!");
    REQUIRE(text_give(&t, &got, NULL) == SBPS_OK);
    CHECK(strcmp(got, "00000001!") == 0);
    free(got);
    REQUIRE(text_give(&t, &got, NULL) == SBPS_OK);
    CHECK(strcmp(got, "") == 0);
    free(got);
}

CHECK_MAIN
