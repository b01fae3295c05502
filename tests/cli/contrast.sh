#!/usr/bin/env bash
# Expressions of parameters: numbers as by R's posterior on the same draws, names as in the summary,
# error messages with their position.
. "$(dirname "$0")/common.sh"

# columns whose parameters have unusual names: levels, an interaction, a function, a digit first
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    BEGIN { s = 12345; print "a,b,group,2nd,y"; split("p,new york,x-y", level, ",")
        for (i = 0; i < 3000; i++) {
            a = u() - 0.5; b = u() + 0.5; g = 1 + int(3 * u())
            print a "," b "," level[g] "," u() "," (u() < 1 / (1 + exp(1 - 2 * a - b - g / 3)))
        } }' >table.csv
sample=("$sbps" sample table.csv 'y ~ a*b + log(b) + group + `2nd`' --family bernoulli --seed 3 --ess 300 --progress off)
"${sample[@]}" -o run.nc >/dev/null 2>.err || fault sample "$(head -n 3 .err)"
"${sample[@]}" -o run.csv >/dev/null 2>.err || fault sample "$(head -n 3 .err)"
"$sbps" summary run.nc --csv | tail -n +2 | sed 's/,[^"]*$//; s/^\([^,]*\),.*/\1/' >names
"$sbps" sample table.csv --model logistic --target y --seed 3 --ess 300 --progress off -o plain.nc >/dev/null 2>.err ||
    fault sample "$(head -n 3 .err)"
contrast=("$sbps" contrast run.nc)

means() { # EXPRESSION...: those of their posteriors, to ten digits
    "${contrast[@]}" --csv -- "$@" | tail -n +2 | sed 's/^"[^"]*",//; t; s/^[^,]*,//' | cut -d, -f1
}

same() { # NAME EXPRESSION EXPRESSION: equal means
    cases=$((cases + 1))
    means "$2" "$3" >.means
    [ "$(wc -l <.means)" -eq 2 ] && [ "$(uniq .means | wc -l)" -eq 1 ] || fault "$1" "'$2' is not '$3'"
}

# ---- grammar ----
same 'products before sums'       'a + b * 2'      'a + (b * 2)'
same 'left to right'              'a - b - 1'      '(a - b) - 1'
same 'division, too'              'a / b / 2'      '(a / b) / 2'
same 'powers to the right'        'a ^ 2 ^ 3'      'a ^ 8'
same 'sign below power'           '-a^2'           '0 - a * a'
same 'sign behind power'          '2^-a'           '1 / 2^a'
same 'comparison is last'         'a + 1 > b'      '(a + 1) > b'
same 'min of several'             'min(a, b, 0.1)' 'min(min(a, b), 0.1)'
same 'min'                        'min(a - b, b - a)' '-abs(a - b)'
same 'min turned'                 'min(b - a, a - b)' '-abs(a - b)'
same 'max'                        'max(a - b, b - a)' 'abs(a - b)'
same 'max turned'                 'max(b - a, a - b)' 'abs(a - b)'
same 'inv_logit'                  'inv_logit(a)'   '1 / (1 + exp(-a))'
same 'logit'                      'logit(inv_logit(a))' 'log(exp(a))'
same 'abs'                        'abs(a)'         'sqrt(a^2)'
same 'blanks'                     '  a+b '         'a + b'

