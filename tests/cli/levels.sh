#!/usr/bin/env bash
# Labels of the target in an order: --levels, or sorted, with a note. Ordinal models sort numbers only.
. "$(dirname "$0")/common.sh"

awk 'BEGIN { srand(4); print "grade,number,x"; for (i = 0; i < 2000; i++) {
    x = 4 * rand() - 2; u = rand(); z = x + log(u / (1 - u)); k = z < -1 ? 1 : z < 1 ? 2 : 3
    printf "%s,%d,%.5f\n", substr("low mid high", 4 * k - 3, 4 - (k < 3)), k, x } }' >o.csv
by=(--model ordinal --target grade --exclude number)
values() { "$sbps" map "$@" --csv 2>/dev/null | cut -d, -f2; }
values o.csv --model ordinal --target number --exclude grade >want
[ "$(wc -l <want)" -eq 4 ] || fault 'numbers' "$(cat want)"

try 'listed'               0 'low\|mid.*mid\|high' "are 'low', 'mid', 'high', in this order" "$sbps" map o.csv "${by[@]}" --levels low,mid,high
values o.csv "${by[@]}" --levels low,mid,high | cmp -s - want || fault 'listed' 'is another mode than that of numbers'
try 'not listed'           2 '' "target 'grade': the order of the labels 'high', 'low', 'mid' is not known; list them .* with --levels" "$sbps" map o.csv "${by[@]}"
try 'one lacks'            2 '' "--levels: target 'grade' has the label 'high', which is not listed" "$sbps" map o.csv "${by[@]}" --levels low,mid
try 'one twice'            2 '' "--levels: 'mid' is named twice" "$sbps" map o.csv "${by[@]}" --levels low,mid,high,mid
try 'one that no row has'  0 'mid\|high' 'sbps' "$sbps" map o.csv "${by[@]}" --levels none,low,mid,high
try 'numbers turned'       0 '3\|2.*2\|1' "are '3', '2', '1'" "$sbps" map o.csv --model ordinal --target number --exclude grade --levels 3,2,1
try 'a number to explain'  2 '' '--levels is for models of classes' "$sbps" map o.csv --model linear --target x --levels 1,2
try 'a formula'            0 'low\|mid' 'sbps' "$sbps" map o.csv 'grade ~ x' --model ordinal --levels low,mid,high
try 'two outcomes'         0 '' "'low' is 1 and 'mid' is 0" bash -c "grep -v high o.csv >two.csv; \"$sbps\" map two.csv --model logistic --target grade --exclude number --levels mid,low >/dev/null"
try 'convert'              0 '' "are 'low', 'mid', 'high'" "$sbps" convert o.csv o.tbl --target grade --exclude number --levels low,mid,high
values o.tbl --model ordinal | cmp -s - want || fault 'convert' 'is another mode than that of numbers'
try 'too late'             2 '' '--levels: the columns and labels of a converted table are fixed' "$sbps" map o.tbl --model ordinal --levels low,mid,high

printf 'y,x\n' >n.csv
for i in $(seq 60); do echo "grade $((i * 7 % 11 + 1)),$i.$((i * 31 % 97))"; done >>n.csv
try 'natural order'        2 '' "'grade 1', 'grade 2', 'grade 3'.* .11. is not known" "$sbps" map n.csv --model ordinal --target y

# ---- numbers as levels: a number is one level, however it is written, and whole numbers above 2^53 stay apart ----
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    BEGIN { s = 5; print "id,big,zip,y,x"; split("1e5,100000,1E5,100000.0,5,7,5.0,7", id, ","); split("007,7,0012,12", zip, ",")
        for (i = 0; i < 240; i++) { k = i % 8; b = i % 3
            printf "%s,900719925474099%d,%s,%.4f,%.4f\n", id[k + 1], 2 + b + (b == 2), zip[1 + i % 4], (k < 4) + b + u(), u() } }' >num.csv
names() { "$sbps" map num.csv "$@" --family gaussian --csv 2>.err | cut -d, -f1 | tr '\n' ' '; }
same_names() { # NAME WANT OPTION...
    local name=$1 want=$2 got
    shift 2
    cases=$((cases + 1))
    got=$(names "$@")
    [ "$got" = "$want" ] || fault "$name" "names '$got', expected '$want': $(head -n 2 .err)"
}
same_names 'factor of numbers'      'name (Intercept) factor(id)7 factor(id)1e+05 sigma ' 'y ~ factor(id)'
same_names 'a category of numbers'  'name (Intercept) id7 id1e+05 sigma '                 'y ~ id' --categorical id
same_names 'without a formula'      'name intercept id=7 id=1e+05 sigma '               --target y --features id --categorical id
same_names 'another reference'      'name (Intercept) id5 id7 sigma '                     'y ~ id' --categorical id --reference id=100000
same_names 'identifiers'            'name (Intercept) zip7 zip0012 zip12 sigma '          'y ~ zip' --categorical zip
same_names 'above 2^53'             'name (Intercept) factor(big)9007199254740993 factor(big)9007199254740995 sigma ' 'y ~ factor(big)'
same_names 'above 2^53, named'      'name (Intercept) big9007199254740993 big9007199254740995 sigma ' 'y ~ big' --categorical big
try 'a number and levels' 1 '' "num.csv:3: column 'big': 9007199254740993 has more digits than a number can hold, so that levels would merge; use --categorical" \
    "$sbps" map num.csv 'y ~ big + factor(big)' --family gaussian
diff <(values num.csv 'y ~ factor(id)' --family gaussian) <(values num.csv 'y ~ id' --categorical id --family gaussian) >/dev/null ||
    fault 'factor and category' 'have other values'

# Groups, and new rows with other spellings.
"$sbps" sample num.csv 'y ~ x + (1 | id) + (1 | big)' --family gaussian --ranef all --seed 1 --ess 50 --progress off -o num.nc 2>.err || fault groups "$(cat .err)"
"$sbps" summary num.nc --effects --csv | grep -o 'r_[a-z]*\[[^,]*' | sort | tr '\n' ' ' >.out
[ "$(cat .out)" = 'r_big[9007199254740992 r_big[9007199254740993 r_big[9007199254740995 r_id[1e+05 r_id[5 r_id[7 ' ] || fault groups "are $(cat .out)"
try 'loo by groups that are numbers' 0 '"same_table": true' '' "$sbps" loo num.nc num.csv --json
"$sbps" sample num.csv 'y ~ x + id' --categorical id --family gaussian --seed 1 --ess 50 --progress off -o category.nc 2>.err || fault category "$(cat .err)"
for run in num category; do
    for id in 1e5 100000 1E5 100000.0 1e+05; do printf 'x,id,big\n0.5,%s,9007199254740993\n' "$id" >new.csv; "$sbps" predict $run.nc new.csv 2>.err | tail -n 1; done | sort -u >.out
    [ "$(wc -l <.out)" = 1 ] || fault "predict $run" "the same level has several predictions, or none: $(head -n 3 .out .err)"
done
finish
