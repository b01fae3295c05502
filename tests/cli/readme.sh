#!/usr/bin/env bash
# Every command and the C program of README.md, as a new user would run them.
set -euo pipefail

source=${SBPS_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
program=${SBPS_PROGRAM:-$source/build/sbps}
build=${SBPS_BUILD_DIR:-$(dirname "$program")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build"
ln -s "$program" "$work/build/sbps"
cd "$work"

# block LANGUAGE: the text of README's fenced blocks in that language
block() { awk -v mark='```'"$1" '$0 == mark { on = 1; next } /^```$/ { on = 0 } on' "$source/README.md"; }

block sh >commands
[ "$(wc -l <commands)" -ge 10 ] || { echo "README.md has lost its commands"; exit 1; }
while read -r command; do
    echo "\$ $command"
    (eval "$command") >out 2>err </dev/null || { cat out err; echo "failed: $command"; exit 1; }
    # the published method may be biased, and the program then warns
    [[ $command == *--paper* ]] && continue
    grep -i 'warning' err && { echo "warned: $command"; exit 1; }
done <commands

block c >example.c
cc -std=c17 -Wall -Wextra -Werror -I"$source/include" example.c -L"$build" -lsbps \
    -Wl,-rpath,"$build" -o example
./example >out
grep -q '^x5 ' out || { cat out; echo "the C program prints no summary"; exit 1; }
shown=$(grep '^name  *mean ' "$source/README.md" | tr -s ' ')
tr -s ' ' <out | grep -qE "^${shown:?README.md shows no columns}( |$)" ||
    { echo "the columns are not those README.md shows"; exit 1; }
echo "every command of README.md works"
