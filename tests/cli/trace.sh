#!/usr/bin/env bash
# --trace: every observation of one chain, in agreement with the counts of the run; it changes nothing, continues
# from a checkpoint, and is refused for samplers without a band.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 --seed 4 -o data.csv || exit 1
sample=("$sbps" sample data.csv --model logistic --target y --batch-size 104 --draws 50 --progress off)
number() { sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" "$1"; }

# Compared with the counts of a run of one chain; lambda is never below the band.
check() { # NAME TRACE RUN
    cases=$((cases + 1))
    "$sbps" summary "$3" --json >.json
    awk -F, -v proposals="$(number .json proposals)" -v bounces="$(number .json bounces)" \
        -v refreshments="$(number .json refreshments)" -v violations="$(number .json violations)" \
        -v expected="$(number .json expected_violations)" -v k="$(number .json band)" '
        function bad(why) { print why; wrong = 1 }
        NR == 1 { if ($0 != "time,t,event,G,c2,mean,rho,lambda,from,lambda_from,accepted") bad("header " $0); next }
        NF != 11 { bad("line " NR " has " NF " fields") }
        $1 < time { bad("line " NR ": time runs backwards") }
        $3 == "start" && ($2 != 0 || $4 == "" || $8 != "") { bad("line " NR ": no start") }
        $3 == "proposal" {
            p++; b += $11; v += $4 > $8
            z = ($8 - $6) / $7
            if (z < k * (1 - 1e-9)) bad("line " NR ": lambda below the band")
            q += exp(-z * z / 2) / 2.506628274631 * 4 / (3 * z + sqrt(z * z + 8))
        }
        $3 == "refresh" { r++; if ($4 != "" || $11 != "") bad("line " NR ": a refreshment with an observation") }
        $3 == "horizon" { h++ }
        $3 != "auxiliary" { time = $1 }
        END {
            if (p != proposals) bad(p " proposals, the run has " proposals)
            if (b != bounces) bad(b " bounces, the run has " bounces)
            if (r != refreshments) bad(r " refreshments, the run has " refreshments)
            if (v != violations) bad(v + 0 " violations, the run has " violations)
            if (q < 0.999 * expected || q > 1.001 * expected) bad(q " expected, the run has " expected)
            exit wrong
        }' "$2" >.why || fault "$1" "$(head -n 3 .why | tr '\n' ';')"
}

try 'sbps'        0 '' '.*' "${sample[@]}" --chains 1 --ess 100 --control-variate hessian --trace sbps.csv -o sbps.nc
check 'sbps' sbps.csv sbps.nc
grep -q ',horizon,' sbps.csv || fault 'sbps' 'never looks at the end of its horizon'
try 'psbps'       0 '' '.*' "${sample[@]}" --chains 1 --ess 50 --sampler psbps --trace psbps.csv -o psbps.nc
check 'psbps' psbps.csv psbps.nc
try 'boomerang'   0 '' '.*' "${sample[@]}" --chains 1 --ess 50 --sampler boomerang --trace boomerang.csv -o boomerang.nc
check 'boomerang' boomerang.csv boomerang.nc
try 'auxiliary'   0 '' '.*' "${sample[@]}" --chains 1 --ess 50 --auxiliary 1 --auxiliary-when always --trace auxiliary.csv -o auxiliary.nc
check 'auxiliary' auxiliary.csv auxiliary.nc
grep -q ',auxiliary,' auxiliary.csv || fault 'auxiliary' 'is not in the trace'

# Another chain has another path, and tracing it changes nothing.
plain=("${sample[@]}" --chains 2 --threads 2 --ess 200)
try 'unwatched'   0 '' '.*' "${plain[@]}" -o plain.nc
try 'first'       0 '' '.*' "${plain[@]}" --trace first.csv -o first.nc
try 'second'      0 '' '.*' "${plain[@]}" --trace second.csv --trace-chain 2 -o second.nc
cmp -s first.csv second.csv && fault 'second' 'is the first'
for run in first second; do
    cmp -s <("$sbps" summary plain.nc --csv) <("$sbps" summary $run.nc --csv) || fault $run 'watching changed the draws'
done

# Stopped at a smaller goal and resumed.
try 'half'        0 '' '.*' "${plain[@]}" --ess 20 --checkpoint state --trace whole.csv -o half.nc
[ "$(wc -c <whole.csv)" -lt "$(wc -c <first.csv)" ] || fault 'half' 'is not shorter'
echo 'torn,line' >>whole.csv
try 'resumed'     0 '' '.*' "${plain[@]}" --resume state --trace whole.csv -o whole.nc
cmp -s whole.csv first.csv || fault 'resumed' 'another trace than in one go'

try 'no band'     '[12]' '' '--trace: hmc has no band.*--sampler sbps' "${sample[@]}" --batch-size auto --sampler hmc --trace no.csv -o no.nc
try 'no chain'    '[12]' '' '--trace-chain: there is no chain 3; the run has 2' "${plain[@]}" --trace no.csv --trace-chain 3 -o no.nc
try 'no folder'   '[12]' '' '--trace' "${plain[@]}" --trace nowhere/t.csv -o no.nc
try 'the data'    '[12]' '' '--trace: data.csv is the data file' "${plain[@]}" --trace data.csv -o no.nc
finish
