#!/usr/bin/env bash
# Checks: misfit of rows that do not follow the model is reported; rows that follow it give no finding; numbers agree with R on
# the same draws; invalid calls are refused. A finding has p < 0.005.
. "$(dirname "$0")/common.sh"

awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    function poisson(m,  k, p) { p = u(); for (k = 0; p > exp(-m); k++) p *= u(); return k }
    BEGIN { s = 4711; print "x,z,a,y,tails,square,spread,lean,b,bent,c,over,zeros,k,o,t,s"; split("u,v,w", level, ","); split("cat,dog,eel", kind, ",")
        for (i = 0; i < 500; i++) {
            x = n(); z = 4 * u() - 2; a = 1 + int(3 * u()); t = 1 + int(9 * u()); wins = 0
            eta = 0.3 + 0.8 * x - 0.5 * (a == 2) + 0.2 * z; p = 1 / (1 + exp(-eta)); m = exp(eta)
            for (j = 0; j < t; j++) wins += u() < p
            printf "%.6f,%.6f,%s,%.6f,%.6f,%.6f,%.6f,%.6f,%d,%d,%d,%d,%d,%s,%d,%d,%d\n", x, z, level[a], eta + 0.7 * n(),
                eta + 0.7 * n() / sqrt(-log(u())), eta + 0.8 * x * x + 0.7 * n(), eta + 0.7 * n() * exp(eta / 2), eta - log(u()),
                u() < p, u() < 1 / (1 + exp(1.5 - eta - 1.2 * z * z)), poisson(m), poisson(-m * log(u())),
                u() < 0.6 ? poisson(2 * m) : 0, kind[1 + int(3 * u())], 1 + int(3 * u()), t, wins
        } }' >table.csv

run() { # NAME OPTION...: a run
    local name=$1
    shift
    "$sbps" sample table.csv "$@" --seed 5 --ess 200 --progress off -o "$name.nc" >/dev/null 2>.err || fault "$name" "$(head -n 3 .err)"
}
right() { # NAME OPTION...: rows that follow the model
    run "$@"
    marks_agree "$1"
    try "right: $1" 0 "^All [0-9]+ checks of model [^ ]* passed\. .*500 rows; [0-9]+ replicated tables from [0-9]+ draws .*$right" '' "$sbps" check "$1.nc" table.csv
}
marks_agree() { # NAME: the verdict counts the rows of the tables that are marked, and those alone; p below 0.005 is marked
    "$sbps" check "$1.nc" table.csv >.report
    awk 'NR == 1 { want = $1 == "All" ? 0 : $1; next } /^statistic/ { p = 1 } /^$/ { p = 0 }
        / \*$|\) \*[:,;]|[0-9]\*  z | \*, z of/ { n++ }
        p && $NF != "*" && $NF != "-" && $NF + 0 < 0.005 && $1 != "statistic" { bad = 1 } END { exit bad || n + 0 != want }' .report ||
        fault "marks of $1" "$(head -n 40 .report)"
}
wrong() { # NAME FINDING OPTION...: exactly one finding, with advice
    local name=$1 finding=$2
    shift 2
    run "$name" "$@"
    marks_agree "$name"
    try "wrong: $name" 0 "^[0-9]+ of [0-9]+ checks of model .* failed \(marked \*\): 1 finding\. +1\. $finding" '' "$sbps" check "$name.nc" table.csv
}

# ---- rows that follow the model ----
right='statistic .*kurtosis .*density: rows .*spread.*residuals along .*LOO-PIT.*power scaling of .*sigma '
right linear   'y ~ x + z + a' --family gaussian
right student  'tails ~ x + z + a' --model student_t
right bends    'square ~ poly(x, 2) + z + a' --family gaussian
right='zeros .*dispersion .*rootogram: .*residuals along .*LOO-PIT.*power scaling of '
right poisson  'c ~ x + z + a' --family poisson
right negative 'over ~ x + z + a' --model negative_binomial
right inflated 'zeros ~ x + z + a' --model zero_inflated_poisson
right='calibration .*residuals along .*power scaling of '
right logistic 'b ~ x + z + a' --family bernoulli
right bent     'bent ~ x + poly(z, 2) + a' --family bernoulli
right binomial 's | trials(t) ~ x + z + a' --family binomial
right softmax  'k ~ x + a' --model softmax
right ordinal  'o ~ x + a' --family cumulative

