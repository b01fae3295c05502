#!/usr/bin/env bash
# sbps map and sbps laplace: what they print, what they write, and runs that start from it.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 --seed 4 -o data.csv --truth truth.csv
logistic=(data.csv --model logistic --target y --no-intercept)
linear=(data.csv --model linear --target x1)
number='-?[0-9.]+(e-?[0-9]+)?'

# ---- the mode ----
try 'map'              0 "^model +logistic, target y rows +2000 parameters +3 method +newton, [0-9]+ iterations potential U +[0-9.]+ gradient norm $number, $number posterior sd from the mode +name +value x1 +$number x2 +$number x3 +$number $" \
    '' "$sbps" map "${logistic[@]}"
for method in newton lbfgs sag; do
    try "by $method"       0 '"method": "'$method'",.*"gradient_norm": .*"parameters": .*"name": "x3", "value": ' \
        '' "$sbps" map "${logistic[@]}" --method $method --tolerance 1e-7 --json
    try "$method, csv"     0 "^name,value x1,$number x2,$number x3,$number $" '' "$sbps" map "${logistic[@]}" --method $method --tolerance 1e-7 --csv
    cp .out $method.csv
done
try 'epochs are shown'  0 'method +sag, [0-9]+ epochs' '' "$sbps" map "${logistic[@]}" --method sag
for method in lbfgs sag; do # to 1e-7 posterior sd, which are about 0.1 here
    awk -F, 'NR == FNR { w[$1] = $2; next } FNR > 1 && ($2 - w[$1])^2 > 1e-14 { exit 1 }' newton.csv $method.csv ||
        fault "by $method" "$(paste -d' ' newton.csv $method.csv)"
