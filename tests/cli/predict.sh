#!/usr/bin/env bash
# Predictions of new rows: as by R from the same draws, in every order of columns, through pipes, on any number of threads;
# and refusals.
. "$(dirname "$0")/common.sh"

. "$root/tests/cli/predict_table.sh"

run linear   'y ~ poly(x, 2) + bs(z, 5) * a' --family gaussian
run logistic 'b ~ a * x + ns(z, 3) + I(a == "v" & x > 0.5)' --family bernoulli
run poisson  'c ~ log(z) + factor(t) + x + offset(z / 10)' --family poisson
run softmax  'k ~ x + a' --model softmax
run ordinal  'o ~ x + a' --family cumulative
run binomial 's | trials(t) ~ x + cut(z, 3)' --family binomial
run grouped  'y ~ x + a + (1 + x | g)' --family gaussian --ranef all
run scaled   --model linear --target y --features z,a,x --standardize

# ---- the same in any order, from any source ----
predict=("$sbps" predict)
cases=$((cases + 1))
awk -F, '{ for (i = NF; i > 0; i--) printf "%s,", $i; print NR == 1 ? "more" : "?" }' table.csv >turned.csv
for name in linear logistic poisson softmax ordinal binomial grouped scaled; do
    for kind in linear mean outcome; do
        "${predict[@]}" $name.nc table.csv --kind $kind --threads 1 >one.csv 2>/dev/null || fault "$name $kind" 'failed'
        "${predict[@]}" $name.nc turned.csv --kind $kind --threads 3 -o three.csv 2>/dev/null
        cmp -s one.csv three.csv || fault "$name $kind" 'other columns or threads, other predictions'
        "${predict[@]}" $name.nc - --kind $kind <table.csv 2>/dev/null | cmp -s - one.csv ||
            fault "$name $kind" 'another prediction through a pipe'
    done
done
run counts 'cbind(s, t - s) ~ x + cut(z, 3)' --family binomial
cases=$((cases + 1))
"${predict[@]}" binomial.nc table.csv --kind outcome 2>/dev/null >trials.csv
"${predict[@]}" counts.nc table.csv --kind outcome 2>.err | cmp -s - trials.csv || fault 'cbind(s, t - s)' "other outcomes than s | trials(t): $(cat .err)"
cut -d, -f1-4 table.csv >without.csv
try 'no target, no trials needed'  0 'row,mean,sd,q5,q50,q95 1,' '150 rows with [0-9]+ of [0-9]+ draws in .*rows/s' \
    "${predict[@]}" binomial.nc without.csv
try 'classes: a line each'         0 'row,class,mean,sd,q5,q50,q95 1,cat,.* 1,dog,.* 1,eel,.* 2,cat,' 'rows/s' \
    "${predict[@]}" softmax.nc without.csv
for name in linear softmax; do
    sed '3s/^[^,]*,/NA,/; 4s/,[^,]*,/,NA,/' table.csv >gaps.csv
    try "$name: draws as CSV"    0 '' 'rows/s' "${predict[@]}" $name.nc gaps.csv --draws --max-draws 7 -o all.csv
    try "$name: draws as NetCDF" 0 '' 'rows/s' "${predict[@]}" $name.nc gaps.csv --draws --max-draws 7 -o all.nc
    try "$name: are the same"    0 '' ''       /usr/bin/python3 "$root/tests/cli/predict_arrays.py" all.nc all.csv
done
try 'no draws, no NetCDF'          2 '' 'all.nc: NetCDF output holds all draws: add --draws' "${predict[@]}" linear.nc table.csv -o all.nc
try 'all draws'                    0 '^row,draw1,draw2,' 'rows/s' "${predict[@]}" linear.nc without.csv --draws --max-draws 3
cases=$((cases + 1))
"${predict[@]}" linear.nc table.csv 2>.err | head -n 2 >/dev/null
grep -q NetCDF .err && fault 'a reader that leaves' "$(cat .err)"

# ---- converted tables: the same rows, in their order; runs on them have their design ----
cases=$((cases + 1))
designs=("scaled|--target y --features z,a,x --standardize" "linear|--formula y~poly(x,2)+bs(z,5)*a" "grouped|--formula y~x+a+(1+x|g)"
    "softmax|--formula k~x+a" "ordinal|--formula o~x+a" "binomial|--formula s|trials(t)~x+cut(z,3)" "poisson|--formula c~log(z)+factor(t)+x+offset(z/10)")
