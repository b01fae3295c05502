#!/usr/bin/env bash
# Scores, leave-one-out and comparisons: as by R and its package loo from the same draws; samples of rows agree within their
# stated errors; invalid calls are refused.
. "$(dirname "$0")/common.sh"
. "$root/tests/cli/predict_table.sh"

run linear   'y ~ poly(x, 2) + a' --family gaussian
run short    'y ~ x' --family gaussian
run logistic 'b ~ a * x + z' --family bernoulli
run poisson  'c ~ z + x' --family poisson
run softmax  'k ~ x + a' --model softmax
run ordinal  'o ~ x + a' --family cumulative
run binomial 's | trials(t) ~ x' --family binomial
run grouped  'y ~ x + (1 | g)' --family gaussian --ranef all

for name in linear logistic poisson softmax ordinal binomial grouped; do
    try "score $name" 0 '^rows: the table of this run elpd +-[0-9.]+ \+- [0-9.]+ mean_deviance .* rows +150; [0-9]+ draws' '' "$sbps" score $name.nc table.csv
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

# ---- samples of rows: on average within 4 standard errors of the value of all rows, with errors of the stated size ----
cases=$((cases + 1))
value() { sed "s/.*\"$1\": \([-0-9.e]*\).*/\1/"; }
all=$("$sbps" loo grouped.nc table.csv --json | value elpd_loo)
for seed in {1..20}; do
    "$sbps" loo grouped.nc table.csv --json --rows 50 --seed "$seed" >sample
    echo "$(value elpd_loo <sample) $(value se_subsampling <sample) $(value se_elpd_loo <sample)"
done | awk -v all="$all" '{ off += $1 - all; square += ($1 - all) ^ 2; own += $2 ^ 2; if (!($2 > 0 && $2 < $3)) bad = 1 }
    END { z = off / sqrt(own); ratio = sqrt(square / own); print z, ratio; exit bad || z > 4 || z < -4 || ratio > 2 || ratio < 0.5 }' >.out ||
    fault 'samples' "off by $(cat .out) of their errors"

# ---- a converted table, and standard input: the same numbers; each row is named as in the text ----
cases=$((cases + 1))
"$sbps" convert table.csv scored.tbl --target y --features x,z,a >/dev/null 2>&1
run converted --model linear --target y --features x,z,a
for what in 'loo converted.nc' 'loo converted.nc --rows 149' 'score converted.nc'; do
    read -ra words <<<"$what"
    for from in table.csv scored.tbl -; do
        "$sbps" "${words[0]}" "${words[1]}" "$from" "${words[@]:2}" --json <table.csv 2>&1 | tr ',' '\n' | grep -v 'crps' >"of_$from"
    done
    cmp -s of_table.csv of_- || fault "$what" 'standard input gives other numbers'
    case $what in *--rows*) continue ;; esac # a table in another order gives other random rows
    paste of_table.csv of_scored.tbl | awk '{ a = $2 + 0; b = $(NF / 2 + 2) + 0; d = a - b; if (a == 0 && b == 0) { next }
        n++; if (d > 1e-9 * (1 + a * a) || d < -1e-9 * (1 + a * a)) bad = 1 } END { exit bad || n < 8 }' ||
        fault "$what" "the converted table gives other numbers: $(paste of_table.csv of_scored.tbl)"
done
cases=$((cases + 1))
for from in table.csv scored.tbl; do # surrogates are near the exact values
    "$sbps" loo converted.nc $from --rows 100 --json >sample
    awk -v own="$(value se_subsampling <sample)" -v of="$(value se_elpd_loo <sample)" 'BEGIN { exit !(own < 0.1 * of) }' ||
        fault "a sample of $from" "$(cat sample)"
done
try 'a run on a converted table' 0 '^elpd_loo .* rows +150, of which a random sample of 40 was evaluated; .*sampling error +elpd_loo \+- [0-9.]+, p_loo \+- ' '' \
    "$sbps" loo converted.nc scored.tbl --rows 40
try 'compare on it' 0 'converted.nc +0.0000' '' "$sbps" compare converted.nc converted.nc --data scored.tbl

# ---- a weight counts as that many equal rows: the same scores as of the table with single rows ----
# Scores of one run, on the table with weights and on single rows of weight 1. Only crps uses random draws in each row.
awk -F, 'NR == 1 { print $0 ",freq" >"counts.csv"; print $0 ",freq" >"single_rows.csv"; print $0 ",freq" >"halves.csv"; next }
    { w = (NR * 7) % 6; print $0 "," w >"counts.csv"; print $0 "," w / 2 >"halves.csv"; while (w-- > 0) print $0 ",1" >"single_rows.csv" }' table.csv