done
try 'to a file'        0 '' '' "$sbps" map "${logistic[@]}" -o mode.csv
cmp -s mode.csv newton.csv || fault 'to a file' "$(cat mode.csv)"
try 'json by name'     0 '' '' "$sbps" map "${logistic[@]}" -o mode.json
grep -q '"potential": ' mode.json || fault 'json by name' "$(cat mode.json)"
try 'seed'             0 '' '' "$sbps" map "${logistic[@]}" --method sag --csv --seed 3 -o three.csv
try 'seed again'       0 '' '' "$sbps" map "${logistic[@]}" --method sag --csv --seed 3 -o again.csv
cmp -s three.csv again.csv || fault 'seed' 'the same seed gave another mode'
try 'from a start'     0 'sag, [0-9]{1,2} epochs' '' "$sbps" map "${logistic[@]}" --method sag --start mode.csv
try 'sigma as itself'  0 'sigma,[0-9.]+ $' '' "$sbps" map "${linear[@]}" --csv
try 'a density'        0 'model +gaussian parameters +2 ' '' "$sbps" map --model gaussian
try 'short of a mode'  0 'method +lbfgs, newton' 'warning: lbfgs, newton stopped .* posterior sd away from the mode' "$sbps" map data.csv --model network --target y --activation relu --hidden 3
try 'a config file'    0 '^name,value' '' "$sbps" map data.csv --config <(echo 'model = logistic
target = y') --csv

# ---- the normal approximation ----
try 'laplace'          0 "NLL per row +mean $number, sd $number; 5% .*plus chi\^2\(3\) / 4000\).*name +mean +sd x1 .*covariance x1 " '' "$sbps" laplace "${logistic[@]}"
try 'its csv'          0 '^name,mean,sd,cov:x1,cov:x2,cov:x3 x1,' '' "$sbps" laplace "${logistic[@]}" --csv
awk -F, 'NR > 1 { d = $3 * $3 - $(NR + 2); if (d * d > 1e-24) exit 1 }' .out || fault 'its csv' 'sd is not the root of the variance'
try 'its json'         0 '"nll_per_row": .*"q95": .*"covariance": ' '' "$sbps" laplace "${logistic[@]}" --json
cp .out laplace.json
/usr/bin/python3 - laplace.json <<'END' || fault 'its json' 'is not what it should be'
import json, sys
r = json.load(open(sys.argv[1]))
c, p, q = r["covariance"], r["parameters"], r["nll_per_row"]
assert [x["name"] for x in p] == ["x1", "x2", "x3"]
assert all(abs(c[i][i] - p[i]["sd"] ** 2) < 1e-12 and c[i][j] == c[j][i] for i in range(3) for j in range(3))
assert abs(q["mean"] - q["at_mode"] - 3 / 4000) < 1e-12 and q["q5"] < q["q50"] < q["mean"] < q["q95"]
END
try 'log sigma'        0 'log\(sigma\),' '' "$sbps" laplace "${linear[@]}" --csv
try 'laplace to a file' 0 '' '' "$sbps" laplace "${linear[@]}" -o normal.csv

# ---- runs that start there ----
try 'a dry start'      0 'start +mode.csv: negative log posterior .*gradient' '' "$sbps" sample "${logistic[@]}" --start mode.csv --dry-run
try 'with a metric'    0 'start +normal.csv with its covariance: negative log posterior ' '' "$sbps" sample "${linear[@]}" --start normal.csv --dry-run
try 'from the truth'   0 '' '.*' "$sbps" sample "${logistic[@]}" --start truth.csv --ess 100 --progress off -o run.nc
try 'from a summary'   0 'start +summary.csv: negative' '' bash -c "'$sbps' summary run.nc --csv >summary.csv && '$sbps' sample ${logistic[*]} --start summary.csv --dry-run"
try 'a checkpoint'     0 '' '.*' "$sbps" sample "${linear[@]}" --start normal.csv --ess 50 --checkpoint run.ckpt --progress off -o run.nc
cp normal.csv copy.csv
try 'goes on'          0 '' '.*' "$sbps" sample "${linear[@]}" --start copy.csv --ess 100 --resume run.ckpt --progress off -o run.nc
sed 's|^intercept,-\{0,1\}|&1|' normal.csv >other.csv
try 'another start'    1 '' 'run.ckpt: written by a run with different options' "$sbps" sample "${linear[@]}" --start other.csv --ess 100 --resume run.ckpt --progress off -o run.nc
try 'without it'       1 '' 'run.ckpt: written by a run with different options' "$sbps" sample "${linear[@]}" --ess 100 --resume run.ckpt --progress off -o run.nc

# ---- refusals ----
try 'csv and json'     2 '' 'use --csv or --json, not both' "$sbps" map "${logistic[@]}" --csv --json
try 'no data'          2 '' 'usage: sbps map DATA --model logistic --target' "$sbps" map --model logistic
try 'a table too many' 2 '' 'did you mean --family gaussian' "$sbps" laplace data.csv --model gaussian
try 'no such method'   2 '' "--method: unknown choice 'sagg', did you mean 'sag'" "$sbps" map "${logistic[@]}" --method sagg
try 'not its option'   2 '' "map: unknown option '--band'" "$sbps" map "${logistic[@]}" --band 3
try 'not of sample'    2 '' "sample: unknown option '--method'" "$sbps" sample "${logistic[@]}" --method sag
try 'sag on a density' 2 '' 'sag keeps one number a row, which model gaussian has not; newton and lbfgs' "$sbps" map --model gaussian --method sag
try 'sag on a kink'    2 '' 'the prior laplace has a kink.*newton takes it' "$sbps" map "${logistic[@]}" --method sag --prior 'laplace(0,1)'
try 'too few epochs'   1 '' 'sag is .* posterior sd from the mode after .* epochs.*--method newton' "$sbps" map "${logistic[@]}" --method sag --max-epochs 3
try 'no start'         1 '' 'nothere.csv' "$sbps" sample "${logistic[@]}" --start nothere.csv
try 'a missing name'   1 '' "truth.csv: no line for the parameter 'intercept'" "$sbps" sample data.csv --model logistic --target y --start truth.csv
try 'an unknown name'  1 '' "normal.csv:1: the model has no parameter 'intercept'" "$sbps" sample "${logistic[@]}" --start normal.csv
try 'over the data'    2 '' 'data.csv is the data file' "$sbps" map "${logistic[@]}" -o data.csv
try 'a full disk'      1 '' '/dev/full: cannot be written' "$sbps" map "${logistic[@]}" -o /dev/full
try 'no such folder'   1 '' 'there is no directory' "$sbps" laplace "${logistic[@]}" -o nothere/x.csv
printf 'x,y\n1,0\n2,0\n3,1\n4,1\n' >separable.csv
for method in newton sag; do
    try "improper, $method" 1 '' '(separated perfectly|posterior sd from the mode after)' "$sbps" map separable.csv --model logistic --target y --prior flat --prior-intercept flat --method $method --max-epochs 200
done

finish
