#!/usr/bin/env bash
# Several ranks: the bits of set-up are those of one process; unsupported options are refused with a message; a rank that fails
# or is killed ends the job, and its checkpoint can be resumed.
. "$(dirname "$0")/common.sh"

needs_ranks
SBPS_WITHOUT=$("$sbps" sample nowhere.csv --model logistic --target y 2>&1) # one process needs none of it
grep -q 'nowhere.csv' <<<"$SBPS_WITHOUT" || fault 'alone' "$SBPS_WITHOUT"
export SBPS_SHARE_TEXT=1 # bytes from which reading of text is distributed
on() { echo "mpirun -n $1 $sbps"; } # the start of a command

# ---- set-up: the same bits ----
"$sbps" simulate ordinal --rows 20000 --dim 3 --seed 2 -o softmax.csv || exit 1 # classes, here without their order
for model in logistic linear poisson softmax; do
    [ -e $model.csv ] || "$sbps" simulate $model --rows 20000 --dim 3 --seed 2 -o $model.csv || exit 1
    "$sbps" laplace $model.csv --model $model --target y --json >one.json || exit 1
    try "$model on 4" 0 '' '' $(on 4) laplace $model.csv --model $model --target y --json -o four.json
    cmp -s one.json four.json || fault "$model on 4" "$(diff one.json four.json | head -n 3)"
done
"$sbps" laplace logistic.csv --model logistic --target y --json >one.json
for ranks in 2 7; do
    try "logistic on $ranks" 0 '"potential"' '' $(on $ranks) laplace logistic.csv --model logistic --target y --json
    cmp -s one.json .out || fault "logistic on $ranks" "$(diff one.json .out | head -n 3)"
done

# A converted table, whose rows lie in another order; floats; sparse rows.
"$sbps" convert logistic.csv logistic.table --target y --storage float 2>.err || fault 'convert' "$(cat .err)"
"$sbps" map logistic.table --model logistic --json >one.json
try 'converted' 0 '"potential"' '' $(on 3) map logistic.table --model logistic --json
cmp -s one.json .out || fault 'converted' "$(diff one.json .out | head -n 3)"
awk 'BEGIN { srand(3); for (i = 0; i < 9000; i++) {
    a = 1 + int(20 * rand()); b = 21 + int(20 * rand()); print (rand() < 0.3 + 0.01 * a), a ":" 1, b ":" rand() } }' >rows.libsvm
"$sbps" map rows.libsvm --model logistic --json >one.json || fault 'sparse' 'one process'
try 'sparse' 0 '"potential"' '' $(on 4) map rows.libsvm --model logistic --json
cmp -s one.json .out || fault 'sparse' "$(diff one.json .out | head -n 3)"

# ---- properties of rows on several ranks ----
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "y") at = i } NR > 1 { $at = NR < 5 } { print }' logistic.csv >rare.csv
"$sbps" map rare.csv --model logistic --target y --json >one.json
try 'three successes' 0 '"potential"' '' $(on 7) map rare.csv --model logistic --target y --json
cmp -s one.json .out || fault 'three successes' "$(diff one.json .out | head -n 3)"
(head -n 1 logistic.csv; tail -n +2 logistic.csv | LC_ALL=C sort -g) >sorted.csv # by the first column, the target
try 'sorted' 0 'estimated error of means [0-9.]+e-05 sd' '' $(on 4) sample sorted.csv --model logistic --target y --dry-run
try 'sorted and not shuffled' 0 'estimated error of means 0.00[0-9]+ sd' '' \
    $(on 4) sample sorted.csv --model logistic --target y --no-shuffle --dry-run
"$sbps" simulate logistic --rows 5000 --dim 40 --seed 2 -o wide.csv
try 'too few rows' 0 'hmc: .* means may be biased by up to 0.[0-9]+ sd' '' \
    $(on 4) sample wide.csv --model logistic --target y --dry-run