weighted() { # NAME OPTION...: a run with weights
    "$sbps" sample counts.csv "${@:2}" --weights freq --seed 5 --ess 60 --draws 100 --progress off -o "$1.nc" >/dev/null 2>.err ||
        fault "$1" "$(head -n 3 .err)"
    for from in counts single_rows halves; do
        "$sbps" score "$1.nc" $from.csv --json 2>&1 | tr -d '{} "' | tr ',' '\n' | tr ':' ' ' >"$from.scores"
    done
}
for model in 'y ~ x + a:gaussian' 'b ~ x + a:bernoulli' 'c ~ z + x:poisson' 'k ~ x + a:categorical' 's | trials(t) ~ x:binomial'; do
    cases=$((cases + 1))
    family=${model#*:}
    weighted "weighted_$family" "${model%:*}" --family "$family"
    paste counts.scores single_rows.scores | awk '$1 == "rows" { next }
        { d = $2 - $4; size = $4 < 0 ? -$4 : $4; limit = $1 ~ /crps/ ? 0.05 : 1e-9; n++
          if ($1 != $3 || d > limit * (1 + size) || d < -limit * (1 + size)) { print; bad = 1 } }
        END { exit bad || n < 9 }' >.out || fault "weights, $family" "$(cat .out counts.scores)"
    # weights need not be integers: sums are half as large, means are the same
    paste counts.scores halves.scores | awk '$1 ~ /^(se_.*|rows|draws|rows_left_out)$/ { next }
        { want = $1 ~ /^(elpd|mean_deviance|weight)$/ ? $2 / 2 : $2; d = want - $4; size = want < 0 ? -want : want; n++
          if (d > 1e-9 * (1 + size) || d < -1e-9 * (1 + size)) { print; bad = 1 } }
        END { exit bad || n < 5 }' >.out || fault "half weights, $family" "$(cat .out halves.scores)"
done
try 'weights are named' 0 ' rows +150, whose weights sum to 375; ' '' "$sbps" score weighted_bernoulli.nc counts.csv

# ---- refusals ----
cut -d, -f1-4 table.csv >without.csv
try 'no target'        1 '' "without.csv: the run's column 'y' is missing" "$sbps" score linear.nc without.csv
try 'standard input'   2 '' 'standard input can be read only once' "$sbps" compare linear.nc short.nc --data -
run trial 'b ~ x' --family binomial
try 'single trials'    0 ' auc +0\.' '' "$sbps" score trial.nc table.csv
"$sbps" score binomial.nc table.csv | grep -q auc && fault 'several trials' 'have an auc'
try 'other targets'    1 '' "they cannot be compared, because their targets differ: '[a-z]+' and '[a-z]+'" "$sbps" compare linear.nc logistic.nc
sed '3s/,cat,/,cow,/; 3s/,dog,/,cow,/; 3s/,eel,/,cow,/' table.csv >class.csv
try 'another class'    1 '' "row 2: column 'k': 'cow' is none of the levels" "$sbps" score softmax.nc class.csv
sed '3s/^[^,]*/NA/' table.csv >missing.csv
try 'a missing cell'   0 'rows +149;.* left out +1 rows' '' "$sbps" score linear.nc missing.csv

# ---- rows of the run in any order, and other rows, which leave-one-out refuses ----
(head -n 1 table.csv && tail -n +2 table.csv | sort) >turned.csv
sed '3s/^[^,]*/1.25/' table.csv >changed.csv
head -n 100 table.csv >part.csv
for of in linear logistic poisson softmax ordinal binomial grouped; do
    for own in table.csv turned.csv; do
        try "own rows of $of" 0 '"same_table": true}' '' "$sbps" loo $of.nc $own --json
        try "own rows of $of" 0 '^rows: the table of this run ' '' "$sbps" score $of.nc $own
    done
done
for other in changed.csv missing.csv part.csv; do
    refused="$other: not the table of linear.nc, or changed since the run. Leave-one-out needs the rows of the run"
    try "loo of $other"     1 '' "$refused" "$sbps" loo linear.nc $other
    try "compare by $other" 1 '' "$refused" "$sbps" compare linear.nc linear.nc --data $other
    try "loo of $other, in part" 1 '' "$refused" "$sbps" loo linear.nc $other --rows 50
    try "score of $other"   0 '^rows: not the table of this run elpd ' '' "$sbps" score linear.nc $other
    try "score of $other"   0 '"same_table": false}' '' "$sbps" score linear.nc $other --json
    try "check of $other"   0 '^These rows are not the table of this run' '' "$sbps" check linear.nc $other
    try "check of $other"   0 '"same_table": false, ' '' "$sbps" check linear.nc $other --json
    try "report of $other"  0 '' '' "$sbps" report linear.nc $other -o other.html
    grep -q 'These rows are not the table of this run' other.html || fault 'report' "of $other does not report that"
done
try 'check of own rows' 0 '"same_table": true, ' '' "$sbps" check linear.nc turned.csv --json
"$sbps" convert changed.csv changed.tbl --target y --features x,z,a >/dev/null 2>&1
try 'another converted table' 1 '' 'changed.tbl: not the table of converted.nc' "$sbps" loo converted.nc changed.tbl
"$sbps" sample scored.tbl --model linear --seed 3 --ess 50 --progress off -o of_table.nc >/dev/null 2>&1
try 'a run on a converted table, by its text' 0 '"same_table": true' '' "$sbps" loo of_table.nc table.csv --json
try 'a run on a converted table, by other rows' 1 '' 'not the table of of_table.nc' "$sbps" loo of_table.nc changed.csv
try 'one run'          2 '' 'name at least two runs' "$sbps" compare linear.nc

# ---- R ----
if command -v Rscript >/dev/null; then
    cases=$((cases + 1))
    Rscript --vanilla "$root/tests/cli/score_by_hand.R" "$sbps" >.out 2>&1 || fault 'R' "$(tail -n 15 .out)"
else
    echo 'R is not there: scores are not compared with it'
fi
finish
