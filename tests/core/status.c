/* Errors, names and their suggestions. */
#include "core/status.h"

#include "check.h"

#include "core/memory.h"
#include "core/printable.h"

static const char *const names[] = {"logistic", "linear", "poisson",
                                    "softmax",  "sbps",   "zigzag"};
#define NAMES (sizeof names / sizeof *names)

static bool suggests(const char *word, const char *want)
{
    const char *got = nearest_name(word, names, NAMES);
    return want ? got && strcmp(got, want) == 0 : !got;
}

TEST(every_status_has_its_text)
{
    CHECK(strcmp(sbps_status_text(SBPS_OK), "ok") == 0);
    CHECK(strcmp(sbps_status_text(SBPS_MISMATCH), "checkpoint belongs to another run") == 0);
    CHECK(sbps_status_text((sbps_status)1000) != NULL);
    CHECK(sbps_status_text((sbps_status)-1) != NULL);
}

TEST(fail_writes_the_sentence_and_returns_the_status)
{
    sbps_error err = {0};
    CHECK(fail(&err, SBPS_BAD_FILE, "%s:%d: expected %d", "a.csv", 3, 7) == SBPS_BAD_FILE);
    CHECK(err.status == SBPS_BAD_FILE);
    CHECK(strcmp(err.text, "a.csv:3: expected 7") == 0);
    CHECK(fail(NULL, SBPS_NO_FILE, "no error argument") == SBPS_NO_FILE);
    CHECK(fail_memory(&err) == SBPS_NO_MEM && err.status == SBPS_NO_MEM && err.text[0]);
}

TEST(fail_cuts_a_sentence_that_is_too_long)
{
    sbps_error err;
    char word[2 * sizeof err.text];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    fail(&err, SBPS_BAD_ARG, "%s", word);
    CHECK(strlen(err.text) == sizeof err.text - 1);
}

TEST(typing_errors_find_the_name)
{
    CHECK(suggests("logistc", "logistic"));
    CHECK(suggests("lgistic", "logistic"));
    CHECK(suggests("logistics", "logistic"));
    CHECK(suggests("sbsp", "sbps"));
    CHECK(suggests("zig-zag", "zigzag"));
    CHECK(suggests("linaer", "linear"));
}

TEST(another_case_is_the_same_name)
{
    const char *const columns[] = {"x", "y", "Income"};
    CHECK(nearest_name("Y", columns, 3) == columns[1]);
    CHECK(nearest_name("INCOME", columns, 3) == columns[2]);
    CHECK(nearest_name("Z", columns, 3) == NULL);
}

TEST(words_far_from_every_name_find_none)
{
    CHECK(suggests("", NULL));
    CHECK(suggests("x", NULL));
    CHECK(suggests("hamiltonian", NULL));
    CHECK(suggests("gamma", NULL));
    char word[200];
    memset(word, 's', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    CHECK(suggests(word, NULL));
    CHECK(nearest_name("logistic", names, 0) == NULL);
}

TEST(strings_given_to_the_caller_are_freed)
{
    char *text = copy_text("draws");
    REQUIRE(text != NULL);
    CHECK(strcmp(text, "draws") == 0);
    sbps_free(text);
    sbps_free(NULL);
    CHECK(copy_text(NULL) == NULL);
}

CHECK_MAIN