families=([1]=gaussian [2]=gaussian [3]=categorical [4]=cumulative [5]=binomial [6]=poisson)
for i in "${!designs[@]}"; do
    name=${designs[i]%%|*}
    read -ra options <<<"${designs[i]#*|}"
    if ((i == 0)); then model=(--model linear); else model=(--family "${families[i]}"); fi
    "$sbps" convert table.csv $name.tbl "${options[@]}" 2>.err >/dev/null || fault "convert $name" "$(cat .err)"
    "${predict[@]}" $name.nc table.csv 2>/dev/null >text.csv
    "${predict[@]}" $name.nc $name.tbl 2>.err >mapped.csv || fault "$name.tbl" "$(cat .err)"
    sort -t, -k1,1n -s mapped.csv >ordered.csv
    [ $name = grouped ] && sort -t, -k2 -s ordered.csv | cut -d, -f2- >by_value.csv && sort -t, -k2 -s text.csv | cut -d, -f2- >text_by_value.csv
    if [ $name = grouped ]; then set -- text_by_value.csv by_value.csv; else set -- text.csv ordered.csv; fi
    paste -d, "$1" "$2" | awk -F, 'NR > 1 { for (k = NF / 2; k > 1; k--) { a = $k - $(k + NF / 2); if (a > 1e-8 || a < -1e-8) bad++ } }
        END { exit bad > 0 || NR != lines }' lines="$(wc -l <text.csv)" || fault "$name.tbl" 'other predictions than of its text'
    "$sbps" sample $name.tbl "${model[@]}" --seed 5 --ess 60 --ranef all --progress off -o $name-table.nc >/dev/null 2>.err
    try "a run on $name.tbl" 0 'row,' 'rows/s' "${predict[@]}" $name-table.nc table.csv
done

# ---- levels of groups ----
sed '2s/,g[0-9],/,new,/' table.csv >new_group.csv
try 'a new group'          1 '' "row 1: the run had no level 'new' of 'g'; --new-levels prior draws" "${predict[@]}" grouped.nc new_group.csv -o x.csv
try 'a new group, by its prior'  0 'row,mean' 'rows/s' "${predict[@]}" grouped.nc new_group.csv --new-levels prior
cases=$((cases + 1))
"${predict[@]}" grouped.nc new_group.csv --new-levels prior 2>/dev/null >prior.csv
"${predict[@]}" grouped.nc table.csv 2>/dev/null | tail -n +3 | cmp -s - <(tail -n +3 prior.csv) || fault 'a new group' 'others changed'
"$sbps" sample table.csv 'y ~ x + (1 | g)' --family gaussian --seed 5 --ess 60 --ranef none --progress off -o bare.nc >/dev/null 2>&1
try 'a run without effects'       1 '' "bare.nc: the file contains no draws of the effects of 'g': .*--ranef all" "${predict[@]}" bare.nc table.csv
try 'the same, all levels new'    0 'row,mean' 'bare.nc has no group effects: every level was treated as a new one' \
    "${predict[@]}" bare.nc table.csv --new-levels prior

# ---- another encoding ----
cases=$((cases + 1))
sed '1s/^x,/größe,/; s/,u,/,ü,/' table.csv >utf8.csv
iconv -f utf-8 -t latin1 utf8.csv >latin1.csv
"$sbps" sample utf8.csv 'y ~ größe + a' --family gaussian --seed 5 --ess 60 --progress off -o wide.nc >/dev/null 2>.err || fault 'encoding' "$(cat .err)"
"${predict[@]}" wide.nc utf8.csv 2>/dev/null >utf8.out
"${predict[@]}" wide.nc latin1.csv --encoding latin1 2>.err | cmp -s - utf8.out || fault 'encoding' "other predictions: $(cat .err)"
for what in loo score; do
    [ "$("$sbps" $what wide.nc utf8.csv --json)" = "$("$sbps" $what wide.nc latin1.csv --encoding latin1 --json)" ] || fault 'encoding' "another $what"
    try "$what: another word" 2 '' "--encoding: unknown value 'latin'" "$sbps" $what wide.nc latin1.csv --encoding latin
done
try 'another word'        2 '' "--encoding: unknown value 'latin'" "${predict[@]}" wide.nc latin1.csv --encoding latin

# ---- invalid run files ----
: >empty.nc
: >nothing.csv
head -c 1000 linear.nc >cut.nc
LC_ALL=C sed 's/{"version":1,/{"version":9,/' linear.nc >changed.nc # the design is text in the file
for what in predict score loo; do
    try "$what: a changed byte" 1 '' 'changed.nc: not a run file of sbps, or cut short: its checksum does not match' "$sbps" $what changed.nc table.csv
    try "$what: an empty run"   1 '' 'sbps: empty.nc: [a-z ]+' "$sbps" $what empty.nc table.csv
    try "$what: a cut run"      1 '' 'sbps: cut.nc: [a-z ]+' "$sbps" $what cut.nc table.csv
    try "$what: an empty table" 1 '' 'nothing.csv:1: the file is empty' "$sbps" $what linear.nc nothing.csv
done

