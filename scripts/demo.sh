#!/usr/bin/env bash
# The logistic regression of the paper's section 7.1: simulate rows from known weights, sample the
# posterior, and set the two side by side.
#   demo.sh [BUILD]    leaves the run in BUILD/demo.nc
set -euo pipefail

build=${1:-build}
sbps=$build/sbps
rows=1000000
dim=20
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n$ %s\n' "$*"; }
run() {
    say "$@"
    "$@"
}

run "$sbps" simulate logistic --rows $rows --dim $dim --seed 1 \
    -o "$work/demo.csv" --truth "$work/truth.csv"
run "$sbps" sample "$work/demo.csv" --model logistic --target y --no-intercept \
    -o "$build/demo.nc" --progress on
say "$sbps" summary "$build/demo.nc", beside the weights that made the data
"$sbps" summary "$build/demo.nc" --csv >"$work/summary.csv"

awk -F, -v run="$build/demo.nc" '
    FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME == ARGV[1] ? "true " $i : $i] = i; next }
    FILENAME == ARGV[1] { truth[$column["true name"]] = $column["true value"]; next }
    {
        name = $column["name"]; mean = $column["mean"]; sd = $column["sd"]
        if (!(name in truth)) { unknown = unknown " " name; next }
        if (!shown++)
            printf "%-8s %8s %8s %7s %8s %8s %6s %6s %7s\n", "name", "true", "mean", "sd", "q5",
                   "q95", "z", "rhat", "bias"
        w = truth[name]
        inside += $column["q5"] <= w && w <= $column["q95"]
        printf "%-8s %8.4f %8.4f %7.4f %8.4f %8.4f %6.2f %6.3f %7.4f\n", name, w, mean, sd,
               $column["q5"], $column["q95"], (mean - w) / sd, $column["rhat"], $column["bias"]
    }
    END {
        if (unknown) { print "no true weight is known for" unknown; exit 1 }
        if (!shown) { print "the summary is empty"; exit 1 }
        printf "\n%d of the %d true weights lie in their 90%% interval (about %d are expected to).\n",
               inside, shown, int(0.9 * shown + 0.5)
        print "The run is in " run "; `sbps diagnose " run "` reports problems of the run, if there are any."
    }' "$work/truth.csv" "$work/summary.csv"
