#!/usr/bin/env bash
# Existing files are not lost: a failing checkpoint, a run without draws, files that name each
# other or an input, a skeleton with a gap or with two writers.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 -o data.csv || exit 1
sample=("$sbps" sample data.csv --model logistic --target y --progress off)
quick=("${sample[@]}" --chains 2 --draws 50)

# Waits for CONDITION... to hold; false if the process PID ends before.
await() { # PID CONDITION...
    local pid=$1
    shift
    until "$@"; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.05
    done
}

# ---- a checkpoint that cannot be written ----
"${quick[@]}" --ess 100 -o good.nc 2>.err || fault 'good' "$(tail -n 1 .err)"
try 'full disk' 0 '' 'sbps: checkpoint not written: /dev/full: cannot be written.*warning: .*checkpoint not written: /dev/full' \
    "${quick[@]}" --ess 200 -o full.nc --checkpoint /dev/full
try 'full disk: draws' 0 '^name,mean' '' "$sbps" summary full.nc --csv

# ---- no draws: the earlier run stays ----
# A signal comes at once or a little later: there are draws, or the earlier run is unchanged.
for _ in 1 2 3; do
    cases=$((cases + 1))
    cp good.nc kept.nc
    rm -f .err
    "${sample[@]/off/on}" --warmup 1000000000 -o kept.nc >.out 2>.err &
    pid=$!
    await $pid test -s .err || fault 'no draws' "ended: $(tail -n 1 .err)"
    kill -INT $pid
    wait $pid
    code=$?
    [ $code -eq 130 ] || fault 'no draws' "exit $code, expected 130: $(tail -n 1 .err)"
    if grep -q 'no draws were made yet: kept.nc is left as it was' .err; then
        cmp -s good.nc kept.nc || fault 'no draws' 'the earlier run was replaced'
    else
        "$sbps" summary kept.nc 2>&1 | grep -q ' x 0 draws' && fault 'no draws' 'replaced the earlier run'
    fi
done

# ---- names that are used twice ----
printf 'name,value\nintercept,0\nx1,0\nx2,0\nx3,0\n' >start.csv
echo 'chains = 2' >options.conf
"${quick[@]}" --ess 100 -o run.nc --checkpoint state 2>.err || fault 'state' "$(tail -n 1 .err)"
mkdir -p folder
ln -s ../state folder/link
sum() { cat data.csv start.csv options.conf state good.nc | cksum; }
before=$(sum)
twice() { # NAME OPTIONS...
    local name=$1
    shift
    try "twice: $name" 2 '' '^sbps: --[a-z]*: .* is (the data|also the) file( of --[a-z]*)?' "${quick[@]}" --ess 100 "$@"
    [ "$(sum)" = "$before" ] || fault "twice: $name" 'an input was changed'
}
twice 'skeleton is resumed'    --resume state --skeleton state
twice 'by another name'        --resume state --skeleton folder/link
twice 'trace is resumed'       --resume state --trace ./state
twice 'skeleton is the start'  --start start.csv --skeleton start.csv
twice 'checkpoint is the start' --start start.csv --checkpoint start.csv
twice 'output is the start'    --start start.csv -o start.csv
twice 'skeleton is the trace'  --skeleton new --trace new
twice 'and in another folder'  --skeleton new --trace folder/../new
twice 'output is checkpoint'   -o new.nc --checkpoint new.nc
twice 'old output'             -o good.nc --checkpoint good.nc
twice 'skeleton is the config' --config options.conf --skeleton options.conf
twice 'output is the data'     -o data.csv
twice 'a chain of Stan'        -o run.stan.csv --skeleton run.stan_2.csv
[ -e new ] && fault 'twice' 'a file was made'
try 'resume is checkpoint' 0 '' '^logistic regression' "${quick[@]}" --ess 150 --resume state --checkpoint state -o run.nc
try 'devices may be shared' 0 '' '^logistic regression' "${quick[@]}" --sampler sbps --ess 100 --skeleton /dev/null --trace /dev/null -o run.nc
try 'map: start'      2 '' 'start.csv is also the file of --start' "$sbps" map data.csv --model logistic --target y \
    --start start.csv -o start.csv
