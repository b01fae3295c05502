#!/usr/bin/env bash
# Tables with columns, targets and priors of extreme size: a run ends with a correct result, or is refused with a
# message that names the column and what to do. Results are compared with least squares, computed here.
. "$(dirname "$0")/common.sh"

# y = 1 + 2 x - z + noise, and columns made of z
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307179586 * u()) }
    BEGIN { s = 1; split("a b c", class, " ")
        print "y,x,z,p,g,o,cnt,h,one30,one10,near30,near6,near9,big30,small30,small100,big145,big200,twin,out,t8,y80,y160,y15"
        for (i = 0; i < 100; i++) {
            x = n(); z = n(); y = 1 + 2 * x - z + n()
            printf "%.9g,%.9g,%.9g,%d,%s,%d,%d,%.9g,1e30,1e10,", y, x, z, u() < 0.5, class[1 + i % 3], i % 3 + 1, 10 * u(), 50 + 285 * u()
            printf "%.17g,%.17g,%.17g,", 1e30 * (1 + (u() < 0.5) * 2^-52), 1e6 + 1e-6 * z, 1e9 + z
            printf "%.9ge30,%.9ge-30,%.9ge-100,%.9ge145,%.9ge200,%.9g,%.9g,", z, z, z, z, z, 2 * x, i == 7 ? 1e12 : u()
            printf "%.9g,%.9ge80,%.9ge160,%.17g\n", i == 50 ? 1e8 : y, y, y, 1e15 + y
        } }' >table.csv
sample() { # FORMULA MODEL OPTION...: within 60 s of wall clock where it does not end, so that others are still tried
    local formula=$1 model=$2
    shift 2
    timeout 60 "$sbps" sample table.csv "$formula" --model "$model" --progress off --seed 3 "$@"
}
export -f sample
export sbps
refuse() { # NAME SENTENCE FORMULA MODEL OPTION...
    local name=$1 sentence=$2
    shift 2
    try "$name" 1 '' "sbps: $sentence" bash -c 'sample "$@" -o refused.nc' sample "$@"
    [ $(grep -c '^sbps: ' .err) -le 3 ] || fault "$name" "more than two notes and a sentence: $(cat .err)"
    rm -f refused.nc
}
stiff='is nearly constant: its standard deviation.* mean( of|,) (1e\+[0-9]*|1000000); subtract the mean, use --standardize, or leave the column out'
alike='too far from 0 to be distinguished from the intercept in double precision: leave it out'
unit='outside the range in which its variance can be estimated'
column="$unit: divide the column by a power of ten, take its logarithm, or use --standardize"
square='has values too large or too small to compute their spread: divide it by a power of ten, or take its logarithm'

refuse 'exp'             "column 'exp\(h\)' has mean .*e\+14. and sd .*, so that its coefficient is of the order of .*e-14., $column" 'y ~ exp(h)' linear
refuse '1e145'           "column 'big145' has mean .*$column" 'y ~ x + big145' linear
refuse '1e145, classes'  "column 'big145' has mean .*$column" 'g ~ x + big145' softmax
refuse '1e145, ordered'  "column 'big145' has mean .*$column" 'o ~ x + big145' ordinal
refuse '1e-100'          "column 'small100' has mean .*$column" 'p ~ x + small100' logistic
refuse '1e200'           ".*column 'big200' $square" 'y ~ x + big200' linear
refuse 'product'         ".*column 'x:I\(.*\)' $square" 'y ~ x:I(big145 * 1e50)' linear
for model in linear:y logistic:p poisson:cnt softmax:g ordinal:o; do
    refuse "${model%:*}: the same, 1e30" "column 'one30' is 1e\+30 in every row, $alike" "${model#*:} ~ x + one30" "${model%:*}"
    refuse "${model%:*}: near 1e9" "column 'near9' $stiff" "${model#*:} ~ x + near9" "${model%:*}"
    refuse "${model%:*}: near 1e9, a prior" "column 'near9' $stiff" "${model#*:} ~ x + near9" "${model%:*}" --prior 'normal(0,2.5)'