try 'too few, but requested' 0 '' 'warning: .*with this many ranks posterior means may be biased .*--sampler hmc' \
    $(on 4) sample wide.csv --model logistic --target y --sampler sbps --ess 50 --draws 20 --progress off -o warned.nc
try 'diagnosed' '[01]' 'Using the rows of one of 4 ranks at a time may shift means by 0.[0-9]+' '' "$sbps" diagnose warned.nc
try 'summarised' 0 'ranks +4, of which each chain uses one at a time; this may shift means by 0.[0-9]+ posterior sd' '' "$sbps" summary warned.nc

# ---- a run: one file, messages printed once, the same draws again ----
sample=(sample logistic.csv --model logistic --target y --seed 4 --progress off --draws 200)
try 'a run' 0 '' 'ranks     4, at least 4[0-9]+ rows each; 4 chains rotate' $(on 4) "${sample[@]}" -o run.nc
[ "$(grep -c 'logistic regression' .err)" -eq 1 ] || fault 'a run' 'more than one rank prints'
grep -E 'mode +found' .err >mode.four
"$sbps" "${sample[@]}" --sampler sbps --dry-run 2>/dev/null | grep -E 'mode +found' >mode.one
cmp -s mode.one mode.four || fault 'a run' "set-up differs: $(cat mode.one mode.four)"
try 'its summary' 0 '"chains": 4,.*"ranks": 4, +"rank_error": 0\.[0-9]+, +"rank_bias": [0-9.e-]+, +"rank_rhat": 1\.0' '' "$sbps" summary run.nc --json
"$sbps" "${sample[@]}" -o alone.nc 2>/dev/null
try 'one process has no ranks' 0 '"replanned": "", +"version"' '' "$sbps" summary alone.nc --json
try 'again' 0 '' 'ranks' $(on 4) "${sample[@]}" -o again.nc
cmp -s <("$sbps" summary run.nc --csv) <("$sbps" summary again.nc --csv) || fault 'again' 'another answer'

# ---- resumed: on as many ranks bit for bit, on others with the same chains ----
try 'with a checkpoint' 0 '' 'ranks' $(on 3) "${sample[@]}" --ess 300 --checkpoint state -o part.nc
try 'resumed' 0 '' 'ranks' $(on 3) "${sample[@]}" --ess 900 --resume state -o resumed.nc
try 'whole' 0 '' 'ranks' $(on 3) "${sample[@]}" --ess 900 -o whole.nc
cmp -s <("$sbps" summary resumed.nc --csv) <("$sbps" summary whole.nc --csv) || fault 'resumed' 'another answer'
try 'a checkpoint of three' 0 '' 'ranks     3.*; 6 chains rotate' $(on 3) "${sample[@]}" --ess 300 --checkpoint three -o part.nc
continue_on_ranks() { # RANKS REGEX: one run in two parts and in one give the same draws; its mean is that of three
    local each=$(on $1)
    [ "$1" -gt 1 ] || each=$sbps
    cp three two.parts && cp three one.go
    try "on $1" 0 '' "$2" $each "${sample[@]}" --ess 900 --resume two.parts -o carried.nc
    try "on $1 further" 0 '' "$2" $each "${sample[@]}" --ess 2000 --resume two.parts -o carried.nc
    try "on $1 at once" 0 '' "$2" $each "${sample[@]}" --ess 2000 --resume one.go -o at_once.nc
    cmp -s <("$sbps" summary carried.nc --csv) <("$sbps" summary at_once.nc --csv) || fault "on $1" 'another answer in two goes'
    paste -d, <("$sbps" summary carried.nc --csv) <("$sbps" summary whole.nc --csv) | awk -F, -v z=4.5 'NR > 1 {
        d = $2 - $13; if (d * d > z * z * ($3 * $3 + $14 * $14) + 0.02 * 0.02 * $4 * $4) print $1, $2, $13 }' >far
    [ -s far ] && fault "on $1" "far from the run on 3: $(head -n 1 far)"
}
continue_on_ranks 1 'ranks     1, at least 20000 rows each; 6 chains'
continue_on_ranks 5 'ranks     5.*; 6 chains rotate'
continue_on_ranks 8 'ranks     8.*; 6 chains rotate'
try 'back on three' 0 '' 'ranks     3.*; 6 chains rotate' $(on 3) "${sample[@]}" --ess 3000 --resume one.go -o back.nc
try 'hmc in step' 0 '' 'hmc' $(on 2) "${sample[@]}" --sampler hmc --ess 100 --checkpoint step -o part.nc
try 'hmc on three' 0 '' 'ranks     3.*rows of all ranks' $(on 3) "${sample[@]}" --sampler hmc --ess 300 --resume step -o part.nc
try 'a checkpoint of one' 0 '' 'logistic' "$sbps" "${sample[@]}" --ess 100 --checkpoint single -o part.nc
try 'one on two' 1 '' 'single: written by a single process and cannot be continued on 2 ranks' \
    $(on 2) "${sample[@]}" --ess 300 --resume single -o part.nc