try 'simulate: truth' 2 '' 'both.csv is also the file of --output' "$sbps" simulate logistic -o both.csv --truth both.csv

# ---- every option that names a file ----
# An option whose argument is a FILE is an input of this list, or an output: then it may name neither a file
# that the command reads nor another output.
inputs=' covariance start resume config data '
awk -F, -v OFS=, 'NR == 1 { print $0, "g" } NR > 1 { print $0, "g" NR % 9 }' data.csv >grouped.csv
formula='y ~ x1 + (1 | g)'
"$sbps" sample grouped.csv "$formula" --model logistic --ess 50 --draws 50 --chains 2 --progress off -o grouped.nc \
    2>.err || fault 'grouped' "$(tail -n 1 .err)"
file_options() { # COMMAND: names of the options that take a FILE
    "$sbps" "$1" --help | sed -nE 's/^ +(-o, )?--([a-z-]+) ([^ ]*\|)?(FILE|[A-Z]*\.[a-z]+)( .*|$)/\2/p'
}
walked=0
# COMMAND READ... -- OPERANDS...: each file option at each file READ
walk() {
    local command=$1 reads=() option file before name
    shift
    while [ "$1" != -- ]; do reads+=("$1"); shift; done
    shift
    for option in $(file_options "$command"); do
        for file in "${reads[@]}"; do
            before=$(cksum <"$file")
            name="$command --$option $file"
            if [[ $inputs == *" $option "* ]]; then
                timeout 600 "$sbps" "$command" "$@" "--$option" "$file" >.out 2>.err
            else
                walked=$((walked + 1))
                try "$name" 2 '' "^sbps: --$option: $file is the (data file|run file)[^.]*$" "$sbps" "$command" "$@" \
                    "--$option" "$file"
                [ "$(wc -l <.err)" -eq 1 ] || fault "$name" "more than a sentence: $(cat .err)"
            fi
            [ "$(cksum <"$file")" = "$before" ] || fault "$name" 'the file was changed'
        done
    done
}
quick_groups=(grouped.csv "$formula" --model logistic --ess 50 --draws 50 --chains 2 --progress off)
walk sample  grouped.csv -- "${quick_groups[@]}"
walk map     grouped.csv -- grouped.csv "$formula" --model logistic
walk laplace grouped.csv -- grouped.csv "$formula" --model logistic
walk report  grouped.csv grouped.nc -- grouped.nc grouped.csv
walk predict grouped.csv grouped.nc -- grouped.nc grouped.csv
for command in score loo check summary diagnose contrast; do
    case $command in contrast) operands='x1' ;; summary | diagnose) operands= ;; *) operands=grouped.csv ;; esac
    walk $command grouped.csv grouped.nc -- grouped.nc $operands
done
walk compare grouped.csv grouped.nc -- grouped.nc grouped.nc
[ $walked -ge 11 ] || fault 'walk' "only $walked outputs were found"
for option in $(file_options sample); do
    [[ "$inputs output " == *" $option "* ]] && continue
    try "--$option is the output" 2 '' '^sbps: --[a-z]*: both.nc is also the file of --[a-z]*: choose another name *$' \
        "$sbps" sample "${quick_groups[@]}" -o both.nc "--$option" both.nc
    [ -e both.nc ] && fault "--$option is the output" 'a file was made'
    try "--$option is standard input" 2 '' "^sbps: --$option: grouped.csv is the data file" \
        bash -c 'exec "$@" <grouped.csv' - "$sbps" sample - "${quick_groups[@]:1}" "--$option" grouped.csv
done

