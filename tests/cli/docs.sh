#!/usr/bin/env bash
# docs/options.md, and the options and columns of the man page, agree with the tables in the program.
#   docs.sh            compares
#   docs.sh --update   writes them
set -euo pipefail

root=${SBPS_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
program=${SBPS_PROGRAM:-$root/build/sbps}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" list options >"$work/options.md"

# part FAMILY: copies standard input, with the part between the two comments of the family generated again
part() {
    "$program" list "$1" --manual >"$work/$1.roff"
    awk -v begin=".\\\\\" $1: made by \`sbps list $1 --manual\`, do not edit" -v end=".\\\\\" end of $1" \
        -v made="$work/$1.roff" '
        $0 == end { skip = 0 }
        !skip { print }
        $0 == begin { skip = 1; found++; while ((getline line < made) > 0) print line }
        END { if (found != 1) exit 1 }'
}
part options <"$root/docs/sbps.1" | part columns >"$work/sbps.1"

# a page for each subcommand
mkdir "$work/man"
commands=$("$program" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
for command in $commands; do "$program" help "$command" --manual >"$work/man/sbps-$command.1"; done

if [ "${1:-}" = --update ]; then
    rm -rf "$root/docs/man"
    cp -r "$work/man" "$root/docs/man"
    cp "$work/options.md" "$root/docs/options.md"
    cp "$work/sbps.1" "$root/docs/sbps.1"
    exit 0
fi

failures=0
check() { # FILE: compares it with the generated one
    cmp -s "$root/docs/$1" "$work/$1" && return
    echo "docs/$1 differs from the tables of options and columns; run tests/cli/docs.sh --update"
    diff "$root/docs/$1" "$work/$1" | head -n 10 || true
    failures=$((failures + 1))
}
check options.md
check sbps.1
for command in $commands; do check "man/sbps-$command.1"; done
[ "$(ls "$root/docs/man" | wc -l)" = "$(wc -w <<<"$commands")" ] || { echo 'docs/man has a page of no subcommand'; failures=$((failures + 1)); }
if command -v man >/dev/null; then # man prints them without warnings
    for page in "$root"/docs/man/*.1 "$root/docs/sbps.1"; do
        warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null) || true
        [ -z "$warnings" ] || { echo "$page: $warnings"; failures=$((failures + 1)); }
    done
fi
version=$("$program" --version)
if ! grep -qF "\"$version\"" "$root/docs/sbps.1"; then
    echo "docs/sbps.1 does not name the version: $version"
    failures=$((failures + 1))
fi
for page in "" sample summary diagnose contrast report completion map laplace convert simulate list; do # the man page has everything that help prints
    { "$program" help $page | grep -oE -- "--[a-z][a-z-]+" || true; } | sort -u |
        sed "s/-/\\\\-/g" |
        while read -r flag; do
            [ "$flag" = '\-\-help' ] || grep -qF -- "$flag" "$root/docs/sbps.1" ||
                { echo "docs/sbps.1 does not name $flag"; exit 1; }
        done || failures=$((failures + 1))
done
echo "docs: $failures failures"
[ "$failures" -eq 0 ]