# ---- refusals ----
cut -d, -f2- without.csv >lacking.csv
try 'a column lacks'      1 '' "lacking.csv: the run's column 'x' is missing" "${predict[@]}" linear.nc lacking.csv
sed '3s/,[uvw],/,q,/' without.csv >level.csv
try 'another level'       1 '' "level.csv: row 2: column 'a': 'q' is none of the levels that the run had" "${predict[@]}" linear.nc level.csv
sed '3s/^[^,]*/red/' without.csv >type.csv
try 'text for a number'   1 '' "type.csv:3: column 'x': 'red' is not a number" "${predict[@]}" linear.nc type.csv
sed '3s/^[^,]*/NA/' without.csv >missing.csv
try 'an interval'        0 'row,mean,sd,q2.5,q50,q97.5' 'rows/s' "${predict[@]}" linear.nc without.csv --interval 0.95
try 'no interval'        2 '' "'1' is not a number between 0 and 1" "${predict[@]}" linear.nc without.csv --interval 1
try 'a missing cell'      0 'row,mean.* 2,,,,, 3,' "1 of 150 rows have no prediction, the first because of column 'x': cells are missing" \
    "${predict[@]}" linear.nc missing.csv
sed '3s/,[^,]*/,-1/' table.csv >log.csv
try 'a term not finite'   0 'row,mean.* 2,,,,, 3,' "1 of 150 rows have no prediction, the first because of column 'log\(z\)': terms are not finite" \
    "${predict[@]}" poisson.nc log.csv
sed '3s/,[0-9]*,[0-9]*$/,77,1/' table.csv >factor.csv
try 'another level of factor()' 1 '' "factor.csv: row 2: column 'factor\(t\)': '77' is none of the levels" "${predict[@]}" poisson.nc factor.csv
: >empty.csv
try 'an empty file'       1 '' 'empty.csv:1: the file is empty' "${predict[@]}" linear.nc empty.csv
head -n 1 table.csv >header.csv
try 'a header alone'      1 '' 'header.csv: the table has no rows' "${predict[@]}" linear.nc header.csv
try 'no such file'        1 '' 'none.csv: No such file' "${predict[@]}" linear.nc none.csv
try 'no run'              1 '' 'table.csv: not a run file of sbps' "${predict[@]}" table.csv table.csv
try 'another kind'        2 '' "--kind: unknown value 'mode'" "${predict[@]}" linear.nc table.csv --kind mode
try 'a file missing'      2 '' 'usage: sbps predict RUN.nc \[NEW.csv\]' "${predict[@]}"
try 'output is the data'  2 '' '--output: table.csv is the data file' "${predict[@]}" linear.nc table.csv -o table.csv
"$sbps" convert table.csv table.tbl --target y --features x,z >/dev/null 2>&1
"$sbps" convert table.csv other.tbl --target y --features x,t >/dev/null 2>&1
"$sbps" sample table.tbl --model linear --ess 60 --progress off -o mapped.nc >/dev/null 2>&1
try 'another design'      1 '' "table.tbl: its formula is not the run's, which a converted table cannot change" "${predict[@]}" linear.nc table.tbl
try 'another column'      1 '' "other.tbl: its columns, or levels of them, are not the run's" "${predict[@]}" mapped.nc other.tbl
"$sbps" sample --model banana --ess 60 --progress off -o banana.nc >/dev/null 2>&1
try 'a density'           1 '' 'banana.nc: the file contains no design' "${predict[@]}" banana.nc table.csv

# ---- columns with the names of other parameters ----
# The same rows, draws and answers as with plain names: sigma and the sd of the group are the model's, not the columns'.
cp table.csv plain.csv
sed '1s/^x,z,/sigma,sd_g__Intercept,/' table.csv >named.csv
for name in plain named; do
    columns=x,z
    [ $name = plain ] || columns=sigma,sd_g__Intercept
    "$sbps" sample $name.csv "y ~ ${columns/,/ + } + (1 | g)" --family gaussian --ranef all --seed 5 --ess 60 --draws 100 --progress off -o $name.nc \
        >/dev/null 2>.err || fault "$name" "$(head -n 3 .err)"
    sed 's/g\([0-9]\)/new\1/' $name.csv >new_$name.csv
    for kind in mean outcome density; do "${predict[@]}" $name.nc $name.csv --kind $kind 2>/dev/null; done >$name.answer
    "${predict[@]}" $name.nc new_$name.csv --new-levels prior 2>/dev/null >>$name.answer
    for command in score loo; do "$sbps" $command $name.nc $name.csv --json 2>/dev/null | sed "s/$name/run/g"; done >>$name.answer
    "$sbps" check $name.nc $name.csv --json 2>/dev/null | grep -o '"prior": [0-9.e-]*' >>$name.answer
done
cases=$((cases + 1))
[ -s plain.answer ] && cmp -s plain.answer named.answer || fault 'columns called sigma and sd_g__Intercept' 'other answers than with other names'
sed '1s/^x,/Intercept,/' table.csv >intercept.csv
try 'a column called Intercept' 1 '' "intercept.csv: two effects of 'g' would be named 'Intercept'; rename the column" \
    "$sbps" sample intercept.csv 'y ~ z + (1 | g) + (0 + Intercept | g)' --family gaussian --progress off -o intercept.nc

# ---- R ----
if command -v Rscript >/dev/null; then
    cases=$((cases + 1))
    Rscript --vanilla "$root/tests/cli/predict_by_hand.R" "$sbps" >.out 2>&1 || fault 'R' "$(tail -n 12 .out)"
else
    echo 'R is not there: predictions are not compared with it'
fi
finish
