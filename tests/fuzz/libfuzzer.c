/* The readers under libFuzzer. Not part of the test run; from the source tree:
 *
 *   clang -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc \
 *       -Itests tests/fuzz/libfuzzer.c src/{data,read,formula}/[a-z]*.c src/base/{status,inspect,memory,rng,names,notes,printable,text,decimal}.c -lz -lzstd -llzma -lm \
 *       -o fuzz-readers && ./fuzz-readers -max_len=4096
 *
 * The first byte picks the spec; the rest is the file. A crash belongs among the seeds of
 * readers.c once it is understood. */
#include "case.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    bool accepted;
    if (size == 0) return 0;
    const char *wrong = fuzz_case(bytes[0], bytes + 1, size - 1, &accepted);
    if (wrong) {
        fprintf(stderr, "broken: %s\n", wrong);
        abort();
    }
    return 0;
}
