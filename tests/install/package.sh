#!/usr/bin/env bash
# An installed sbps can be used by a program that knows only pkg-config or only CMake, from a
# prefix that was moved after the installation, with the shared and with the static library.
set -euo pipefail
here=$SBPS_SOURCE_DIR/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

cmake --install "$SBPS_BUILD_DIR" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix
library=$(dirname "$(find "$prefix" -name libsbps.a)")
export PKG_CONFIG_PATH=$library/pkgconfig
export LD_LIBRARY_PATH=$library

run() { echo "$1: $("$2")"; }
needs_shared() { [[ $(ldd "$1") == *libsbps.so* ]]; } # no pipe: grep -q would break ldd's
die() { echo "$1" >&2; exit 1; }

# shellcheck disable=SC2046 # pkg-config prints several words
"$cc" "$here/program.c" -o "$work/shared" $(pkg-config --cflags --libs sbps) -lm
run "pkg-config, shared" "$work/shared"
needs_shared "$work/shared" || die "pkg-config did not link the shared library"

# Without the shared library in sight the linker must take libsbps.a with its private libraries.
mkdir "$work/hidden"
mv "$library"/libsbps.so* "$work/hidden"
# shellcheck disable=SC2046
"$cc" "$here/program.c" -o "$work/static" $(pkg-config --static --cflags --libs sbps)
run "pkg-config, static" "$work/static"
if needs_shared "$work/static"; then die "pkg-config --static linked the shared library"; fi
mv "$work/hidden"/* "$library"

cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/build" >/dev/null
run "CMake, shared" "$work/build/with-shared"
run "CMake, static" "$work/build/with-static"
needs_shared "$work/build/with-shared" || die "sbps::sbps is not the shared library"
if needs_shared "$work/build/with-static"; then die "sbps::sbps-static is not static"; fi

echo '#include <sbps.h>' >"$work/alone.c"
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$work/alone.c"
if command -v g++ >/dev/null; then
    cp "$work/alone.c" "$work/alone.cc"
    g++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$work/alone.cc"
fi

"$prefix/bin/sbps" --version
if grep -rIl --exclude-dir=bin -e "$SBPS_SOURCE_DIR" -e "$work/first" "$prefix"; then
    die "the files above name the build machine's directories"
fi