# ---- rows that do not ----
wrong tails     'tails are heavier than those of model linear: .* What to do: .sbps +sample. with --model +student_t' 'tails ~ x + z + a' --family gaussian
wrong square    "residuals are curved along 'x' \(z of the curve .* What to do: poly\(x, 2\) or ns\(x, 3\)" 'square ~ x + z + a' --family gaussian
wrong spread    'the variance grows with the prediction .* What to do: .*log\(spread\)' 'spread ~ x + z + a' --family gaussian
wrong lean      'residuals are skewed to the right: .* What to do: .*log\(lean\)' 'lean ~ x + z + a' --family gaussian
wrong over      'the response varies more than model poisson allows: .* What to do: .sbps +sample. with --model +negative_binomial' 'over ~ x + z + a' --family poisson
wrong zeros     'the response varies more than model poisson .* What to do: .sbps +sample. with +--model +zero_inflated_poisson: .* of the +rows +are +0' 'zeros ~ x + z + a' --family poisson
wrong curve     "residuals are curved along 'z' .* What to do: poly\(z, 2\)" 'bent ~ x + z + a' --family bernoulli
wrong conflict  "prior-data conflict: .* both move 'x' ~ +normal\(-1,0.05\) .* What to do: +check +whether +the +prior +of +'x'" 'y ~ x + z + a' --family gaussian --prior 'x=normal(-1,0.05)'
head -n 8 table.csv >few.csv
"$sbps" sample few.csv 'b ~ x' --family bernoulli --prior 'normal(0,0.1)' --seed 5 --ess 200 --progress off -o few.nc >/dev/null 2>&1
try 'wrong: a strong prior' 0 "strong prior / weak likelihood: the prior moves 'x' ~ +normal\(0,0.1\)" '' "$sbps" check few.nc few.csv

# On the page a likelihood that moves its posterior is not marked; a prior that does is.
cases=$((cases + 1))
"$sbps" report linear.nc table.csv -o linear.html >/dev/null 2>&1
"$sbps" report conflict.nc table.csv -o conflict.html >/dev/null 2>&1
[ "$(grep -o '<td class="high"' linear.html | wc -l)" -eq 0 ] || fault 'the page' 'marks healthy values'
want=$("$sbps" check conflict.nc table.csv --json | grep -cE '"diagnosis": "[^-]')
[ "$(sed -n '/Sensitivity by power/,/<\/table>/p' conflict.html | grep -o '<td class="high"' | wc -l)" -eq "$want" ] ||
    fault 'the page' "does not mark the $want priors that have a diagnosis"

# A term that the formula has is not advised again: a curve of log(x), more degrees of freedom for a curve.
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 991; print "y,x,carat"; for (k = 0; k < 600; k++) { c = 0.02 + 3 * u() * u(); x = n(); l = log(c)
        print 1 + 1.5 * l + 0.6 * l * l + 0.3 * x + 0.3 * n() "," x "," c } }' >carat.csv
advice() { # NAME FORMULA REGEX
    "$sbps" sample carat.csv "$2" --family gaussian --seed 5 --ess 200 --progress off -o "$1.nc" >/dev/null 2>&1
    try "$1" 0 "residuals are curved along 'carat' .* What to do: $3" '' "$sbps" check "$1.nc" carat.csv
}
advice 'a logarithm' 'y ~ log(carat) + x' 'poly\(log\(carat\), 2\) or +ns\(log\(carat\), 3\) +in +the +formula +instead +of +.log\(carat\).\.'
advice 'as it is'    'y ~ carat + x'      'poly\(carat, 2\) or +ns\(carat, 3\) in +the +formula +instead +of +.carat.\.'
advice 'two terms'   'y ~ carat + I(carat^2) + x' 'ns\(carat, 4\) in +the +formula +instead +of +all +terms +of +.carat.'
"$sbps" sample carat.csv 'y ~ ns(log(carat), 3) + x' --family gaussian --seed 5 --ess 200 --progress off -o curved.nc >/dev/null 2>&1
cases=$((cases + 1))
"$sbps" check curved.nc carat.csv | grep -q "curved along 'carat'" && fault 'advice' 'does not remove the curve'

