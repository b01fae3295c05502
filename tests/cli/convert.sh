#!/usr/bin/env bash
# convert: from text to a table that sample maps; refusals, and the files that it leaves.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 3000 --dim 3 --seed 2 -o data.csv
convert=("$sbps" convert data.csv t.tbl)
quick=(--epochs 20 --progress off --chains 2)

try 'convert'              0 '' '' "${convert[@]}" --target y
try 'sample'               0 '' '^logistic regression of .y. ' "$sbps" sample t.tbl --model logistic "${quick[@]}" -o a.nc
try 'sample, same options' 0 '' '^logistic regression of .y. ' "$sbps" sample t.tbl --model logistic --target y "${quick[@]}" -o b.nc
try 'summary'              0 'formula +y ~ .*rows +3000' '' "$sbps" summary a.nc
"$sbps" summary --csv a.nc >a.csv
"$sbps" summary --csv b.nc >b.csv
cmp -s a.csv b.csv || fault 'the file knows its target' 'naming it changed the draws'
"$sbps" sample data.csv --model logistic --target y --ess 1000 --progress off -o text.nc
"$sbps" sample t.tbl --model logistic --ess 1000 --progress off -o table.nc
"$sbps" summary --csv text.nc >text.csv
"$sbps" summary --csv table.nc >table.csv
paste -d, text.csv table.csv | awk -F, '
    NR > 1 { z = ($2 - $13) / sqrt($3 ^ 2 + $14 ^ 2 + (0.04 * $4) ^ 2); if (z < -5 || z > 5) bad = 1; n++ }
    END { exit bad || n != 4 }' || fault 'text and table' "the posteriors differ: $(paste -d, text.csv table.csv)"

cp t.tbl first.tbl
try 'again'                0 '' '' "${convert[@]}" --target y --memory 1M
cmp -s t.tbl first.tbl || fault 'again' 'the same text gave other bytes'
gzip -k data.csv
try 'gzip'                 0 '' '' "$sbps" convert data.csv.gz t.tbl --target y
cmp -s t.tbl first.tbl || fault 'gzip' 'the packed text gave other bytes'
try 'float'                0 '' '' "$sbps" convert data.csv f.tbl --target y --storage float
try 'sample of floats'     0 '' '^logistic regression of .y. ' "$sbps" sample f.tbl --model logistic "${quick[@]}" -o f.nc
[ "$(stat -c %s f.tbl)" -lt "$(stat -c %s t.tbl)" ] || fault 'float' 'is not smaller'

# Few entries in many columns: sparse rows by default.
awk 'BEGIN { srand(1); for (i = 0; i < 2000; i++) {
    printf "%d", rand() < 0.4; for (j = 1; j < 200; j++) if (rand() < 0.02) printf " %d:1", j; print "" } }' >few.svm
try 'sparse'               0 '' '' "$sbps" convert few.svm few.tbl
try 'dense'                0 '' '' "$sbps" convert few.svm dense.tbl --storage double
[ "$(stat -c %s few.tbl)" -lt $(($(stat -c %s dense.tbl) / 20)) ] || fault 'sparse' 'is not smaller'
try 'sample of sparse'     0 '' '^logistic regression of .label. ' "$sbps" sample few.tbl --model logistic "${quick[@]}" -o s.nc
try 'as it is'             0 '' '^logistic regression of .label. ' "$sbps" sample few.tbl --model logistic --storage sparse "${quick[@]}" -o s.nc
try 'not as it is'         2 '' "few.tbl: --storage: the table was converted with 'sparse'" \
    "$sbps" sample few.tbl --model logistic --storage double

# A checkpoint continues bit for bit. Warm-up takes less than half of the epochs, so that it is not cut short.
long=(--model logistic --warmup 2000 --chains 2 --progress off)
"$sbps" sample t.tbl "${long[@]}" --epochs 100 --checkpoint c -o half.nc
"$sbps" sample t.tbl "${long[@]}" --epochs 200 --resume c -o resumed.nc
"$sbps" sample t.tbl "${long[@]}" --epochs 200 -o whole.nc
"$sbps" summary --csv resumed.nc >resumed.csv
"$sbps" summary --csv whole.nc >whole.csv
cmp -s resumed.csv whole.csv || fault 'resume' 'the resumed run is another'
try 'resume on the text'   1 '' 'different options|different data' "$sbps" sample data.csv --target y "${long[@]}" --epochs 200 --resume c -o x.nc

printf 'y,g\nyes,a\nno,"b ""c"\nyes,\n' >few.csv
try 'JSON'                 0 '"file": "few.tbl", "rows": 2, "notes": \[.*"dropped 1 of 3 rows' '' "$sbps" convert few.csv few.tbl --target y --missing drop --json
if command -v python3 >/dev/null; then
    cases=$((cases + 1))
    "$sbps" convert few.csv few.tbl --target y --missing drop --json | python3 -c 'import json, sys; json.load(sys.stdin)' || fault 'JSON' 'none'
