#!/usr/bin/env bash
# Files of earlier versions stay readable: run file, converted table and checkpoint of tests/fixtures.
. "$(dirname "$0")/common.sh"

# close NAME EXPECTED ACTUAL COLUMNS TOLERANCE: the first columns of two CSV files agree within so many sd (column sd).
close() {
    paste -d, "$2" "$3" | awk -F, -v name="$1" -v columns="$4" -v tolerance="$5" '
        NR == 1 { for (width = 1; width <= NF; width++) if (width > 1 && $width == $1) break
                  width--
                  for (i = 1; i <= width; i++) at[$i] = i
                  for (i = 1; i <= NF - width; i++) new[$(width + i)] = i
                  count = split(columns, chosen, " ")
                  next }
        { shift = gsub(/"[^"]*"/, "quoted") / 2 # names of effects hold commas
          for (k = 1; k <= count; k++) {
              a = $(at[chosen[k]]); b = $(width + new[chosen[k]]); d = a - b
              if (!(d * d <= tolerance * tolerance * $(at["sd"]) * $(at["sd"]))) print name ": " $1 ": " chosen[k] " " a ", now " b } }
        END { if (NR < 2) print name ": nothing to compare" }' >.far
    cases=$((cases + 1))
    [ -s .far ] && fault "$1" "$(head -n 3 .far)"
}

for version in "$root"/tests/fixtures/*/; do
    v=$(basename "$version")
    for file in "$version"*.gz; do zcat "$file" >"$(basename "$file" .gz)"; done
    cp "$version"*.csv .
    head -n 6 schools.csv >new.csv

    # ---- run file ----
    try "$v: summary" 0 '^name,mean' '' "$sbps" summary run.nc --csv
    close "$v: summary" run.summary.csv .out 'mean sd q5 q50 q95' 1e-6
    try "$v: diagnose" '[01]' '11 parameters, 2 chains' '' "$sbps" diagnose run.nc
    try "$v: predict" 0 '^row,mean' '.*' "$sbps" predict run.nc new.csv
    close "$v: predict" run.predict.csv .out 'mean sd q5 q50 q95' 1e-6

    # ---- converted table ----
    short=(--draws 20 --chains 2 --progress off)
    try "$v: table" 0 '' '240 rows, 5 parameters' "$sbps" sample schools.table --model logistic --seed 3 --ess 200 "${short[@]}" -o table.nc
    "$sbps" summary table.nc --csv >.new
    head -n 6 run.summary.csv >.old
    close "$v: table" .old .new 'mean' 0.4

    # ---- checkpoint ----
    priors=(--prior 'normal(0, 2.5)' --prior-intercept 'normal(0, 5)')
    try "$v: resume" 0 '' '240 rows, 4 parameters' "$sbps" sample schools.csv 'y ~ x + colour' --family bernoulli "${priors[@]}" \
        --sampler sbps --seed 2 --ess 200 --draws 10 --chains 2 --progress off --resume run.ckpt -o resumed.nc
    "$sbps" summary resumed.nc --csv >.new
    close "$v: resume" resumed.summary.csv .new 'mean' 0.4
    rm -f ./*
done
finish