# Classes whose order is not that of the alphabet.
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    BEGIN { s = 815; print "g,o"; for (i = 0; i < 900; i++) {
            g = int(6 * u()); v = u(); at = 0.7 * (g - 3) + log(v / (1 - v))
            print "g" g "," (at < -1 ? "low" : at < 1 ? "mid" : "top")
        } }' >order.csv
order() { # NAME OPTION...
    local name=$1
    shift
    "$sbps" sample order.csv 'o ~ g' --family ordinal "$@" --seed 5 --ess 200 --progress off -o "$name.nc" >/dev/null 2>&1
}
order requested --levels low,mid,top
try 'classes in their order'  0 '^All [0-9]+ checks .* passed' '' "$sbps" check requested.nc order.csv
order other --levels mid,low,top
try 'classes in another'      0 'residuals differ from 0 along .* What to do: .sbps +sample. with +--levels, .* probabilities are not calibrated.* What to do: interactions .* --levels; +or +with +--family +categorical' '' "$sbps" check other.nc order.csv

# ---- a weight counts as that many equal rows ----
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    BEGIN { s = 77; print "a,b,y,freq" >"counts.csv"; print "a,b,y,freq" >"single_rows.csv"; print "a,b,y,freq" >"thirds.csv"
        for (a = 0; a < 4; a++) for (b = 0; b < 2; b++) for (y = 0; y < 2; y++) {
            p = 1 / (1 + exp(1.2 - 0.7 * a - b)); n = int(60 * (1 + (a + b) % 3) * (y ? p : 1 - p) + 6 * u())
            print "a" a ",b" b "," y "," n >"counts.csv"
            print "a" a ",b" b "," y "," n * 1.37 >"thirds.csv"
            for (i = 0; i < n; i++) print "a" a ",b" b "," y ",1" >"single_rows.csv" } }'
"$sbps" sample counts.csv 'y ~ a + b' --family bernoulli --weights freq --seed 5 --ess 200 --progress off -o counts.nc >/dev/null 2>&1
total=$(($(wc -l <single_rows.csv) - 1))
try 'weights' 0 "^All .* passed\. .*$total rows, by the weights of 16; " '' "$sbps" check counts.nc counts.csv
try 'all rows by weights' 0 "^All .* passed\. .*$total rows, by the weights of 16; " '' "$sbps" check counts.nc counts.csv --rows 0
try 'some rows by weights' 0 " 100 rows of $total, drawn at random, by the weights of 16; " '' "$sbps" check counts.nc counts.csv --rows 100
try 'weights that are not whole' 0 "All .* passed\. .*[0-9]+ rows, by the weights of 16; " '' "$sbps" check counts.nc thirds.csv
cases=$((cases + 1))
for from in counts single_rows; do # tables without random draws are equal, row by row
    "$sbps" check counts.nc $from.csv | awk '/^mean / { print $1, $2 } /^residuals/ { r = 1 } /^power/ { r = 0 } r && /^[ab] / { print }
        /^calibration/ { c = 1 } /^residuals/ { c = 0 } c && / to / { print $1, $3, $4, $5, $6 }' >$from.report
