#!/usr/bin/env bash
# Generated rows: the posterior is that of the same rows from a file, the bits those of any number of ranks, and memory does
# not grow with the rows; unsupported options are refused with a message.
. "$(dirname "$0")/common.sh"

number() { awk -F, -v name="$2" 'NR > 1 && $1 == name { print $2 }' "$1"; }

# ---- the same rows from a file ----
for model in logistic linear poisson; do
    prior=(--prior 'normal(0,2.5)' --prior-intercept 'normal(0,5)')
    [ $model = linear ] && prior+=(--prior-sigma 'exponential(1)')
    "$sbps" simulate $model --generate --rows 20000 --dim 5 --seed 3 -o $model.csv --truth truth.csv || fault "$model" simulate
    "$sbps" map $model.csv --target y --model $model "${prior[@]}" --csv >file.csv || fault "$model" 'map of the file'
    try "$model" 0 'x5' '' "$sbps" map --generate 20000 --dim 5 --data-seed 3 --model $model "${prior[@]}" --csv
    cp .out made.csv
    paste -d, file.csv made.csv | awk -F, 'NR > 1 && !($1 == $3 && ($2 - $4) ^ 2 <= 1e-20) { exit 1 }' ||
        fault "$model" "modes differ: $(paste -d, file.csv made.csv)"
    "$sbps" laplace --generate 20000 --dim 5 --data-seed 3 --model $model --csv >normal.csv || fault "$model" laplace
    awk -F, 'NR == FNR { mean[$1] = $2; sd[$1] = $3; next }
        FNR > 1 && $1 ~ /^x/ { z = ($2 - mean[$1]) / sd[$1]; sum += z * z; n++ }
        END { exit !(n == 5 && sum < 20) }' normal.csv truth.csv || fault "$model" "the truth is far off: $(cat normal.csv truth.csv)"
done

# ---- sampling, and resuming ----
sample() { "$sbps" sample --generate 200000 --dim 5 --model logistic --progress off "$@"; }
sample --ess 300 -o all.nc 2>.err >.out || fault 'sample' "$(cat .err)"
"$sbps" summary all.nc --csv >all.csv
"$sbps" laplace --generate 200000 --dim 5 --model logistic --csv >normal.csv
awk -F, 'NR == FNR { mean[$1] = $2; sd[$1] = $3; next }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { z = ($at["mean"] - mean[$1]) / $at["mcse"]; s = $at["sd"] / sd[$1]; n++; if (z * z > 16 || s < 0.8 || s > 1.2) bad = 1 }
    END { exit bad || n != 6 }' normal.csv all.csv || fault 'sample' "$(cat all.csv normal.csv)"
sample --ess 100 --checkpoint run.ckpt -o some.nc 2>.err >.out || fault 'checkpoint' "$(cat .err)"
sample --ess 300 --resume run.ckpt -o more.nc 2>.err >.out || fault 'resume' "$(cat .err)"
"$sbps" summary more.nc --csv >more.csv
cmp -s all.csv more.csv || fault 'resume' "$(diff all.csv more.csv | head -n 3)"
try 'another table' 1 '' 'different options' "$sbps" sample --generate 200000 --dim 5 --data-seed 2 --model logistic \
    --progress off --ess 300 --resume run.ckpt -o other.nc

# ---- memory ----
if [ -x /usr/bin/time ]; then
    for rows in 1e5 3e6; do
        /usr/bin/time -f %M -o kb.$rows "$sbps" map --generate $rows --dim 5 --model logistic >.out 2>.err || fault 'memory' "$(cat .err)"
    done
    awk 'NR == FNR { few = $1; next } { exit !($1 < few + 8000) }' kb.1e5 kb.3e6 || fault 'memory' "$(cat kb.*)"
else
    echo "no /usr/bin/time: memory is left out"
fi

# ---- refusals ----
try 'a file too' 2 '' 'omit either' "$sbps" map logistic.csv --generate 100 --model logistic
try 'a target' 2 '' "target applies to the columns" "$sbps" map --generate 100 --model logistic --target y
try 'a storage' 2 '' 'storage applies to' "$sbps" map --generate 100 --model logistic --storage float
try 'another model' 2 '' 'logistic, linear and poisson' "$sbps" map --generate 100 --model softmax
try 'strata' 2 '' 'every row' "$sbps" sample --generate 1e5 --model logistic --minibatch strata -o x.nc
try 'a sampler' 2 '' 'every row' "$sbps" sample --generate 1e5 --model logistic --sampler zigzag -o x.nc
try 'surrogate' 2 '' 'every row' "$sbps" sample --generate 1e5 --model logistic --sampler surrogate -o x.nc
try 'sag' 2 '' 'every row' "$sbps" map --generate 1e5 --model logistic --method sag
try 'shrinkage' 2 '' 'generated rows' "$sbps" map --generate 1e5 --model logistic --prior 'horseshoe(1)'
try 'columns' 2 '' 'at most' "$sbps" map --generate 1e5 --model logistic --dim 2000

# ---- ranks ----
mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "no mpirun of Open MPI: ranks are left out"; finish; exit; }
OMPI_COMM_WORLD_SIZE=2 "$sbps" list models >/dev/null 2>.err
grep -q 'without MPI' .err && { echo "built without MPI: ranks are left out"; finish; exit; }
allow_ranks
for model in logistic linear; do
    "$sbps" laplace --generate 1e5 --dim 5 --model $model --json >one.json
    for ranks in 2 4; do
        try "$model on $ranks" 0 '"potential"' '' mpirun -n $ranks "$sbps" laplace --generate 1e5 --dim 5 --model $model --json
        cmp -s one.json .out || fault "$model on $ranks" "$(diff one.json .out | head -n 3)"
    done
done
try 'sample on ranks' 0 '' 'ranks     2, at least 99' mpirun -n 2 "$sbps" sample --generate 200000 --dim 5 --model logistic --progress off --ess 100 -o two.nc
try 'too few' 2 '' 'too few for 4 ranks' mpirun -n 4 "$sbps" map --generate 1000 --model logistic
finish
