#!/usr/bin/env bash
# One run for each known failure, which `diagnose` must name, and runs by the default command, in
# which it must find nothing. Every finding has a remedy; the exit code is 0 either way.
. "$(dirname "$0")/common.sh"

logistic=(--model logistic --target y)
plain=("${logistic[@]}" --sampler sbps --control-variate none --batch-size 104)
published=(--no-intercept --prior 'normal(0,10)' --paper)
"$sbps" simulate logistic --rows 1000 --dim 20 --seed 1 -o paper.csv || exit 1
"$sbps" simulate logistic --rows 2000 --dim 3 --seed 4 -o small.csv || exit 1
"$sbps" simulate multimodal --rows 500 --dim 2 -o corners.csv || exit 1
# 33 positives in 20000 rows
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    BEGIN { s = 12345; print "a,b,y"
        for (i = 0; i < 20000; i++) {
            a = u() - 0.5; b = u() - 0.5
            print a "," b "," (u() < 1 / (1 + exp(7 - 2 * a - 3 * b)))
        } }' >rare.csv
# one positive in 300 rows under a wide prior: a skewed posterior
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 300; i++) print 1 "," (i % 7 == 0) "," (i == 0) }' >skew.csv

run() { # NAME OPTIONS...: samples, then diagnoses into .diagnosis as one line
    local name=$1
    shift
    cases=$((cases + 1))
    rm -f run.nc
    timeout -k 5 600 "$sbps" sample "$@" --progress off -o run.nc >.out 2>.err ||
        fault "$name" "exit $?: $(tail -n 1 .err)"
    "$sbps" diagnose run.nc >.out 2>.err || fault "$name" "diagnose: exit $?: $(head -n 1 .err)"
    [ -s .err ] && fault "$name" "diagnose prints: $(head -n 1 .err)"
    tr -s '\n ' '  ' <.out >.diagnosis
    [ "$(grep -cE '^[0-9]+\. ' .out)" -eq "$(grep -c 'What to do: ' .out)" ] ||
        fault "$name" 'a finding has no remedy'
    "$sbps" diagnose run.nc --json >.json
    /usr/bin/python3 -m json.tool .json >/dev/null || fault "$name" 'no JSON'
    [ "$(grep -cE '^[0-9]+\. ' .out)" -eq "$(grep -c '"seen".*"remedy"' .json)" ] || fault "$name" 'JSON has other findings'
}

found() { # NAME REGEX: in the last run, too
    grep -qE -- "[0-9]+\. $2" .diagnosis ||
        fault "$1" "'$2' is missing: $(grep -E '^[0-9]' .out | head -c 600)"
}

finds() { # NAME REGEX OPTIONS...
    local name=$1 want=$2
    shift 2
    run "$name" "$@"
    found "$name" "$want"
}

clean() { # NAME OPTIONS...
    run "$@"
    grep -qE 'No problems found.* 0 problems, 0 remarks' .diagnosis ||
        fault "$1" "has findings: $(grep -E '^[0-9]' .out | head -c 600)"
}

# ---- no findings ----
clean 'default, d = 20'     paper.csv "${logistic[@]}"
clean 'default, d = 3'      small.csv "${logistic[@]}"
clean 'default, rare'       rare.csv "${logistic[@]}"
grep -q 'missed bounces' .diagnosis || fault 'default, rare' 'the missed bounces are not reported'
clean 'sbps, d = 20'        paper.csv "${logistic[@]}" --sampler sbps
clean 'default, gaussian'   --model gaussian --dim 5
clean 'default, noise'      --model gaussian --dim 5 --gradient-noise 3

# ---- the published method and its parts ----
finds 'as published'        'Violations: in [0-9.]+% of the proposals .* the regression expects 0\.1[0-9]*%, and there are [0-9.]+ times as many' \
    paper.csv "${logistic[@]}" "${published[@]}" --ess 100
found 'as published: bias'  'The stated bias'
finds 'as published: word'  'The run used the published method' paper.csv "${logistic[@]}" "${published[@]}" --epochs 100
finds 'small batches'       'Bounces were missed' paper.csv "${logistic[@]}" "${published[@]}" --batch-size 50 --epochs 1000
finds 'tiny batches'        'The stated bias' paper.csv "${logistic[@]}" "${published[@]}" --batch-size 10 --epochs 200
finds 'last batch'          'The noise was estimated from the last mini-batch alone' \
    paper.csv "${plain[@]}" --pool-variance off
finds 'rare events'         'Bounces were missed.*Rare events' rare.csv "${plain[@]}" --band 3
finds 'rare events, wide'   'Only [0-9.]+% of the proposals' rare.csv "${plain[@]}" --ess 200
finds 'banana'              'The slope is not linear along a segment' --model banana --lack-of-fit off --band 3
finds 'band at its cap'     'The band has its maximum width' --model banana --lack-of-fit off
finds 'wide open'           'Violations: ' paper.csv "${plain[@]}" --band 1
finds 'reference far'       'The reference point of the control variate is' \
    skew.csv "${logistic[@]}" --sampler sbps --no-intercept --prior 'normal(0,30)' --control-variate gradient
finds 'few windows'         'Mini-batches are windows .* only 19.2 of them' small.csv "${plain[@]}" --minibatch window

# ---- metric, refreshment, warm-up, modes ----
finds 'adapts forever'      'The metric kept adapting' small.csv "${logistic[@]}" --sampler psbps --adapt-forever
grep -q 'does not estimate its bias' .diagnosis && fault 'adapts forever' 'has a finding on the sampler, too'
finds 'no noise'            'Only refreshments randomise this path, .* refreshed 0 times' \
    --model gaussian --dim 5 --refresh-rate 0 --epochs 20000
finds 'refreshed often'     'The path was refreshed' small.csv "${plain[@]}" --refresh-rate 30 --epochs 100
finds 'refreshed rarely'    'Standard deviations are much less precise than means' small.csv "${logistic[@]}" --sampler sbps --refresh-rate 0
finds 'separate modes'      'The chains stay in separate regions' corners.csv --model multimodal --ess 100
finds 'few effective'       'The effective sample size of the path is' paper.csv "${plain[@]}" --epochs 30
finds 'unknown bias'        'This sampler \(sgld\) does not estimate its bias' small.csv "${logistic[@]}" --sampler sgld --epochs 200

# ---- group effects that are sampled, whether they are kept or not ----
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    BEGIN { s = 99; print "y,x,g"; for (k = 0; k < 60; k++) { e = 4 * u() - 2
            for (i = 0; i < 6; i++) { x = u(); print (u() < 1 / (1 + exp(-x - e))) "," x ",g" k } } }' >groups.csv
for ranef in none all effects.csv; do
    clean "group effects, --ranef $ranef" groups.csv 'y ~ x + (1 | g)' --family bernoulli --crossed joint --ess 1000 --ranef $ranef
    grep -qE ' 60 group effects: largest R-hat 1[0-9.]* \(r_g\[g[0-9]+,Intercept\]; limit 1.0[0-9]+\), smallest ESS [0-9]+ \(' .diagnosis ||
        fault "group effects, --ranef $ranef" "are not checked: $(tail -c 300 .diagnosis)"
done

# ---- samplers without a band get no advice to widen one ----
for sampler in lipsbps local-bps zigzag-ss zigzag-cv; do
    finds "hurried $sampler" 'Warm-up ended before' paper.csv "${logistic[@]}" --sampler $sampler --epochs 100
    grep -qE -- '--band|the band' .diagnosis && fault "hurried $sampler" 'gets advice on a band'
done
finish