done
[ "$(wc -l <counts.report)" -ge 8 ] || fault 'weights' "nothing was seen: $(cat counts.report)"
cmp -s counts.report single_rows.report || fault 'weights' "other numbers than single rows: $(diff counts.report single_rows.report | head)"
"$sbps" convert counts.csv counts.tbl --formula 'y ~ a + b' --weights freq >/dev/null 2>&1
try 'heavy rows' 0 'row [0-9]+ moves .* by +about +[-+][0-9.]+ +posterior +sd' '' "$sbps" diagnose counts.nc
try 'a converted table of weights' 0 "$total rows, by the weights of 16; " '' "$sbps" check counts.nc counts.tbl

# ---- the same from any source ----
cases=$((cases + 1))
for name in linear poisson logistic softmax; do
    "$sbps" check $name.nc table.csv --json --threads 1 >one
    "$sbps" check $name.nc table.csv --json --threads 3 | cmp -s - one || fault "$name" 'other threads, other numbers'
    "$sbps" check $name.nc - --json <table.csv | cmp -s - one || fault "$name" 'other numbers through a pipe'
done
if command -v python3 >/dev/null; then
    cases=$((cases + 1))
    python3 -c 'import json, sys; c = json.load(open("one")); assert c["findings"] == [] and len(c["calibration"]) == 3 and c["pit"]["rows"] == 0' ||
        fault 'JSON' "$(head -c 300 one)"
fi
try 'some rows'      0 '100 rows of 500, drawn at random' '' "$sbps" check linear.nc table.csv --rows 100
try 'some draws'     0 '150 replicated tables from 150 draws' '' "$sbps" check linear.nc table.csv --max-draws 150
"$sbps" convert table.csv table.tbl --target y --features x,z,a >/dev/null 2>&1
run converted --model linear --target y --features x,z,a
try 'a converted table' 0 '^All .* passed\. .*500 rows; .*residuals along .* a=v ' '' "$sbps" check converted.nc table.tbl

# ---- refusals ----
cut -d, -f1-3 table.csv >without.csv
try 'no target'         1 '' "without.csv: the run's column 'y' is missing" "$sbps" check linear.nc without.csv
try 'a column lacks'    1 '' "lacking.csv: the run's column 'x' is missing" bash -c "cut -d, -f2- table.csv >lacking.csv; '$sbps' check linear.nc lacking.csv"
sed '3s/,[uvw],/,q,/' table.csv >level.csv
try 'another level'     1 '' "level.csv: row 2: column 'a': 'q' is none of the levels" "$sbps" check linear.nc level.csv
sed '3s/^[^,]*/red/' table.csv >type.csv
try 'text for a number' 1 '' "type.csv:3: column 'x': 'red' is not a number" "$sbps" check linear.nc type.csv
sed '3s/^[^,]*/NA/' table.csv >missing.csv
try 'a missing cell'    0 '499 rows; .* 1 rows with missing cells omitted' '' "$sbps" check linear.nc missing.csv
: >empty.csv
try 'an empty file'     1 '' 'empty.csv:1: the file is empty' "$sbps" check linear.nc empty.csv
head -n 2 table.csv >single.csv
try 'one row'           1 '' 'single.csv: at least two rows without missing cells are needed' "$sbps" check linear.nc single.csv
try 'no such file'      1 '' 'none.csv: No such file' "$sbps" check linear.nc none.csv
try 'no run'            1 '' 'table.csv: not a run file of sbps' "$sbps" check table.csv table.csv
try 'a file missing'    2 '' 'usage: sbps check RUN.nc \[DATA.csv\]' "$sbps" check
"$sbps" sample --model banana --ess 60 --progress off -o banana.nc >/dev/null 2>&1
try 'a density'         1 '' 'banana.nc: the file contains no design' "$sbps" check banana.nc table.csv

# ---- R ----
if command -v Rscript >/dev/null && Rscript -e 'quit(status = !requireNamespace("loo", quietly = TRUE))' >/dev/null 2>&1; then
    cases=$((cases + 1))
    Rscript --vanilla "$root/tests/cli/check_by_hand.R" "$sbps" >.out 2>&1 || fault 'R' "$(tail -n 30 .out)"
else
    echo 'R and its package loo are not there: numbers are not compared with them'
fi
finish
