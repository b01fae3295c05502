#!/usr/bin/env bash
# Invalid data and run files: each gets an error message that names file, line and column.
. "$(dirname "$0")/common.sh"

# A table of N rows that has a posterior: y is 0/1 and depends weakly on x.
table() { # N
    awk -v n="$1" 'BEGIN {
        print "x,z,y"
        for (i = 1; i <= n; i++)
            printf "%.6f,%.6f,%d\n", sin(7 * i), cos(3 * i + 1), (sin(7 * i) + 2 * sin(19 * i) > 0)
    }'
}

table 200 >good.csv
printf '' >empty.csv
printf 'x,z,y\n' >header.csv
awk -F, 'NR == 5 { $1 = "high" } { print $1 "," $2 "," $3 }' good.csv >text.csv
awk -F, 'NR == 6 { $2 = "nan" } { print $1 "," $2 "," $3 }' good.csv >nan.csv
awk -F, 'NR == 7 { $2 = "-inf" } { print $1 "," $2 "," $3 }' good.csv >inf.csv
awk -F, 'NR == 8 { $2 = "" } { print $1 "," $2 "," $3 }' good.csv >hole.csv
awk -F, 'NR == 9 { print $1 "," $2; next } { print }' good.csv >short.csv
awk -F, 'NR == 9 { print $0 ",1"; next } { print }' good.csv >long.csv
awk -F, 'NR == 10 { $3 = 2 } { print $1 "," $2 "," $3 }' good.csv >target2.csv
awk -F, 'NR == 10 { $3 = 0.5 } { print $1 "," $2 "," $3 }' good.csv >target-half.csv
awk -F, 'NR > 1 { $2 = 4 } { print $1 "," $2 "," $3 }' good.csv >constant.csv
awk -F, 'NR > 1 { $2 = NR % 2 ? "4" : "4.0000000000000009" } { print $1 "," $2 "," $3 }' good.csv >nearly.csv
awk -F, 'NR > 1 { $3 = ($1 > 0) } { print $1 "," $2 "," $3 }' good.csv >separable.csv
awk -F, 'NR > 1 { $3 = 1 } { print $1 "," $2 "," $3 }' good.csv >ones.csv
head -n 2 good.csv >one-row.csv
sed '1s/z/x/' good.csv >twins.csv
tail -n +2 good.csv >bare.csv
awk -F, 'NR == 1 { print $0 ",hood"; next } NR % 20 { print $0 ",common"; next } { print $1 "," $2 ",0,rare" }' good.csv >rare.csv
awk -F, 'NR > 1 { $3 = $3 ? "yes" : "no" } { print $1 "," $2 "," $3 }' good.csv >labels.csv
awk -F, 'NR % 7 == 0 { $3 = "maybe" } { print $1 "," $2 "," $3 }' labels.csv >labels3.csv
tr , ';' <good.csv >semicolons.csv
head -n 101 good.csv >one.csv
awk 'NR == 1 || NR > 101' good.csv >two.csv
printf 'PK\003\004\024\000a.csv' >packed.zip
gzip -c good.csv | head -c 300 >torn.csv.gz
head -c 4096 /dev/urandom >noise.csv

sample() { # DATA: with the usual options; more may follow
    local data=$1
    shift
    echo "$sbps" sample "$data" --model logistic --target y --dry-run "$@"
}
refused() { # NAME CODE STDERR DATA [OPTION...]
    local name=$1 code=$2 words=$3
    shift 3
    try "$name" "$code" '' "^sbps: .*$words" $(sample "$@")
}

