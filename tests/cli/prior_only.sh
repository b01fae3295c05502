#!/usr/bin/env bash
# --prior-only: what the run states, the commands after it, and what is refused.
. "$(dirname "$0")/common.sh"

awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 9; print "y,x,g,c"
        for (i = 0; i < 60; i++) { a = n(); printf "%.5f,%.5f,g%d,%d\n", 1 + a + n(), a, i % 5, 1 + i % 3 } }' >table.csv
sample=("$sbps" sample table.csv --progress off --prior-only)

try 'a run'          0 '' 'prior     x ~ normal.*sampler   none: independent draws from the prior alone' "${sample[@]}" 'y ~ x' -o run.nc
try 'its summary'    0 ' draws         from the prior alone \(--prior-only\)' '' "$sbps" summary run.nc
try 'as JSON'        0 '"prior_only": true' '' "$sbps" summary --json run.nc
try 'no problems'    0 'No problems found' '' "$sbps" diagnose run.nc
try 'a dry run'      0 'independent draws from the prior alone' '' "${sample[@]}" 'y ~ x' --dry-run
try 'groups'         0 '' '5 effects of all factors, drawn jointly' "${sample[@]}" 'y ~ x + (1 | g)' --ranef all -o groups.nc
try 'predictions'    0 'row,mean,sd' 'rows/s' "$sbps" predict groups.nc table.csv
try 'new levels'     0 'row,mean,sd' 'rows/s' "$sbps" predict groups.nc table.csv --new-levels prior
try 'a check'        0 'from the prior alone.*the observed table need not.*statistic' '' "$sbps" check groups.nc table.csv
cases=$((cases + 1))
"$sbps" check groups.nc table.csv | grep -qE 'failed|\*|LOO-PIT|power scaling' && fault 'a check' 'an assessment of the fit'
try 'check as JSON'  0 '"prior_only": true' '' "$sbps" check groups.nc table.csv --json
try 'a page'         0 '' '' "$sbps" report groups.nc table.csv -o page.html
try 'a contrast'     0 'x' '' "$sbps" contrast run.nc 'x > 0'
try 'loo refused'    1 '' 'run.nc: its draws are from the prior alone' "$sbps" loo run.nc table.csv
try 'score refused'  1 '' 'run.nc: its draws are from the prior alone' "$sbps" score run.nc table.csv
try 'compare refused' 1 '' 'run.nc: its draws are from the prior alone' "$sbps" compare run.nc run.nc

# draws do not depend on the number of threads
cases=$((cases + 1))
"${sample[@]}" 'y ~ x + (1 | g)' --threads 1 -o one.csv >/dev/null 2>&1
"${sample[@]}" 'y ~ x + (1 | g)' --threads 4 -o four.csv >/dev/null 2>&1
cmp -s one.csv four.csv || fault 'threads' 'other draws'
cases=$((cases + 1))
[ "$(wc -l <one.csv)" = 4001 ] || fault 'draws' "$(wc -l <one.csv) lines, expected 4001"

try 'flat'           2 '' "the prior of 'x' is flat, which is no distribution" "${sample[@]}" 'y ~ x' --prior flat -o no.nc
try 'cutpoints'      2 '' "the prior of '1\|2' is flat" "${sample[@]}" 'c ~ x' --model ordinal -o no.nc
try 'no mass'        2 '' "the prior normal\(-100,1\) of 'sigma' has almost no mass" "${sample[@]}" 'y ~ x' --prior-sigma 'normal(-100,1)' -o no.nc
try 'a density'      2 '' 'is a density and has no prior' "$sbps" sample --model gaussian --prior-only --progress off -o no.nc
try 'a sampler'      2 '' '--sampler has no use with --prior-only' "${sample[@]}" 'y ~ x' --sampler hmc -o no.nc
try 'a checkpoint'   2 '' '--checkpoint has no use with --prior-only' "${sample[@]}" 'y ~ x' --checkpoint no.ckpt -o no.nc

finish
