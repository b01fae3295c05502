/* Text that grows, and names: of kinds, misspelt, fit to be shown. */
#include "core/text.h"
#include "core/kind_tables.h"
#include "core/printable.h"

#include "check.h"

/* The linker puts this in the place of the system's. */
static bool refuse;

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
    return refuse ? NULL : __real_realloc(block, size);
}

static bool gives(text *t, const char *want)
{
    char *got = text_take(t);
    bool same = got && !strcmp(got, want);
    if (!same) printf("got '%s', expected '%s'\n", got ? got : "(none)", want);
    free(got);
    return same && !t->data && t->length == 0;
}

TEST(a_text_holds_what_was_added_in_order)
{
    text t = {0};
    CHECK(gives(&t, ""));
    text_add(&t, "%d, %s", 7, "seven");
    text_spaces(&t, 2);
    text_bytes(&t, "eight...", 5);
    CHECK(gives(&t, "7, seven  eight"));
    for (size_t i = 0; i < 1000; i++) text_add(&t, "%03zu", i);
    CHECK(t.length == 3000 && !strncmp(t.data + 1500, "500", 3));
    text_cut(&t, 6);
    CHECK(gives(&t, "000001"));
}

TEST(a_text_may_hold_zero_bytes)
{
    text t = {0};
    text_bytes(&t, "a", 2);
    text_bytes(&t, "b", 2);
    CHECK(t.length == 4 && !memcmp(t.data, "a\0b\0", 4));
    text_free(&t);
    CHECK(!t.data && t.length == 0);
}

TEST(memory_that_ran_out_on_the_way_is_reported_at_the_end)
{
    text t = {0};
    char *out = (char *)&t;
    sbps_error err;
    text_add(&t, "so far");
    refuse = true;
    for (size_t i = 0; i < 100; i++) text_add(&t, " and on");
    refuse = false;
    text_add(&t, " and no further");
    CHECK(text_give(&t, &out, &err) == SBPS_NO_MEM && !out && !t.failed && !t.data);
    refuse = true;
    CHECK(text_take(&t) == NULL); /* not even the empty one */
    refuse = false;
}

/* RFC 4180, section 2: rules 5, 6 and 7. */
TEST(fields_are_quoted_as_rfc_4180_requires)
{
    static const char *const fields[][2] = {
        {"plain", "plain"},
        {"", ""},
        {"two words", "two words"},
        {"a,b", "\"a,b\""},
        {"say \"x\"", "\"say \"\"x\"\"\""},
        {"\"", "\"\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"a\rb", "\"a\rb\""},
        {"semi;colon", "semi;colon"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        text t = {0};
        text_csv_field(&t, fields[i][0]);
        CHECK(gives(&t, fields[i][1]));
    }
}

static bool shows(const char *name, const char *want)
{
    text t = {0};
    text_name(&t, name);
    return gives(&t, want);
}

TEST(names_lose_their_control_characters_and_nothing_else)
{
    CHECK(shows("", ""));
    CHECK(shows("income", "income"));
    CHECK(shows("a\nb\x1b[31m", "a?b?[31m"));
    CHECK(shows("\x7f", "?"));
    CHECK(shows("\xc2\x9b"
                "31m",
                "?31m"));                 /* CSI in UTF-8 */
    CHECK(shows("\xc2\xa9", "\xc2\xa9")); /* the copyright sign has the same first byte */
    CHECK(shows("\xc2", "\xc2"));         /* cut short */
    CHECK(shows("\xc3\xa4ge", "\xc3\xa4ge"));
    CHECK(!strcmp(show_name("a\tb").text, "a?b"));
    CHECK(strlen(show_name("a name of more than forty bytes is cut short").text) == 43);
}

typedef struct {
    const char *name;
    int more;
} pet_kind;

static const pet_kind pet_cat = {"cat", 1}, pet_dog = {"dog", 2};

#define PET_KINDS(X)                                                                           \
    X(pet, cat)                                                                                \
    X(pet, dog)

static const pet_kind *const pets[] = {PET_KINDS(KIND_LISTED) NULL};

TEST(kinds_are_found_by_their_names_in_the_order_of_the_list)
{
    const char *names[KINDS_MAX];
    CHECK(kind_find(pets, "dog") == &pet_dog && kind_find(pets, "cat") == &pet_cat);
    CHECK(!kind_find(pets, "do") && !kind_find(pets, "dogs") && !kind_find(pets, ""));
    CHECK(kind_names(pets, names) == 2 && names[0] == pet_cat.name);
    CHECK(!strcmp("auto" PET_KINDS(KIND_CHOICE), "auto|cat|dog"));
}

TEST(a_misspelt_name_gets_the_nearest_or_all)
{
    const char *names[KINDS_MAX];
    size_t count = kind_names(pets, names);
    CHECK(!strcmp(did_you_mean(",", "dgo", names, count).text, ", did you mean 'dog'?"));
    CHECK(!strcmp(did_you_mean(";", "elephant", names, count).text, ""));
    CHECK(!strcmp(nearest_or_all("catt", names, count).text, "; did you mean 'cat'?"));
    CHECK(!strcmp(nearest_or_all("elephant", names, count).text, "; there are cat, dog"));
}

TEST(a_name_in_another_style_is_recognised_by_its_letters)
{
    const char *const names[] = {"(Intercept)", "classsuv", "poly(x, 2)1", "poly(x, 2)2", "+"};
    const char *const olds[] = {"intercept", "class=suv", "poly(x,2)2", "**"};
    const char *const hints[] = {", did you mean '(Intercept)'?", ", did you mean 'classsuv'?",
                                 ", did you mean 'poly(x, 2)2'?", ""};
    for (size_t i = 0; i < 4; i++)
        CHECK(!strcmp(did_you_mean(",", olds[i], names, 5).text, hints[i]));
}

CHECK_MAIN