try 'a good table'         0 '[^ ]' '' $(sample good.csv)
refused 'missing file'     1 'none.csv: No such file' none.csv
refused 'a folder'         1 '\.' .
refused 'empty file'       1 'empty.csv' empty.csv
refused 'header only'      1 'header.csv: the table has no rows' header.csv
refused 'missing column'   2 "colour" good.csv --target colour
refused 'misspelt column'  2 "--features: no column is named 'Z'" good.csv --features x,Z
refused 'misspelt target'  2 "no column is named 'yy'; did you mean 'y'" good.csv --target yy
refused 'misspelt weights' 2 'zz' good.csv --weights zz
refused 'misspelt offset'  2 'zz' good.csv --offset zz
refused 'text in a number' 1 "text.csv:5.*x.*high|text.csv:5.*high.*x" text.csv
refused 'NaN'              1 'nan.csv:6.*z' nan.csv --missing error
refused 'infinity'         1 'inf.csv:7.*z' inf.csv
refused 'empty cell'       1 'hole.csv:8.*z' hole.csv --missing error
try 'empty cell, dropped'  0 '199' "^sbps: hole.csv: dropped 1 of 200 rows with missing values.*'z' .1." $(sample hole.csv)
refused 'short line'       1 'short.csv:9' short.csv
refused 'long line'        1 'long.csv:9' long.csv
try 'column twice'         0 'x_2 ~' "^sbps: twins.csv: column 2 .*'x'.* renamed 'x_2'" $(sample twins.csv)
try 'no header'            0 "regression of 'x3'" '' $(sample bare.csv --header no --target x3)
refused 'no header, unsaid' 1 'bare.csv:1: the first line holds only numbers.*--header no' bare.csv
try 'semicolons'           0 '[^ ]' '^sbps: semicolons.csv: cells are separated by semicolons' $(sample semicolons.csv)
try 'several files'        0 '200 rows' '' $(sample one.csv two.csv)
try 'a pattern'            0 '200 rows' '' $(sample 't[w]o.csv' one.csv)
ln -s one.csv link.csv
ln one.csv hard.csv
for same in one.csv ./one.csv "$PWD/one.csv" link.csv hard.csv 'o[n]e.csv'; do
    refused "$same as well" 2 'one.csv and .* are the same file, whose rows would count twice' one.csv two.csv "$same"
done
try 'standard input as well' 2 '' 'one.csv and - are the same file' bash -c "\"$sbps\" convert one.csv - twice.tbl --target y <one.csv"
try 'converted twice'      2 '' 'one.csv and ./one.csv are the same file' "$sbps" convert one.csv ./one.csv twice.tbl --target y
try 'standard input'       0 "regression of 'y'" '' bash -c "\"$sbps\" sample - --model logistic --target y --dry-run <good.csv"
try 'a pipe'               0 "regression of 'y'" '' bash -c "cat good.csv | \"$sbps\" sample - --model logistic --target y --dry-run"
refused 'another case'     2 "no column is named 'Y'; did you mean 'y'" good.csv --target Y
refused 'a zip archive'    1 'packed.zip: this is a zip archive' packed.zip
refused 'torn gzip'        1 'torn.csv.gz' torn.csv.gz
refused 'noise'            1 'noise.csv' noise.csv
refused 'target not 0/1'   1 "target 'y' holds 2; logistic needs 0 or 1" target2.csv
refused 'target 0.5'       1 "holds 0.5; logistic needs" target-half.csv
try 'labels'               0 "regression of 'y'" "^sbps: labels.csv: target 'y': 'yes' is 1 and 'no' is 0" $(sample labels.csv)
try 'labels, turned'       0 "regression of 'y'" "'no' is 1 and 'yes' is 0" $(sample labels.csv --success no)
refused 'labels, three'    1 "labels3.csv: target 'y' holds 'maybe', 'no', 'yes'" labels3.csv
refused 'labels, linear'   1 "labels.csv:2: column 'y': '(yes|no)' is not a number; text labels need a model of classes" labels.csv --model linear
try 'labels, softmax'      0 'maybe:x ~' "the classes 0, 1, ... are 'maybe', 'no', 'yes'" $(sample labels3.csv --model softmax)
try 'constant column'      0 'z ~ normal' "^sbps: constant.csv: column 'z': the same in all rows" $(sample constant.csv)
try 'a rare level'         0 'hood=rare .y is 0 in all 10 of its rows' '' $(sample rare.csv --categorical hood --sampler hmc)
try 'a rare level, helped' 0 'Merge rare levels, or use a prior' '' $(sample rare.csv --categorical hood --sampler hmc)
refused 'constant, flat'   1 "column 'z' is 4 in every row" constant.csv --prior flat
refused 'nearly constant'  1 "column 'z' is nearly constant: its standard deviation, 4.4e-16, is too small relative to its mean, 4; subtract" nearly.csv
try 'nearly, narrow prior' 0 'regression of .y.' '' $(sample nearly.csv --prior 'normal(0,1)')
try 'nearly, centred'      0 'regression of .y.' '' $(sample nearly.csv --standardize)
refused 'one row'          1 'one-row.csv.*one row' one-row.csv
refused 'batch above N'    2 'batch-size.*201.*200' good.csv --batch-size 201
try 'batch of all rows'    0 '[^ ]' '' $(sample good.csv --batch-size 200)

awk 'BEGIN { for (r = 0; r < 2; r++) { printf "%d", r; for (j = 1; j <= 200000; j++) if (j % 2 == r) printf " %d:1", j; print "" } }' >wide.svm
refused 'too wide'         1 '2000.. parameters are too many for this machine: up to 6 matrices of 2000.. x 2000.. numbers take 1788' wide.svm --target label

