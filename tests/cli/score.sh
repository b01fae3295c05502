#!/usr/bin/env bash
# Scores, leave-one-out and comparisons: as R and its package loo have them from the same draws; samples of rows within the
# error that they state; sentences for what cannot be.
. "$(dirname "$0")/common.sh"
. "$root/tests/cli/predict_table.sh"

run linear   'y ~ poly(x, 2) + a' --family gaussian
run short    'y ~ x' --family gaussian
run logistic 'b ~ a * x + z' --family bernoulli
run poisson  'c ~ z + x' --family poisson
run softmax  'k ~ x + a' --family categorical
run ordinal  'o ~ x + a' --family cumulative
run binomial 's | trials(t) ~ x' --family binomial
run grouped  'y ~ x + (1 | g)' --family gaussian --ranef all

for name in linear logistic poisson softmax ordinal binomial grouped; do
    try "score $name" 0 '^elpd +-[0-9.]+ \+- [0-9.]+ mean_deviance .* rows +150; [0-9]+ draws' '' "$sbps" score $name.nc table.csv
    try "loo $name"   0 '^elpd_loo +-[0-9.]+ \+- .*p_loo .*looic .*Pareto k +[0-9]+ of 150 rows above 0.7' '' "$sbps" loo $name.nc table.csv
done
try 'numbers'  0 'rmse .*r2 .*crps '                 '' "$sbps" score linear.nc table.csv
try 'binary'   0 'brier .*auc .*calibration_slope '  '' "$sbps" score logistic.nc table.csv
try 'classes'  0 'brier .*accuracy '                 '' "$sbps" score softmax.nc table.csv
try 'json'     0 '"elpd_loo": -.*"se_elpd_loo": .*"p_loo": .*"looic": .*"khat_above": .*"se_subsampling": 0[,}]' '' \
    "$sbps" loo linear.nc table.csv --json
try 'compare'  0 'run +elpd_diff +se_diff .*linear.nc +0.0000 +0.0000 .*short.nc +-' '' "$sbps" compare short.nc linear.nc
try 'compare, elsewhere' 0 'linear.nc' '' "$sbps" compare short.nc linear.nc --data table.csv --json

# ---- threads change nothing ----
cases=$((cases + 1))
for what in score loo; do
    "$sbps" $what linear.nc table.csv --json --threads 1 >one
    "$sbps" $what linear.nc table.csv --json --threads 3 | cmp -s - one || fault "$what" 'other threads, other numbers'
done

# ---- a sample of rows: within 4 of its own standard errors, which are small ----
cases=$((cases + 1))
value() { sed "s/.*\"$1\": \([-0-9.e]*\).*/\1/"; }
all=$("$sbps" loo grouped.nc table.csv --json | value elpd_loo)
for seed in 1 2 3 4 5; do
    "$sbps" loo grouped.nc table.csv --json --rows 50 --seed $seed >sample
    awk -v all="$all" -v part="$(value elpd_loo <sample)" -v own="$(value se_subsampling <sample)" -v of="$(value se_elpd_loo <sample)" \
        'BEGIN { z = (part - all) / own; exit !(z < 4 && z > -4 && own > 0 && own < of) }' || fault 'a sample' "$all: $(cat sample)"
done

# ---- what cannot be ----
cut -d, -f1-4 table.csv >without.csv
try 'no target'        1 '' "without.csv: it has no column 'y', which the run had" "$sbps" score linear.nc without.csv
try 'standard input'   2 '' 'read twice' "$sbps" loo linear.nc -
try 'other targets'    1 '' 'they explain other targets' "$sbps" compare linear.nc logistic.nc
sed '3s/,cat,/,cow,/; 3s/,dog,/,cow,/; 3s/,eel,/,cow,/' table.csv >class.csv
try 'another class'    1 '' "row 2: column 'k': 'cow' is none of the levels" "$sbps" score softmax.nc class.csv
sed '3s/^[^,]*/NA/' table.csv >missing.csv
try 'a missing cell'   0 'rows +149;.* left out +1 rows' '' "$sbps" score linear.nc missing.csv
try 'a missing cell'   0 'rows +149;.* left out +1 rows' '' "$sbps" loo linear.nc missing.csv
try 'one run'          2 '' 'want two runs at least' "$sbps" compare linear.nc

# ---- R ----
if command -v Rscript >/dev/null; then
    cases=$((cases + 1))
    Rscript --vanilla "$root/tests/cli/score_by_hand.R" "$sbps" >.out 2>&1 || fault 'R' "$(tail -n 15 .out)"
else
    echo 'R is not there: scores are not compared with it'
fi
finish