done
refuse 'the same, 1e10'  "column 'one10' is 1e\+10 in every row, $alike" 'y ~ x + one10' linear
refuse 'near 1e30'       "column 'near30' $stiff" 'y ~ x + near30' linear
refuse 'near 1e6'        "column 'near6' $stiff" 'y ~ x + near6' linear
refuse 'twins, wide'     "column 'twin' is a linear combination of 'x', and the prior is too wide to tell them apart in double precision: drop the column or give a narrower prior" 'y ~ x + twin' linear --prior 'normal(0,1e9)'
refuse 'target of 1e80'  "the parameter '\(Intercept\)' is of the order of 1e\+79, $unit: divide the target 'y80' by a power of ten" 'y80 ~ x' linear
refuse 'target of 1e160' "target 'y160' has values whose squares are out of range in double precision: divide it by a power of ten" 'y160 ~ x' linear
refuse 'target near 1e15' "target 'y15' \(mean 1e\+15, sd [0-9.]*\) varies too little for its size: subtract its mean" 'y15 ~ x' linear
refuse 'prior of 1e-100' "the parameter 'x' is of the order of 1e-100, $unit: give it a prior of another scale" 'y ~ x' linear --prior 'normal(0,1e-100)'
try 'horseshoe' 2 '' "--prior: a horseshoe applies to unscaled coefficients, and column 'big30' has a standard deviation of .*e\+(29|30): use --standardize, or divide the column by a power of ten" \
    bash -c 'sample "$@" -o refused.nc' sample 'y ~ x + big30' linear --prior 'horseshoe(1)'
try 'map, near 1e9' 1 '' "column 'near9' $stiff" "$sbps" map table.csv 'y ~ x + near9' --model linear

# Least squares of y on an intercept and columns A and B of the table: "coefficient of A, of B, sd(B)"
squares() { # TARGET A B
    awk -F, -v t="$1" -v a="$2" -v b="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { y[NR] = $at[t]; p[NR] = $at[a]; q[NR] = $at[b]; my += y[NR]; mp += p[NR]; mq += q[NR]; n++ }
        END { my /= n; mp /= n; mq /= n
            for (i = 2; i < n + 2; i++) { c = p[i] - mp; d = (q[i] - mq); e = y[i] - my; pp += c * c; pq += c * d; qq += d * d; py += c * e; qy += d * e }
            det = pp * qq - pq * pq
            printf "%.12g %.12g %.12g\n", (py * qq - qy * pq) / det, (qy * pp - py * pq) / det, sqrt(qq / n) }' table.csv
}
# The run's mean of a parameter, in units of its distance from WANT: 5 mcse and 0.02 sd for the prior
near() { # NAME PARAMETER WANT
    cases=$((cases + 1))
    "$sbps" summary run.nc --csv >summary.csv 2>.err
    awk -F, -v p="$2" -v want="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 == p { found = 1; off = $at["mean"] - want; off = off < 0 ? -off : off
            for (i = 2; i <= NF; i++) if ($i == "NaN" || $i == "nan" || $i == "inf") { print p " has no " i "-th number"; bad = 1 }
            if (!(off <= 5 * $at["mcse"] + 0.02 * $at["sd"])) { print p " is " $at["mean"] ", expected " want; bad = 1 } }
        END { exit bad || !found }' summary.csv >.out || fault "$1" "$(cat .out)"
}
answer() { # NAME FORMULA MODEL OPTION...
    local name=$1
    shift
    rm -f run.nc
    try "$name" 0 '' '.' bash -c 'sample "$@" -o run.nc' sample "$@"
}

read -r slope own spread <<<"$(squares y x z)"
answer '1e30' 'y ~ x + big30' linear
near '1e30' x "$slope"
near '1e30' big30 "${own}e-30"
answer '1e-30' 'y ~ x + small30' linear
near '1e-30' small30 "${own}e30"
answer 'near 1e9, standardised' 'y ~ x + near9' linear --standardize
near 'near 1e9, standardised' near9 "$(awk "BEGIN { print $own * $spread }")"
answer '1e145, standardised' 'y ~ x + big145' linear --standardize
near '1e145, standardised' big145 "$(awk "BEGIN { print $own * $spread }")"
read -r slope own spread <<<"$(squares y x out)"
answer 'one cell of 1e12' 'y ~ x + out' linear
near 'one cell of 1e12' x "$slope"
near 'one cell of 1e12' out "$own"
# without the row that is 1e8 the slopes are 2 and -1 but for 0.12 (one sd of 100 rows); a normal distribution has them near 1e6
answer 'student_t, one target of 1e8' 't8 ~ x + z' student_t
cases=$((cases + 1))
"$sbps" summary run.nc --csv | awk -F, '$1 == "x" { a = $2 - 2 } $1 == "z" { b = $2 + 1 } END { exit !(a * a < 0.25 && b * b < 0.25) }' ||
    fault 'student_t, one target of 1e8' "$("$sbps" summary run.nc)"
finish
