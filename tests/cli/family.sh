#!/usr/bin/env bash
# Without --model and --family the values of the target choose the family, and the choice is printed.
. "$(dirname "$0")/common.sh"

awk 'BEGIN { print "x,binary,number,two,three,truth,good,all"
     for (i = 0; i < 60; i++) {
         b = (i * 7919) % 100 < 50 + 30 * (i % 3 - 1)
         printf "%g,%d,%g,%s,%s,%s,%d,9\n", i % 7, b, 0.3 * i % 5, b ? "yes" : "no", substr("lowmidtop", 1 + 3 * (i % 3), 3),
             b ? "TRUE" : "FALSE", (i * 31) % 10 } }' >t.csv
sed '1s/binary/label/;s/^\([^,]*\),0/\1,-1/' t.csv >signs.csv
sed '5s/^[^,]*/NA/;9s/^[^,]*//' t.csv >holes.csv
dry() { echo "$sbps" sample "${data:-t.csv}" --dry-run "$@"; }

chosen() { # NAME MODEL REASON OPTIONS...
    local name=$1 model=$2 reason=$3
    shift 3
    try "$name" 0 "^$model .*family +$reason" '.*' $(dry "$@")
}
chosen '0 and 1'      'logistic regression' 'bernoulli, because all targets are 0 or 1'  --target binary --features x
chosen 'numbers'      'linear regression'   'gaussian, because the target holds numbers' --target number --features x
chosen 'two labels'   'logistic regression' 'bernoulli, because the target has labels' --target two --features x
chosen 'truth values' 'logistic regression' 'bernoulli, because the target has labels' --target truth --features x
chosen 'trials'       'binomial'            'binomial, because the target counts successes'              --target good --features x --trials all
chosen 'a formula'    'logistic regression' 'bernoulli, because all targets'             --formula binary~x
chosen 'cbind'         'binomial'            'binomial, because the target counts successes'  --formula 'cbind(good,all-good)~x'
chosen 'trials()'      'binomial'            'binomial, because the target counts successes'  --formula 'good|trials(all)~x'
data=signs.csv chosen '-1 and 1' 'linear' 'gaussian' --target label --features x

try 'three labels' 2 '' "'three' has 3 labels \('low', 'mid', 'top'\): choose --family categorical, or --family cumulative" \
    $(dry --target three --features x)
try 'given'        0 '^linear' '' $(dry --target binary --features x --family gaussian)
[ "$(grep -c 'family .*because' .out)" -eq 0 ] || fault 'given' 'prints a choice'
try 'no trials'    2 '' "the formula's trials: model linear has no number of trials; binomial has" $(dry --formula 'cbind(good,all-good)~x' --family gaussian)
try 'a density'    2 '' 'did you mean --family gaussian' $(dry --target number --model gaussian)

# map and the run file have the model's name
try 'map'          0 'model +logistic' '' "$sbps" map t.csv --target binary --features x
"$sbps" sample t.csv --target two --features x --ess 50 --progress off -o run.nc 2>.err || fault 'sample' "$(tail -n 1 .err)"
try 'summary'      0 '"model": "logistic"' '' "$sbps" summary run.nc --json
try 'predict'      0 'row,mean' '.*' "$sbps" predict run.nc t.csv
"$sbps" sample t.csv --target two --features x --family bernoulli --ess 50 --progress off -o given.nc 2>.err
cmp -s <("$sbps" summary run.nc --csv) <("$sbps" summary given.nc --csv) || fault 'the same' 'a chosen family gives other draws than a given one'

# rows with missing cells are dropped and counted
try 'missing'      0 '58 rows' '2 of 60 rows' "$sbps" sample holes.csv --target binary --features x --dry-run
try 'refused'      1 '' "holes.csv:5: column 'x': the value is missing" "$sbps" sample holes.csv --target binary --features x --missing error --dry-run
finish
