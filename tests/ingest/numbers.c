/* number_read and number_short give the same bits as strtod. */
#include "check.h"

#include "core/rng.h"
#include "ingest/schema/number.h"
#include <inttypes.h>

static locale_t c_locale;

__attribute__((constructor)) static void open_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* number_short in the middle of a line: the right value, or NULL. */
static bool short_agrees(const char *text, const char *end, double expected)
{
    char line[256];
    double got = -1;
    snprintf(line, sizeof line, "%.*s,99999999999999999999", (int)(end - text), text);
    const char *stop = number_short(line, &got);
    if (!stop || (*stop | 32) == 'e') return true;
    if (stop == line + (end - text) && bits(got) == bits(expected)) return true;
    printf("'%s': strtod %.17g, number_short %.17g, ends %td and %td\n", text, expected, got,
           end - text, stop - line);
    return false;
}

/* Whether number_read and strtod agree on the value and on where it ends. */
static bool agrees(const char *text)
{
    char *end;
    double expected = strtod(text, &end), got = -1;
    const char *stop = number_read(text, c_locale, &got);
    if (stop == end && bits(expected) == bits(got)) return short_agrees(text, end, expected);
    printf("'%s': strtod %.17g, number_read %.17g, ends %td and %td\n", text, expected, got,
           end - text, stop ? stop - text : -1);
    return false;
}

static const char *const odd_texts[] = {
    "0",
    "-0",
    "+0",
    "0.0",
    ".5",
    "5.",
    "-.5e-3",
    "+1",
    "1e5",
    "1E5",
    "1e+05",
    "1e-05",
    "1e",
    "1e+",
    "1.5e-",
    "1x",
    "1,2",
    "00012",
    "000000000000000000000000000001.5",
    "0.00000000000000000000000000000000000001",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "9007199254740992.5",
    "9007199254740995",
    "18446744073709551615",
    "18446744073709551616",
    "9999999999999999999",
    "10000000000000000000",
    "99999999999999999999",
    "1e22",
    "1e23",
    "1e27",
    "1e28",
    "1e-22",
    "1e-27",
    "1e-28",
    "123456789012345678e-27",
    "1234567890123456789e27",
    "4.9406564584124654e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e309",
    "-1e400",
    "1e-400",
    "0e999999999999999999999",
    "1e999999999999999999999",
    "1e-99999999999999999999",
    "0.1000000000000000055511151231257827021181583404541015625",
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126",
    "8.5",
    "179769313486231580793e289",
};

TEST(odd_spellings_are_read_as_strtod_reads_them)
{
    for (size_t i = 0; i < sizeof odd_texts / sizeof *odd_texts; i++)
        CHECK(agrees(odd_texts[i]));
}

TEST(infinities_nan_and_other_texts_are_not_numbers)
{
    static const char *const texts[] = {"",    "-",   "+",   ".",  "-.",  "e5", ".e5",
                                        "inf", "nan", "abc", " 1", "--1", "+-1"};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(number_read(texts[i], c_locale, &value) == NULL);
}

TEST(random_bit_patterns_survive_seventeen_digits)
{
    rng r = rng_stream(1, 0, RNG_TEST);
    size_t wrong = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t word = rng_word(&r);
        double value;
        char text[64];
        memcpy(&value, &word, sizeof value);
        if (!isfinite(value)) continue;
        snprintf(text, sizeof text, "%.*g", (int)(15 + rng_below(&r, 4)), value);
        wrong += !agrees(text);
    }
    CHECK(wrong == 0);
}

TEST(numbers_of_ordinary_size_survive_seventeen_digits)
{
    rng r = rng_stream(2, 0, RNG_TEST);
    size_t wrong = 0;
    for (int i = 0; i < 300000; i++) {
        char text[64];
        double value = rng_normal(&r) * pow(10, (double)rng_below(&r, 40) - 20), back = 0;
        snprintf(text, sizeof text, "%.17g", value);
        wrong += !agrees(text);
        number_read(text, c_locale, &back);
        wrong += bits(back) != bits(value);
    }
    CHECK(wrong == 0);
}

/* Writes sign, digits, point, digits and exponent, all of random length. */
static void random_decimal(rng *r, char *text)
{
    size_t whole = rng_below(r, 22), fraction = rng_below(r, 22);
    bool zeros = rng_below(r, 4) == 0;
    if (rng_below(r, 2)) *text++ = '-';
    for (size_t i = 0; i <= whole; i++)
        *text++ = (char)('0' + (zeros && i + 1 < whole ? 0 : rng_below(r, 10)));
    if (rng_below(r, 3)) {
        *text++ = '.';
        for (size_t i = 0; i < fraction; i++)
            *text++ = (char)('0' + (zeros && 2 * i < fraction ? 0 : rng_below(r, 10)));
    }
    *text = '\0';
    size_t range = rng_below(r, 2) ? 40 : 700;
    if (rng_below(r, 2)) sprintf(text, "e%d", (int)rng_below(r, range) - (int)range / 2);
}

TEST(random_decimal_texts_are_read_as_strtod_reads_them)
{
    rng r = rng_stream(3, 0, RNG_TEST);
    size_t wrong = 0;
    char text[128];
    for (int i = 0; i < 500000; i++) {
        random_decimal(&r, text);
        wrong += !agrees(text);
    }
    CHECK(wrong == 0);
}

TEST(number_short_reads_ordinary_decimals)
{
    rng r = rng_stream(5, 0, RNG_TEST);
    size_t left = 0;
    for (int i = 0; i < 300000; i++) {
        char text[128];
        double value;
        int decimals = (int)rng_below(&r, 19);
        snprintf(text, sizeof text, "%.*f,", decimals, 5.0 * rng_normal(&r));
        if (!number_short(text, &value)) left += strcspn(text, ".") + (size_t)decimals < 18;
        CHECK(agrees(text));
    }
    CHECK(left == 0);
}

/* (2m + 1) 2^e is exactly halfway between two doubles: the hardest case to round. */
TEST(halfway_cases_round_to_even)
{
    rng r = rng_stream(4, 0, RNG_TEST);
    size_t wrong = 0;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        uint64_t odd = (UINT64_C(1) << 53 | rng_word(&r) >> 11) | 1;
        unsigned shift = (unsigned)rng_below(&r, 10);
        snprintf(text, sizeof text, "%" PRIu64, odd << shift);
        wrong += !agrees(text);
        uint64_t whole = odd >> 4; /* a fraction of four bits: .0625 and so on */
        snprintf(text, sizeof text, "%" PRIu64 ".%04u", whole, (unsigned)(odd & 15) * 625);
        wrong += !agrees(text);
    }
    CHECK(wrong == 0);
}

CHECK_MAIN
