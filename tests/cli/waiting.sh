#!/usr/bin/env bash
# A progress line every ten seconds if nothing else is printed: while a table is read and in long rounds.
# Pipes prolong both until the line is printed: one that is not written to, one that is not read.
. "$(dirname "$0")/common.sh"

printed() { # PATTERN PID: waits for the line, or for the end of the process
    until grep -q "$1" .err 2>/dev/null; do
        kill -0 "$2" 2>/dev/null || { fault "$1" "never printed; messages: $(tail -n 1 .err)"; return; }
        sleep 0.2
    done
}

cases=$((cases + 1))
"$sbps" simulate logistic --rows 500 --dim 2 -o data.csv || exit 1
mkfifo slow.csv
"$sbps" sample slow.csv --model logistic --target y --ess 50 -o run.nc 2>.err &
pid=$!
exec 3>slow.csv
head -n 100 data.csv >&3
printed '^sbps: reading slow.csv, 10s' $pid
tail -n +101 data.csv >&3
exec 3>&-
wait $pid
code=$?
[ $code -eq 0 ] || fault 'reading' "exit $code: $(tail -n 1 .err)"

cases=$((cases + 1))
: >.err
"$sbps" map slow.csv --model logistic --target y 2>.err >.out &
pid=$!
exec 3>slow.csv
head -n 100 data.csv >&3
printed '^sbps: reading slow.csv, 10s' $pid
tail -n +101 data.csv >&3
exec 3>&-
wait $pid
code=$?
[ $code -eq 0 ] && grep -q '^method .* newton' .out || fault 'map' "exit $code: $(tail -n 1 .err)"

cases=$((cases + 1))
: >.err
mkfifo path
"$sbps" sample data.csv --model logistic --target y --warmup 0 --ess 1e9 --skeleton path -o run.nc 2>.err &
pid=$!
exec 4<path # opened and not read: the skeleton fills the pipe and the round waits
printed '^sbps: sampling, 10s' $pid
kill -KILL $pid
wait $pid 2>/dev/null
exec 4<&-

cases=$((cases + 1))
"$sbps" sample data.csv --model logistic --target y --ess 50 --progress off -o run.nc 2>.err
grep -q '^sbps: \(reading\|setting\|sampling\)' .err && fault 'progress off' "printed: $(cat .err)"

# the cost of a wide table is printed before the set-up that it takes, which memory for none of it then ends
cases=$((cases + 1))
awk 'BEGIN { for (r = 0; r < 2; r++) { printf "%d", r; for (j = 1; j <= 200000; j++) if (j % 2 == r) printf " %d:1", j; print "" } }' >wide.svm
"$sbps" map wide.svm --model logistic --target label >.out 2>.err
grep -qE 'set-up makes matrices of 200001 x 200001 numbers, 3.2e.02 GB each and up to 6 at a time; on one processor the mode takes about 1.18e.03 hours or more, and all of set-up before sampling about 5.56e.03 hours; merging' .err || fault 'wide' "printed: $(cat .err)"
finish
