#!/usr/bin/env bash
# Formulas on the command line: after the file or as an option; errors have their position.
. "$(dirname "$0")/common.sh"

awk 'BEGIN {
    print "y,x,z,c,odd name"
    for (i = 1; i <= 300; i++)
        printf "%d,%.6f,%.6f,%s,%.3f\n", (sin(7 * i) + 2 * sin(19 * i) > 0), sin(7 * i), 1.5 + cos(3 * i), substr("abc", 1 + i % 3, 1), cos(i)
}' >t.csv
# ---- argument or option ----
try 'behind the file'  0 '^name,value \(Intercept\),.* cb,.* cc,.* log\(z\),.* cb:x,.* cc:x,' "column 'c' \(3 levels\)" "$sbps" map t.csv 'y ~ c*x + log(z)' --model logistic --csv
cp .out one.csv
try 'as an option'     0 '^name,value \(Intercept\),' 'column' "$sbps" map t.csv --formula 'y ~ c*x + log(z)' --model logistic --csv
cmp -s .out one.csv || fault 'as an option' 'another mode'
try 'as columns'       0 '^name,value intercept,.*x,.*z,' '' "$sbps" map t.csv --target y --features x,z --model logistic --csv
cp .out two.csv
try 'the same'         0 '^name,value \(Intercept\),' '' "$sbps" map t.csv 'y ~ x + z' --model logistic --csv
sed 's/^intercept,/(Intercept),/' two.csv | cmp -s .out - || fault 'the same' "$(paste -d' ' .out two.csv)"
try 'laplace'          0 'poly\(x, 2\)1 .*`odd name`' '' "$sbps" laplace t.csv 'y ~ poly(x, 2) + `odd name`' --model logistic
try 'sample'           0 '' 'smallest ESS' "$sbps" sample t.csv 'y ~ x + bs(z, df = 4)' --model logistic -o run.nc --progress on --seed 3
try 'its summary'      0 '\(Intercept\) .*x .*bs\(z, df = 4\)1 .*bs\(z, df = 4\)4 ' '' "$sbps" summary run.nc
try 'converted'        0 '' '' "$sbps" convert t.csv t.tbl --formula 'y ~ x*z + log(z)'
try 'and sampled'      0 '^name,value \(Intercept\),.*x,.*z,.*log\(z\),.*x:z,' '' "$sbps" map t.tbl --model logistic --csv
try 'with bases'       0 '' 'is a category' "$sbps" convert t.csv b.tbl --formula 'y ~ poly(x, 2)*c + ns(z, df = 3) + offset(z)'
try 'its mode'         0 '^name,value \(Intercept\),' 'is a category' "$sbps" map b.tbl --model logistic --csv
cp .out three.csv
try 'as from text'     0 '^name,value \(Intercept\),' 'is a category' "$sbps" map t.csv 'y ~ poly(x, 2)*c + ns(z, df = 3) + offset(z)' --model logistic --csv
awk -F, 'NR == FNR { name[NR] = $1; w[NR] = $2; next } $1 != name[FNR] || (FNR > 1 && ($2 - w[FNR])^2 > 1e-12) { exit 1 }' three.csv .out ||
    fault 'as from text' "$(paste -d' ' three.csv .out)"
try 'groups'           0 '' '' "$sbps" convert t.csv g.tbl --formula 'y ~ x + (1 | c)'
try 'fixed'            2 '' 'columns of a converted table are fixed' "$sbps" map t.tbl 'y ~ x' --model logistic

# ---- errors ----
try 'unknown column'   2 '' '^sbps: formula, column 9: no column is named .q.*   y ~ x \+ q           \^ $' "$sbps" map t.csv 'y ~ x + q' --model logistic
try 'no tilde'         2 '' 'neither a file nor a formula with a ~' "$sbps" map t.csv 'x + z' --model logistic
try 'open parenthesis' 2 '' 'column 8: the parenthesis that opens here is not closed' "$sbps" map t.csv 'y ~ log(x' --model logistic
try 'unknown function' 2 '' "column 5: no function is called 'lgo', did you mean 'log'" "$sbps" map t.csv 'y ~ lgo(x)' --model logistic
try 'and a target'     2 '' '\-\-target cannot be combined with \-\-formula' "$sbps" map t.csv 'y ~ x' --target y --model logistic
try 'and no intercept' 2 '' '\-\-no-intercept cannot be combined with \-\-formula' "$sbps" map t.csv 'y ~ x' --no-intercept --model logistic
try 'not finite'       1 '' "t.csv:[0-9]+: 'log\(x\)' is not a number" "$sbps" map t.csv 'y ~ log(x)' --model logistic

# ---- columns are counted before any is made ----
awk 'BEGIN {
    print "y,a,b,c,x"
    for (i = 1; i <= 2000; i++)
        printf "%.4f,a%d,b%d,c%d,%.4f\n", sin(7 * i), i % 1000, int(i * 7 / 2) % 1000, i % 37, cos(3 * i)
}' >wide.csv
awk 'BEGIN {
    printf "y"
    for (k = 1; k <= 26; k++) printf ",f%d,x%d", k, k
    print ""
    for (i = 1; i <= 200; i++) {
        printf "%.4f", sin(7 * i)
        for (k = 1; k <= 26; k++) printf ",%s,%.4f", substr("abc", 1 + int(i / k) % 3, 1), sin(i * k)
        print ""
    }
}' >many.csv
joined() { printf "$1%d" 1; printf "$3$1%d" $(seq 2 "$2"); } # LETTER COUNT SIGN
while IFS='|' read -r formula sentence; do
    formula=${formula//;/|}
    data=many.csv
    [[ $formula == *a* ]] && data=wide.csv
    try "$formula" '[12]' '' "^sbps: formula, column [0-9]+: $sentence" \
        bash -c 'ulimit -v 1000000; exec "$@"' - "$sbps" map $data "y ~ $formula" --model linear
done <<TABLE
a*b|'a:b' has 998001 columns, all terms together 1000000: set-up would need matrices of [0-9.e+]+ GiB, .* \(1 . a:b\) makes its levels groups
a*b*c|'a:b:c' has 35928036 columns, all terms together 37000000: .* matrices of .* GiB, and this machine has .* GiB; \(1 . a:b:c\)
a:b:x|'a:b:x' has 1000000 columns, all terms together 1000001: .*; leave terms out, or use a lower power
x + (a*b ; c)|\(... . c\): 'a:b' has 998001 effects per level, all terms together 1000000; at most 5 effects per level are supported
x + (a ; c)|\(... . c\): 'a' has 999 effects per level, all terms together 1000; at most 5
($(joined f 25 +))^4|'f1:f2:f3:f4' has 16 columns, all terms together 222051: set-up would need matrices of .* GiB
($(joined f 15 +))^15|'f1:f2:f3:f4:...' has 32768 columns, all terms together 14348907: .*; leave terms out, or use a lower power
$(joined f 26 '*')|the formula has more than 65536 terms; a lower power or fewer \* makes fewer
(($(joined x 15 +))^9)^9|(the terms of the formula take too long to expand|the formula has more than 65536 terms); a lower power
$(joined f 13 :):$(joined x 13 :):I(x1^2):I(x2^2):I(x3^2):I(x4^2):I(x5^2):I(x6^2):I(x7^2)|a term multiplies more than 32 variables
TABLE
# a power of a power that stays small is no larger than what it joins
try 'powers of powers' 0 '' '' "$sbps" convert many.csv p.tbl --formula "y ~ (($(joined x 5 +))^9)^9"

finish