fi
try 'no operands'          2 '' 'a file name is missing; usage: sbps convert IN OUT' "$sbps" convert
try 'no target'            2 '' 'data.csv: no target; name its column' "${convert[@]}"
try 'memory'               2 '' "--memory: 'lots' is not a size such as 500M" "${convert[@]}" --target y --memory lots
try 'too little memory'    2 '' 'bytes of memory are too few to shuffle' "${convert[@]}" --target y --memory 4K
try 'sparse, standardised' 2 '' 'standardised columns have no zeros' "${convert[@]}" --target y --storage sparse --standardize
try 'not there'            1 '' 'none.csv: No such file' "$sbps" convert none.csv x.tbl --target y
try 'onto itself'          2 '' 'data.csv is the data file: choose another name' "$sbps" convert data.csv data.csv --target y
try 'twice'                1 '' 't.tbl: is a converted table already' "$sbps" convert t.tbl x.tbl
try 'no folder'            1 '' 'there is no directory none' "$sbps" convert data.csv none/t.tbl --target y
try 'a device'             1 '' 'a table must be a file' "$sbps" convert data.csv /dev/null --target y
try 'other target'         2 '' "t.tbl: --target: the table was converted with 'y'" "$sbps" sample t.tbl --model logistic --target x1
try 'no intercept'         2 '' 'converted without --no-intercept' "$sbps" sample t.tbl --model logistic --no-intercept
head -c 5000 t.tbl >cut.tbl
try 'cut off'              1 '' 'cut.tbl: the table is truncated: 5000 of' "$sbps" sample cut.tbl --model logistic
printf '1,2\n' >bad.csv
cp first.tbl keep.tbl
try 'bad text'             1 '' 'bad.csv:1: the first line holds only numbers' "$sbps" convert bad.csv keep.tbl --target y
cmp -s keep.tbl first.tbl || fault 'bad text' 'the old table was touched'
# A disk that is full: no file may grow beyond 64 KiB.
try 'full disk'            1 '' 't2.tbl: .*cannot be written: File too large' \
    bash -c 'trap "" XFSZ; ulimit -f 64; exec "$0" convert data.csv t2.tbl --target y' "$sbps"
[ -e t2.tbl ] && fault 'full disk' 'half a table was left'
compgen -G '*.tmp.*' >/dev/null && fault 'temporary files' "left: $(ls)"

# Several files, and patterns, are one table; none of them is overwritten.
mkdir parts
head -n 1001 data.csv >parts/a.csv
for k in 1 2; do { head -n 1 data.csv; tail -n +$((1000 * k + 2)) data.csv | head -n 1000; } >parts/$k.csv; done
mv parts/a.csv parts/0.csv
try 'several files'        0 '' '' "$sbps" convert parts/0.csv parts/1.csv parts/2.csv s.tbl --target y
cmp -s s.tbl first.tbl || fault 'several files' 'three thirds are another table than the whole'
try 'a pattern'            0 '' '' "$sbps" convert 'parts/?.csv' p.tbl --target y
cmp -s p.tbl first.tbl || fault 'a pattern' 'three thirds are another table than the whole'
ln -s parts/1.csv link.csv
ln parts/2.csv hard.csv
for out in parts/1.csv ./parts/../parts/1.csv link.csv hard.csv; do
    try "onto $out"        2 '' "convert: .*$out is one of the data files" "$sbps" convert parts/0.csv parts/1.csv parts/2.csv "$out" --target y
    try "a pattern onto $out" 2 '' "convert: .*$out is the data file" "$sbps" convert 'parts/*.csv' "$out" --target y
    try "sample onto $out" 2 '' "--output: .*$out is one of the data files" \
        "$sbps" sample parts/0.csv parts/1.csv parts/2.csv --target y --model logistic -o "$out"
    try "sample, a pattern onto $out" 2 '' "--output: .*$out is the data file" "$sbps" sample 'parts/*.csv' --target y --model logistic -o "$out"
done
try 'no name to write'     2 '' 'data.csv: exists and is not a converted table' "$sbps" convert parts/0.csv parts/1.csv data.csv --target y
try 'another header'       1 '' "other.csv:1: column . is 'z', but in data.csv it is 'x2'" bash -c "sed '1s/x2/z/' data.csv >other.csv; \"$sbps\" convert data.csv other.csv o.tbl --target y"

# Groups: the table that sample makes of the text, and the same draws, including group effects.
awk -F, 'NR == 1 { print $0 ",g,h" } NR > 1 { print $0 ",g" NR % 40 ",h" NR % 7 }' data.csv >g.csv
for formula in 'y ~ x1 + (1 + x2 | g)' 'y ~ x1 + (1 | g) + (x2 || h)'; do
    try "groups, $formula"  0 '' '' "$sbps" convert g.csv g.tbl --formula "$formula"
    run=(--model logistic "${quick[@]}" --ranef all)
    rm -f group-*.csv
    "$sbps" sample g.csv "$formula" "${run[@]}" -o group-text.csv 2>/dev/null
    try 'sample of groups'  0 '' '^logistic' "$sbps" sample g.tbl "${run[@]}" -o group-table.csv
    cmp -s group-text.csv group-table.csv || fault "groups, $formula" 'the draws are others than those of the text'
    try 'the same formula'  0 'sd_g__Intercept' '' bash -c '"$@" 2>/dev/null' - "$sbps" map g.tbl "$formula" --model logistic
    try 'another formula'   2 '' 'columns of a converted table are fixed' "$sbps" map g.tbl 'y ~ x1' --model logistic
done
try 'groups of floats'     0 '' '' "$sbps" convert g.csv f.tbl --formula 'y ~ x1 + (1 + x2 | g)' --storage float
try 'their mode'           0 'cor_g__Intercept__x2' '' bash -c '"$@" 2>/dev/null' - "$sbps" map f.tbl --model logistic
finish
