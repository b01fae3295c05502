#!/usr/bin/env bash
# What a plain fit keeps of the effects of groups: their draws, or beyond 500 MB their means and sds.
. "$(dirname "$0")/common.sh"

awk 'BEGIN {
    print "y,x,g,h"
    for (i = 1; i <= 300; i++) {
        g = 1 + i % 10; h = 1 + i % 7
        eta = -0.3 + 0.8 * sin(7 * i) + 1.2 * sin(11 * g) + 0.5 * cos(5 * h) + 2 * sin(19 * i)
        printf "%d,%.6f,level %d,h%d\n", (eta > 0), sin(7 * i), g, h
    }
}' >t.csv
quick=(--family bernoulli --seed 3 --ess 60 --chains 2 --progress off)
fit() { # NAME FORMULA [options]
    "$sbps" sample t.csv "$2" "${quick[@]}" "${@:3}" -o "$1.nc" >/dev/null 2>"$1.log" || fault "$1" "$(tail -1 "$1.log")"
}

# ---- draws, as with --ranef all: integrated out, and sampled ----
same() { # NAME FORMULA [options]: every command prints the same after a plain fit
    fit plain "$2" "${@:3}"
    fit all "$2" "${@:3}" --ranef all
    for command in 'summary RUN' 'summary RUN --effects --csv' 'predict RUN t.csv' 'loo RUN t.csv --json' 'check RUN t.csv --json' 'score RUN t.csv --json'; do
        for run in plain all; do
            # shellcheck disable=SC2086 # words
            "$sbps" ${command/RUN/$run.nc} 2>.err | sed 's/plain/all/g; /^seconds/d' >$run.out || fault "$1: $command" "$(cat .err)"
        done
        [ -s all.out ] && cmp -s plain.out all.out || fault "$1: $command" "differs from --ranef all: $(diff plain.out all.out | head -3)"
    done
    grep -qE 'effects +[0-9]+ of groups: draws are kept, at most [0-9.]+ MB' plain.log || fault "$1" "says nothing of effects: $(cat plain.log)"
    cases=$((cases + 1))
}
same integrated 'y ~ x + (1 + x | g)' --crossed integrate
try 'a page'      0 '' '' "$sbps" report plain.nc t.csv -o page.html
grep -q 'leave-one-out' page.html || fault 'a page' 'has no checks by rows'
same sampled 'y ~ x + (1 | g) + (1 | h)'
try 'a dry run'   0 'effects +17 of groups: draws are kept' '' "$sbps" sample t.csv 'y ~ x + (1 | g) + (1 | h)' "${quick[@]}" --dry-run
try 'no groups'   0 'logistic regression' '' "$sbps" sample t.csv 'y ~ x' "${quick[@]}" --dry-run
grep -q effects .out && fault 'no groups' 'mentions effects'

# ---- a resumed run keeps what the whole run would ----
fit whole 'y ~ x + (1 | g)' --ess 200
"$sbps" sample t.csv 'y ~ x + (1 | g)' "${quick[@]}" --checkpoint part.chk -o part.nc >/dev/null 2>&1
try 'resumed'     0 '' 'effects +10 of groups: draws are kept' "$sbps" sample t.csv 'y ~ x + (1 | g)' "${quick[@]}" --ess 200 --resume part.chk -o resumed.nc
cmp -s <("$sbps" summary whole.nc --effects --csv) <("$sbps" summary resumed.nc --effects --csv) || fault 'resumed' 'has other effects'

# ---- means and sds: twice --draws of 2 chains ----
# 10 x 2 x 2 x 1562500 x 8 bytes are 500 MB
try 'at the limit'   0 'draws are kept, at most 500 MB' '' "$sbps" sample t.csv 'y ~ x + (1 | g)' "${quick[@]}" --draws 1562500 --dry-run
try 'above it'       0 'effects +10 of groups: means and sds are kept; their draws may take 500 MB, more than 500 MB, and need --ranef all' '' \
    "$sbps" sample t.csv 'y ~ x + (1 | g)' "${quick[@]}" --draws 1562501 --dry-run
# 407 effects, some integrated out and some sampled
awk 'BEGIN {
    print "y,x,g,h"
    for (i = 1; i <= 1600; i++) {
        g = 1 + i % 400; h = 1 + i % 7
        printf "%.6f,%.6f,g%d,h%d\n", 0.8 * sin(7 * i) + 1.2 * sin(11 * g) + 0.5 * cos(5 * h) + sin(19 * i), sin(7 * i), g, h
    }
}' >t.csv
quick=(--family gaussian --crossed integrate --seed 3 --ess 150 --chains 2 --progress off)
fit few 'y ~ x + (1 | g) + (1 | h)' --draws 40000
fit many 'y ~ x + (1 | g) + (1 | h)' --ranef all --draws 300 # draws of the same posterior
try 'no draws'       0 '^name,mean,sd .*r_h\[h7,Intercept\]' '' "$sbps" summary few.nc --effects --csv
# from 150 draws or more: within half an sd, and without a common shift
paste -d, <(grep '^"r_' .out | sort) <("$sbps" summary many.nc --effects --csv | grep '^"r_' | sort) | awk -F, '
    { if ($1 $2 != $5 $6) bad = bad " " $1; d = ($3 - $7) / $9; if (d * d > 0.3 || $4 < 0.7 * $9 || $4 > 1.4 * $9) bad = bad " " $1 ":" $3 "," $4 " for " $7 "," $9; sum += d }
    END { if (NR != 407 || bad || sum / NR > 0.1 || sum / NR < -0.1) { print NR bad, sum / NR; exit 1 } }' >.bad || fault 'means and sds' "$(cat .bad)"
try 'JSON'           0 '"name": "r_g\[g1,Intercept\]", "mean": -?[0-9.]+, "sd": [0-9.]+' '' "$sbps" summary few.nc --effects --json
for command in 'predict few.nc' 'score few.nc' 'loo few.nc' 'check few.nc' 'report few.nc'; do
    # shellcheck disable=SC2086 # words
    try "$command" 1 '' "few.nc: the file contains no draws of the effects of '[gh]', only means and sds.*--ranef all, or use --new-levels prior" "$sbps" $command t.csv
done
try 'new levels'     0 '^row,mean' 'every level was treated as a new one' "$sbps" predict few.nc t.csv --new-levels prior
try 'a page alone'   0 '<html' '' "$sbps" report few.nc
finish
