/* Structs with their size: callers of earlier headers get the members that theirs have, and no
 * byte beyond. */
#include "check.h"

#include "sbps.h"

#include <string.h>

#define FILL_BYTE 0x5a

/* As much of a struct as an earlier header may have had. */
typedef struct {
    size_t struct_size;
    const char *name;
    double mean;
    unsigned char beyond[sizeof(sbps_parameter)];
} short_parameter;

static void sample(sbps_result **out)
{
    sbps_error err;
    sbps_options *options;
    sbps_table *none;
    sbps_run *run;
    bool finished = false;
    REQUIRE(sbps_options_create(&options, &err) == SBPS_OK);
    REQUIRE(sbps_options_set(options, "model", "gaussian", &err) == SBPS_OK);
    REQUIRE(sbps_options_set(options, "dim", "2", &err) == SBPS_OK);
    REQUIRE(sbps_options_set(options, "ess", "50", &err) == SBPS_OK);
    CHECK(sbps_run_create(NULL, options, &run, &err) == SBPS_BAD_ARG && !run);
    REQUIRE(sbps_table_none(&none, &err) == SBPS_OK);
    REQUIRE(sbps_run_create(none, options, &run, &err) == SBPS_OK);
    while (!finished) REQUIRE(sbps_run_advance(run, &finished, &err) == SBPS_OK);
    REQUIRE(sbps_result_from_run(run, out, &err) == SBPS_OK);
    sbps_run_destroy(run);
    sbps_table_destroy(none);
    sbps_options_destroy(options);
}

TEST(an_earlier_struct_gets_its_members_and_no_more)
{
    sbps_error err;
    sbps_result *r = NULL;
    sbps_parameter whole = {.struct_size = sizeof whole};
    short_parameter early;
    memset(&early, FILL_BYTE, sizeof early);
    early.struct_size = offsetof(short_parameter, beyond);
    sample(&r);
    REQUIRE(r);
    REQUIRE(sbps_result_parameter(r, 1, &whole, &err) == SBPS_OK);
    REQUIRE(sbps_result_parameter(r, 1, (sbps_parameter *)(void *)&early, &err) == SBPS_OK);
    CHECK(early.struct_size == offsetof(short_parameter, beyond));
    CHECK(early.mean == whole.mean && !strcmp(early.name, whole.name));
    CHECK(whole.struct_size == sizeof whole && whole.sd > 0.0);
    for (size_t i = 0; i < sizeof early.beyond; i++) CHECK(early.beyond[i] == FILL_BYTE);
    sbps_result_destroy(r);
}

TEST(a_struct_without_a_size_is_refused)
{
    sbps_error err;
    sbps_result *r = NULL;
    sbps_parameter p = {.mean = 7.0};
    char *text;
    sbps_scoring how = {.seed = 1};
    sample(&r);
    REQUIRE(r);
    CHECK(sbps_result_parameter(r, 0, &p, &err) == SBPS_BAD_ARG);
    CHECK(strstr(err.text, "sizeof(sbps_parameter)") && p.mean == 7.0);
    CHECK(sbps_score(r, "run.nc", "none.csv", &how, SBPS_TEXT, &text, &err) == SBPS_BAD_ARG);
    CHECK(!text && strstr(err.text, "sizeof(sbps_scoring)"));
    how.struct_size = sizeof how + 8;
    CHECK(sbps_score(r, "run.nc", "none.csv", &how, SBPS_TEXT, &text, &err) == SBPS_BAD_ARG);
    CHECK(strstr(err.text, "built for a later one"));
    sbps_result_destroy(r);
}

CHECK_MAIN
