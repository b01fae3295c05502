#!/usr/bin/env bash
# System calls fail one by one: every subcommand ends with a message, and leaves an earlier output
# unchanged or writes a complete one, and no other file. SBPS_FAULTS=all tries every call of a kind, not
# only some of the many.
. "$(dirname "$0")/common.sh"
command -v strace >/dev/null || { echo 'skipped: no strace'; exit 77; }
strace -qq -o .log true 2>.err || { echo "skipped: strace: $(head -n 1 .err)"; exit 77; }

"$sbps" simulate logistic --rows 300 --dim 2 -o data.csv || exit 1
model=(--model logistic --target y)
"$sbps" sample data.csv "${model[@]}" --progress off --seed 9 -o good.nc 2>.err || exit 1
"$sbps" simulate logistic --rows 20 --dim 2 -o good.csv || exit 1
"$sbps" convert data.csv good.tbl --target y 2>.err || exit 1
"$sbps" map data.csv "${model[@]}" -o good.map 2>.err || exit 1

# Calls of KIND that COMMAND makes.
count_calls() { # KIND COMMAND...
    local kind=$1
    shift
    strace -f -qq -o .calls -e trace="$kind" "$@" >.out 2>.err
    grep -c "$kind(" .calls
}

# The calls that are made to fail: all of a few, some of many.
chosen() { # COUNT
    local k=1 step=1
    while [ $k -le "$1" ]; do
        echo $k
        [ $k -ge 6 ] && [ "${SBPS_FAULTS:-}" != all ] && step=$((k / 2))
        k=$((k + step))
    done
}

# Checks that OUTPUT is unchanged, or complete and new by the test WHOLE...
check_output() { # NAME CODE OUTPUT GOOD WHOLE...
    local name=$1 code=$2 output=$3 good=$4 left
    shift 4
    [ "$code" -lt 124 ] || [ "$code" -eq 127 ] || fault "$name" "exit $code: $(tail -n 1 .err)"
    [ "$code" -eq 0 ] || [ -s .err ] || fault "$name" "exit $code without a sentence"
    [ "$code" -eq 0 ] && cmp -s "$output" "$good" && [ $# -gt 0 ] && [ "$output" != "$good" ] &&
        fault "$name" 'exit 0, and nothing was written'
    cmp -s "$output" "$good" || "$@" >.out 2>.whole || fault "$name" "$output is torn: $(tail -n 1 .whole)"
    left=$(find . -name '*.tmp.*' -o -name '.sbps-*')
    [ -z "$left" ] || fault "$name" "left $left"
    find . \( -name '*.tmp.*' -o -name '.sbps-*' \) -delete
}

# Makes the calls of KIND fail with ERROR in COMMAND, which writes OUTPUT over GOOD.
fail_calls() { # KIND ERROR OUTPUT GOOD WHOLE COMMAND...
    local kind=$1 error=$2 output=$3 good=$4 whole=$5 k code
    shift 5
    [ "$good" = "$output" ] || cp "$good" "$output"
    for k in $(chosen "$(count_calls "$kind" "$@")"); do
        cases=$((cases + 1))
        rm -f state path.csv
        [ "$good" = "$output" ] || cp "$good" "$output"
        timeout 600 strace -f -qq -o .log -e trace="$kind" -e inject="$kind:error=$error:when=$k" "$@" >.out 2>.err </dev/null
        code=$?
        # shellcheck disable=SC2086 # a command and its words
        check_output "$kind $k of ${*:2:1}" $code "$output" "$good" $whole
    done
}

# Replacing an earlier run by an empty one would lose it, too.
whole_run() { "$sbps" summary run.nc >.summary && ! grep -q ' x 0 draws' .summary; }

sample=("$sbps" sample data.csv "${model[@]}" --progress off --chains 2 --draws 50 --ess 50 --warmup 2000
    -o run.nc --checkpoint state --skeleton path.csv)
for fault in write:ENOSPC fsync:EIO rename:EACCES ftruncate:EIO flock:ENOLCK fchmod:EPERM lseek:ESPIPE; do
    kind=${fault%:*}
    fail_calls "$kind" "${fault#*:}" run.nc good.nc whole_run "${sample[@]}"
    fail_calls "$kind" "${fault#*:}" table.csv good.csv "$sbps convert table.csv .tbl --target y" "$sbps" simulate logistic --rows 200 --dim 2 -o table.csv
    fail_calls "$kind" "${fault#*:}" table.tbl good.tbl "$sbps map table.tbl --model logistic" "$sbps" convert data.csv table.tbl --target y --seed 3
    fail_calls "$kind" "${fault#*:}" point good.map 'test -s point' "$sbps" map data.csv "${model[@]}" --prior 'normal(0,1)' -o point
done
# reading: the dynamic linker's own calls come first, with its own messages
for fault in read:EIO openat:EMFILE pread64:EIO newfstatat:EIO; do
    kind=${fault%:*}
    fail_calls "$kind" "${fault#*:}" run.nc good.nc whole_run "${sample[@]}"
    fail_calls "$kind" "${fault#*:}" good.nc good.nc true "$sbps" summary good.nc
    fail_calls "$kind" "${fault#*:}" good.tbl good.tbl true "$sbps" map good.tbl --model logistic
done
finish