# Posteriors that do not exist.
refused 'separable, flat'  1 'separa' separable.csv --prior flat --prior-intercept flat
refused 'all ones, flat'   1 'only one class' ones.csv --prior flat --prior-intercept flat
try 'separable, proper'    0 '[^ ]' '' $(sample separable.csv)
refused 'positive prior'   2 'exponential.*positive|positive.*exponential' good.csv --prior 'exponential(1)'
refused 'prior of many, wrong' 2 'numbers must be positive' good.csv --prior 'hs(-3)'
refused 'unknown prior'    2 "did you mean 'normal'" good.csv --prior 'nromal(0,1)'
refused 'prior, bad scale' 2 'normal' good.csv --prior 'normal(0,-1)'
refused 'prior, arguments' 2 'normal' good.csv --prior 'normal(0'

# Stored runs.
try 'missing run'          1 '' '^sbps: .*none.nc' "$sbps" summary none.nc
try 'missing run, words'   1 '' '^sbps: .*none.nc' "$sbps" diagnose none.nc
try 'not a NetCDF'         1 '' '^sbps: .*good.csv' "$sbps" summary good.csv
try 'not a NetCDF, words'  1 '' '^sbps: .*good.csv' "$sbps" diagnose good.csv
try 'empty run'            1 '' '^sbps: .*empty.csv' "$sbps" summary empty.csv
"$sbps" sample good.csv --model logistic --target y -o run.nc --draws 50 --ess 50 --progress off \
    2>.err || fault 'make a run' "$(cat .err)"
size=$(stat -c %s run.nc 2>/dev/null || echo 0)
for part in 10 50 90 99; do
    head -c $((size * part / 100)) run.nc >torn.nc
    try "torn at $part%"   1 '' '^sbps: .*torn.nc' "$sbps" summary torn.nc
done

# Names that differ only in their last characters stay distinct in every output.
long=$(printf 'x%.0s' {1..300})
sed "1s/.*/${long}_a,${long}_b,y/" good.csv | cut -d, -f1-3 >long.csv
head -n 1 good.csv | grep -q '^[^,]*,[^,]*,y$' || fault 'long names' "good.csv begins $(head -n 1 good.csv)"
try 'long names, run'      0 '' '.' "$sbps" sample long.csv --model logistic --target y -o long.nc --draws 50 --ess 50
try 'long names, summary'  0 "${long}_a,.* ${long}_b," '' "$sbps" summary long.nc --csv
try 'long names, mode'     0 "${long}_a,.* ${long}_b," '' "$sbps" map long.csv --model logistic --target y --csv

# Control characters in names: no escape sequence and no line break of a name is printed.
{ printf '"x\033[31m1","x\nsbps: all is well",y\n'; tail -n +2 good.csv; } >control.csv
shows_no_control() { # NAME FILE...
    cases=$((cases + 1))
    grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "${@:2}" && fault "$1" 'an escape sequence'
    grep -q '^sbps: all is well' "${@:2}" && fault "$1" 'a line of a name'
}
"$sbps" sample control.csv --model logistic --target y -o control.nc --draws 50 --ess 50 2>.err ||
    fault 'control characters' "$(tail -n 1 .err)"
"$sbps" summary control.nc >.out
"$sbps" diagnose control.nc >.more
"$sbps" map control.csv --model logistic --target y >.map
shows_no_control 'control characters' .err .out .more .map
"$sbps" sample control.csv --model logistic --target $'y\033[2J\nsbps: all is well' -o none.nc 2>.err
shows_no_control 'control characters, refused' .err
"$sbps" sample $'no\033[2J\nsbps: all is well' --model logistic --target y -o none.nc 2>.err
shows_no_control 'control characters, path' .err
try 'control characters, exact' 0 $'"x .*sbps: all is well",' '' "$sbps" summary control.nc --csv

# Files without an end or a line, counts that are words.
refused 'endless config'   1 '/dev/zero:1: contains a zero byte' good.csv --config /dev/zero
yes | tr -d '\n' | head -c 100000 >endless.cfg
refused 'a line too long'  1 'endless.cfg:1: too long' good.csv --config endless.cfg
refused 'all bits set'     2 '18446744073709551615 is out of range' good.csv --batch-size 18446744073709551615

# Labels -1 and +1 are classes for logistic and numbers for linear: the mean of y is 1/3 or -1/3.
awk 'BEGIN { for (i = 0; i < 300; i++) print (i % 3 ? -1 : 1), "1:" i % 2 }' >signs.svm
try 'labels as numbers'    0 'intercept,-0.33' '' "$sbps" map signs.svm --model linear --csv
try 'labels as classes'    0 'intercept,-0.69' '' "$sbps" map signs.svm --model logistic --csv
finish
