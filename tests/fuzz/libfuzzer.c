/* The readers under libFuzzer. Not part of the test run. From the source tree:
 *
 *   cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DSBPS_MPI=OFF \
 *       -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link,address,undefined
 *   cmake --build build-fuzz --target sbps-internal
 *   clang -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc \
 *       -Itests tests/fuzz/libfuzzer.c build-fuzz/libsbps-internal.a -lopenblas -lz -lzstd -llzma \
 *       -lm -o fuzz-readers && ./fuzz-readers -max_len=4096
 *
 * The first byte selects the spec; the rest is the file. Once a crash is understood, its input
 * is added to the seeds of readers.c. */
#include "case.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    bool accepted;
    if (size == 0) return 0;
    const char *wrong = fuzz_case(bytes[0], bytes + 1, size - 1, &accepted);
    if (wrong) {
        fprintf(stderr, "violated: %s\n", wrong);
        abort();
    }
    return 0;
}
