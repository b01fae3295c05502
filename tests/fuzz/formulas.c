/* Any text is a formula or gives an error message: valid formulas are mutated, identically in
 * every run. */
#include "check.h"

#include "formula_case.h"
#include "mutate.h"

static const char *const seeds[] = {
    "y ~ a*b + poly(x,2) + log(z) + offset(log(n)) + (1 + x | g)",
    "y | trials(n) + weights(z) ~ x + `odd name` - 1",
    "cbind(y, n) ~ (a + b + x)^2 - a:x + (x || g/a) + (0 + x | g:b)",
    "y ~ . + cut(x, c(-1, 0, Inf), right = FALSE) %in% a",
    "log(z + 1) ~ bs(x, df = 5) + ns(z, df = 3):b + scale(x, center = FALSE)",
    "y ~ a/b/x + I((x - 1)^2 / -z * 1e-3) + factor(n) + 0",
    "y ~ I(x > 1 | !z <= 2 & a == \"u\") + (n != 3):b + factor(n, levels = c(5, 3, 1, 2))",
    "y ~ I(b %in% c(\"u\", \"w w\")) * (x >= 0) + factor(b, levels = c(\"v\", \"u\", \"w w\"))",
};

static const char *const tokens[] = {
    "~",      "+",      "-",        "*",       "/",     ":",       "^",          "%in%",
    "|",      "||",     "(",        ")",       ",",     "=",       "`",          "\"",
    ".",      "0",      "1",        "2",       "3L",    "1e9",     "x",          "y",
    "z",      "a",      "b",        "g",       "n",     " ",       "((((((",     "I(",
    "log(",   "poly(x", "bs(",      "cut(x",   "c(",    "factor(", "scale(",     "TRUE",
    "raw=",   "df=",    "Inf",      "offset(", "(1|",   "**",      "weights(",   "trials(",
    "cbind(", "\\",     "\xc3\xbc", "\n",      "ns(x,", "breaks=", "relevel(a,", "\"u\"",
    "^9",     "==",     "!",        "<",       ">=",    "&",       "!=",         "levels=",
    "\"v\"",
};

static const token_list all_tokens = {tokens, sizeof tokens / sizeof *tokens};

/* At most a few hundred bytes, as formulas are. */
static void start_from(document *d, const char *text)
{
    d->size = strlen(text);
    memcpy(d->bytes, text, d->size);
}

static const char *run_case(document *d, bool *accepted)
{
    for (size_t i = 0; i < d->size; i++)
        if (!d->bytes[i]) d->bytes[i] = ' ';
    d->bytes[d->size] = '\0';
    return formula_case((const char *)d->bytes, accepted);
}

/* The number of cases is SBPS_FUZZ. */
static size_t cases(void)
{
    const char *requested = getenv("SBPS_FUZZ");
    return requested ? strtoull(requested, NULL, 10) : (size_t)check_size(2e5, 2e6, 5e7);
}

TEST(mutated_formulas_become_columns_or_a_message)
{
    const char *seed = getenv("SBPS_FUZZ_SEED");
    rng r = rng_stream(seed ? strtoull(seed, NULL, 10) : 1, 0, RNG_TEST);
    static document d;
    size_t accepted = 0, count = cases();
    for (size_t k = 0; k < count; k++) {
        bool good;
        size_t edits = rng_below(&r, 8);
        start_from(&d, seeds[rng_below(&r, sizeof seeds / sizeof *seeds)]);
        for (size_t i = 0; i < edits; i++) mutate(&d, &all_tokens, &r);
        const char *wrong = run_case(&d, &good);
        if (wrong) printf("case %zu: %s: %s\n", k, wrong, (const char *)d.bytes);
        REQUIRE(!wrong);
        accepted += good;
    }
    printf("%zu formulas, %zu accepted\n", count, accepted);
    CHECK(accepted > count / 20 && accepted < count);
}

TEST(every_prefix_of_a_formula_becomes_columns_or_a_message)
{
    static document d;
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++)
        for (size_t size = 0; size <= strlen(seeds[s]); size++) {
            bool good;
            start_from(&d, seeds[s]);
            d.size = size;
            const char *wrong = run_case(&d, &good);
            if (wrong) printf("seed %zu, size %zu: %s\n", s, size, wrong);
            REQUIRE(!wrong);
        }
}

/* Deep and long formulas end and do not overflow the stack. */
TEST(huge_formulas_become_columns_or_a_message)
{
    static document d;
    static const char *const parts[] = {
        "(", "-", "x^", "log(", "x+", "x:", "a*", "x-", "(x+a)^2*", "(1|g)+", "x/", "I(x+"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        bool good;
        start_from(&d, "y ~ ");
        for (size_t i = 0; i < 20000; i++)
            replace_bytes(&d, d.size, 0, parts[k], strlen(parts[k]));
        replace_bytes(&d, d.size, 0, "x", 1);
        const char *wrong = run_case(&d, &good);
        if (wrong) printf("%s: %s\n", parts[k], wrong);
        CHECK(!wrong);
    }
}

CHECK_MAIN
