/* The readers of text on any bytes: valid files are mutated, identically in every run. */
#include "check.h"

#include "case.h"
#include "core/rng.h"
#include "mutate.h"
#include <zlib.h>

static const char *const seeds[] = {
    "y,a,b\n1,0.5,-2\n2,1.5,1e3\n3,-0.25,.75\n4,7,12345678.901234567\n",
    "\xef\xbb\xbfy,a,b,c,w,o\r\n1,2,3,red,1,0\r\n2,3,5,\"gr\"\"een\",0.5,1\r\n3,7,1,\"a\nb\",2,"
    "-1\r\n"
    "4,1,1e-3,red,1,.5\r\n",
    "y,\"a\",\"b\"\n\"1\",NA,3\n2,,4\n3,5,nan\n4,6,7\n5,8,9\n6,1,1.7976931348623157e308\n\n\n",
    "-1 1:0.5 3:2 # note\n+1 2:1 3:-1e-2\n1\n-1 1:1 2:2 3:3\n# end\n",
    "1 1:2.5 2:1\n2 1:3.5 2:0\n3.5 1:1 2:7 3:12345678901234567890\n0 3:4.9e-324\n",
    "y,c\n1,a10\n2,a9\n3,10\n4,a1\n",
    "\"\",\"y\",\"c\",\"d\"\n\"1\",\"yes\",\"red\",2026-11-15\n\"2\",\"no\",\"blue\",2024-02-"
    "29\n"
    "\"3\",\"yes\",\"blue\",2026-11-15 10:20:30Z\n\"4\",\"no\",\"red\",?\n",
    "y;a;c\r1,5;2;p\r2;-3,25e1;q\r3;4;q\r4,5;1;p\r",
    "y a\nr1 1 2\nr2 2 5\nr3 3 1\n",
    "y|a|c\n1|2|red\n2|3|blue\n1|NULL|red\n2|5|blue\n3|1|red\n",
};

static const char *const tokens[] = {
    ",",
    "\n",
    "\r\n",
    "\r",
    "\"",
    "\"\"",
    ":",
    "#",
    " ",
    "-",
    "+",
    ".",
    "e",
    "E400",
    "1e-400",
    "NA",
    "nan",
    "Inf",
    "qid:1",
    "0",
    "99999999999999999999",
    "y",
    "a",
    "\xff\xfe",
    "\xef\xbb\xbf",
    "1:",
    ":1",
    "f1",
    "18446744073709551615",
    "\"\n\"",
    ",,,,",
    "x=1",
    "0x1p3",
    "\x1f\x8b",
    "\x28\xb5\x2f\xfd",
    ";",
    "|",
    "\t",
    "$",
    "%",
    "yes",
    "1,5",
    "1,234",
    "2026-11-15",
    "2026-11-15T24:00-23:59",
    "?",
    "N/A",
};

static const token_list all_tokens = {tokens, sizeof tokens / sizeof *tokens};

static void start_from(document *d, const char *text)
{
    d->size = strlen(text);
    memcpy(d->bytes, text, d->size);
}

/* Gzip of the document, in place. */
static void pack(document *d)
{
    document packed;
    z_stream z = {.next_in = d->bytes,
                  .avail_in = (uInt)d->size,
                  .next_out = packed.bytes,
                  .avail_out = DOCUMENT_MAX};
    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return;
    deflate(&z, Z_FINISH);
    packed.size = z.total_out;
    deflateEnd(&z);
    *d = packed;
}

TEST(mutated_files_become_a_table_or_a_message)
{
    rng r = rng_stream(1, 0, RNG_TEST);
    size_t accepted = 0, cases = (size_t)check_size(2e4, 2e5, 2e7);
    for (size_t k = 0; k < cases; k++) {
        document d;
        bool good;
        size_t edits = rng_below(&r, 6), spec = rng_below(&r, FUZZ_SPECS);
        start_from(&d, seeds[rng_below(&r, sizeof seeds / sizeof *seeds)]);
        bool gzip = rng_below(&r, 8) == 0, before = rng_below(&r, 2);
        if (gzip && before) pack(&d);
        for (size_t i = 0; i < edits; i++) mutate(&d, &all_tokens, &r);
        if (gzip && !before) pack(&d);
        const char *wrong = fuzz_case(spec, d.bytes, d.size, &good);
        if (wrong) printf("case %zu, spec %zu: %s\n", k, spec, wrong);
        REQUIRE(!wrong);
        accepted += good;
    }
    /* else the mutations test nothing beyond the first check */
    CHECK(accepted > cases / 20 && accepted < cases);
}

TEST(every_prefix_of_a_valid_file_becomes_a_table_or_a_message)
{
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++)
        for (size_t size = 0; size <= strlen(seeds[s]); size++)
            for (size_t spec = 0; spec < FUZZ_SPECS; spec++) {
                bool good;
                const char *wrong = fuzz_case(spec, seeds[s], size, &good);
                if (wrong) printf("seed %zu, size %zu, spec %zu: %s\n", s, size, spec, wrong);
                REQUIRE(!wrong);
            }
}

CHECK_MAIN
