#!/usr/bin/env bash
# Predictions, scores and leave-one-out on five tables, including German credit and concrete if available: equal to
# those of rstanarm and loo to 1e-6, from the same draws.
. "$(dirname "$0")/common.sh"

if ! command -v Rscript >/dev/null || ! Rscript --vanilla -e 'library(rstanarm); library(loo)' >/dev/null 2>&1; then
    echo 'R with rstanarm and loo is not there: answers are not compared with theirs'
    exit 0
fi
Rscript --vanilla "$root/tests/cli/rstanarm_answers.R" tables "$root/../shared/data" >tables.txt 2>.err || fault 'tables' "$(cat .err)"
[ -d "$root/../shared/data" ] || echo 'the shared tables are not there: R has the rest'
while IFS='|' read -r name family formula; do
    for to in "$name.nc" "$name.draws.csv"; do
        try "$name" 0 '' '.' "$sbps" sample "$name.csv" "$formula" --family "$family" --seed 3 --ess 100 --draws 200 --progress off -o "$to"
    done
done <tables.txt
cases=$((cases + 1))
Rscript --vanilla "$root/tests/cli/rstanarm_answers.R" compare "$sbps" >.out 2>&1 || fault 'R' "$(tail -n 12 .out)"
cat .out
finish
