#!/usr/bin/env bash
# A run that is killed and resumed any number of times ends with the bits of an uninterrupted one:
# draws, path estimates, counts and skeleton. SBPS_KILLS is the number of kills (24), SBPS_SEED the seed of their times.
. "$(dirname "$0")/common.sh"

kills=${SBPS_KILLS:-24}
RANDOM=${SBPS_SEED:-1}

"$sbps" simulate logistic --rows 5000 --dim 5 --seed 3 -o data.csv || exit 1
# A whole run takes a second of processor time, of which a round is a twentieth.
sample=("$sbps" sample data.csv --model logistic --target y --batch-size 500 --control-variate none
    --chains 2 --threads 2 --draws 100 --ess 200 --progress off)

# Writes RUN.nc and its checkpoint STATE as text into FOLDER, without dates and durations.
export_run() { # RUN STATE FOLDER
    mkdir -p "$3"
    "$sbps" summary "$1" --csv >"$3/summary.csv" || return 1
    "$sbps" summary "$1" --json | grep -vE '"(seconds_|created_at)' >"$3/run.json"
    # a finished run is resumed: no further segments, the draws are written as text
    cp "$2" "$3/again"
    "${sample[@]}" "${@:4}" --resume "$3/again" -o "$3/draws.csv" 2>.err || return 1
    rm "$3/again"
}

same() { # NAME FOLDER FOLDER
    local file
    for file in summary.csv run.json draws.csv; do
        cmp -s "$2/$file" "$3/$file" ||
            fault "$1" "$file differs: $(diff "$2/$file" "$3/$file" | head -n 3 | cut -c 1-200)"
    done
}

# ---- the reference: never stopped, no other files ----
"${sample[@]}" -o plain.nc 2>.err || fault 'reference' "$(tail -n 1 .err)"
"${sample[@]}" -o whole.nc --checkpoint whole.state --skeleton whole.csv 2>.err ||
    fault 'reference' "$(tail -n 1 .err)"
export_run whole.nc whole.state whole || fault 'reference' 'could not be exported'
[ "$(wc -l <whole/draws.csv)" -gt 200 ] || fault 'reference' 'has few draws'
"$sbps" summary plain.nc --csv | cmp -s - whole/summary.csv ||
    fault 'reference' 'a checkpoint or skeleton changes the path'

# ---- killed ----
stamp() { stat -c '%i %y' "$1" 2>/dev/null; }
# Waits until FILE differs from that of STAMP, or the process has ended. The first checkpoint is
# written after the first round, however long that takes.
until_replaced() { # PID FILE STAMP
    while [ "$(stamp "$2")" = "$3" ] && kill -0 "$1" 2>/dev/null; do sleep 0.02; done
}

# Starts the run, or resumes it from its checkpoint, and kills it: `early`, before or after its first
# checkpoint; `late`, at some time after it; `never`. True when it finished.
run_until() { # WHEN OPTIONS...
    local when=$1 resume=() pid code before
    shift
    before=$(stamp killed.state)
    [ -e killed.state ] && resume=(--resume killed.state)
    "${sample[@]}" -o killed.nc --checkpoint killed.state "${resume[@]}" "$@" 2>.err &
    pid=$!
    if [ "$when" != never ]; then
        [ "$when" = early ] || until_replaced $pid killed.state "$before"
        sleep "0.$(printf %03d $((RANDOM % 150)))"
        kill -KILL $pid 2>/dev/null
    fi
    wait $pid 2>/dev/null
    code=$?
    [ $code -eq 137 ] && return 1
    [ $code -eq 0 ] || fault 'killed' "exit $code: $(head -n 1 .err)"
    return 0
}

# Kills one run repeatedly until it finishes or all kills are used; then it may finish.
kill_repeatedly() { # OPTIONS...
    while [ $count -lt "$kills" ]; do
        run_until $([ $((count % 4)) -eq 0 ] && echo early || echo late) "$@" && return
        count=$((count + 1))
    done
    run_until never "$@"
}