# ---- refused, with one message ----
once() { # NAME REGEX: of the last command
    [ "$(grep -cE "$2" .err)" -eq 1 ] || fault "$1" "printed $(grep -cE "$2" .err) times: $2"
}
head -n 1001 logistic.csv >few.csv
try 'few rows' 2 '' '1000 rows are too few for 2 ranks' $(on 2) sample few.csv --model logistic --target y -o no.nc
once 'few rows' 'too few for'
try 'another sampler' 2 '' 'boomerang, sbps, psbps or hmc' $(on 2) "${sample[@]}" --sampler zigzag-cv -o no.nc
once 'another sampler' 'boomerang, sbps'
try 'a density' 2 '' 'no rows to divide among 2 ranks' $(on 2) sample --model banana -o no.nc
try 'groups' 2 '' 'groups are not shared out' $(on 2) sample logistic.csv 'y ~ x1 + (1 | x2)' --family bernoulli -o no.nc
try 'sag' 2 '' 'newton or lbfgs' $(on 2) map logistic.csv --model logistic --target y --method sag
try 'no such file' '[12]' '' 'nowhere.csv' $(on 2) sample nowhere.csv --model logistic --target y -o no.nc
once 'no such file' 'sbps: .*nowhere.csv'
[ -e no.nc ] && fault 'refused' 'and written'
try 'what is not for ranks' 0 'logistic' '' $(on 2) list models
[ "$(grep -c '^logistic ' .out)" -le 1 ] || fault 'what is not for ranks' 'is done by each'

# ---- a rank that fails by itself, and one that is killed ----
try 'one rank fails' '[12]' '' 'rank 1 of 2:.*nowhere.csv' mpirun -n 1 "$sbps" "${sample[@]}" -o no.nc : \
    -n 1 "$sbps" sample nowhere.csv --model logistic --target y --seed 4 -o no.nc
cases=$((cases + 1))
timeout 600 mpirun -n 3 "$sbps" "${sample[@]}" --draws 2000 --warmup 0 --seconds 500 --checkpoint killed.state -o killed.nc \
    >.out 2>.err </dev/null &
job=$!
until [ -s killed.state ] || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
victim=$(pgrep -P "$(pgrep -P $job)" | tail -n 1)
kill -KILL "$victim"
wait $job
code=$?
[ $code -ne 0 ] && [ $code -ne 124 ] || fault 'killed' "exit $code"
grep -qiE 'signal 9|killed' .err || fault 'killed' "printed: $(tail -n 3 .err)"
try 'after that' 0 '' 'the draws are in|ranks' mpirun -n 3 "$sbps" "${sample[@]}" --draws 2000 --warmup 0 --seconds 0.01 \
    --resume killed.state -o killed.nc
try 'and its draws' 0 '^name,mean' '' "$sbps" summary killed.nc --csv

finish
