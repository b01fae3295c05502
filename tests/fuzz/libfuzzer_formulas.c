/* Formulas under libFuzzer. Not part of the test run. Build build-fuzz as in libfuzzer.c, then:
 *
 *   clang -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc \
 *       -Itests tests/fuzz/libfuzzer_formulas.c build-fuzz/libsbps-internal.a -lopenblas -lz -lzstd -llzma \
 *       -lm -o fuzz-formulas && ./fuzz-formulas -max_len=400
 *
 * Once a crash is understood, its input is added to the seeds of formulas.c. */
#include "formula_case.h"
#include <stdint.h>
#include <stdlib.h>

enum { LENGTH_MOST = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[LENGTH_MOST + 1];
    bool accepted;
    if (size > LENGTH_MOST) return 0;
    for (size_t i = 0; i < size; i++) text[i] = bytes[i] ? (char)bytes[i] : ' ';
    text[size] = '\0';
    const char *wrong = formula_case(text, &accepted);
    if (!wrong) return 0;
    fprintf(stderr, "broken: %s\n", wrong);
    abort();
}
