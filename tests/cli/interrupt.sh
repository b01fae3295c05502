#!/usr/bin/env bash
# Ctrl-C: the run ends early, its draws are written and can be read; a second one ends the program at once. Signals are
# sent after an event that shows the state of the run, never by the clock.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 -o data.csv || exit 1
long=("$sbps" sample data.csv --model logistic --target y --seconds 500)

# Starts COMMAND and waits for CONDITION to hold; $pid is its process.
start_until() { # CONDITION COMMAND...
    local condition=$1
    shift
    rm -f .err path.csv
    "$@" >.out 2>.err &
    pid=$!
    until eval "$condition"; do
        kill -0 $pid 2>/dev/null || { fault "$*" "ended: $(tail -n 1 .err)"; return; }
        sleep 0.02
    done
}

# Sends SIGNAL and leaves the exit code in $code.
stop() { # SIGNAL
    kill "-$1" $pid || fault "$1" "the run was over: $(tail -n 1 .err)"
    wait $pid
    code=$?
}

# A skeleton of more than its header: sampling has begun.
sampling='[ "$(head -n 2 path.csv 2>/dev/null | wc -l)" -eq 2 ]'

for signal in INT TERM; do
    cases=$((cases + 1))
    start_until "$sampling" "${long[@]}" -o $signal.nc --skeleton path.csv
    start=$(date +%s)
    stop $signal
    [ $code -eq 130 ] || fault "$signal" "exit $code, expected 130"
    [ $(($(date +%s) - start)) -lt 60 ] || fault "$signal" 'took long to stop'
    grep -q 'interrupted: writing the draws so far' .err || fault "$signal" "printed: $(tail -n 3 .err)"
    grep -q "the draws are in $signal.nc" .err || fault "$signal" "printed: $(tail -n 3 .err)"
    try "$signal: summary"  0 '^name,mean' '' "$sbps" summary $signal.nc --csv
    try "$signal: diagnose" 0 'interrupt' '' "$sbps" diagnose $signal.nc
done

# Within the first moments, from when signals are caught: the program reads the table from a pipe line by
# line, or has just printed its settings. It exits with 130 and a file or a message, never with a crash.
check_early() { # NAME
    [ $code -eq 130 ] || fault "$1" "exit $code, expected 130: $(tail -n 1 .err)"
    grep -q '^sbps: ' .err || fault "$1" 'printed nothing'
    ! [ -e early.nc ] || "$sbps" summary early.nc >.out || fault "$1" 'early.nc is torn'
    left=$(find . -name '*early*' ! -name early.nc)
    [ -z "$left" ] || fault "$1" "left $left"
}

cases=$((cases + 1))
mkfifo slow.csv
"$sbps" sample slow.csv --model logistic --target y -o early.nc >.out 2>.err &
pid=$!
exec 3>slow.csv # both ends are open: main has begun
head -n 50 data.csv >&3
stop INT
exec 3>&-
check_early 'while it reads'

cases=$((cases + 1))
start_until '[ -s .err ]' "${long[@]}" -o early.nc
stop INT
check_early 'as it takes off'

# Twice: the program ends at once, and the file is complete.
cases=$((cases + 1))
start_until "$sampling" "${long[@]}" -o twice.nc --skeleton path.csv
kill -INT $pid && kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || fault 'twice' "exit $code, expected 130"
! [ -e twice.nc ] || "$sbps" summary twice.nc >.out || fault 'twice' 'twice.nc is torn'
finish
