#!/usr/bin/env bash
# A short job on ranks from text to summary, resumed on others: small enough for the sanitizers, which check all of its
# processes. Other tests (cli/ranks, stat/ranks) check its results.
. "$(dirname "$0")/../cli/common.sh"

needs_ranks
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Open MPI does not free all memory
clean() { # NAME: no sanitizer has reported an error
    grep -qE 'AddressSanitizer|runtime error' .err .out && fault "$1" "$(grep -E 'Sanitizer|runtime error' .err .out | head -n 2)"
}
on() { # RANKS NAME CODE STDERR WORD...
    local ranks=$1 name=$2 code=$3 err=$4
    shift 4
    try "$name" "$code" '' "$err" mpirun -n "$ranks" "$sbps" "$@"
    clean "$name"
}

"$sbps" simulate logistic --rows 6000 --dim 3 --seed 2 -o rows.csv || exit 1
"$sbps" convert rows.csv rows.table --target y 2>.err || fault 'convert' "$(cat .err)"
sample=(--model logistic --target y --seed 4 --progress off --draws 100 --ess 60 --sampler sbps)
on 3 'text' 0 'ranks     3' sample rows.csv "${sample[@]}" --checkpoint state -o run.nc
on 3 'resumed' 0 'ranks     3' sample rows.csv "${sample[@]}" --ess 120 --resume state -o run.nc
on 2 'on fewer' 0 'ranks     2.*; 6 chains rotate' sample rows.csv "${sample[@]}" --ess 200 --resume state -o run.nc
on 5 'on more' 0 'ranks     5.*; 6 chains rotate' sample rows.csv "${sample[@]}" --ess 300 --resume state -o run.nc
on 2 'converted' 0 'ranks     2' sample rows.table --model logistic --progress off --draws 20 --ess 30 --sampler hmc -o run.nc
on 2 'refused' 2 'nothing' map rows.csv --model logistic --target nothing
finish