# ---- a skeleton has no gap ----
whole=("${quick[@]}" --sampler sbps --checkpoint gap.state)
"${whole[@]}" --ess 100 -o gap.nc --skeleton gap.csv 2>.err || fault 'gap' "$(tail -n 1 .err)"
cp gap.csv first.csv
cp gap.state first.state
"${whole[@]}" --ess 600 -o gap.nc --resume gap.state 2>.err || fault 'gap' "$(tail -n 1 .err)"
try 'gap' 1 '' 'gap.csv would have a gap' "${whole[@]}" --ess 2000 -o gap.nc --resume gap.state --skeleton gap.csv
cmp -s gap.csv first.csv || fault 'gap' 'the skeleton was changed'
try 'late skeleton' 1 '' 'late.csv would have a gap' "${whole[@]}" --ess 2000 -o gap.nc --resume gap.state --skeleton late.csv
[ -e late.csv ] && fault 'late skeleton' 'was begun'
try 'late trace' 1 '' 'late.csv would have a gap' "${whole[@]}" --ess 2000 -o gap.nc --resume gap.state --trace late.csv
cp first.state gap.state
try 'no gap' 0 '' '^logistic regression' "${whole[@]}" --ess 600 -o gap.nc --resume gap.state --skeleton gap.csv
[ "$(stat -c %s gap.csv)" -gt "$(stat -c %s first.csv)" ] || fault 'no gap' 'nothing was added'

# ---- a skeleton has one writer ----
cases=$((cases + 1))
"${sample[@]}" --seconds 500 -o one.nc --skeleton both.skeleton >.out 2>.first &
pid=$!
await $pid test -s both.skeleton || fault 'two writers' "the first ended: $(tail -n 1 .first)"
try 'two writers' 1 '' 'both.skeleton: another run is writing to it' "${quick[@]}" --ess 100 -o two.nc --skeleton both.skeleton
[ -e two.nc ] && fault 'two writers' 'the second run was made'

# ---- and so has an output ----
busy='^sbps: --output: another run is writing [^ ]*one.nc: choose another name, or wait until it ends *$'
try 'one output' 1 '' "$busy" "${quick[@]}" --ess 100 -o one.nc
try 'one output by another name' 1 '' "$busy" "${quick[@]}" --ess 100 -o folder/../one.nc
kill -INT $pid
wait $pid
[ "$(head -c 5 both.skeleton)" = chain ] || fault 'two writers' 'the skeleton was emptied'
try 'one output: the first has it' 0 'formula +y ~' '' "$sbps" summary one.nc
[ -e one.nc.lock ] && fault 'one output' 'the lock file is left'
ln -s one.nc link.nc
: >both.skeleton
"${sample[@]}" --seconds 500 -o link.nc --skeleton both.skeleton >.out 2>.first &
pid=$!
await $pid test -s both.skeleton || fault 'an output behind a link' "the first ended: $(tail -n 1 .first)"
try 'an output behind a link' 1 '' "$busy" "${quick[@]}" --ess 100 -o one.nc
try 'no output of a dry run'  0 'sampler' '' "${quick[@]}" -o one.nc --dry-run
kill -KILL $pid
wait $pid 2>/dev/null
try 'after a killed run' 0 '' '^logistic regression' "${quick[@]}" --ess 100 -o one.nc
[ -e one.nc.lock ] && fault 'after a killed run' 'the lock file is left'
echo mine >own.nc.lock
try 'a lock file of the user' 0 '' '^logistic regression' "${quick[@]}" --ess 100 -o own.nc
[ "$(cat own.nc.lock)" = mine ] || fault 'a lock file of the user' 'it was changed'

# ---- inputs that are pipes: accepted if they are read once, else refused without waiting ----
mkfifo pipe pipe.so
at_once=(timeout 120)
for option in resume covariance; do
    try "--$option from a pipe" 2 '' "^sbps: --$option: pipe is a directory, a device or a pipe: name a regular file *$" \
        "${at_once[@]}" "${quick[@]}" -o no.nc "--$option" pipe
done
try '--model from a pipe' 2 '' '^sbps: --model: ./pipe.so is a directory, a device or a pipe: name a regular file *$' \
    "${at_once[@]}" "$sbps" sample data.csv --target y --model ./pipe.so -o no.nc
for command in summary diagnose 'contrast x1' 'predict data.csv' 'score data.csv' 'loo data.csv' 'check data.csv' report; do
    read -r name operand <<<"$command"
    try "$name of a pipe" 1 '' '^sbps: pipe: cannot be read' "${at_once[@]}" "$sbps" $name pipe $operand
done
try 'start and config from pipes' 0 '' '^logistic regression' \
    "${at_once[@]}" bash -c 'exec "$@" --start <(cat start.csv) --config <(cat options.conf)' - "${sample[@]}" --ess 100 -o pipes.nc
finish
