#!/usr/bin/env bash
# Too little memory is an error before it is allocated, and never an endless wait.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 500 --dim 2 -o data.csv || exit 1
sample=("$sbps" sample data.csv --model logistic --target y)
try 'draws'   1 '' 'draws of 3 parameters need .* GiB of memory, but this machine or container allows .* GiB: reduce' \
    "${sample[@]}" --draws 1e12 -o run.nc
try 'chains'  1 '' '1000 chains of 1e.09 draws .* need .* GiB' "${sample[@]}" --chains 1000 --draws 1e9 -o run.nc
[ -e run.nc ] && fault 'draws' 'a file was written'

# A small stack. HDF5 needs some 70 KB of it.
if [ -z "${SBPS_BUILD_DIR:-}" ] || ! nm "$sbps" 2>/dev/null | grep -q __asan_init; then
    small() { # NAME COMMAND...
        try "128 KiB of stack: $1" 0 '' '' bash -c 'ulimit -s 128; exec "$@" >.made 2>&1' - "$sbps" "${@:2}"
    }
    quick=(--progress off --ess 60 --draws 50 --chains 2)
    awk -F, -v OFS=, 'NR == 1 { print $0, "g" } NR > 1 { print $0, "g" NR % 9 }' data.csv >grouped.csv
    echo 'seed = 2' >options.conf
    "$sbps" simulate logistic --rows 20000 --dim 3 -o long.csv
    small 'sample'    sample data.csv --model logistic --target y "${quick[@]}" --config options.conf --checkpoint state -o run.nc
    small 'resume'    sample data.csv --model logistic --target y "${quick[@]}" --config options.conf --resume state -o run.nc
    small 'batches'   sample long.csv --model logistic --target y "${quick[@]}" -o long.nc
    small 'floats'    sample long.csv --model logistic --target y "${quick[@]}" --sampler sbps --storage float -o long.nc
    small 'generated' sample --generate 20000 --dim 3 --model logistic "${quick[@]}" -o long.nc
    small 'groups'    sample grouped.csv 'y ~ x1 + (1 | g)' --model logistic "${quick[@]}" --ranef effects.csv -o groups.nc
    for command in summary diagnose 'loo data.csv' 'check data.csv' 'predict data.csv' 'report data.csv'; do
        read -r name operand <<<"$command"
        small "$name" $name run.nc $operand
    done
    rm -f run.nc
fi

# A limit on memory: OpenBLAS waits forever for memory of its own, and for threads that did not start.
if [ -n "${SBPS_BUILD_DIR:-}" ] && nm "$sbps" 2>/dev/null | grep -q __asan_init; then
    echo 'the rest is skipped: the sanitizer needs the whole address space'
    finish
    exit
fi
for limit in 150000 200000 250000 300000; do
    cases=$((cases + 1))
    timeout -s KILL 600 bash -c 'ulimit -v $1; shift; exec "$@"' - $limit "${sample[@]}" -o run.nc >.out 2>.err
    code=$?
    case $code in
    0) "$sbps" summary run.nc >/dev/null || fault "$limit KiB" 'no run' ;;
    1) grep -q '^sbps: .*memory' .err || fault "$limit KiB" "printed: $(tail -n 1 .err)" ;;
    127) ;; # the libraries do not fit
    *) fault "$limit KiB" "exit $code: $(tail -n 1 .err)" ;;
    esac
done
try 'a limit, no table' 0 'logistic' '' bash -c 'ulimit -v 300000; exec "$@"' - "$sbps" list models
finish