# ---- names ----
while IFS= read -r name; do
    [[ $name == \`* ]] || same "bare $name" "$name" "\`$name\`"
done <names
same 'a function of this name'    'log(b)'         '`log(b)`'
same 'and the function'           'log( abs(b) )'   'log(sqrt(b^2))'
same 'the longest name'           'a:b - a'        '`a:b` - `a`'
try 'a level'        0 'group=x-y \* 2 ' '' "$sbps" contrast plain.nc 'group=x-y * 2' '`2nd`'
try 'digit first'    2 '' 'column 1: write a name that begins with a digit in `backticks`' "$sbps" contrast plain.nc '2nd'

# ---- errors with their position ----
try 'unknown'        2 '' "expression, column 5: there is no parameter 'bb', did you mean 'b'\?   a - bb +\^" "${contrast[@]}" 'a - bb'
try 'unknown level'  2 '' "column 1: there is no parameter 'a=c'" "${contrast[@]}" 'a=c'
try 'the old name'   2 '' "there is no parameter 'intercept', did you mean '\(Intercept\)'\?" "${contrast[@]}" 'intercept + a'
try 'of a level'     2 '' "there is no parameter 'group=p', did you mean 'groupp'\?" "${contrast[@]}" 'group=p'
same 'the intercept'              '(Intercept) + a' 'a + `(Intercept)`'
try 'function'       2 '' "column 1: there is no function 'epx'; did you mean 'exp'" "${contrast[@]}" 'epx(a)'
try 'not closed'     2 '' 'column 4: this parenthesis is not closed' "${contrast[@]}" 'exp(a'
try 'not opened'     2 '' 'column 2: this parenthesis was never opened' "${contrast[@]}" 'a)'
try 'no operator'    2 '' 'column 3: an operator is missing here' "${contrast[@]}" 'a b'
try 'no operand'     2 '' 'column 4: a parameter or a number is missing at the end' "${contrast[@]}" 'a +'
try 'empty'          2 '' 'column 1: a parameter or a number is missing at the end' "${contrast[@]}" ''
try 'two comparisons' 2 '' 'a comparison cannot follow another' "${contrast[@]}" 'a < b < 1'
try 'arguments'      2 '' 'exp takes one argument' "${contrast[@]}" 'exp(a, b)'
try 'backtick'       2 '' 'the closing backtick of this name is missing' "${contrast[@]}" '`a'
try 'too deep'       2 '' 'nested too deeply' "${contrast[@]}" "$(printf '(%.0s' {1..500})"
try 'no number'      1 '' "'log\(0 - b\^2\)' is not a number at [0-9]+ of [0-9]+ draws" "${contrast[@]}" 'log(0 - b^2)'
try 'infinite'       1 '' 'is infinite at' "${contrast[@]}" 'a / 0'
try 'both formats'   2 '' 'use --csv or --json, not both' "${contrast[@]}" a --csv --json
try 'no expression'  2 '' 'name a run file and an expression' "${contrast[@]}"
try 'no run'         1 '' 'not a run file' "$sbps" contrast table.csv a
printf 'a\033[31m' >.odd
try 'no colours of others' 2 '' "^[^$(printf '\033')]*$" "${contrast[@]}" "$(cat .odd)"
try 'a sign first'   0 '^expression +mean +mcse +sd .*-a ' '' "${contrast[@]}" -- -a

# ---- a parameter by itself: its stated bias, and JSON ----
"${contrast[@]}" a '2*a' --json >both.json
"$sbps" summary run.nc --json >summary.json
python3 - <<'P' || fault json 'the bias of an expression'
import json
both = json.load(open("both.json"))
a = next(p for p in json.load(open("summary.json"))["parameters"] if p["name"] == "a")
one, two = both["contrasts"]
assert both["chains"] * both["draws"] > 0 and one["expression"] == "a"
assert abs(one["bias"] * one["sd"] - a["bias"] * a["sd"]) < 1e-9, one
assert abs(two["bias"] - one["bias"]) < 1e-9 and abs(two["mean"] - 2 * one["mean"]) < 1e-12
for column in "q5", "q50", "q95", "ess_bulk", "ess_tail", "rhat":
    assert one[column] == a[column], column
P

# ---- the same by R ----
if Rscript --vanilla -e 'library(posterior)' >/dev/null 2>&1; then
    cases=$((cases + 1))
    "${contrast[@]}" 'a - b' 'exp(a) / b' 'a > b' 'inv_logit(`2nd`)' 'abs(a)^1.5' 'groupx-y * 2' --json >ours.json
    Rscript --vanilla "$root/tests/cli/contrast_by_posterior.R" run.csv >theirs.csv 2>.err ||
        fault posterior "$(head -n 3 .err)"
    python3 - <<'P' || fault posterior 'R has other numbers'
import csv, json, math, sys
ours = json.load(open("ours.json"))["contrasts"]
theirs = list(csv.DictReader(open("theirs.csv")))
assert len(ours) == len(theirs) == 6
for o, t in zip(ours, theirs):
    for column, text in t.items():
        want = float("nan") if text.strip() == "NA" else float(text)
        got = float("nan") if o[column] is None else o[column]
        if not (math.isnan(want) and math.isnan(got) or abs(got - want) <= 1e-9 * max(1, abs(want))):
            sys.exit(f"{o['expression']}: {column} is {got!r}, R has {want!r}")
P
else
    echo "R's posterior is missing: not compared with it"
fi
finish
