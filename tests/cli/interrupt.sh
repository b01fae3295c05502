#!/usr/bin/env bash
# Ctrl-C: the run ends early, what there is is written and can be read; twice ends at once.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 -o data.csv || exit 1
long=("$sbps" sample data.csv --model logistic --target y --seconds 500)

# Starts COMMAND, sends SIGNAL after SECONDS, and leaves its exit code in $code.
# (timeout hands the signal on, once.)
stop() { # SIGNAL SECONDS COMMAND...
    local signal=$1 seconds=$2 pid
    shift 2
    timeout --foreground -s KILL 60 "$@" >.out 2>.err &
    pid=$!
    sleep "$seconds"
    kill "-$signal" $pid || fault "$signal" "the run was over: $(tail -n 1 .err)"
    wait $pid
    code=$?
}

for signal in INT TERM; do
    cases=$((cases + 1))
    start=$(date +%s)
    stop $signal 2 "${long[@]}" -o $signal.nc
    [ $code -eq 130 ] || fault "$signal" "exit $code, want 130"
    [ $(($(date +%s) - start)) -lt 20 ] || fault "$signal" 'took long to stop'
    grep -q 'interrupted: writing what there is' .err || fault "$signal" "said: $(tail -n 3 .err)"
    grep -q "the draws are in $signal.nc" .err || fault "$signal" "said: $(tail -n 3 .err)"
    try "$signal: summary"  0 '^name,mean' '' "$sbps" summary $signal.nc --csv
    try "$signal: diagnose" 0 'interrupt' '' "$sbps" diagnose $signal.nc
done

# Within the first moments: 130 with a file or with a sentence, never a crash.
for moment in 0.2 0.5 1; do
    cases=$((cases + 1))
    rm -f early.nc
    stop INT $moment "${long[@]}" -o early.nc --progress off
    [ $code -eq 130 ] || fault "after $moment s" "exit $code, want 130: $(tail -n 1 .err)"
    grep -q '^sbps: ' .err || fault "after $moment s" 'said nothing'
    ! [ -e early.nc ] || "$sbps" summary early.nc >.out || fault "after $moment s" 'early.nc is torn'
    left=$(find . -name '*early*' ! -name early.nc)
    [ -z "$left" ] || fault "after $moment s" "left $left"
done

# Twice: the program ends at once, and what stands there is whole.
cases=$((cases + 1))
"${long[@]}" -o twice.nc >.out 2>.err &
pid=$!
sleep 1
kill -INT $pid && kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || fault 'twice' "exit $code, want 130"
! [ -e twice.nc ] || "$sbps" summary twice.nc >.out || fault 'twice' 'twice.nc is torn'
finish
