#!/usr/bin/env bash
# Allocations fail one after another, in every subcommand: the program ends with a message or works
# without the memory, and never crashes; an existing file is unchanged, or complete and new.
#   allocations.sh PRELOAD.so [TRIES]    so many allocations a command, spread evenly; all: every one
#
# Of the 96,000 allocations that the commands below make, 90,000 are HDF5's. Gone over on 16 November 2026,
# once a run file was read back before it took its place, with no finding left: every one of list, help,
# simulate, convert, map, laplace, sample --dry-run and sample to CSV (2026); of sample -o out.nc, whose
# 17,809th had given an unreadable file and exit 0, every one from 17,000 to 18,200, where the file is
# closed, every fifth of those before, every 53rd of those behind; every 61st of summary, the last 350 of
# summary --json and diagnose, where the reading is over; 40 each of six other kinds of sample.
preload=$(realpath "$1")
tries=${2:-${SBPS_FAULT_TRIES:-8}}
. "$(dirname "$0")/../cli/common.sh"
export SBPS_FAULT_TRIES= OPENBLAS_NUM_THREADS=1
export TMPDIR=$work/elsewhere
mkdir "$TMPDIR"

# ---- inputs ----
"$sbps" simulate logistic --rows 60 --dim 2 -o data.csv --truth truth.csv || exit 1
awk -F, 'NR == 1 { print $0 ",group" } NR > 1 { print $0 "," (NR % 3 ? "a" : "b") }' data.csv >groups.csv
gzip -c groups.csv >groups.csv.gz
awk -F, 'NR == 1 { print "\"\",answer,x1,group,day" }
         NR > 1 { print NR - 1 "," ($3 > 0 ? "yes" : "no") "," (NR % 9 ? $1 : "?") "," (NR % 3 ? "a" : "b") ",2026-11-" 10 + NR % 20 }' \
    data.csv >messy-1.csv
sed 's/,a,/,late,/' messy-1.csv >messy-2.csv
awk -F, 'NR > 1 { print ($3 > 0 ? 1 : -1), "1:" $1, "2:" $2 }' data.csv >data.svm
printf 'draws = 20 # few\nmodel = "logistic"\n' >run.cfg
short=(--threads 1 --draws 20 --ess 40 --progress off)
model=(--model logistic --target y)
"$sbps" sample data.csv "${model[@]}" "${short[@]}" -o run.nc 2>.err || exit 1
"$sbps" convert data.csv data.tbl --target y || exit 1
"$sbps" laplace data.csv "${model[@]}" --csv -o laplace.csv || exit 1
"$sbps" sample data.csv "${model[@]}" "${short[@]}" --checkpoint halfway -o run.nc --epochs 50 2>.err || exit 1
"$sbps" sample data.csv "${model[@]}" "${short[@]}" -o draws.csv 2>.err || exit 1
echo 'as it was' >before

# ---- one command with one failing allocation ----

# A file may also be complete and new, if only its last sync or a later call failed.
is_whole() { # FILE
    case $1 in
    *.nc) "$sbps" summary "$1" ;;
    *.tbl) "$sbps" map "$1" --model logistic ;;
    *) tail -c 2 "$1" | grep -q '}' ;;
    esac >/dev/null 2>&1
}

# The command writes new files in every try: `out` is replaced by a name with its ending.
tested=0
one() { # K COMMAND...
    local k=$1 code
    shift
    rm -rf elsewhere/* out.*
    cp halfway checkpoint
    cp run.nc out.nc
    cp draws.csv out.csv
    cp before out.json
    cp before out.tbl
    timeout -s KILL 600 env FAIL_COUNT="$work/count" FAIL_AT="$k" LD_PRELOAD="$preload" \
        "$sbps" "$@" >.out 2>.err </dev/null
    code=$?
    tested=$((tested + 1))
    [ $code -eq 0 ] || [ "$k" -ne 0 ] || fault "$*" "exit $code: $(tail -n 1 .err | head -c 200)"
    case $code in
    0) [[ $* != *"-o out.nc"* ]] || "$sbps" summary out.nc --csv >.again 2>&1 ||
        fault "$*" "allocation $k: exit 0, but $(head -c 200 .again)" ;;
    1|2) [ "$(grep -c '^sbps: ' .err)" -ge 1 ] || fault "$*" "allocation $k: exit $code without a sentence"
        for file in out.nc out.json out.tbl; do
            cmp -s $file before || cmp -s $file run.nc || is_whole $file || fault "$*" "allocation $k: $file is torn"
        done ;;
    *) fault "$*" "allocation $k: exit $code: $(tail -n 1 .err | head -c 200)" ;;
    esac
    left=$(find . -path './out.*.*' ! -name 'out.stan*.csv')
    [ -z "$left" ] || fault "$*" "allocation $k: left $left"
}

count() { od -An -t u8 -N 8 count | tr -d ' '; }

each() { # COMMAND...
    local calls k step=1 from=$tested
    cases=$((cases + 1))
    one 0 "$@"
    calls=$(count)
    [ "$tries" = all ] || step=$(((calls + tries - 1) / tries))
    for ((k = 1; k <= calls; k += step)); do one "$k" "$@"; done
    echo "$((tested - from - 1)) of $calls allocations: sbps $*"
}

# ---- every subcommand ----
each list models
each list options
each help sample
each simulate logistic --rows 20 --dim 2 -o out.csv --truth weights
each convert groups.csv.gz out.tbl --target y --categorical group
each convert data.svm out.tbl
each map groups.csv --target y --model logistic --categorical group --csv -o out.csv
each map 'messy-?.csv' --target answer --model logistic --missing drop --reference group=late --csv -o out.csv
each convert messy-1.csv out.tbl --target answer --missing drop --na '?,-1' --success no
each map groups.csv 'y ~ x1*group + poly(x2, 2) + cut(x1, 2) + offset(x2)' --model logistic --csv -o out.csv
each map groups.csv 'y ~ x1 + (1 | group)' --model logistic --csv -o out.csv
each map data.csv --target x1 --model linear --json -o out.json
each laplace data.csv "${model[@]}" --json -o out.json
each laplace data.tbl --model logistic
each sample data.csv "${model[@]}" --dry-run
each sample groups.csv "${model[@]}" --categorical group "${short[@]}" -o out.csv
each sample data.csv "${model[@]}" "${short[@]}" --skeleton path --trace looks -o out.stan.csv
each sample data.csv "${model[@]}" "${short[@]}" --sampler hmc --start laplace.csv --checkpoint checkpoint -o out.csv
each sample data.tbl --config run.cfg --sampler boomerang --ess 40 --threads 1 -o out.csv
each sample data.csv "${model[@]}" "${short[@]}" --epochs 50 --resume checkpoint -o out.csv
each sample data.csv --model softmax --target y "${short[@]}" -o out.csv
each sample data.csv --model network --target y --head softmax --hidden 2 --seconds 0.2 --threads 1 -o out.csv
each sample --model gaussian --dim 3 "${short[@]}" -o out.csv
each sample data.csv "${model[@]}" "${short[@]}" -o out.nc
each summary run.nc
each summary run.nc --json
each diagnose run.nc
each diagnose run.nc --json
each contrast run.nc "x1 - x2" "exp(x1) > 1" --json
each report run.nc -o out.html
echo "$tested commands run"
finish
