#!/usr/bin/env bash
# Categorical outcomes with a reference class: names, modes of nnet and of logistic regression, moments by quadrature, predictions
# by hand, and every command on its runs.
. "$(dirname "$0")/common.sh"
awk 'BEGIN {
    srand(4)
    print "kind,code,two,x,z,g"
    for (i = 1; i <= 240; i++) {
        x = 4 * rand() - 2; z = 4 * rand() - 2
        a = exp(0.5 + x); b = exp(-0.3 - x + 0.5 * z); u = rand() * (1 + a + b)
        k = u < 1 ? 0 : u < 1 + a ? 1 : 2
        printf "%s,%d,%s,%.6f,%.6f,g%d\n", substr("antbeecat", 1 + 3 * k, 3), k, k == 2 ? "yes" : "no", x, z, i % 8
    }
}' >t.csv
quick=(--seed 2 --ess 400 --progress off)

try 'a fit'            0 '' "categorical model of 'kind'.* prior +bee:\(Intercept\) .*normal\(0, 10\).* prior +bee:x .*normal\(0, 2\.[0-9]+\)" \
    "$sbps" sample t.csv 'kind ~ x + z' --family categorical "${quick[@]}" -o run.nc
try 'its names'        0 '^name,.* bee:\(Intercept\),.* bee:x,.* bee:z,.* cat:\(Intercept\),.* cat:x,.* cat:z,' '' "$sbps" summary run.nc --csv
[ "$(wc -l <.out)" = 7 ] || fault 'its names' "$(cut -d, -f1 .out | tr '\n' ' ')"
"$sbps" sample t.csv 'kind ~ x + z' --family categorical "${quick[@]}" -o run.csv 2>/dev/null
try 'another reference' 0 '^name,value "?ant:\(Intercept\)"?,.* ant:x,.* bee:x,' '.*' "$sbps" map t.csv 'kind ~ x' --family categorical --levels cat,ant,bee --csv
try 'numbers'          0 '^name,value 1:\(Intercept\),.* 1:x,.* 2:\(Intercept\),.* 2:x,' '' "$sbps" map t.csv 'code ~ x' --family categorical --csv
try 'softmax'          0 '^name,value ant:\(Intercept\),.* bee:\(Intercept\),' '.*' "$sbps" map t.csv 'kind ~ x' --model softmax --csv
try 'multinomial'      0 '^categorical model' '.*' "$sbps" sample t.csv 'kind ~ x' --family multinomial --dry-run
try 'laplace'          0 'cat:z' '.*' "$sbps" laplace t.csv 'kind ~ x + z' --family categorical --csv
try 'groups'           2 '' 'categorical has no linear predictor for group effects' "$sbps" map t.csv 'kind ~ x + (1 | g)' --family categorical
try 'an offset'        2 '' '--offset: model categorical has no linear predictor' "$sbps" map t.csv 'kind ~ x' --family categorical --offset z
try 'a flat prior'     0 'cat:x' '.*' "$sbps" map t.csv 'kind ~ x' --family categorical --prior flat --prior-intercept flat --csv

# ---- two classes are a logistic regression, at the mode ----
for family in categorical bernoulli; do "$sbps" map t.csv 'two ~ x + z' --family $family --csv >$family.csv 2>.err || fault "mode, $family" "$(cat .err)"; done
paste -d, categorical.csv bernoulli.csv | awk -F, 'NR > 1 { d = $2 - $4; if (d * d > 1e-18 || $1 != "yes:" $3) bad = bad " " $1 } END { print bad; exit !(NR == 4 && !bad) }' >.out ||
    fault 'two classes' "differ from logistic: $(cat .out)"

# ---- every command ----
try 'predict'          0 '^row,class,mean,sd,q5,q50,q95 1,ant,.* 1,bee,.* 1,cat,.* 2,ant,' '.*' "$sbps" predict run.nc t.csv --threads 1 --max-draws 0
cp .out mean.csv
try 'linear'           0 '^row,class,.* 1,ant,0,0,0,0,0 1,bee,' '.*' "$sbps" predict run.nc t.csv --kind linear
try 'score'            0 'accuracy' '' "$sbps" score run.nc t.csv
try 'loo'              0 'elpd' '' "$sbps" loo run.nc t.csv --json
cp .out loo.json
try 'check'            0 '"bee:x".*"cat:z"' '' "$sbps" check run.nc t.csv --json
try 'contrast'         0 'cat:x' '' "$sbps" contrast run.nc '`cat:x` - `bee:x`'
try 'report'           0 '<html' '' "$sbps" report run.nc t.csv
try 'sbps, rows'       0 '' 'sampler +sbps' "$sbps" sample t.csv 'kind ~ x' --family categorical --sampler sbps --ess 50 --progress off -o sbps.nc
"$sbps" map t.csv 'kind ~ x + z' --family categorical --prior 'normal(0,1e4)' --prior-intercept 'normal(0,1e4)' --csv >wide.csv 2>.err || fault 'wide priors' "$(cat .err)"
awk 'NR <= 41' t.csv >short.csv
"$sbps" sample short.csv 'kind ~ 0 + x' --family categorical --prior 'normal(0,1.5)' --seed 3 --ess 4000 --progress off -o short.nc 2>.err || fault 'short' "$(cat .err)"
"$sbps" summary short.nc --csv >short-summary.csv
if command -v Rscript >/dev/null; then
    try 'by hand'      0 'as by hand' '.*' Rscript --vanilla "$root/tests/cli/categorical_by_hand.R"
fi
finish
