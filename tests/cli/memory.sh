#!/usr/bin/env bash
# Too little memory gets a sentence before it is asked for, and no wait without an end.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 500 --dim 2 -o data.csv || exit 1
sample=("$sbps" sample data.csv --model logistic --target y)
try 'draws'   1 '' 'draws of 3 parameters need .* GiB of memory, this machine or container allows .* GiB: ask for fewer' \
    "${sample[@]}" --draws 1e12 -o run.nc
try 'chains'  1 '' '1000 chains of 1e.09 draws .* need .* GiB' "${sample[@]}" --chains 1000 --draws 1e9 -o run.nc
[ -e run.nc ] && fault 'draws' 'a file was written'

# A limit on memory: OpenBLAS waits forever for memory of its own, and for threads that did not start.
if [ -n "${SBPS_BUILD_DIR:-}" ] && nm "$sbps" 2>/dev/null | grep -q __asan_init; then
    echo 'the rest is skipped: the sanitizer wants all addresses'
    finish
    exit
fi
for limit in 150000 200000 250000 300000; do
    cases=$((cases + 1))
    timeout -s KILL 600 bash -c 'ulimit -v $1; shift; exec "$@"' - $limit "${sample[@]}" -o run.nc >.out 2>.err
    code=$?
    case $code in
    0) "$sbps" summary run.nc >/dev/null || fault "$limit KiB" 'no run' ;;
    1) grep -q '^sbps: .*memory' .err || fault "$limit KiB" "said: $(tail -n 1 .err)" ;;
    127) ;; # not even the libraries fit
    *) fault "$limit KiB" "exit $code: $(tail -n 1 .err)" ;;
    esac
done
try 'a limit, no table' 0 'logistic' '' bash -c 'ulimit -v 300000; exec "$@"' - "$sbps" list models
finish
