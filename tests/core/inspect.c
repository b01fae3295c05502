/* Inspection of a block: valid state passes; the first violation, and no later one, is
 * reported. */
#include "core/inspect.h"

#include "check.h"

typedef struct {
    uint64_t count;
    bool flag;
    unsigned kind;
    double real, made[3];
} state;

static const state good = {3, true, 2, 0.5, {1.0, -2.0, 0.0}};
static unsigned char seen[sizeof(state) / 8];

/* Every kind of check once, with inspected words recorded. */
static inspection inspect(const state *s)
{
    inspection x = {.base = (const unsigned char *)s,
                    .fresh = (const unsigned char *)&good,
                    .size = sizeof *s,
                    .seen = seen};
    memset(seen, 0, sizeof seen);
    INSPECT_COUNT(&x, s->count, 7);
    INSPECT_FLAG(&x, s->flag);
    INSPECT_KIND(&x, s->kind, 2);
    INSPECT_REAL(&x, s->real, 0.0, 1.0);
    inspect_made(&x, "what set-up makes", s->made, 3);
    inspect_that(&x, "count and kind that do not fit", s->count >= s->kind);
    INSPECT_WHOLE(&x, *s);
    return x;
}

static bool reports(const state *s, const char *message)
{
    inspection x = inspect(s);
    if (!strstr(x.wrong, message)) printf("'%s' does not contain '%s'\n", x.wrong, message);
    return message[0] ? strstr(x.wrong, message) != NULL : !x.wrong[0];
}

TEST(valid_state_passes)
{
    state s = good;
    CHECK(reports(&s, ""));
    s.count = 7, s.flag = false, s.kind = 0, s.real = 1.0;
    CHECK(reports(&s, ""));
    s.made[1] += 1e-7; /* rounding differs on another processor */
    CHECK(reports(&s, ""));
}

TEST(a_violation_is_reported_with_the_name_of_the_member)
{
    state s = good;
    s.count = 8;
    CHECK(reports(&s, "count is 8, at most 7 can be"));
    s = good, memset(&s.flag, 2, 1);
    CHECK(reports(&s, "flag is neither true nor false"));
    s = good, s.kind = 3;
    CHECK(reports(&s, "kind is of kind 3, which there is not"));
    s = good, s.real = -0.25;
    CHECK(reports(&s, "real is -0.25, from 0 to 1 can be"));
    s = good, s.real = NAN;
    CHECK(reports(&s, "real is "));
    s = good, s.made[2] = 1.0;
    CHECK(reports(&s, "what set-up makes is 1, set-up makes it 0"));
    s = good, s.made[0] = NAN;
    CHECK(reports(&s, "set-up makes it 1"));
    s = good, s.count = 1;
    CHECK(reports(&s, "do not fit"));
}

TEST(the_first_of_several_is_reported)
{
    state s = {.count = 9, .kind = 9, .real = 9.0, .made = {9.0, 9.0, 9.0}};
    memset(&s.flag, 9, 1);
    CHECK(reports(&s, "count is 9"));
}

TEST(bytes_that_set_up_computes_must_be_equal)
{
    state s = good;
    inspection x = {.base = (const unsigned char *)&s, .fresh = (const unsigned char *)&good};
    inspect_same(&x, "s->kind", &s.kind, sizeof s.kind);
    CHECK(!x.wrong[0]);
    s.kind = 1;
    inspect_same(&x, "s->kind", &s.kind, sizeof s.kind);
    CHECK(strcmp(x.wrong, "kind is not what set-up makes it") == 0);
    inspect_same(&x, "later", &s.kind, sizeof s.kind);
    CHECK(strcmp(x.wrong, "kind is not what set-up makes it") == 0);
}

TEST(a_word_that_was_not_inspected_is_detected)
{
    state s = good;
    inspection x = {.base = (const unsigned char *)&s, .size = sizeof s, .seen = seen};
    memset(seen, 0, sizeof seen);
    INSPECT_ANY(&x, s.count);
    inspect_any(&x, &s, 0);
    inspect_whole(&x, "state", &s, sizeof s);
    CHECK(strcmp(x.wrong, "word 1 of state is not inspected") == 0);

    inspection unkept = {.base = (const unsigned char *)&s, .size = sizeof s};
    INSPECT_ANY(&unkept, s.count);
    inspect_whole(&unkept, "state", &s, sizeof s);
    CHECK(!unkept.wrong[0]);
}

CHECK_MAIN
