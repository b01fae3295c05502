#!/usr/bin/env bash
# Progress on a terminal: one line, redrawn a few times a second, that fits the width and is gone
# at the end.
. "$(dirname "$0")/common.sh"

if ! command -v script >/dev/null; then
    echo 'skipped: no `script` to make a terminal with'
    exit 77
fi
if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    echo 'skipped: no pseudo-terminals here'
    exit 77
fi
"$sbps" simulate logistic --rows 2000 --dim 3 -o data.csv || exit 1

# Runs for two seconds on a terminal of so many columns; its output is in the file `shown`.
on_terminal() { # COLUMNS
    script -qec "stty cols $1; '$sbps' sample data.csv --model logistic --target y --seconds 2 -o run.nc" \
        shown </dev/null >/dev/null
}

for columns in 50 80 120; do
    cases=$((cases + 1))
    on_terminal $columns || fault "$columns columns" "exit $?"
    # The redrawn lines: the text between a carriage return and the code that clears the rest.
    tr '\r' '\n' <shown | grep -a $'\033\[K$' | sed $'s/\033\[K$//' | grep -a . >redrawn
    count=$(wc -l <redrawn)
    [ "$count" -ge 3 ] && [ "$count" -le 15 ] || fault "$columns columns" "redrawn $count times in 2 s"
    widest=$(awk '{ if (length > w) w = length } END { print w + 0 }' redrawn)
    [ "$widest" -lt $columns ] || fault "$columns columns" "a line has $widest columns"
    grep -qE '^\[[#.]{20}\]  ' redrawn || fault "$columns columns" "no bar: $(head -n 1 redrawn)"
    grep -qE '^\[#+\.*\] +[0-9]+%' redrawn || fault "$columns columns" 'the bar does not grow'
    tr -d '\r' <shown | grep -qaE $'\033\[Ksbps: the draws are in run.nc' ||
        fault "$columns columns" 'the bar is not cleared at the end'
done
grep -qE 'ESS [0-9]+  R-hat [0-9.]+  bias [0-9.]+  [0-9.]+[kMG]? proposals/s' redrawn ||
    fault '120 columns' "not all figures: $(tail -n 1 redrawn)"
finish
