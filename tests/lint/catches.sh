#!/usr/bin/env bash
# The lint reports each kind of fault with its place, and passes a tree without faults.
set -euo pipefail
lint=$SBPS_SOURCE_DIR/scripts/lint.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fresh() {
    rm -rf "$tree"
    mkdir -p "$tree"/{include,src/core,src/table,src/sampler/hmc,cli,docs}
    cp "$SBPS_SOURCE_DIR/.clang-format" "$tree"
    printf 'int answer(void)\n{\n    return 42;\n}\n' >"$tree/src/core/good.c"
}

# built SOURCE: the tree has been built, from this C text, into a program that lists one kind each.
built() {
    mkdir -p "$tree/build" "$tree"/docs/{models,samplers}
    printf '%s\n' "$1" >"$tree/build/library.c"
    cc -fPIC -c "$tree/build/library.c" -o "$tree/build/library.o"
    ar rc "$tree/build/libsbps-internal.a" "$tree/build/library.o"
    cp "$tree/build/libsbps-internal.a" "$tree/build/libsbps.a"
    cc -shared "$tree/build/library.o" -o "$tree/build/libsbps.so"
    printf '#!/bin/sh\necho "plain  A kind called plain."\n' >"$tree/build/sbps"
    chmod +x "$tree/build/sbps"
    touch "$tree"/docs/{models,samplers}/plain.md
}

# expect FILE:LINE WORDS [BUILD]: the lint fails with this message.
expect() {
    if bash "$lint" "$tree" ${3:+"$3"} >"$tree.out" 2>&1; then
        echo "passed a tree with: $2"
        failures=$((failures + 1))
    elif ! grep -qE "^$1: .*$2" "$tree.out"; then
        echo "did not say '$1: $2' but:"
        cat "$tree.out"
        failures=$((failures + 1))
    fi
    rm -f "$tree.out"
}

fresh
bash "$lint" "$tree" || { echo "failed a clean tree"; failures=1; }

fresh
printf 'int answer(void){return 42;}\n' >"$tree/src/core/ugly.c"
expect "src/core/ugly.c:1" "not formatted"

fresh
printf '#include "core/good.h"\n#include "table/rows.h"\n' >"$tree/src/sampler/hmc/sees.c"
expect "src/sampler/hmc/sees.c:2" "sampler/hmc may not include table/rows.h"

fresh
printf '#include "cli/print.h"\n#include "sbps.h"\n\n#include "core/status.h"\n' >"$tree/cli/main.c"
expect "cli/main.c:4" "cli may not include core/status.h"

fresh
printf 'static int sbps_step(void);\nint sbps_answer(void);\n' >"$tree/src/core/public.h"
expect "src/core/public.h:2" "belongs to src/api"

fresh
mkdir "$tree/src/misc"
printf 'int other(void);\n' >"$tree/src/misc/other.h"
expect "src/misc/other.h:1" "not a module"

# a header that includes another module's header does not make its names available
fresh
mkdir -p "$tree/src/posterior/minibatch" "$tree/src/model/likelihood"
printf '#ifndef MODEL_MODEL_H\n#define MODEL_MODEL_H\n\nint model_guess(void);\n\n#endif\n' >"$tree/src/model/likelihood/model.h"
printf '#ifndef POSTERIOR_POTENTIAL_H\n#define POSTERIOR_POTENTIAL_H\n\n#include "model/likelihood/model.h"\n\n#endif\n' \
    >"$tree/src/posterior/minibatch/potential.h"
printf '#include "posterior/minibatch/potential.h"\n\nint peek(void)\n{\n    return model_guess();\n}\n' >"$tree/src/sampler/hmc/peeks.c"
expect "src/sampler/hmc/peeks.c:5" "sampler/hmc may not use model_guess of model/likelihood/model.h"

fresh
touch "$tree/docs/architecture.md"
expect "docs/architecture.svg:0" "not of these sources"

fresh
{
    printf 'void count(int *n)\n{\n'
    for _ in $(seq 79); do echo '    ++*n;'; done
    echo '}'
} >"$tree/src/core/long.c"
expect "src/core/long.c:2" "81 lines"

fresh
for i in $(seq 801); do echo "extern const int number_$i;"; done >"$tree/src/core/numbers.h"
expect "src/core/numbers.h:801" "801 lines"

