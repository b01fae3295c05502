#!/usr/bin/env bash
# The library in a program whose locale writes 2,5 for 2.5: options, priors, tables, runs and texts
# are those of the C locale, byte for byte.
set -uo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >/dev/null 2>&1; then
    echo 'skipped: no localedef that knows de_DE'
    exit 77
fi
cd "$work" || exit 1
LC_ALL=C "$program" point >point.txt || exit 1
# what glibc keeps of LOCPATH is not ours to give back
ASAN_OPTIONS=detect_leaks=0 LOCPATH=$work LC_ALL=de_DE.UTF-8 "$program" comma >comma.txt || exit 1
diff point.txt comma.txt || exit 1
grep -q '^0.02$' point.txt && grep -q 'normal(0, 2.5)' point.txt && echo "$(wc -l <point.txt) lines agree"
