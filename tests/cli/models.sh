#!/usr/bin/env bash
# Models without a table, tables without columns or target, and separate modes.
. "$(dirname "$0")/common.sh"

quick=(--progress off --ess 100)
try 'gaussian'          0 '' '.*' "$sbps" sample --model gaussian --dim 3 --condition 100 -o g.nc "${quick[@]}"
try 'its summary'       0 'model +gaussian chains +[0-9]+ x .*w1 .*w2 .*w3 ' '' "$sbps" summary g.nc
try 'banana'            0 '' '.*' "$sbps" sample --model banana -o b.nc "${quick[@]}"
try 'dry run'           0 '^gaussian density +size +2 parameters;.*w1 .. w2 \(2\) ~ flat' '' "$sbps" sample --model gaussian --dry-run
try 'a table too many'  2 '' "model gaussian is a density without data; did you mean --family gaussian" "$sbps" sample x.csv --model gaussian
try 'no table'          2 '' 'the data file is missing; usage: sbps sample DATA --model hyperboloid' "$sbps" sample --model hyperboloid
try 'no covariance'     '[12]' '' 'nothere.csv' "$sbps" sample --model gaussian --covariance nothere.csv
printf 'a,b\n1,2\n2,1\n' >c.csv
try 'indefinite'        '[12]' '' 'c.csv: not positive definite' "$sbps" sample --model gaussian --covariance c.csv

try 'simulate'          0 '' '' "$sbps" simulate hyperboloid --rows 200 -o h.csv
[ "$(head -1 h.csv)" = y ] || fault 'simulate' "header $(head -1 h.csv)"
try 'hyperboloid'       0 '' '.*' "$sbps" sample h.csv --model hyperboloid --target y --metric none --epochs 200 --progress off -o h.nc
# hmc steps of this size diverge beyond the range of a checkpoint: it can be resumed all the same.
astray=("$sbps" sample h.csv --model hyperboloid --target y --metric none --epochs 40 --chains 2 --warmup 600 --progress off -o a.nc)
try 'astray'            0 '' '.*' "${astray[@]}" --checkpoint astray.state
try 'astray, resumed'   0 '' '.*' "${astray[@]}" --resume astray.state
try 'its names'         0 ' w0 .* w1 ' '' "$sbps" summary h.nc
try 'its columns'       '[12]' '' '--features: this model uses no columns besides the target' "$sbps" sample h.csv --model hyperboloid --target y --features y
try 'no offset'         '[12]' '' "no column.*'z'|--offset" "$sbps" sample h.csv --model hyperboloid --target y --offset z

# A prior of a parameter that the model does not have is an error.
printf 'x,y\n1,0\n2,1\n3,0\n4,1\n' >two.csv
for model in logistic softmax poisson hyperboloid; do
    try "sigma of $model"   2 '' "--prior-sigma: model $model has no parameter 'sigma'" "$sbps" sample two.csv --model $model --target y --prior-sigma 'exponential(1)' -o p.nc
done
try 'prior of no intercept' 2 '' '--prior-intercept: model gaussian has no intercept here' "$sbps" sample --model gaussian --prior-intercept 'normal(0,1)' -o p.nc
try 'the default prior'     0 'hyperboloid model' '' "$sbps" sample h.csv --model hyperboloid --target y --prior-sigma auto --prior-intercept auto --dry-run

# The example of the network's page, word for word.
sed -n '/^## Example/,/^## References/s/^    //p' "$root/docs/models/network.md" >example.sh
sbps() { "$sbps" "$@"; }
[ "$(wc -l <example.sh)" -eq 3 ] || fault 'network example' "$(wc -l <example.sh) lines, expected 3"
( . ./example.sh ) >example.out 2>example.err || fault 'network example' "$(head -c 300 example.err)"
grep -q '^  note .*the weights are not' example.err || fault 'network example' 'no word on what is identified'
grep -q 'warning' example.err && fault 'network example' "$(grep warning example.err)"
grep -Eq '^l2:1:u1 +-(5[.]9|6[.]0)' example.out || fault 'network example' "$(tail -5 example.out)"

printf 'n,x,days\n1,0.5,90\n3,0.2,120\n2,0.1,200\n9,0.7,365\n' >exposure.csv
try 'raw exposure'      0 'note +the offset ranges from 90 to 365 .* use its logarithm' '' "$sbps" sample exposure.csv --model poisson --target n --offset days --dry-run

try 'simulate corners'  0 '' '' "$sbps" simulate multimodal --rows 500 --dim 2 -o m.csv
[ "$(head -1 m.csv)" = x1,x2,x3,x4 ] || fault 'simulate corners' "header $(head -1 m.csv)"
try 'no truth'          '[12]' '' 'multimodal has no true coefficients' "$sbps" simulate multimodal -o m2.csv --truth t.csv
try 'multimodal'        0 '' 'the chains have not converged' "$sbps" sample m.csv --model multimodal -o m.nc "${quick[@]}"
try 'separate modes'    0 '1\. The chains stay in separate regions and none moved between them: +w[12] +is +in +-1.* \(chains' '' "$sbps" diagnose m.nc
try 'one mode'          0 '' '.*' "$sbps" sample m.csv --model multimodal --chains 1 -o one.nc "${quick[@]}"
try 'no target'         '[12]' '' '--target: this model has no target' "$sbps" sample m.csv --model multimodal --target x1

finish