fresh
printf '/* TO''DO: finish */\nint half(void);\n/* TO''DO (#12): fine */\n' >"$tree/src/core/half.h"
expect "src/core/half.h:1" "issue number"

fresh
printf 'See /%s/me/notes.\n' home >"$tree/docs/page.md"
expect "docs/page.md:1" "path of one machine"

fresh
printf 'int told;\n' >"$tree/src/core/told.h"
expect "src/core/told.h:1" "the retired name told"

fresh
printf 'Rows are asked\nat once.\n' >"$tree/docs/page.md"
expect "docs/page.md:1" "the retired phrase \"Rows are asked\""

clean='int sbps_one(void) { return 1; } const char *const sbps_names[] = {"one"};'
fresh
built "$clean"
bash "$lint" "$tree" build || { echo "failed a clean build"; failures=1; }

fresh
built "$clean int leaked(void) { return 2; }"
expect "build/libsbps.so:0" "exports leaked" build
expect "build/libsbps.a:0" "defines leaked" build

fresh
built "$clean"
cc -shared "$tree/build/library.o" -Wl,-rpath,/usr/lib: -o "$tree/build/libsbps.so"
expect "build/libsbps.so:0" "search path has the entry \"\"" build
cc -shared "$tree/build/library.o" -Wl,-rpath,plugins -o "$tree/build/libsbps.so"
expect "build/libsbps.so:0" "search path has the entry \"plugins\"" build
cc -shared "$tree/build/library.o" -Wl,-rpath,'$ORIGIN/lib:/usr/lib' -o "$tree/build/libsbps.so"
bash "$lint" "$tree" build || { echo "failed a build with absolute search paths"; failures=1; }

fresh
built "$clean static int calls; int sbps_count(void) { return ++calls; }"
expect "build/libsbps-internal.a:0" "library.o has 4 bytes of mutable data in .bss" build

fresh
built "$clean static int calls = 7; int sbps_count(void) { return ++calls; }"
expect "build/libsbps-internal.a:0" "library.o has 4 bytes of mutable data in .data" build

fresh
built "$clean static _Thread_local int calls; int sbps_count(void) { return ++calls; }"
expect "build/libsbps-internal.a:0" "library.o has 4 bytes of mutable data in .tbss" build

# a test of make check has a cost, and a small one
fresh
built "$clean"
mkdir -p "$tree/tests"
printf 'add_test(some/test true)\nset_tests_properties(some/test PROPERTIES LABELS "unit;check")\n' >"$tree/build/CTestTestfile.cmake"
expect "tests/costs.txt:0" "has no line for some/test" build
echo 'some/test 5.5' >"$tree/tests/costs.txt"
expect "tests/costs.txt:0" "some/test takes 5.5 CPU seconds" build
echo 'some/test 0.5' >"$tree/tests/costs.txt"
bash "$lint" "$tree" build || { echo "failed a build with cheap tests"; failures=1; }

# clang-tidy, on request
if command -v clang-tidy-14 >/dev/null || command -v clang-tidy >/dev/null; then
    fresh
    built "$clean"
    echo "Checks: '-*,readability-inconsistent-declaration-parameter-name'" >"$tree/.clang-tidy"
    printf 'int half(int of);\n\nint half(int number)\n{\n    return number / 2;\n}\n' >"$tree/src/core/half.c"
    printf '[{"directory": "%s", "file": "%s", "arguments": ["cc", "-c", "%s"]}]\n' \
        "$tree" "$tree/src/core/half.c" "$tree/src/core/half.c" >"$tree/build/compile_commands.json"
    bash "$lint" "$tree" build || { echo "ran clang-tidy without a request"; failures=1; }
    SBPS_TIDY=1 expect "src/core/half.c:1" "different parameter names" build
fi

# one mutex may be global
fresh
built "$clean"
printf 'static int netcdf_mutex, calls; int sbps_lock(void) { return ++netcdf_mutex + ++calls; }\n' >"$tree/build/lock.c"
cc -fPIC -c "$tree/build/lock.c" -o "$tree/build/netcdf_lock.c.o"
ar rc "$tree/build/libsbps-internal.a" "$tree/build/netcdf_lock.c.o"
expect "src/store/netcdf_lock.c:0" "has the globals .*where netcdf_mutex alone may be" build

fresh
built "$clean"
rm "$tree/docs/samplers/plain.md"
expect "docs/samplers/plain.md:0" "missing" build

exit "$failures"