# Odd runs with a skeleton, even runs without.
count=0
runs=0
while [ $count -lt "$kills" ] && [ $failures -eq 0 ]; do
    cases=$((cases + 1))
    runs=$((runs + 1))
    before=$count
    extra=()
    [ $((runs % 2)) -eq 1 ] && extra=(--skeleton killed.csv)
    kill_repeatedly "${extra[@]}"
    name="run $runs, killed $((count - before)) times"
    export_run killed.nc killed.state killed || fault "$name" "could not be exported: $(head -n 1 .err)"
    same "$name" killed whole
    [ ${#extra[@]} -eq 0 ] || cmp -s killed.csv whole.csv || fault "$name" 'the skeleton differs'
    rm -rf killed killed.state killed.nc
done
echo "killed $count times in $runs runs"

# ---- Ctrl-C ----
# The current round is cut short: chains may then alternate differently in the skeleton.
cases=$((cases + 1))
caught=0
for again in 1 2 3 4 5; do
    resume=()
    before=$(stamp int.state)
    [ -e int.state ] && resume=(--resume int.state)
    "${sample[@]}" -o int.nc --checkpoint int.state --skeleton int.csv "${resume[@]}" 2>.err &
    pid=$!
    until_replaced $pid int.state "$before"
    kill -INT $pid 2>.kill
    wait $pid
    code=$?
    [ $code -eq 130 ] && caught=$((caught + 1))
    [ $code -eq 0 ] && break
    [ $code -eq 130 ] || fault 'Ctrl-C' "exit $code, expected 130: $(tail -n 1 .err)"
done
[ $caught -gt 0 ] || fault 'Ctrl-C' 'no run was caught'
"${sample[@]}" -o int.nc --resume int.state --skeleton int.csv 2>.err || fault 'Ctrl-C' "$(tail -n 1 .err)"
export_run int.nc int.state int || fault 'Ctrl-C' "could not be exported: $(head -n 1 .err)"
same 'Ctrl-C' int whole
by_chain() { tail -n +2 "$1" | sort -s -t, -k1,1; }
cmp -s <(by_chain int.csv) <(by_chain whole.csv) || fault 'Ctrl-C' 'the skeleton differs'

# ---- automatic choices ----
# Batch sizes and reference points that changed in warm-up are restored. Outliers cause such changes.
cases=$((cases + 1))
awk -F, 'NR > 1 && NR % 50 == 0 {for (i = 2; i <= NF; i++) $i *= 8} 1' OFS=, data.csv >auto.csv
auto=("$sbps" sample auto.csv --model logistic --target y --sampler sbps --chains 2 --threads 2
    --draws 100 --ess 30000 --progress off)
"${auto[@]}" -o plain.nc 2>.err || fault 'auto' "$(tail -n 1 .err)"
for again in 1 2 3 4 5 6; do
    resume=()
    before=$(stamp auto.state)
    [ -e auto.state ] && resume=(--resume auto.state)
    "${auto[@]}" -o auto.nc --checkpoint auto.state "${resume[@]}" 2>.err &
    pid=$!
    until_replaced $pid auto.state "$before"
    kill -INT $pid 2>.kill
    wait $pid
    code=$?
    [ $code -eq 0 ] && break
    [ $code -eq 130 ] || fault 'auto' "exit $code, expected 130: $(tail -n 1 .err)"
done
"${auto[@]}" -o auto.nc --resume auto.state 2>.err || fault 'auto' "$(tail -n 1 .err)"
cmp -s <("$sbps" summary auto.nc --csv) <("$sbps" summary plain.nc --csv) ||
    fault 'auto' 'the run that was stopped differs from the one that was not'

# ---- a longer goal ----
# (a run may continue to four times its goal because of R-hat)
cases=$((cases + 1))
"${sample[@]}" --ess 500 -o far.nc --checkpoint far.state 2>.err || fault 'longer goal' "$(tail -n 1 .err)"
export_run far.nc far.state far --ess 500 || fault 'longer goal' 'could not be exported'
cp whole.state more.state
"${sample[@]}" --ess 500 -o more.nc --resume more.state 2>.err || fault 'longer goal' "$(tail -n 1 .err)"
export_run more.nc more.state more --ess 500 || fault 'longer goal' 'could not be exported'
same 'longer goal' more far
cmp -s more/summary.csv whole/summary.csv && fault 'longer goal' 'the run did not continue'

# ---- refusals ----
refuse() { # NAME WORDS COMMAND...
    local name=$1 words=$2
    shift 2
    rm -f no.nc
    try "$name" 1 '' "^sbps: .*$words" "$@" -o no.nc
    [ -e no.nc ] && fault "$name" 'no.nc was written'
}

refuse 'other seed'    'different options' "${sample[@]}" --seed 2 --resume whole.state
refuse 'other prior'   'different options' "${sample[@]}" --prior 'normal(0,1)' --resume whole.state
refuse 'other chains'  'different options' "${sample[@]}" --chains 3 --resume whole.state
sed '2s/^0/2/;2s/^1/0/;2s/^2/1/' data.csv >other.csv
cmp -s data.csv other.csv && fault 'other data' 'the data are not other'
other=("${sample[@]}")
other[2]=other.csv
refuse 'other data'    'different data' "${other[@]}" --resume whole.state
refuse 'no checkpoint' 'nowhere' "${sample[@]}" --resume nowhere
size=$(stat -c %s whole.state)
head -c $((size / 2)) whole.state >torn.state
refuse 'torn'          'torn.state' "${sample[@]}" --resume torn.state
: >empty.state
refuse 'empty'         'empty.state' "${sample[@]}" --resume empty.state
for at in 0 9 $((size / 3)) $((size / 2)) $((size - 1)); do
    cp whole.state bad.state
    byte=$(od -An -tu1 -j $at -N 1 whole.state)
    printf "\\x$(printf %02x $((byte ^ 64)))" | dd of=bad.state bs=1 seek=$at conv=notrunc status=none
    cmp -s bad.state whole.state && fault "byte $at" 'was not changed'
    refuse "byte $at"  '' "${sample[@]}" --resume bad.state
done
# the skeleton that a checkpoint was made with must exist and be unchanged
cp whole.state skeleton.state
refuse 'skeleton gone'  'gone.csv' "${sample[@]}" --resume skeleton.state --skeleton gone.csv
head -n 5 whole.csv >short.csv
refuse 'skeleton short' 'short.csv' "${sample[@]}" --resume skeleton.state --skeleton short.csv
finish
