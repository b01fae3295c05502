#!/usr/bin/env bash
# Formulas on the command line: behind the file or as an option; what is wrong is pointed at.
. "$(dirname "$0")/common.sh"

awk 'BEGIN {
    print "y,x,z,c,odd name"
    for (i = 1; i <= 300; i++)
        printf "%d,%.6f,%.6f,%s,%.3f\n", (sin(7 * i) + 2 * sin(19 * i) > 0), sin(7 * i), 1.5 + cos(3 * i), substr("abc", 1 + i % 3, 1), cos(i)
}' >t.csv
# ---- where it stands ----
try 'behind the file'  0 '^name,value intercept,.* cb,.* cc,.* log\(z\),.* cb:x,.* cc:x,' "column 'c' \(3 levels\)" "$sbps" map t.csv 'y ~ c*x + log(z)' --model logistic --csv
cp .out one.csv
try 'as an option'     0 '^name,value intercept,' 'column' "$sbps" map t.csv --formula 'y ~ c*x + log(z)' --model logistic --csv
cmp -s .out one.csv || fault 'as an option' 'another mode'
try 'as columns'       0 '^name,value intercept,.*x,.*z,' '' "$sbps" map t.csv --target y --features x,z --model logistic --csv
cp .out two.csv
try 'the same'         0 '^name,value intercept,' '' "$sbps" map t.csv 'y ~ x + z' --model logistic --csv
cmp -s .out two.csv || fault 'the same' "$(paste -d' ' .out two.csv)"
try 'laplace'          0 'poly\(x, 2\)1 .*`odd name`' '' "$sbps" laplace t.csv 'y ~ poly(x, 2) + `odd name`' --model logistic
try 'sample'           0 '' 'smallest ESS' "$sbps" sample t.csv 'y ~ x + bs(z, df = 4)' --model logistic -o run.nc --progress on --seed 3
try 'its summary'      0 'intercept .*x .*bs\(z, df = 4\)1 .*bs\(z, df = 4\)4 ' '' "$sbps" summary run.nc
try 'converted'        0 '' '' "$sbps" convert t.csv t.tbl --formula 'y ~ x*z + log(z)'
try 'and sampled'      0 '^name,value intercept,.*x,.*z,.*log\(z\),.*x:z,' '' "$sbps" map t.tbl --model logistic --csv
try 'with bases'       0 '' 'is a category' "$sbps" convert t.csv b.tbl --formula 'y ~ poly(x, 2)*c + ns(z, df = 3) + offset(z)'
try 'its mode'         0 '^name,value intercept,' 'is a category' "$sbps" map b.tbl --model logistic --csv
cp .out three.csv
try 'as from text'     0 '^name,value intercept,' 'is a category' "$sbps" map t.csv 'y ~ poly(x, 2)*c + ns(z, df = 3) + offset(z)' --model logistic --csv
awk -F, 'NR == FNR { name[NR] = $1; w[NR] = $2; next } $1 != name[FNR] || (FNR > 1 && ($2 - w[FNR])^2 > 1e-12) { exit 1 }' three.csv .out ||
    fault 'as from text' "$(paste -d' ' three.csv .out)"
try 'groups'           0 '' '' "$sbps" convert t.csv g.tbl --formula 'y ~ x + (1 | c)'
try 'settled'          2 '' 'columns of a converted table are settled' "$sbps" map t.tbl 'y ~ x' --model logistic

# ---- what is wrong ----
try 'unknown column'   2 '' '^sbps: formula, column 9: no column is named .q.*   y ~ x \+ q           \^ $' "$sbps" map t.csv 'y ~ x + q' --model logistic
try 'no tilde'         2 '' 'a formula without a ~' "$sbps" map t.csv 'x + z' --model logistic
try 'open parenthesis' 2 '' 'column 8: the parenthesis that opens here is not closed' "$sbps" map t.csv 'y ~ log(x' --model logistic
try 'unknown function' 2 '' "column 5: no function is called 'lgo', did you mean 'log'" "$sbps" map t.csv 'y ~ lgo(x)' --model logistic
try 'and a target'     2 '' '\-\-target: the formula says' "$sbps" map t.csv 'y ~ x' --target y --model logistic
try 'and no intercept' 2 '' '\-\-no-intercept: a formula says so itself' "$sbps" map t.csv 'y ~ x' --no-intercept --model logistic
try 'not finite'       1 '' "t.csv:[0-9]+: 'log\(x\)' is not a number" "$sbps" map t.csv 'y ~ log(x)' --model logistic

finish
