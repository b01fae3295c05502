#!/usr/bin/env bash
# Warnings are what a user can act on, at most one a run: none after ordinary fits, exactly one after bad ones.
. "$(dirname "$0")/common.sh"

awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 9; print "y,b,k,x,z,g,c,o"
        for (i = 0; i < 400; i++) { a = n(); e = n(); printf "%.5f,%d,%d,%.5f,%.5f,g%d,%s,%d\n", 1 + a + e, (a + e > 0), int(exp(0.5 + 0.3 * a) + u()), a, n(), i % 12, substr("uvw", 1 + i % 3, 1), 1 + (a + e > -0.5) + (a + e > 0.7) } }' >table.csv
sed '5s/,[^,]*$/,/; 9s/,[^,]*$/,/' table.csv >holes.csv

# the lines of a run on standard error that begin with a warning
warnings() { # NAME EXPECTED REGEX COMMAND...
    local name=$1 expected=$2 regex=$3 count
    shift 3
    cases=$((cases + 1))
    "$@" >/dev/null 2>.err || fault "$name" "exit $?: $(tail -n 1 .err)"
    count=$(grep -ci 'warning' .err)
    [ "$count" = "$expected" ] || fault "$name" "$count warnings, expected $expected: $(grep -i warning .err | head -n 3)"
    [ -z "$regex" ] || grep -qE "$regex" .err || fault "$name" "no '$regex' in: $(grep -i warning .err)"
}
fit=("$sbps" sample)

# ---- ordinary ----
none() { warnings "$1" 0 '' "${fit[@]}" "${@:2}" --progress on -o "run$cases.nc"; }
none 'linear'          table.csv 'y ~ x + z'
none 'a factor'        table.csv 'y ~ x * c'
none 'logistic'        table.csv 'b ~ x + z'
none 'poisson'         table.csv 'k ~ x' --family poisson
none 'ordinal'         table.csv 'o ~ x' --family cumulative
none 'softmax'         table.csv 'c ~ x' --model softmax
none 'groups'          table.csv 'y ~ x + (1 | g)'
none 'slopes'          table.csv 'b ~ x + (1 + x | g)' --family bernoulli
none 'missing cells'   holes.csv 'y ~ x + o'
none 'student'         table.csv 'y ~ x' --model student_t
none 'horseshoe'       table.csv 'y ~ x + z' --prior 'hs()'
none 'the prior alone' table.csv 'y ~ x' --prior-only
none 'given sampler'   table.csv 'y ~ x' --sampler hmc
cases=$((cases + 1))
"${fit[@]}" holes.csv 'y ~ x + o' --progress off -o holes.nc 2>&1 | grep -q "dropped 2 of 400 rows with missing values: 'o' (2)" || fault 'dropped rows' 'not reported'
# a change of the sampler in warm-up is a fact about costs: in JSON only
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 7; print "a,b,c,d,e,f,y"
        for (i = 0; i < 20000; i++) printf "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%d\n", n(), n(), n(), n(), n(), n(), (u() < 0.5) }' >noise.csv
none 'costs'           noise.csv --model logistic --target y --prior 'cauchy(0,0.01)' --seed 2
"$sbps" summary "run$((cases - 1)).nc" --json | grep -q '"replanned": "switched' || fault 'costs' 'no change of the sampler to report'
"$sbps" simulate logistic --rows 3000 --dim 30 --seed 2 -o wide.csv >/dev/null 2>&1

# ---- to be acted on ----
one() { warnings "$1" 1 "$2" "${fit[@]}" "${@:3}" --progress on -o "run$cases.nc"; }
one 'too few draws'    'warning: too few draws to check whether the chains agree' table.csv 'y ~ x' --ess 4 --draws 4 --chains 1 --sampler hmc --epochs 1
"$sbps" simulate multimodal --rows 500 --dim 2 -o modes.csv >/dev/null 2>&1
one 'separate modes'   'warning: the chains have not converged: R-hat [0-9.]+ > 1.01' modes.csv --model multimodal --ess 60 --draws 100
one 'too short'        'warning: the chains have not converged: R-hat' table.csv 'b ~ x + z' --sampler sgld --epochs 5 --draws 40
one 'bias'             'warning: .*stated bias of .* above the budget of 0.001' wide.csv --model logistic --target y --sampler sbps --band 1 --bias-budget 0.001
one 'a full disk'      'warning: .*checkpoint not written' table.csv 'y ~ x' --sampler sbps --checkpoint /dev/full
one 'several'          'warning: the chains have not converged: [^;]*; .*checkpoint not written.*; see `sbps diagnose' table.csv 'b ~ x + z' --sampler sgld --epochs 5 --draws 40 --checkpoint /dev/full
finish
