/* Formulas under libFuzzer. Not part of the test run; from the source tree:
 *
 *   clang -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc \
 *       -Itests tests/fuzz/libfuzzer_formulas.c src/formula/[a-z]*.c src/base/{status,inspect,memory,names,printable,text,decimal,caret}.c -lm \
 *       -o fuzz-formulas && ./fuzz-formulas -max_len=400
 *
 * What it finds belongs among the seeds of formulas.c once it is understood. */
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
