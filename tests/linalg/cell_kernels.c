/* Several cells of numbers are read at once: each becomes the double of strtod, including the
 * sign of zero, or is not read. */
#include "check.h"
#include "core/rng.h"
#include "linalg/kernels.h"

enum { CELLS = 12, CAPACITY = 4096 };

typedef struct {
    char *text;
    size_t length;
} line;

/* Random bytes follow the text, to test that they are not read as part of it. */
static line make_line(rng *random, const char *text)
{
    line l = {malloc(CAPACITY + CELL_REACH), strlen(text)};
    memcpy(l.text, text, l.length);
    for (size_t i = l.length; i < l.length + CELL_REACH; i++)
        l.text[i] = "0123456789.,\n-+e\""[rng_below(random, 17)];
    return l;
}

/* Any sign, up to 18 digits and a point, and sometimes other characters. */
static size_t random_cell(rng *random, char *out)
{
    static const char signs[][2] = {"-", "+", "", ""};
    size_t whole = rng_below(random, 4), decimals = rng_below(random, 15), length = 0;
    length += (size_t)sprintf(out, "%s", signs[rng_below(random, 4)]);
    for (size_t k = 0; k < whole; k++) out[length++] = (char)('0' + rng_below(random, 10));
    if (rng_below(random, 4)) out[length++] = '.';
    for (size_t k = 0; k < decimals; k++) out[length++] = (char)('0' + rng_below(random, 10));
    if (rng_below(random, 20) == 0) out[length++] = ".e-x \r\""[rng_below(random, 7)];
    return length;
}

/* [+-]digits[.digits] of at most 16 bytes after the sign, as one number of at most 2^53. */
static bool is_short(const char *begin, const char *end)
{
    size_t digits = 0, points = 0, w = 0;
    begin += *begin == '-' || *begin == '+';
    if (end - begin > 16) return false;
    for (const char *p = begin; p < end; p++) {
        bool digit = '0' <= *p && *p <= '9';
        if (!digit && *p != '.') return false;
        if (digit) w = 10 * w + (size_t)(*p - '0');
        digits += digit;
        points += !digit;
    }
    return digits > 0 && points <= 1 && w <= (size_t)1 << 53;
}

/* Returns how many of the cells can be read, and their numbers. */
static size_t expected(const char *text, size_t count, char separator, char last, double *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *end = text + strcspn(text, separator == ',' ? ",\n" : "\t\n");
        if (*end != (i + 1 < count ? separator : last) || !is_short(text, end)) return i;
        out[i] = strtod(text, NULL);
        text = end + 1;
    }
    return count;
}

static void check_line(const kernels *k, const line *l, const char *text, size_t count,
                       char separator, char last)
{
    double want[CELLS], got[CELLS];
    size_t slot[CELLS] = {0};
    const char *at = l->text, *stop = text;
    for (size_t i = 0; i < count; i++) slot[i] = count - 1 - i;
    size_t readable = expected(text, count, separator, last, want);
    size_t read = k->read_cells(&at, l->text + l->length, &(cell_delimiters){separator, last},
                                count, slot, got);
    CHECK(read == readable);
    for (size_t i = 0; i < read; i++) {
        CHECK(memcmp(&got[slot[i]], &want[i], sizeof *got) == 0);
        stop += strcspn(stop, separator == ',' ? ",\n" : "\t\n") + 1;
    }
    CHECK(at - l->text == stop - text);
}

TEST(random_cells_are_read_as_by_strtod)
{
    rng random = rng_stream(11, 0, RNG_TEST);
    for (size_t trial = 0; trial < (size_t)check_size(20000, 20000, 1000000); trial++) {
        char text[CAPACITY], separator = rng_below(&random, 2) ? ',' : '\t';
        size_t count = 1 + rng_below(&random, CELLS), length = 0;
        for (size_t i = 0; i < count; i++) {
            length += random_cell(&random, text + length);
            bool ends = i + 1 == count || rng_below(&random, 50) == 0;
            text[length++] = ends ? '\n' : separator;
        }
        text[length] = '\0';
        line l = make_line(&random, text);
        const kernels *k;
        for (size_t v = 0; (k = kernels_at(v)); v++) {
            if (!k->read_cells) continue;
            check_line(k, &l, text, count, separator, '\n');
            check_line(k, &l, text, count, separator, separator);
        }
        free(l.text);
    }
}

/* Bytes after the end of the buffer are not read. */
TEST(a_cell_that_the_limit_cuts_is_not_read)
{
    static const char text[] =
        "1.5,-2.25,+3,.75,5.,0012.500,-0,123456789012345,9007199254740992\n";
    rng random = rng_stream(12, 0, RNG_TEST);
    for (size_t length = 0; length <= strlen(text); length++) {
        char cut[sizeof text];
        snprintf(cut, length + 1, "%s", text);
        line l = make_line(&random, cut);
        const kernels *k;
        for (size_t v = 0; (k = kernels_at(v)); v++)
            if (k->read_cells) check_line(k, &l, cut, 9, ',', '\n');
        free(l.text);
    }
}

TEST(other_cells_are_not_read)
{
    static const char *const cells[] = {"",
                                        ".",
                                        "-",
                                        "+",
                                        "-.",
                                        "1..2",
                                        "1e5",
                                        "0x1",
                                        "nan",
                                        "inf",
                                        "--1",
                                        "1 ",
                                        " 1",
                                        "\"1\"",
                                        "1-",
                                        "1,",
                                        "9007199254740993",
                                        "12345678901234567",
                                        "0.123456789012345"};
    rng random = rng_stream(13, 0, RNG_TEST);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s\n", cells[i]);
        line l = make_line(&random, text);
        const kernels *k;
        for (size_t v = 0; (k = kernels_at(v)); v++) {
            const char *at = l.text;
            double value;
            size_t slot = 0;
            if (!k->read_cells) continue;
            CHECK(k->read_cells(&at, l.text + l.length, &(cell_delimiters){',', '\n'}, 1, &slot,
                                &value) == 0);
            CHECK(at == l.text);
        }
        free(l.text);
    }
}

CHECK_MAIN
