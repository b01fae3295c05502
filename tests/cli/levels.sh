#!/usr/bin/env bash
# Labels of the target in an order: --levels, or as they sort, which is told.
. "$(dirname "$0")/common.sh"

awk 'BEGIN { srand(4); print "grade,number,x"; for (i = 0; i < 2000; i++) {
    x = 4 * rand() - 2; u = rand(); z = x + log(u / (1 - u)); k = z < -1 ? 1 : z < 1 ? 2 : 3
    printf "%s,%d,%.5f\n", substr("low mid high", 4 * k - 3, 4 - (k < 3)), k, x } }' >o.csv
by=(--model ordinal --target grade --exclude number)
values() { "$sbps" map "$@" --csv 2>/dev/null | cut -d, -f2; }
values o.csv --model ordinal --target number --exclude grade >want
[ "$(wc -l <want)" -eq 4 ] || fault 'numbers' "$(cat want)"

try 'listed'               0 'low\|mid.*mid\|high' "are 'low', 'mid', 'high' $" "$sbps" map o.csv "${by[@]}" --levels low,mid,high
values o.csv "${by[@]}" --levels low,mid,high | cmp -s - want || fault 'listed' 'is another mode than that of numbers'
try 'not listed'           0 'high\|low' "are 'high', 'low', 'mid', in this order .--levels says another" "$sbps" map o.csv "${by[@]}"
try 'one lacks'            2 '' "--levels: target 'grade' holds 'high', which is not among them" "$sbps" map o.csv "${by[@]}" --levels low,mid
try 'one twice'            2 '' "--levels: 'mid' is named twice" "$sbps" map o.csv "${by[@]}" --levels low,mid,high,mid
try 'one that no row has'  0 'mid\|high' 'sbps' "$sbps" map o.csv "${by[@]}" --levels none,low,mid,high
try 'numbers turned'       0 '3\|2.*2\|1' "are '3', '2', '1'" "$sbps" map o.csv --model ordinal --target number --exclude grade --levels 3,2,1
try 'a number to explain'  2 '' '--levels is for models of classes' "$sbps" map o.csv --model linear --target x --levels 1,2
try 'a formula'            0 'low\|mid' 'sbps' "$sbps" map o.csv 'grade ~ x' --model ordinal --levels low,mid,high
try 'two outcomes'         0 '' "'low' is 1 and 'mid' is 0" bash -c "grep -v high o.csv >two.csv; \"$sbps\" map two.csv --model logistic --target grade --exclude number --levels mid,low >/dev/null"
try 'convert'              0 '' "are 'low', 'mid', 'high'" "$sbps" convert o.csv o.tbl --target grade --exclude number --levels low,mid,high
values o.tbl --model ordinal | cmp -s - want || fault 'convert' 'is another mode than that of numbers'
try 'too late'             2 '' '--levels: the columns and labels of a converted table were chosen' "$sbps" map o.tbl --model ordinal --levels low,mid,high

printf 'y,x\n' >n.csv
for i in $(seq 60); do echo "grade $((i * 7 % 11 + 1)),$i.$((i * 31 % 97))"; done >>n.csv
try 'natural order'        0 'grade 9\|grade 10.*grade 10\|grade 11' "'grade 1', 'grade 2', 'grade 3'" "$sbps" map n.csv --model ordinal --target y
finish
