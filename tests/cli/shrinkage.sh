#!/usr/bin/env bash
# Shrinkage priors from the command line: messages, commands that work on such runs, refusals.
. "$(dirname "$0")/common.sh"

awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 99; print "y,x1,x2,x3,g,k"
        for (i = 0; i < 80; i++) { a = n(); printf "%.5f,%.5f,%.5f,%.5f,g%d,%s\n", 1 + a + n(), a, n(), n(), i % 5, substr("uvw", 1 + i % 3, 1) } }' >table.csv
sample=("$sbps" sample table.csv 'y ~ x1 + x2 + x3' --family gaussian --progress off --seed 3)

try 'horseshoe'     0 '' 'x1 .. x3 \(3\) ~ horseshoe\(1, 0.5, 1, 2.5, 4\).*sampler   hmc' "${sample[@]}" --prior 'hs(global_scale = 0.5)' -o run.nc
try 'its summary'   0 'x1 .*x2 .*x3 .*hs_global .*hs_slab .*sigma ' '' "$sbps" summary run.nc
try 'local scales'  0 'sigma .*hs_local\[x1\] .*hs_local\[x3\] ' '' bash -c '"$@" -o all.nc >/dev/null 2>&1 && "$0" summary all.nc' "$sbps" "${sample[@]}" --prior 'hs(global_scale = 0.5)' --ranef all
try 'R2-D2'         0 '' 'x1 .. x3 \(3\) ~ R2D2\(0.3, 5, 0.5\)' "${sample[@]}" --prior 'R2D2(prec_R2 = 5, mean_R2 = 0.3)' -o r2d2.nc
try 'its R2'        0 'R2D2_R2 ' '' "$sbps" summary r2d2.nc
try 'some of them'  0 '' 'x2 ~ normal\(0, 1\).*x3 ~ horseshoe\(1, 1, 1, 2, 4\)' "${sample[@]}" --prior 'x2=normal(0,1); x3=horseshoe(1)' -o some.nc
try 'predictions'   0 'row,mean,sd' 'rows/s' "$sbps" predict run.nc table.csv
try 'loo'           0 'elpd_loo' '' "$sbps" loo run.nc table.csv
try 'a page'        0 '' '' "$sbps" report run.nc -o page.html
try 'a contrast'    0 'x1 - x2' '' "$sbps" contrast run.nc 'x1 - x2'

cases=$((cases + 1))
"${sample[@]}" --prior 'hs()' --ess 400 -o whole.nc >/dev/null 2>&1
"${sample[@]}" --prior 'hs()' --ess 150 --checkpoint run.ckpt -o part.nc >/dev/null 2>&1
"${sample[@]}" --prior 'hs()' --ess 400 --resume run.ckpt -o resumed.nc >/dev/null 2>&1
"$sbps" summary --csv whole.nc >whole.txt
"$sbps" summary --csv resumed.nc | cmp -s - whole.txt || fault 'resumed' 'another answer'

try 'no mode'       2 '' 'is not a usable estimate' "$sbps" map table.csv --formula 'y ~ x1' --family gaussian --prior 'hs()'
try 'sbps refused'    2 '' 'shrinkage priors need hmc, not sbps' "${sample[@]}" --prior 'hs()' --sampler sbps -o no.nc
try 'no groups'     2 '' 'not available in models with groups' "$sbps" sample table.csv 'y ~ x1 + (1 | g)' --family gaussian --prior 'hs()' -o no.nc
try 'no classes'    2 '' 'not available for model categorical' "$sbps" sample table.csv 'k ~ x1' --family categorical --prior 'hs()' -o no.nc
try 'not of sigma'  2 '' 'horseshoe is a prior of coefficients' "${sample[@]}" --prior-sigma 'horseshoe(1)' -o no.nc
try 'a wrong name'  2 '' 'expected horseshoe\(df, scale_global, df_global, scale_slab, df_slab\)' "${sample[@]}" --prior 'horseshoe(scale=1)' -o no.nc
try 'too much R2'   2 '' 'mean_R2 below 1' "${sample[@]}" --prior 'R2D2(1.2)' -o no.nc
finish
