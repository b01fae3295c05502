#!/usr/bin/env bash
# Events that end other programs do not lose draws: a closed reader of the messages, a terminal
# that hangs up, a limit on a file's size, standard streams that are closed.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 -o data.csv || exit 1
run=("$sbps" sample data.csv --model logistic --target y)

# SIGPIPE: the reader of the messages ends after the first line.
cases=$((cases + 1))
"${run[@]}" -o pipe.nc 2> >(head -n 1 >/dev/null)
code=$?
[ $code -eq 0 ] || fault 'SIGPIPE' "exit $code, expected 0"
try 'SIGPIPE: summary' 0 '^name,mean' '' "$sbps" summary pipe.nc --csv
mkfifo early
head -c 1 early >/dev/null &
"$sbps" help sample >early
code=$?
wait $!
cases=$((cases + 1))
[ $code -eq 0 ] || [ $code -eq 141 ] || fault 'SIGPIPE on results' "exit $code, expected 0 or 141"

# SIGHUP: like Ctrl-C, once there are draws; nohup is respected, too.
# The skeleton grows from the first round on.
cases=$((cases + 1))
"${run[@]}" --warmup 0 --seconds 500 --skeleton path.csv -o hup.nc 2>.err &
pid=$!
until [ -s path.csv ] && [ "$(wc -l <path.csv)" -gt 1 ]; do sleep 0.05; done
kill -HUP $pid
wait $pid
code=$?
[ $code -eq 130 ] || fault 'SIGHUP' "exit $code, expected 130"
grep -q 'interrupted: writing the draws so far' .err || fault 'SIGHUP' "printed: $(tail -n 2 .err)"
try 'SIGHUP: summary' 0 '^name,mean' '' "$sbps" summary hup.nc --csv

# Signals that batch systems send before they kill are like SIGTERM. They may come twice, and be followed by SIGTERM.
for signals in XCPU USR2 ALRM 'USR1 USR1 XCPU TERM'; do
    cases=$((cases + 1))
    rm -f path.csv batch.nc
    "${run[@]}" --warmup 0 --seconds 500 --skeleton path.csv -o batch.nc 2>.err &
    pid=$!
    until [ -s path.csv ] && [ "$(wc -l <path.csv)" -gt 1 ]; do sleep 0.05; done
    for signal in $signals; do kill -$signal $pid; done
    wait $pid
    code=$?
    [ $code -eq 130 ] || fault "$signals" "exit $code, expected 130"
    grep -q 'interrupted: writing the draws so far' .err || fault "$signals" "printed: $(tail -n 2 .err)"
    try "$signals: summary" 0 '^name,mean' '' "$sbps" summary batch.nc --csv
done

for ignored in HUP USR1; do
    cases=$((cases + 1))
    rm path.csv
    (trap '' $ignored; exec "${run[@]}" --warmup 0 --epochs 3000 --skeleton path.csv -o nohup.nc 2>.err) &
    pid=$!
    until [ -s path.csv ] && [ "$(wc -l <path.csv)" -gt 1 ]; do sleep 0.05; done
    kill -$ignored $pid
    wait $pid
    code=$?
    [ $code -eq 0 ] || fault "$ignored is ignored" "exit $code, expected 0: $(tail -n 1 .err)"
done

# SIGXFSZ: a message, no incomplete file, the earlier file unchanged.
cp pipe.nc before.nc
cp before.nc limited.nc
export TMPDIR=$work/elsewhere
mkdir "$TMPDIR"
try 'SIGXFSZ' 1 '' 'limited.nc: cannot be written: File too large' \
    bash -c 'ulimit -f 8; exec "$@"' - "${run[@]}" -o limited.nc
cmp -s limited.nc before.nc || fault 'SIGXFSZ' 'the earlier file has changed'
left=$(find . -name '*.tmp.*' -o -path './elsewhere/*')
[ -z "$left" ] || fault 'SIGXFSZ' "left $left"
unset TMPDIR

# Closed streams: messages are lost, and are not written to an output file.
closed() { # NAME REDIRECTIONS
    cases=$((cases + 1))
    eval '"${run[@]}" -o closed.nc --skeleton closed.csv' "$2"
    local code=$?
    [ $code -eq 0 ] || fault "$1" "exit $code, expected 0"
    grep -qv '^[0-9]*,\|^chain,' closed.csv && fault "$1" 'other lines in the skeleton'
}
closed 'closed messages' '2>&-'
closed 'closed streams' '<&- >&- 2>&-'
try 'closed streams: summary' 0 '^name,mean' '' "$sbps" summary closed.nc --csv
cases=$((cases + 1))
"$sbps" summary closed.nc >&- 2>.err
code=$?
[ $code -eq 1 ] || fault 'closed output' "exit $code, expected 1"
grep -q 'standard output: ' .err || fault 'closed output' "printed: $(cat .err)"

# SIGBUS: the table is cut short while it is in use.
"$sbps" simulate logistic --rows 50000 --dim 5 -o large.csv &&
    "$sbps" convert large.csv cut.tbl --target y || fault 'cut table' 'no table'
cases=$((cases + 1))
rm -f path.csv
"$sbps" sample cut.tbl --model logistic --warmup 0 --seconds 500 --skeleton path.csv -o cut.nc 2>.err &
pid=$!
until [ -s path.csv ] && [ "$(wc -l <path.csv)" -gt 1 ]; do sleep 0.05; done
truncate -s 4096 cut.tbl
wait $pid
code=$?
[ $code -eq 1 ] || fault 'cut table' "exit $code, expected 1"
grep -q '^sbps: cut.tbl: cannot be read any more: it was truncated' .err || fault 'cut table' "printed: $(tail -n 1 .err)"
finish
